//! Hamiltonian Monte Carlo without acceptance.

use ridgewalk_lyapunov::laws::Scheme;
use ridgewalk_potentials::LineIntegral;

use super::{CoupledKernel, Halved, Kernel, LinearKernel, Step, from_scheme, start_gradient};
use crate::coupled::Paths;
use crate::error::{Error, positive};
use crate::kernels::{BuiltIn, each_chain};

/// A step is a trajectory: p is drawn from N(0, I/L), then a number of leapfrog steps of dθ = p dt,
/// dp = −∇U/L dt are made (Duane, Kennedy, Pendleton and Roweth 1987, without their acceptance).
/// One new gradient per leapfrog step.
#[derive(Debug, Clone)]
pub struct Hmc {
    steps: u32,
    eta: f64,
    smoothness: f64,
    scheme: Scheme,
}

impl Hmc {
    /// Trajectories of this many leapfrog steps of η at smoothness L.
    ///
    /// # Errors
    /// For η or L that is not positive and finite, and unless the number of steps is between 1 and
    /// 1024.
    pub fn new(steps: u32, eta: f64, smoothness: f64) -> Result<Self, Error> {
        let scheme = Scheme::hmc(steps, eta)?;
        Ok(Self { steps, eta, smoothness: positive("smoothness", smoothness)?, scheme })
    }

    pub(super) const BUILT_IN: BuiltIn = BuiltIn::new(|scheme, smoothness| {
        let steps = scheme.trajectory().map_or(1, |trajectory| trajectory.steps);
        Ok(Box::new(Self::new(steps, scheme.eta(), smoothness)?))
    });
}

impl Kernel for Hmc {
    fn normals(&self) -> usize {
        1
    }

    fn gradients_per_step(&self, _: &dyn LineIntegral) -> u64 {
        u64::from(self.steps)
    }

    fn step(&self, step: Step<'_>) -> Result<u64, Error> {
        step.check(self)?;
        let Step { potential, from, noise, to, workspace } = step;
        let room = workspace.room(from);
        let (gradients, mut spent) = start_gradient(potential, from, room.first, room.scratch)?;
        let kick = self.eta / self.smoothness;
        let root = self.smoothness.sqrt().recip();
        let d = from.dimension();
        let fields = to.fields_mut();
        fields.r.copy_from_slice(&from.r);
        each_chain!(from, noise, |_chain, [normals]|,
            read { theta: from.theta, gradient: gradients },
            write { new_theta: fields.theta, new_p: fields.p },
            {
                for k in 0..d {
                    new_p[k] = root * normals[k] - 0.5 * kick * gradient[k];
                    new_theta[k] = theta[k] + self.eta * new_p[k];
                }
            }
        );
        for _ in 1..self.steps {
            spent += to.kick(kick, potential, room.scratch)?;
            let fields = to.fields_mut();
            fields.theta.iter_mut().zip(&*fields.p).for_each(|(theta, p)| *theta += self.eta * p);
        }
        Ok(spent + to.kick(0.5 * kick, potential, room.scratch)?)
    }

    fn smoothness(&self) -> f64 {
        self.smoothness
    }

    fn name(&self) -> &'static str {
        self.scheme.name()
    }
}

impl LinearKernel for Hmc {
    fn scheme(&self) -> &Scheme {
        &self.scheme
    }

    fn coupled(&self) -> Option<&dyn CoupledKernel> {
        Some(self)
    }
}

/// Trajectories of one duration from the same momenta: one with steps of half the length has twice
/// as many of them.
impl CoupledKernel for Hmc {
    fn halved(&self) -> Result<Halved, Error> {
        let short = Scheme::hmc(2 * self.steps, 0.5 * self.eta)?;
        Ok(Halved { paths: Paths::shared(), kernel: from_scheme(&short, self.smoothness)? })
    }
}
