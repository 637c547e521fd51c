//! Serialised forms of types from crates without serde.

use ridgewalk_lyapunov::laws::{Drift, KernelKind, Scheme, Trajectory};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

fn kind<E: serde::de::Error>(name: &str) -> Result<KernelKind, E> {
    let others = [KernelKind::Adjusted, KernelKind::Subsampled];
    KernelKind::from_name(name)
        .or_else(|| others.into_iter().find(|kind| kind.name() == name))
        .ok_or_else(|| E::custom(format!("kernel `{name}`: no kernel of that name")))
}

/// A kernel as its name.
pub(crate) mod kernel {
    use super::{Deserialize, Deserializer, KernelKind, Serialize, Serializer, kind};

    pub(crate) fn serialize<S: Serializer>(
        kernel: &Option<KernelKind>, to: S,
    ) -> Result<S::Ok, S::Error> {
        kernel.map(KernelKind::name).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<KernelKind>, D::Error> {
        Option::<String>::deserialize(from)?.as_deref().map(kind).transpose()
    }
}

/// A scheme as its kernel's name and its parameters.
pub(crate) mod scheme {
    use super::{
        Deserialize, Deserializer, Drift, KernelKind, Scheme, Serialize, Serializer, Trajectory,
        kind,
    };
    use crate::with_serde::custom;

    #[derive(Serialize, Deserialize)]
    struct Parts {
        kernel: String,
        gamma: Option<f64>,
        xi: Option<f64>,
        eta: f64,
        #[serde(default)]
        steps: Option<u32>,
        #[serde(default)]
        drift: Option<String>,
        #[serde(default)]
        short: f64,
    }

    pub(crate) fn serialize<S: Serializer>(scheme: &Scheme, to: S) -> Result<S::Ok, S::Error> {
        let trajectory = scheme.trajectory();
        let parts = Parts {
            kernel: scheme.name().to_owned(),
            gamma: scheme.gamma(),
            xi: scheme.xi(),
            eta: scheme.eta(),
            steps: trajectory.map(|trajectory| trajectory.steps),
            drift: trajectory.map(|trajectory| trajectory.drift.name().to_owned()),
            short: trajectory.map_or(0.0, |trajectory| trajectory.short),
        };
        parts.serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Scheme, D::Error> {
        let Parts { kernel, gamma, xi, eta, steps, drift, short } = Parts::deserialize(from)?;
        let (gamma, xi) = (gamma.unwrap_or(1.0), xi.unwrap_or(1.0));
        let drift = drift.as_deref().unwrap_or(Drift::Straight.name());
        let drift = Drift::from_name(drift)
            .ok_or_else(|| serde::de::Error::custom(format!("found the drift `{drift}`")))?;
        let scheme = match steps {
            Some(steps) if kernel == KernelKind::Hmc.name() => Scheme::hmc(steps, eta),
            Some(steps) => Scheme::adjusted(gamma, xi, eta, Trajectory { steps, drift, short }),
            None => Scheme::new(kind(&kernel)?, gamma, xi, eta),
        };
        scheme.map_err(custom)
    }
}

fn custom<E: serde::de::Error>(error: ridgewalk_lyapunov::Error) -> E {
    E::custom(error)
}
