//! What several tests need: quadratic potentials, one kernel of each kind, quantiles of the normal
//! distribution.

#![allow(dead_code, unused_imports, unused_macros, reason = "each test program uses its own part")]

use ridgewalk_coefficients::Parameters;
use ridgewalk_lyapunov::laws::{Drift, KernelKind, Scheme, Trajectory};
use ridgewalk_potentials::{Error, LineIntegral, Scratch};
use ridgewalk_sampler::{Adjusted, Draws, Kernel, LinearKernel, Sampler, from_scheme};

/// U = Σ curvature θ²/2, with its exact line integral.
#[derive(Debug, Clone)]
pub(crate) struct Quadratic {
    pub(crate) curvature: Vec<f64>,
}

impl LineIntegral for Quadratic {
    fn dimension(&self) -> usize {
        self.curvature.len()
    }

    fn gradients_per_integral(&self) -> u64 {
        1
    }

    fn integrate(
        &self, length: f64, positions: &[f64], momenta: &[f64], integrals: &mut [f64],
        _: &mut Scratch,
    ) -> Result<(), Error> {
        let curvature = self.curvature.iter().cycle();
        for ((integral, (x, p)), l) in
            integrals.iter_mut().zip(positions.iter().zip(momenta)).zip(curvature)
        {
            *integral = length * l * (x + 0.5 * length * p);
        }
        Ok(())
    }

    fn gradients(
        &self, positions: &[f64], gradients: &mut [f64], _: &mut Scratch,
    ) -> Result<(), Error> {
        for ((gradient, x), l) in
            gradients.iter_mut().zip(positions).zip(self.curvature.iter().cycle())
        {
            *gradient = l * x;
        }
        Ok(())
    }

    fn values_and_gradients(
        &self, positions: &[f64], values: &mut [f64], gradients: &mut [f64], scratch: &mut Scratch,
    ) -> Result<(), Error> {
        self.gradients(positions, gradients, scratch)?;
        let d = self.curvature.len();
        for (value, (x, g)) in values.iter_mut().zip(positions.chunks(d).zip(gradients.chunks(d))) {
            *value = 0.5 * x.iter().zip(g).map(|(x, g)| x * g).sum::<f64>();
        }
        Ok(())
    }
}

pub(crate) fn parameters(gamma: f64, xi: f64, eta: f64) -> Parameters {
    Parameters::new(gamma, xi, eta).unwrap()
}

/// One kernel of each kind that makes one step at a time, with these γ, ξ and η; the overdamped one
/// with three quarters of η, leapfrog trajectories of three steps.
pub(crate) fn kernels(
    gamma: f64, xi: f64, eta: f64, smoothness: f64,
) -> Vec<Box<dyn LinearKernel>> {
    let of = |kind: KernelKind| {
        let eta = if kind == KernelKind::Ula { 0.75 * eta } else { eta };
        let scheme = match kind {
            KernelKind::Hmc => Scheme::hmc(3, eta),
            _ => Scheme::new(kind, gamma, xi, eta),
        };
        from_scheme(&scheme.unwrap(), smoothness).unwrap()
    };
    KernelKind::ALL.into_iter().map(of).collect()
}

/// The same, and behind them trajectories of three steps that are accepted or rejected.
pub(crate) fn all_kernels(
    gamma: f64, xi: f64, eta: f64, smoothness: f64,
) -> Vec<Box<dyn LinearKernel>> {
    let trajectory = Trajectory::new(3, Drift::Straight);
    let mut all = kernels(gamma, xi, eta, smoothness);
    all.push(Box::new(Adjusted::new(parameters(gamma, xi, eta), trajectory, smoothness).unwrap()));
    all
}

/// A kernel that differs from another one in its step alone.
macro_rules! step_of_its_own {
    ($kernel:ident, $right:tt, $step:item) => {
        impl ridgewalk_sampler::Kernel for $kernel {
            fn normals(&self) -> usize {
                self.$right.normals()
            }

            fn uniforms(&self) -> usize {
                self.$right.uniforms()
            }

            fn gradients_per_step(&self, potential: &dyn ridgewalk_potentials::LineIntegral) -> u64 {
                self.$right.gradients_per_step(potential)
            }

            fn smoothness(&self) -> f64 {
                self.$right.smoothness()
            }

            $step
        }

        impl ridgewalk_sampler::LinearKernel for $kernel {
            fn scheme(&self) -> &ridgewalk_lyapunov::laws::Scheme {
                self.$right.scheme()
            }
        }
    };
}
pub(crate) use step_of_its_own;

/// Draws of a small run on a quadratic potential of three dimensions.
pub(crate) fn small_run(kernel: &dyn Kernel, chains: usize, draws: u64) -> Draws {
    let potential = Quadratic { curvature: vec![3.0, 1.0, 0.5] };
    let mut memory = Draws::default();
    let outcome = Sampler::new(&potential, kernel)
        .chains(chains)
        .seed(20)
        .start(&[0.5, -1.0, 2.0])
        .warm_up(3)
        .thin(2)
        .draws(draws)
        .run(&mut memory)
        .unwrap();
    assert!(outcome.complete());
    memory
}

/// The probability that a standard normal is beyond ±z.
pub(crate) fn two_sided_tail(z: f64) -> f64 {
    libm::erfc(z / std::f64::consts::SQRT_2)
}

/// The z beyond which a standard normal is with this probability.
pub(crate) fn critical(probability: f64) -> f64 {
    let (mut low, mut high) = (0.0, 40.0);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if two_sided_tail(middle) > probability { low = middle } else { high = middle }
    }
    low
}
