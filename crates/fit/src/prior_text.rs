//! Priors as users write and read them: `normal(0, 2.5, autoscale)`.

use ridgewalk_potentials::Density;

use crate::priors::is_mean;

/// Numbers that a prior is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Any.
    Real,
    /// Positive ones.
    Positive,
}

/// What a prior of a coefficient can be.
const REAL: &str = "normal(mean, scale), student_t(degrees, mean, scale), cauchy(mean, scale), \
                    laplace(mean, scale) or flat, with a positive scale, and `autoscale` as the \
                    last argument for units of the data";
/// What a prior of a positive parameter can be.
const POSITIVE: &str = "half_normal(scale), half_t(degrees, scale), half_cauchy(scale), \
                        exponential(rate), gamma(shape, rate) or flat, with positive numbers, and \
                        `autoscale` as the last argument for units of the data";

/// A prior as it was written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PriorText {
    density: Density,
    autoscale: bool,
}

impl PriorText {
    /// Normal; flat with an infinite scale.
    pub(crate) fn normal(mean: f64, scale: f64) -> Self {
        let normal = Density::Normal { mean, scale };
        let density = if scale == f64::INFINITY { Density::Flat } else { normal };
        Self { density, autoscale: false }
    }

    /// A density in absolute units.
    pub(crate) fn of(density: Density) -> Self {
        Self { density, autoscale: false }
    }

    /// The same in units of the data.
    pub(crate) fn scaled(self) -> Self {
        Self { autoscale: true, ..self }
    }

    /// The density, `unit` being that of the data.
    pub(crate) fn density(&self, unit: f64) -> Density {
        if !self.autoscale {
            return self.density;
        }
        match self.density {
            Density::Normal { mean, scale } => Density::Normal { mean, scale: unit * scale },
            Density::StudentT { degrees, mean, scale } => {
                Density::StudentT { degrees, mean, scale: unit * scale }
            }
            Density::Laplace { mean, scale } => Density::Laplace { mean, scale: unit * scale },
            Density::Logistic { mean, scale } => Density::Logistic { mean, scale: unit * scale },
            Density::Exponential { rate } => Density::Exponential { rate: rate / unit },
            Density::Gamma { shape, rate } => Density::Gamma { shape, rate: rate / unit },
            other => other,
        }
    }

    /// Parses a prior for numbers of a kind.
    ///
    /// # Errors
    /// What is needed instead.
    pub fn parse(text: &str, kind: Kind) -> Result<Self, &'static str> {
        let need = match kind {
            Kind::Real => REAL,
            Kind::Positive => POSITIVE,
        };
        let (name, arguments) = match text.trim().split_once('(') {
            Some((name, rest)) => (name.trim(), rest.strip_suffix(')').ok_or(need)?),
            None => (text.trim(), ""),
        };
        let mut words: Vec<&str> =
            arguments.split(',').map(str::trim).filter(|word| !word.is_empty()).collect();
        let autoscale = words.last() == Some(&"autoscale");
        words.truncate(words.len() - usize::from(autoscale));
        let numbers: Result<Vec<f64>, _> = words.iter().map(|word| word.parse::<f64>()).collect();
        let numbers = numbers.map_err(|_| need)?;
        let density = density(&name.replace('-', "_"), &numbers, kind).ok_or(need)?;
        let positive = match density {
            Density::Normal { mean, scale }
            | Density::Laplace { mean, scale }
            | Density::Logistic { mean, scale } => is_mean(mean) && is_size(scale),
            Density::StudentT { degrees, mean, scale } => {
                is_mean(mean) && is_size(scale) && is_size(degrees)
            }
            Density::Exponential { rate } => is_size(rate),
            Density::Gamma { shape, rate } => is_size(shape) && is_size(rate),
            _ => true,
        };
        if positive { Ok(Self { density, autoscale }) } else { Err(need) }
    }
}

fn is_size(x: f64) -> bool {
    (1e-150..1e150).contains(&x)
}

/// The density of this name with these numbers.
fn density(name: &str, numbers: &[f64], kind: Kind) -> Option<Density> {
    let mean = 0.0;
    Some(match (kind, name, numbers) {
        (_, "flat", []) => Density::Flat,
        (Kind::Real, "normal", &[mean, scale]) => Density::Normal { mean, scale },
        (Kind::Real, "student_t", &[degrees, mean, scale]) => {
            Density::StudentT { degrees, mean, scale }
        }
        (Kind::Real, "cauchy", &[mean, scale]) => Density::StudentT { degrees: 1.0, mean, scale },
        (Kind::Real, "laplace", &[mean, scale]) => Density::Laplace { mean, scale },
        (Kind::Real, "logistic", &[mean, scale]) => Density::Logistic { mean, scale },
        (Kind::Positive, "half_normal", &[scale]) => Density::Normal { mean, scale },
        (Kind::Positive, "half_t" | "half_student_t", &[degrees, scale]) => {
            Density::StudentT { degrees, mean, scale }
        }
        (Kind::Positive, "half_cauchy", &[scale]) => {
            Density::StudentT { degrees: 1.0, mean, scale }
        }
        (Kind::Positive, "exponential", &[rate]) => Density::Exponential { rate },
        (Kind::Positive, "gamma", &[shape, rate]) => Density::Gamma { shape, rate },
        _ => return None,
    })
}

/// A density as users write it: [`PriorText::parse`] gives it back, to the last bit.
#[must_use]
pub(crate) fn written(density: &Density, kind: Kind) -> String {
    with(density, kind, |x| x.to_string())
}

/// The same with four digits.
#[must_use]
pub(crate) fn rounded(density: &Density, kind: Kind) -> String {
    with(density, kind, four_digits)
}

/// Four significant digits, without zeros at the end.
fn four_digits(x: f64) -> String {
    let rounded: f64 = format!("{x:.3e}").parse().unwrap_or(x);
    if rounded == 0.0 || (1e-4..1e7).contains(&rounded.abs()) {
        format!("{rounded}")
    } else {
        format!("{rounded:e}")
    }
}

fn with(density: &Density, kind: Kind, number: impl Fn(f64) -> String) -> String {
    let list = |name: &str, numbers: &[f64]| {
        let numbers: Vec<String> = numbers.iter().map(|&x| number(x)).collect();
        format!("{name}({})", numbers.join(", "))
    };
    match (kind, *density) {
        (Kind::Real, Density::Normal { mean, scale }) => list("normal", &[mean, scale]),
        (Kind::Positive, Density::Normal { scale, .. }) => list("half_normal", &[scale]),
        (Kind::Real, Density::StudentT { degrees: 1.0, mean, scale }) => {
            list("cauchy", &[mean, scale])
        }
        (Kind::Real, Density::StudentT { degrees, mean, scale }) => {
            list("student_t", &[degrees, mean, scale])
        }
        (Kind::Positive, Density::StudentT { degrees, scale, .. }) => {
            list("half_t", &[degrees, scale])
        }
        (_, Density::Laplace { mean, scale }) => list("laplace", &[mean, scale]),
        (_, Density::Logistic { mean, scale }) => list("logistic", &[mean, scale]),
        (_, Density::Exponential { rate }) => list("exponential", &[rate]),
        (_, Density::Gamma { shape, rate }) => list("gamma", &[shape, rate]),
        _ => "flat".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        for (text, kind) in [
            ("normal(0, 2.5)", Kind::Real),
            ("student_t(3, 0.1, 2.5)", Kind::Real),
            ("cauchy(0, 2.5)", Kind::Real),
            ("laplace(-1, 0.3)", Kind::Real),
            ("flat", Kind::Real),
            ("half_normal(2)", Kind::Positive),
            ("half_t(3, 2.5)", Kind::Positive),
            ("exponential(0.30000000000000004)", Kind::Positive),
            ("gamma(2, 0.1)", Kind::Positive),
        ] {
            let prior = PriorText::parse(text, kind).unwrap();
            assert_eq!(written(&prior.density(7.0), kind), text);
        }
    }

    #[test]
    fn scales_are_in_units_of_the_data_if_asked() {
        let density =
            |text, kind| written(&PriorText::parse(text, kind).unwrap().density(2.0), kind);
        assert_eq!(density("normal(1, 2.5, autoscale)", Kind::Real), "normal(1, 5)");
        assert_eq!(density("exponential(1, autoscale)", Kind::Positive), "exponential(0.5)");
        assert_eq!(density("half-normal(1,autoscale)", Kind::Positive), "half_normal(2)");
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            "normal",
            "normal(0)",
            "normal(0, 1",
            "normal(0, -1)",
            "normal(0, x)",
            "gamma(1, 1)",
        ] {
            assert!(PriorText::parse(text, Kind::Real).is_err(), "{text}");
        }
        for text in ["normal(0, 1)", "exponential(0)", "half_t(3)"] {
            assert!(PriorText::parse(text, Kind::Positive).is_err(), "{text}");
        }
    }
}
