//! Certificates of contraction: quadratic forms in which any two copies of a process, driven by the
//! same noise, approach each other, for every potential with the given condition number and in
//! every dimension.
//!
//! The paper gives one such form, derived by hand for the diffusion, with γ = κ, ξ = 2κ and a rate
//! of 1/(10κ² + 100). Here forms are searched for, for the diffusion and for the algorithms
//! themselves, and each one found is checked in exact arithmetic by code that shares nothing with
//! the search. A [`Certificate`] can only be created by passing that check.
//!
//! ```
//! use ridgewalk_lyapunov::certificate::{Process, Verdict, certify};
//!
//! let process = Process::ThirdOrder { eta: 0.5, nodes: None };
//! let found = certify(10.0, process, Some(2.09), Some(4.0))?;
//! let Verdict::Certified(certificate) = found.status else { panic!("{:?}", found.status) };
//! assert!(certificate.speed() < 1.0 - 0.046, "each step brings two copies closer by this factor");
//! # Ok::<(), ridgewalk_lyapunov::Error>(())
//! ```

mod barrier;
mod check;
mod enclosure;
mod inequality;
mod setting;

pub use check::Refusal;
pub use setting::{Process, Setting};

pub(crate) use inequality::{Inequality, unpack};

use crate::error::Error;
use crate::matrix::Matrix;
use crate::simplex::minimise;

/// A proved contraction. It can only be created by [`Certificate::check`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Certificate {
    setting: Setting,
    s: Matrix<3>,
    tau: f64,
    speed: f64,
    margin: f64,
}

impl Certificate {
    /// Checks the claim that two copies approach each other in the norm of `s`: at rate `speed` in
    /// continuous time, by the factor `speed` in each step otherwise. `tau` is the multiplier of
    /// the 4x4 inequality for the third-order algorithm; it is not used for other processes.
    ///
    /// # Errors
    /// A [`Refusal`] with the reason.
    pub fn check(setting: Setting, s: Matrix<3>, tau: f64, speed: f64) -> Result<Self, Refusal> {
        check::check(&setting, &s, tau, speed)?;
        let inequality = Inequality::new(&setting).map_err(|_| Refusal::Inequality)?;
        let eta = setting.process().eta();
        let lambda = eta.map_or(-2.0 * speed, |_| inequality.lambda(speed));
        let unknowns =
            [s[0][0], s[0][1], s[0][2], s[1][1], s[1][2], s[2][2], tau * eta.unwrap_or(1.0)];
        Ok(Self { setting, s, tau, speed, margin: inequality.margin(&unknowns, lambda) })
    }

    /// The process and its parameters.
    #[must_use]
    pub fn setting(&self) -> Setting {
        self.setting
    }

    /// The matrix S of the norm, for one coordinate of (θ, p, r).
    #[must_use]
    pub fn s(&self) -> [[f64; 3]; 3] {
        self.s
    }

    /// The multiplier τ; 0 if there is none.
    #[must_use]
    pub fn tau(&self) -> f64 {
        self.tau
    }

    /// The rate ρ of the diffusion, or the factor r of one step.
    #[must_use]
    pub fn speed(&self) -> f64 {
        self.speed
    }

    /// The smallest eigenvalue of the matrix that must be positive, per unit of time, with S scaled
    /// to trace 1. For information only, in floating point; the check does not rely on it.
    #[must_use]
    pub fn margin(&self) -> f64 {
        self.margin
    }
}

/// A curvature at which two copies of the algorithm move apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Witness {
    /// The eigenvalue l of the Hessian over L.
    pub curvature: f64,
    /// The spectral radius of the step at that curvature.
    pub spectral_radius: f64,
}

/// The result of a search for a certificate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Verdict {
    /// Found and checked.
    Certified(Certificate),
    /// No certificate exists: on a quadratic potential of this curvature the step does not contract
    /// in any norm.
    Refuted(Witness),
    /// Neither.
    Unknown,
}

/// γ and ξ, as given or as found by the search, with the verdict for them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Certification {
    /// γ.
    pub gamma: f64,
    /// ξ.
    pub xi: f64,
    /// The verdict.
    pub status: Verdict,
}

/// Searches for the best certificate over S, and over γ and ξ if they are not given.
///
/// # Errors
/// [`Error`] with name and value of an argument outside its range.
pub fn certify(
    kappa: f64, process: Process, gamma: Option<f64>, xi: Option<f64>,
) -> Result<Certification, Error> {
    let (first_gamma, first_xi) = first_guess(kappa);
    let first = Setting::new(kappa, gamma.unwrap_or(first_gamma), xi.unwrap_or(first_xi), process)?;
    let setting = match (gamma, xi) {
        (Some(_), Some(_)) => first,
        _ => best_parameters(first, gamma, xi),
    };
    Ok(Certification {
        gamma: setting.gamma(),
        xi: setting.xi(),
        status: certify_setting(&setting)?,
    })
}

/// Searches for the best certificate for a given setting.
///
/// # Errors
/// If γη or ξη is outside the range of the formulas.
pub fn certify_setting(setting: &Setting) -> Result<Verdict, Error> {
    let inequality = Inequality::new(setting)?;
    if let Some(found) = inequality.best(1e-6)
        && found.lambda < 0.0
    {
        // At its own λ the best S satisfies the inequality with no margin. Give up a little speed,
        // and more if that is lost in the rounding of S.
        for slack in [1e-6, 1e-5, 1e-4, 1e-3, 1e-2] {
            let lambda = found.lambda * (1.0 - slack);
            let (s, tau) = unpack(&found.unknowns);
            let (speed, tau) = match setting.process().eta() {
                None => (-0.5 * lambda, 0.0),
                Some(eta) => (inequality.factor(lambda), tau / eta),
            };
            if let Ok(certificate) = Certificate::check(*setting, s, tau, speed) {
                return Ok(Verdict::Certified(certificate));
            }
        }
    }
    Ok(inequality::witness(setting)?.map_or(Verdict::Unknown, Verdict::Refuted))
}

/// Near the best γ and ξ for the diffusion: (1.17, 1.78) for large κ and (2√2, 3√3) at κ = 1.
fn first_guess(kappa: f64) -> (f64, f64) {
    (1.17 + 1.66 / kappa, 1.78 + 3.42 / kappa)
}

/// The setting that contracts fastest, over γ and ξ if they are not given.
fn best_parameters(first: Setting, gamma: Option<f64>, xi: Option<f64>) -> Setting {
    let at = |gamma: f64, xi: f64| Setting::new(first.kappa(), gamma, xi, first.process());
    let cost = |gamma: f64, xi: f64| {
        let inequality = at(gamma, xi).and_then(|setting| Inequality::new(&setting));
        let found = inequality.ok().and_then(|inequality| inequality.best(1e-5));
        found.map_or(f64::INFINITY, |found| found.lambda)
    };
    let (gamma, xi) = match (gamma, xi) {
        (Some(gamma), _) => {
            let found = minimise(|[x]| cost(gamma, x.exp()), [first.xi().ln()], 0.3, 1e-6, 60);
            (gamma, found.point[0].exp())
        }
        (_, Some(xi)) => {
            let found = minimise(|[g]| cost(g.exp(), xi), [first.gamma().ln()], 0.3, 1e-6, 60);
            (found.point[0].exp(), xi)
        }
        (None, None) => {
            let start = [first.gamma().ln(), first.xi().ln()];
            let found = minimise(|[g, x]| cost(g.exp(), x.exp()), start, 0.2, 1e-5, 120);
            (found.point[0].exp(), found.point[1].exp())
        }
    };
    at(gamma, xi).unwrap_or(first)
}
