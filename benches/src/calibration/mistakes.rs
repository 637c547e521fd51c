//! Kernels with a planted error: one coefficient of a step, or the potential in the acceptance of
//! trajectories, is off by a factor, and everything else is correct.

use ridgewalk::coefficients::{Coefficients, OrnsteinUhlenbeck, Parameters};
use ridgewalk::lyapunov::laws::{KernelKind, Scheme};
use ridgewalk::potentials::{self, LineIntegral, Scratch};
use ridgewalk::sampler::{Error, Kernel, LinearKernel, Noise, Step, from_scheme};

use crate::Failure;

/// A coefficient of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coefficient {
    /// From p into p: μ22 of Algorithm 1; in the other two kernels, the same entry of the exact
    /// step of (p, r).
    PToP,
    /// From r into p: μ23.
    RToP,
    /// From p into r: μ32.
    PToR,
    /// From r into r: μ33.
    RToR,
    /// The noise of p alone: L22 of Algorithm 1, L11 in the other two.
    NoiseOfP,
    /// The noise of r alone: L33 of Algorithm 1, L22 in the other two.
    NoiseOfR,
}

/// A coefficient and the factor by which it is off.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mistake {
    /// The coefficient.
    pub coefficient: Coefficient,
    /// The factor.
    pub factor: f64,
}

/// Where an error is planted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Planted {
    /// In a step without acceptance: see [`Mistaken`].
    Step(Mistake),
    /// In the acceptance of trajectories, with this factor: see [`WrongAcceptance`].
    Acceptance(f64),
}

/// A kernel with a mistake, which reports itself as the correct one.
///
/// The correct kernel makes the step with changed noise: the effect of the mistake on p and r is
/// added to the normals on which p and r alone depend, by the rows of the Cholesky factor. Up to
/// rounding, the result is the step with the wrong coefficient.
#[derive(Debug)]
pub struct Mistaken {
    right: Box<dyn LinearKernel>,
    mistake: Mistake,
    /// Entries pp, pr, rp, rr.
    flow: [f64; 4],
    /// Entries of the factor in the rows of p and r, for the noises of p and r.
    factor: [f64; 3],
    /// The multiple of the gradient that is subtracted from p before these coefficients apply.
    half_kick: f64,
}

impl Mistaken {
    /// The kernel of a scheme at smoothness 1, with a mistake.
    ///
    /// # Errors
    /// For kernels other than those that step the third-order dynamics.
    pub fn new(scheme: &Scheme, mistake: Mistake) -> Result<Self, Failure> {
        let right = from_scheme(scheme, 1.0)?;
        let (gamma, xi, eta) =
            (scheme.gamma().unwrap_or(f64::NAN), scheme.xi().unwrap_or(f64::NAN), scheme.eta());
        let parameters = Parameters::new(gamma, xi, eta)?;
        let (flow, factor) = match scheme.kernel() {
            KernelKind::ThirdOrder => {
                let c = Coefficients::new(parameters, 1.0)?;
                let [_, _, l22, _, l32, l33] = c.cholesky();
                ([c.mu22(), c.mu23(), c.mu32(), c.mu33()], [l22, l32, l33])
            }
            KernelKind::Symmetric | KernelKind::Averaged => {
                let step = OrnsteinUhlenbeck::new(parameters, 1.0)?;
                let [[pp, pr], [rp, rr]] = step.flow();
                ([pp, pr, rp, rr], step.cholesky())
            }
            other @ (KernelKind::Ula
            | KernelKind::Klmc
            | KernelKind::Ubu
            | KernelKind::Baoab
            | KernelKind::RandomizedMidpoint
            | KernelKind::Quicsort
            | KernelKind::Should
            | KernelKind::Align
            | KernelKind::Hmc
            | KernelKind::Adjusted
            | KernelKind::Subsampled) => {
                return Err(format!("no planted error for the kernel `{}`", other.name()).into());
            }
        };
        let half_kick = if scheme.kernel() == KernelKind::Symmetric { 0.5 * eta } else { 0.0 };
        Ok(Self { right, mistake, flow, factor, half_kick })
    }

    /// What the mistake adds to p and r, given both before the step and their noises.
    fn added(&self, [p, r]: [f64; 2], [of_p, of_r]: [f64; 2]) -> [f64; 2] {
        let [pp, pr, rp, rr] = self.flow;
        let [l11, _, l22] = self.factor;
        let off = self.mistake.factor - 1.0;
        match self.mistake.coefficient {
            Coefficient::PToP => [off * pp * p, 0.0],
            Coefficient::RToP => [off * pr * r, 0.0],
            Coefficient::PToR => [0.0, off * rp * p],
            Coefficient::RToR => [0.0, off * rr * r],
            Coefficient::NoiseOfP => [off * l11 * of_p, 0.0],
            Coefficient::NoiseOfR => [0.0, off * l22 * of_r],
        }
    }
}

impl LinearKernel for Mistaken {
    fn scheme(&self) -> &Scheme {
        self.right.scheme()
    }
}

impl Kernel for Mistaken {
    fn smoothness(&self) -> f64 {
        self.right.smoothness()
    }

    fn normals(&self) -> usize {
        self.right.normals()
    }

    fn gradients_per_step(&self, potential: &dyn LineIntegral) -> u64 {
        self.right.gradients_per_step(potential)
    }

    fn step(&self, step: Step<'_>) -> Result<u64, Error> {
        let Step { potential, from, noise, to, workspace } = step;
        let (d, each) = (from.dimension(), self.normals());
        let gradient = match from.gradient() {
            _ if self.half_kick == 0.0 => vec![0.0; from.p().len()],
            Some(gradient) => gradient.to_vec(),
            None => {
                let mut gradient = vec![0.0; from.p().len()];
                potential.gradients(from.theta(), &mut gradient, workspace.room(from).scratch)?;
                gradient
            }
        };
        let [l11, l21, l22] = self.factor;
        let mut normals = noise.normals.to_vec();
        for (at, (p, r)) in from.p().iter().zip(from.r()).enumerate() {
            // The last two noises of a chain are those of p and r.
            let place = |back: usize| ((at / d + 1) * each - back) * d + at % d;
            let (of_p, of_r) = (place(2), place(1));
            let [more_p, more_r] =
                self.added([p - self.half_kick * gradient[at], *r], [normals[of_p], normals[of_r]]);
            let shift = more_p / l11;
            normals[of_p] += shift;
            normals[of_r] += (more_r - l21 * shift) / l22;
        }
        let noise = Noise { normals: &normals, ..noise };
        self.right.step(Step { potential, from, noise, to, workspace })
    }
}

/// Trajectories that are accepted or rejected by a potential that is off by a factor. Their path
/// follows the right gradients.
///
/// With the factor c the rule is that of the density exp(−c U), which the kernel then leaves
/// invariant whatever its path: standard deviations of a normal posterior are off by the factor
/// c^−½. Other errors of acceptance hardly matter when trajectories are accurate: with a probability
/// of min(1, e^−cΔ) because Δ is then small, and with one of min(1, c e^−Δ) because ratios of
/// densities are off by c, not their exponents.
#[derive(Debug)]
pub struct WrongAcceptance {
    right: Box<dyn LinearKernel>,
    factor: f64,
}

impl WrongAcceptance {
    /// A kernel that accepts or rejects, with the potential off by this factor.
    ///
    /// # Errors
    /// For a kernel that accepts everything.
    pub fn new(right: Box<dyn LinearKernel>, factor: f64) -> Result<Self, Failure> {
        if right.scheme().kernel() != KernelKind::Adjusted {
            let name = right.scheme().name();
            return Err(format!("the kernel `{name}` does not accept or reject").into());
        }
        Ok(Self { right, factor })
    }
}

impl LinearKernel for WrongAcceptance {
    fn scheme(&self) -> &Scheme {
        self.right.scheme()
    }
}

impl Kernel for WrongAcceptance {
    fn smoothness(&self) -> f64 {
        self.right.smoothness()
    }

    fn normals(&self) -> usize {
        self.right.normals()
    }

    fn uniforms(&self) -> usize {
        self.right.uniforms()
    }

    fn gradients_per_step(&self, potential: &dyn LineIntegral) -> u64 {
        self.right.gradients_per_step(potential)
    }

    fn step(&self, step: Step<'_>) -> Result<u64, Error> {
        let potential = &ScaledValues { right: step.potential, factor: self.factor };
        self.right.step(Step { potential, ..step })
    }
}

/// A potential whose values are off by a factor, with the right gradients.
struct ScaledValues<'a> {
    right: &'a dyn LineIntegral,
    factor: f64,
}

impl LineIntegral for ScaledValues<'_> {
    fn dimension(&self) -> usize {
        self.right.dimension()
    }

    fn gradients_per_integral(&self) -> u64 {
        self.right.gradients_per_integral()
    }

    fn integrate(
        &self, length: f64, positions: &[f64], momenta: &[f64], integrals: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<(), potentials::Error> {
        self.right.integrate(length, positions, momenta, integrals, scratch)
    }

    fn gradients(
        &self, positions: &[f64], gradients: &mut [f64], scratch: &mut Scratch,
    ) -> Result<(), potentials::Error> {
        self.right.gradients(positions, gradients, scratch)
    }

    fn values_and_gradients(
        &self, positions: &[f64], values: &mut [f64], gradients: &mut [f64], scratch: &mut Scratch,
    ) -> Result<(), potentials::Error> {
        self.right.values_and_gradients(positions, values, gradients, scratch)?;
        values.iter_mut().for_each(|value| *value *= self.factor);
        Ok(())
    }

    fn stiff(&self) -> usize {
        self.right.stiff()
    }

    fn add_stiff(&self, eta: f64, per_l: f64, z: &mut [f64], p: &mut [f64]) {
        self.right.add_stiff(eta, per_l, z, p);
    }

    fn shares_out(&self, chains: usize) -> bool {
        self.right.shares_out(chains)
    }

    fn collective(&self) -> bool {
        self.right.collective()
    }
}
