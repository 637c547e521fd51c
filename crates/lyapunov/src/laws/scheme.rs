//! A kernel with its parameters, and its linear form at an eigenvalue l of H/L.
//!
//! What does not depend on l is computed once, when the scheme is created. Units of L = 1
//! throughout: ∇U/L is l θ.

use ridgewalk_coefficients::{
    Coefficients, FreeFlow, OrnsteinUhlenbeck, Parameters, PolynomialPath,
};
use ridgewalk_quadrature::LineRule;

use super::kernel::KernelKind;
use super::linear::{Branch, LinearForm};
use super::shifted::{self, Gauss};
use super::trajectory::{Drift, Trajectory};
use crate::error::{Error, positive};
use crate::matrix::{self, Matrix};

/// The longest step of the kinetic kernels, as ξη: beyond it nothing of p remains after a step in
/// double precision.
const LONGEST: f64 = 700.0;

/// A kernel with its parameters, all positive and finite.
#[derive(Debug, Clone, PartialEq)]
pub struct Scheme {
    kernel: KernelKind,
    gamma: f64,
    xi: f64,
    eta: f64,
    parts: Parts,
}

/// The parts of a step that do not depend on the eigenvalue.
#[derive(Debug, Clone, PartialEq)]
enum Parts {
    ThirdOrder(Coefficients),
    Symmetric(OrnsteinUhlenbeck),
    Averaged(OrnsteinUhlenbeck),
    Ula,
    Klmc(FreeFlow),
    Ubu { half: FreeFlow },
    Baoab { decay: f64, noise: f64 },
    RandomizedMidpoint { full: FreeFlow, nodes: Vec<Midpoint> },
    Quicsort { gauss: Gauss, path: PolynomialPath },
    Should { half: FreeFlow, full: FreeFlow, path: PolynomialPath },
    Align { full: FreeFlow, path: PolynomialPath },
    Hmc { steps: u32 },
    Adjusted { refresh: OrnsteinUhlenbeck, trajectory: Trajectory },
    Subsampled,
}

/// One possible time of the midpoint, with its quadrature weight.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Midpoint {
    weight: f64,
    /// From the start of the step to the midpoint.
    before: FreeFlow,
    /// From the midpoint to the end.
    after: FreeFlow,
}

impl Scheme {
    /// A scheme of this kernel; parameters that the kernel does not have are ignored. A trajectory
    /// has a single straight step, except that one of [`KernelKind::Hmc`] has as many as come
    /// nearest to a duration of 1/ξ.
    ///
    /// # Errors
    /// [`Error::Coefficients`] or [`Error::NotInRange`] with name and value of an invalid
    /// parameter.
    pub fn new(kernel: KernelKind, gamma: f64, xi: f64, eta: f64) -> Result<Self, Error> {
        match kernel {
            KernelKind::ThirdOrder => Self::third_order(gamma, xi, eta),
            KernelKind::Symmetric => Self::symmetric(gamma, xi, eta),
            KernelKind::Averaged => Self::averaged(gamma, xi, eta),
            KernelKind::Ula => Self::ula(eta),
            KernelKind::Klmc => Self::klmc(xi, eta),
            KernelKind::Ubu => Self::ubu(xi, eta),
            KernelKind::Baoab => Self::baoab(xi, eta),
            KernelKind::RandomizedMidpoint => Self::randomized_midpoint(xi, eta),
            KernelKind::Quicsort => Self::quicsort(xi, eta),
            KernelKind::Should => Self::should(xi, eta),
            KernelKind::Align => Self::align(xi, eta),
            KernelKind::Hmc => {
                Self::hmc(steps_for(positive("xi", xi)?, positive("eta", eta)?), eta)
            }
            KernelKind::Adjusted => {
                Self::adjusted(gamma, xi, eta, Trajectory::new(1, Drift::Straight))
            }
            KernelKind::Subsampled => Self::subsampled(eta),
        }
    }

    /// The paper's Algorithm 1 with the exact line integral: ΔU = l (η θ + (η²/2) p).
    ///
    /// # Errors
    /// [`Error::Coefficients`] as from [`Parameters::new`] and [`Coefficients::new`].
    pub fn third_order(gamma: f64, xi: f64, eta: f64) -> Result<Self, Error> {
        let coefficients = Coefficients::new(Parameters::new(gamma, xi, eta)?, 1.0)?;
        Ok(Self {
            kernel: KernelKind::ThirdOrder,
            gamma,
            xi,
            eta,
            parts: Parts::ThirdOrder(coefficients),
        })
    }

    /// Half kick, half drift, exact step of (p, r), half drift, half kick.
    ///
    /// # Errors
    /// [`Error::Coefficients`] as from [`Parameters::new`] and [`OrnsteinUhlenbeck::new`].
    pub fn symmetric(gamma: f64, xi: f64, eta: f64) -> Result<Self, Error> {
        let middle = OrnsteinUhlenbeck::new(Parameters::new(gamma, xi, eta)?, 1.0)?;
        Ok(Self { kernel: KernelKind::Symmetric, gamma, xi, eta, parts: Parts::Symmetric(middle) })
    }

    /// Exact step of (p, r), then the average-vector-field step θ' = θ + η p − (η/2) G, p' = p − G
    /// with G = ∫₀^η l (θ + t q) dt, along the velocity q = (p − (η/2) θ)/(1 + η²/4) of the
    /// implicit midpoint rule at l = 1.
    ///
    /// With α = 1/(1 + η²/4) this is G = l α η (θ + (η/2) p), a map of determinant 1 at every l.
    /// Its invariant ellipse has axes along θ and p, and the step of (p, r) preserves N(0, 1) in
    /// both, so the stationary law has independent θ, p and r with the variances
    /// (1 + (1 − l) η²/4)/l, 1 and 1: exact at l = 1 for every η, otherwise with a relative bias of
    /// (1 − l) η²/4. Stable for (l − 1) η²/4 < 1, hence at every l up to 1.
    ///
    /// # Errors
    /// As [`Self::symmetric`].
    pub fn averaged(gamma: f64, xi: f64, eta: f64) -> Result<Self, Error> {
        let first = OrnsteinUhlenbeck::new(Parameters::new(gamma, xi, eta)?, 1.0)?;
        Ok(Self { kernel: KernelKind::Averaged, gamma, xi, eta, parts: Parts::Averaged(first) })
    }

    /// θ' = θ − (η/L) ∇U + √(2η/L) noise: η is the step in units of 1/L.
    ///
    /// # Errors
    /// [`Error::NotInRange`] for an invalid η.
    pub fn ula(eta: f64) -> Result<Self, Error> {
        Ok(Self {
            kernel: KernelKind::Ula,
            gamma: 0.0,
            xi: 0.0,
            eta: positive("eta", eta)?,
            parts: Parts::Ula,
        })
    }

    /// dθ = p dt, dp = −∇U/L dt − ξ p dt + √(2ξ/L) dB, with the gradient fixed at the start of the
    /// step and the rest solved exactly.
    ///
    /// # Errors
    /// [`Error::NotInRange`] for an invalid ξ or η, or ξη above 700.
    pub fn klmc(xi: f64, eta: f64) -> Result<Self, Error> {
        let flow = FreeFlow::new(xi, kinetic(xi, eta)?, 1.0)?;
        Ok(Self { kernel: KernelKind::Klmc, gamma: 0.0, xi, eta, parts: Parts::Klmc(flow) })
    }

    /// The same dynamics: free flow over η/2, kick over η, free flow over η/2.
    ///
    /// # Errors
    /// As [`Self::klmc`].
    pub fn ubu(xi: f64, eta: f64) -> Result<Self, Error> {
        let half = FreeFlow::new(xi, 0.5 * kinetic(xi, eta)?, 1.0)?;
        Ok(Self { kernel: KernelKind::Ubu, gamma: 0.0, xi, eta, parts: Parts::Ubu { half } })
    }

    /// The same dynamics: kick and drift over η/2, friction and noise over η, drift and kick over
    /// η/2.
    ///
    /// # Errors
    /// As [`Self::klmc`].
    pub fn baoab(xi: f64, eta: f64) -> Result<Self, Error> {
        let z = xi * kinetic(xi, eta)?;
        let parts = Parts::Baoab { decay: (-z).exp(), noise: -(-2.0 * z).exp_m1() };
        Ok(Self { kernel: KernelKind::Baoab, gamma: 0.0, xi, eta, parts })
    }

    /// The same dynamics with the gradient at θ(αη), α uniform; that point is reached with the
    /// gradient at the start.
    ///
    /// Averages over α are computed by Fejér's rule with enough nodes for double precision.
    ///
    /// # Errors
    /// As [`Self::klmc`].
    pub fn randomized_midpoint(xi: f64, eta: f64) -> Result<Self, Error> {
        let full = FreeFlow::new(xi, kinetic(xi, eta)?, 1.0)?;
        // Fourth moments contain e^(-4 z α); the error of a rule with n nodes falls like
        // (z/2)^n/n!.
        let z = xi * eta;
        let nodes = [(0.25, 12), (2.0, 20), (10.0, 48), (60.0, 128)];
        let nodes = nodes.into_iter().find(|(most, _)| z <= *most).map_or(512, |(_, nodes)| nodes);
        let rule = LineRule::new(nodes, 1.0)?;
        let midpoint = |(&alpha, &weight): (&f64, &f64)| -> Result<Midpoint, Error> {
            let before = FreeFlow::new(xi, alpha * eta, 1.0)?;
            Ok(Midpoint { weight, before, after: FreeFlow::new(xi, (1.0 - alpha) * eta, 1.0)? })
        };
        let nodes =
            rule.nodes().iter().zip(rule.weights()).map(midpoint).collect::<Result<_, _>>()?;
        let parts = Parts::RandomizedMidpoint { full, nodes };
        Ok(Self { kernel: KernelKind::RandomizedMidpoint, gamma: 0.0, xi, eta, parts })
    }

    /// The same dynamics along a path that jumps, runs straight and jumps, with the gradient at the
    /// two nodes of Gauss's rule.
    ///
    /// # Errors
    /// As [`Self::klmc`].
    pub fn quicsort(xi: f64, eta: f64) -> Result<Self, Error> {
        let gauss = Gauss::new(xi, kinetic(xi, eta)?)?;
        let parts = Parts::Quicsort { gauss, path: PolynomialPath::new(xi, eta, 1.0)? };
        Ok(Self { kernel: KernelKind::Quicsort, gamma: 0.0, xi, eta, parts })
    }

    /// The same dynamics along a polynomial path, with the gradient by Simpson's rule.
    ///
    /// # Errors
    /// As [`Self::klmc`].
    pub fn should(xi: f64, eta: f64) -> Result<Self, Error> {
        let full = FreeFlow::new(xi, kinetic(xi, eta)?, 1.0)?;
        let half = FreeFlow::new(xi, 0.5 * eta, 1.0)?;
        let parts = Parts::Should { half, full, path: PolynomialPath::new(xi, eta, 1.0)? };
        Ok(Self { kernel: KernelKind::Should, gamma: 0.0, xi, eta, parts })
    }

    /// The same dynamics with the increment and the area of the path, and the gradient interpolated
    /// between both ends of the step.
    ///
    /// # Errors
    /// As [`Self::klmc`].
    pub fn align(xi: f64, eta: f64) -> Result<Self, Error> {
        let full = FreeFlow::new(xi, kinetic(xi, eta)?, 1.0)?;
        let parts = Parts::Align { full, path: PolynomialPath::new(xi, eta, 1.0)? };
        Ok(Self { kernel: KernelKind::Align, gamma: 0.0, xi, eta, parts })
    }

    /// Trajectories of leapfrog steps of η (half kick, drift, half kick) with fresh p. One step of
    /// this scheme is a whole trajectory, and its state is θ alone.
    ///
    /// # Errors
    /// [`Error::NotInRange`] for an invalid η, and unless the number of steps is between 1 and
    /// [`Trajectory::LONGEST`].
    pub fn hmc(steps: u32, eta: f64) -> Result<Self, Error> {
        let eta = positive("eta", eta)?;
        Trajectory::new(steps, Drift::Straight).checked()?;
        let xi = 1.0 / (f64::from(steps) * eta);
        Ok(Self { kernel: KernelKind::Hmc, gamma: 0.0, xi, eta, parts: Parts::Hmc { steps } })
    }

    /// Trajectories: an exact step of (p, r) over the time of all that follows, then K steps of η,
    /// each half kick, drift, half kick. One step of this scheme is a whole trajectory. Its linear
    /// form is that of one that is accepted and has its full length.
    ///
    /// # Errors
    /// As [`Self::symmetric`]; [`Error::NotInRange`] for a number of steps or a probability of
    /// shorter ones that [`Trajectory`] does not allow.
    pub fn adjusted(gamma: f64, xi: f64, eta: f64, trajectory: Trajectory) -> Result<Self, Error> {
        let time = f64::from(trajectory.checked()?.steps) * positive("eta", eta)?;
        let refresh = OrnsteinUhlenbeck::new(Parameters::new(gamma, xi, time)?, 1.0)?;
        let parts = Parts::Adjusted { refresh, trajectory };
        Ok(Self { kernel: KernelKind::Adjusted, gamma, xi, eta, parts })
    }

    /// How often the rotations of [`Self::subsampled`] are short, and how short they are then.
    pub const SHORT_TURNS: f64 = 1.0 / 16.0;
    /// The part of the angle that short rotations have.
    pub const SHORT_TURN: f64 = 0.25;

    /// θ' = cos(η) θ + sin(η) noise, or with a short rotation instead. Its linear form is that of
    /// moves that are accepted, at l = 1 the only one.
    ///
    /// # Errors
    /// [`Error::NotInRange`] for an angle that is not positive or above a quarter turn.
    pub fn subsampled(eta: f64) -> Result<Self, Error> {
        if !(eta > 0.0 && eta <= std::f64::consts::FRAC_PI_2) {
            let need = "an angle above 0 and of at most pi/2";
            return Err(Error::NotInRange { name: "eta", value: eta, need });
        }
        let kernel = KernelKind::Subsampled;
        Ok(Self { kernel, gamma: 0.0, xi: 0.0, eta, parts: Parts::Subsampled })
    }

    /// The trajectory, if the kernel has one.
    #[must_use]
    pub fn trajectory(&self) -> Option<Trajectory> {
        match self.parts {
            Parts::Adjusted { trajectory, .. } => Some(trajectory),
            Parts::Hmc { steps } => Some(Trajectory::new(steps, Drift::Straight)),
            Parts::ThirdOrder(_)
            | Parts::Symmetric(_)
            | Parts::Averaged(_)
            | Parts::Ula
            | Parts::Klmc(_)
            | Parts::Ubu { .. }
            | Parts::Baoab { .. }
            | Parts::RandomizedMidpoint { .. }
            | Parts::Quicsort { .. }
            | Parts::Should { .. }
            | Parts::Align { .. }
            | Parts::Subsampled => None,
        }
    }

    /// The kernel.
    #[must_use]
    pub fn kernel(&self) -> KernelKind {
        self.kernel
    }

    /// The kernel's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.kernel.name()
    }

    /// The coupling γ, if the kernel has one.
    #[must_use]
    pub fn gamma(&self) -> Option<f64> {
        self.kernel.has_gamma().then_some(self.gamma)
    }

    /// The friction ξ, if the kernel has one.
    #[must_use]
    pub fn xi(&self) -> Option<f64> {
        self.kernel.has_xi().then_some(self.xi)
    }

    /// The step size η.
    #[must_use]
    pub fn eta(&self) -> f64 {
        self.eta
    }

    /// The time of the dynamics that one step takes: η, times the steps of a trajectory.
    #[must_use]
    pub fn time(&self) -> f64 {
        self.eta * self.trajectory().map_or(1.0, |trajectory| f64::from(trajectory.steps))
    }

    /// Gradients or exact line integrals per step.
    #[must_use]
    pub fn gradients_per_step(&self) -> u32 {
        self.trajectory().map_or(self.kernel.gradients_per_step(), |trajectory| trajectory.steps)
    }

    /// One step on a coordinate whose eigenvalue of H/L is `l`.
    ///
    /// # Errors
    /// [`Error::NotInRange`] unless `l` is positive and finite.
    pub fn linear_form(&self, l: f64) -> Result<LinearForm, Error> {
        Ok(self.form(positive("eigenvalue", l)?))
    }

    /// The same for a trajectory that is accepted with this probability, whatever the state; else θ
    /// stays and p is turned round. `None` for kernels that accept everything.
    ///
    /// # Errors
    /// [`Error::NotInRange`] unless `l` is positive and finite, and the probability one.
    pub fn with_acceptance(&self, l: f64, probability: f64) -> Result<Option<LinearForm>, Error> {
        let l = positive("eigenvalue", l)?;
        if !(0.0..=1.0).contains(&probability) {
            let need = "a probability between 0 and 1";
            return Err(Error::NotInRange { name: "acceptance", value: probability, need });
        }
        let Parts::Adjusted { refresh, trajectory } = &self.parts else { return Ok(None) };
        let (matrix, noise) = trajectory.form(refresh, self.eta, l);
        let accepted = Branch { weight: probability, matrix, noise };
        let (flow, added) = beside_theta(refresh);
        let turn = [[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0]];
        let rejected = Branch {
            weight: 1.0 - probability,
            matrix: matrix::product(&turn, &flow),
            noise: matrix::congruence(&added, &turn),
        };
        Ok(Some(LinearForm::new(3, vec![accepted, rejected])))
    }

    /// [`Self::linear_form`] for an `l` that is known to be valid.
    pub(super) fn form(&self, l: f64) -> LinearForm {
        let one = |dimension, matrix, noise| {
            LinearForm::new(dimension, vec![Branch { weight: 1.0, matrix, noise }])
        };
        let eta = self.eta;
        match &self.parts {
            Parts::ThirdOrder(c) => one(3, third_order_matrix(c, eta, l), c.covariance()),
            Parts::Symmetric(middle) => {
                let (flow, noise) = beside_theta(middle);
                let (matrix, noise) = between_half_kicks(eta, l, &flow, &noise);
                one(3, matrix, noise)
            }
            Parts::Averaged(first) => {
                let (flow, noise) = beside_theta(first);
                let then = averaged_matrix(eta, l);
                one(
                    3,
                    matrix::product(&then, &flow),
                    matrix::congruence(&noise, &matrix::transpose(&then)),
                )
            }
            Parts::Ula => one(
                1,
                padded([[1.0 - eta * l, 0.0], [0.0; 2]]),
                padded([[2.0 * eta, 0.0], [0.0; 2]]),
            ),
            Parts::Klmc(flow) => {
                let matrix =
                    [[1.0 - l * flow.pushed(), flow.reach()], [-l * flow.reach(), flow.decay()]];
                one(2, padded(matrix), padded(flow.covariance()))
            }
            Parts::Ubu { half } => {
                let flow = [[1.0, half.reach()], [0.0, half.decay()]];
                let kicked = matrix::product(&flow, &[[1.0, 0.0], [-eta * l, 1.0]]);
                let carried = matrix::congruence(&half.covariance(), &matrix::transpose(&kicked));
                let noise = matrix::combine(1.0, &carried, 1.0, &half.covariance());
                one(2, padded(matrix::product(&kicked, &flow)), padded(noise))
            }
            Parts::Baoab { decay, noise } => {
                let flow = [[1.0, 0.0, 0.0], [0.0, *decay, 0.0], [0.0; 3]];
                let (matrix, noise) =
                    between_half_kicks(eta, l, &flow, &[[0.0; 3], [0.0, *noise, 0.0], [0.0; 3]]);
                one(2, matrix, noise)
            }
            Parts::RandomizedMidpoint { full, nodes } => LinearForm::new(
                2,
                nodes.iter().map(|node| midpoint_branch(full, node, eta, l)).collect(),
            ),
            Parts::Quicsort { gauss, path } => {
                let (matrix, noise) = shifted::quicsort(gauss, path, eta, l);
                one(2, padded(matrix), padded(noise))
            }
            Parts::Should { half, full, path } => {
                let (matrix, noise) = shifted::should(half, full, path, eta, l);
                one(2, padded(matrix), padded(noise))
            }
            Parts::Align { full, path } => {
                let (matrix, noise) = shifted::align(full, path, eta, l);
                one(2, padded(matrix), padded(noise))
            }
            Parts::Hmc { steps } => {
                let [factor, variance] = leapfrog(*steps, eta, l);
                one(1, padded([[factor, 0.0], [0.0; 2]]), padded([[variance, 0.0], [0.0; 2]]))
            }
            Parts::Adjusted { refresh, trajectory } => {
                let (matrix, noise) = trajectory.form(refresh, eta, l);
                one(3, matrix, noise)
            }
            Parts::Subsampled => {
                let turn = |weight: f64, angle: f64| Branch {
                    weight,
                    matrix: padded([[angle.cos(), 0.0], [0.0; 2]]),
                    noise: padded([[angle.sin().powi(2), 0.0], [0.0; 2]]),
                };
                let [often, short] = [1.0 - Self::SHORT_TURNS, Self::SHORT_TURNS];
                LinearForm::new(1, vec![turn(often, eta), turn(short, eta * Self::SHORT_TURN)])
            }
        }
    }
}

/// Returns η if ξ and η are valid for a kinetic kernel.
fn kinetic(xi: f64, eta: f64) -> Result<f64, Error> {
    positive("xi", xi)?;
    positive("eta", eta)?;
    let z = xi * eta;
    if z.is_normal() && z <= LONGEST {
        Ok(eta)
    } else {
        Err(Error::NotInRange {
            name: "xi * eta",
            value: z,
            need: "a positive number of at most 700",
        })
    }
}

/// The number of leapfrog steps of η that take a time nearest to 1/ξ, at least 1.
fn steps_for(xi: f64, eta: f64) -> u32 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let steps = (1.0 / (xi * eta)).round().clamp(1.0, 1e9) as u32;
    steps
}

/// The factor on θ over a trajectory of leapfrog steps and the variance that fresh p adds to it.
fn leapfrog(steps: u32, eta: f64, l: f64) -> [f64; 2] {
    let h = 0.5 * eta;
    let half_kick = [[1.0, 0.0], [-h * l, 1.0]];
    let mut power =
        matrix::product(&half_kick, &matrix::product(&[[1.0, eta], [0.0, 1.0]], &half_kick));
    let (mut whole, mut left) = (matrix::identity(), steps);
    while left > 0 {
        if left % 2 == 1 {
            whole = matrix::product(&power, &whole);
        }
        power = matrix::product(&power, &power);
        left /= 2;
    }
    [whole[0][0], whole[0][1] * whole[0][1]]
}

/// The mean of Algorithm 1 with ΔU = l (η θ + (η²/2) p).
fn third_order_matrix(c: &Coefficients, eta: f64, l: f64) -> Matrix<3> {
    let (from_theta, from_p) = (l * eta, 0.5 * l * eta * eta);
    let row =
        |kick: f64, [theta, p, r]: [f64; 3]| [theta + kick * from_theta, p + kick * from_p, r];
    [
        row(-0.5 * eta, [1.0, c.mu12(), c.mu13()]),
        row(-1.0, [0.0, c.mu22(), c.mu23()]),
        row(c.mu31(), [0.0, c.mu32(), c.mu33()]),
    ]
}

/// A step of (p, r) as a step of (θ, p, r): its map and the covariance of its noise.
pub(super) fn beside_theta(step: &OrnsteinUhlenbeck) -> (Matrix<3>, Matrix<3>) {
    let [[a, b], [c, d]] = step.flow();
    let [[pp, pr], [_, rr]] = step.covariance();
    ([[1.0, 0.0, 0.0], [0.0, a, b], [0.0, c, d]], [[0.0, 0.0, 0.0], [0.0, pp, pr], [0.0, pr, rr]])
}

/// Kick and drift by the average gradient over the predicted segment, as in [`Scheme::averaged`].
fn averaged_matrix(eta: f64, l: f64) -> Matrix<3> {
    let h = 0.5 * eta;
    let alpha = 1.0 / (1.0 + h * h);
    let (from_theta, from_p) = (l * alpha * eta, l * alpha * eta * h);
    // η − (η/2) from_p, which cancels in long steps.
    let reach = alpha * eta * (1.0 + (1.0 - l) * h * h);
    [[1.0 - h * from_theta, reach, 0.0], [-from_theta, 1.0 - from_p, 0.0], [0.0, 0.0, 1.0]]
}

/// Half kick, half drift, `flow` with its noise, half drift, half kick.
fn between_half_kicks(
    eta: f64, l: f64, flow: &Matrix<3>, noise: &Matrix<3>,
) -> (Matrix<3>, Matrix<3>) {
    let h = 0.5 * eta;
    // Kick then drift, and drift then kick.
    let before = [[1.0 - h * h * l, h, 0.0], [-h * l, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let after = [[1.0, h, 0.0], [-h * l, 1.0 - h * h * l, 0.0], [0.0, 0.0, 1.0]];
    let matrix = matrix::product(&after, &matrix::product(flow, &before));
    (matrix, matrix::congruence(noise, &matrix::transpose(&after)))
}

/// One step of Shen and Lee's method for one time of the midpoint.
fn midpoint_branch(full: &FreeFlow, node: &Midpoint, eta: f64, l: f64) -> Branch {
    let Midpoint { weight, before, after } = node;
    // The gradient at the midpoint, l times its θ, moves the end by −η times the effect of a kick
    // over the remaining time.
    let kick = [-eta * l * after.reach(), -eta * l * after.decay()];
    let midpoint = [1.0 - l * before.pushed(), before.reach()];
    let matrix = [
        [1.0 + kick[0] * midpoint[0], full.reach() + kick[0] * midpoint[1]],
        [kick[1] * midpoint[0], full.decay() + kick[1] * midpoint[1]],
    ];
    // The noise before the midpoint reaches the end through the free flow; the rest is independent
    // of it.
    let [[theta, cross], _] = before.covariance();
    let shared = [theta + after.reach() * cross, after.decay() * cross];
    let end = full.covariance();
    let noise = matrix::from_fn(|i, j| {
        end[i][j] + kick[i] * shared[j] + kick[j] * shared[i] + kick[i] * kick[j] * theta
    });
    Branch { weight: *weight, matrix: padded(matrix), noise: padded(noise) }
}

/// A matrix on (θ, p) as a matrix on (θ, p, r).
fn padded(a: Matrix<2>) -> Matrix<3> {
    matrix::from_fn(|i, j| if i < 2 && j < 2 { a[i][j] } else { 0.0 })
}
