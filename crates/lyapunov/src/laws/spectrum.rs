//! A Gaussian target, given by the eigenvalues of its Hessian, and the start of a chain.

use crate::error::{Error, positive};

/// The largest number of distinct eigenvalues in [`Spectrum::log_spaced`].
const LOG_SPACED: u32 = 9;

/// An eigenvalue and the number of coordinates that have it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Eigenvalue {
    /// The eigenvalue of the Hessian H.
    pub eigenvalue: f64,
    /// The number of coordinates.
    pub multiplicity: u64,
}

/// N(θ*, H^−1). Only the distinct eigenvalues of H matter to the laws, so a million dimensions can
/// cost no more than one.
#[derive(Debug, Clone, PartialEq)]
pub struct Spectrum {
    modes: Vec<Eigenvalue>,
    smoothness: f64,
}

impl Spectrum {
    /// The target whose Hessian has these eigenvalues with their multiplicities; L is the largest.
    ///
    /// # Errors
    /// [`Error::NotInRange`] for an eigenvalue that is not positive and finite, or a dimension of
    /// 0.
    pub fn new(eigenvalues: &[(f64, u64)]) -> Result<Self, Error> {
        let mut smoothness = 0.0_f64;
        for &(eigenvalue, multiplicity) in eigenvalues {
            positive("eigenvalue", eigenvalue)?;
            if multiplicity > 0 {
                smoothness = smoothness.max(eigenvalue);
            }
        }
        if smoothness == 0.0 {
            return Err(Error::NotInRange { name: "dimension", value: 0.0, need: "at least 1" });
        }
        let modes = eigenvalues.iter().filter(|(_, multiplicity)| *multiplicity > 0);
        let modes = modes
            .map(|&(eigenvalue, multiplicity)| Eigenvalue { eigenvalue, multiplicity })
            .collect();
        Ok(Self { modes, smoothness })
    }

    /// `dimension` coordinates with L = 1, spread evenly over at most nine eigenvalues from 1 to
    /// 1/κ that are evenly spaced on a logarithmic scale.
    ///
    /// # Errors
    /// [`Error::NotInRange`] unless κ is finite and at least 1, and the dimension at least 1.
    pub fn log_spaced(kappa: f64, dimension: u64) -> Result<Self, Error> {
        crate::error::condition_number(kappa)?;
        let count = u64::from(LOG_SPACED).min(dimension).max(1);
        let last = count.max(2) - 1;
        let eigenvalues: Vec<(f64, u64)> = (0..count)
            .map(|i| {
                let share = dimension / count + u64::from(i < dimension % count);
                (kappa.powf(-(i as f64) / last as f64), share)
            })
            .collect();
        Self::new(&eigenvalues)
    }

    /// The eigenvalues with their multiplicities, in the order given.
    #[must_use]
    pub fn modes(&self) -> &[Eigenvalue] {
        &self.modes
    }

    /// L, the largest eigenvalue.
    #[must_use]
    pub fn smoothness(&self) -> f64 {
        self.smoothness
    }

    /// κ, the largest over the smallest eigenvalue.
    #[must_use]
    pub fn condition_number(&self) -> f64 {
        self.smoothness
            / self.modes.iter().map(|mode| mode.eigenvalue).fold(f64::INFINITY, f64::min)
    }

    /// d, the sum of the multiplicities.
    #[must_use]
    pub fn dimension(&self) -> u64 {
        self.modes.iter().map(|mode| mode.multiplicity).fold(0, u64::saturating_add)
    }
}

/// Where a chain starts.
#[derive(Debug, Clone, PartialEq)]
pub enum Start {
    /// At θ*, with p and r drawn from N(0, I/L).
    AtMode,
    /// Displaced from θ*: for each mode of the target, the displacement of each of its coordinates.
    /// p and r are drawn from N(0, I/L).
    Displaced(Vec<f64>),
    /// Displaced in the same way, with p = r = 0. The paper starts like this, at θ*.
    AtRest(Vec<f64>),
}
