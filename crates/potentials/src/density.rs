//! Densities of one number, for priors.

use crate::error::Error;
use crate::softplus::{sigmoid, softplus};

/// The prior density of one number: a coefficient, or a parameter of a likelihood. On positive
/// parameters the densities of the real line count as half of themselves: a half-normal is
/// `Normal` with mean 0.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Density {
    /// The same everywhere.
    Flat,
    /// Normal.
    Normal {
        /// The mean.
        mean: f64,
        /// The standard deviation.
        scale: f64,
    },
    /// Student's t; Cauchy's with one degree of freedom.
    StudentT {
        /// Degrees of freedom.
        degrees: f64,
        /// The centre.
        mean: f64,
        /// The scale.
        scale: f64,
    },
    /// Laplace's: exp(−|x − mean|/scale). Its slope jumps at the mean.
    Laplace {
        /// The centre.
        mean: f64,
        /// The scale.
        scale: f64,
    },
    /// Logistic.
    Logistic {
        /// The centre.
        mean: f64,
        /// The scale.
        scale: f64,
    },
    /// Exponential, of a positive number.
    Exponential {
        /// The inverse of the mean.
        rate: f64,
    },
    /// Gamma, of a positive number.
    Gamma {
        /// The shape.
        shape: f64,
        /// The inverse of the scale.
        rate: f64,
    },
}

impl Density {
    /// An error unless the centre is finite and every other parameter positive and finite.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let (mean, positive) = match *self {
            Self::Flat => (0.0, vec![]),
            Self::Normal { mean, scale }
            | Self::Laplace { mean, scale }
            | Self::Logistic { mean, scale } => (mean, vec![("prior scale", scale)]),
            Self::StudentT { degrees, mean, scale } => {
                (mean, vec![("prior degrees of freedom", degrees), ("prior scale", scale)])
            }
            Self::Exponential { rate } => (0.0, vec![("prior rate", rate)]),
            Self::Gamma { shape, rate } => {
                (0.0, vec![("prior shape", shape), ("prior rate", rate)])
            }
        };
        if !mean.is_finite() {
            return Err(Error::NotFiniteNumber { name: "prior mean", value: mean });
        }
        match positive.into_iter().find(|(_, x)| !(1e-150..1e150).contains(x)) {
            Some((name, value)) => Err(Error::NotPositive { name, value }),
            None => Ok(()),
        }
    }

    /// Whether the logarithm of the density is concave.
    #[must_use]
    pub fn log_concave(&self) -> bool {
        match self {
            Self::StudentT { .. } => false,
            Self::Gamma { shape, .. } => *shape >= 1.0,
            _ => true,
        }
    }

    /// Whether the density can be normalised.
    #[must_use]
    pub fn is_proper(&self) -> bool {
        *self != Self::Flat
    }

    /// Minus the logarithm of the density, up to a constant, and its derivative.
    #[must_use]
    pub fn value_and_slope(&self, x: f64) -> [f64; 2] {
        match *self {
            Self::Flat => [0.0, 0.0],
            Self::Normal { mean, scale } => {
                let z = (x - mean) / scale;
                [0.5 * z * z, z / scale]
            }
            Self::StudentT { degrees, mean, scale } => {
                let z = (x - mean) / scale;
                let slope = (degrees + 1.0) / (degrees / z + z) / scale;
                // At the centre 1/z is infinite, and the slope 0.
                [0.5 * (degrees + 1.0) * (z * z / degrees).ln_1p(), slope]
            }
            Self::Laplace { mean, scale } => {
                let z = (x - mean) / scale;
                let sign = if z == 0.0 { 0.0 } else { z.signum() };
                [z.abs(), sign / scale]
            }
            Self::Logistic { mean, scale } => {
                let z = (x - mean) / scale;
                [softplus(z) + softplus(-z), (sigmoid(z) - sigmoid(-z)) / scale]
            }
            Self::Exponential { rate } => [rate * x, rate],
            Self::Gamma { shape, rate } => {
                [rate * x - (shape - 1.0) * x.ln(), rate - (shape - 1.0) / x]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One of each.
    const ALL: [Density; 7] = [
        Density::Flat,
        Density::Normal { mean: 0.5, scale: 2.0 },
        Density::StudentT { degrees: 3.0, mean: 0.5, scale: 2.0 },
        Density::Laplace { mean: 0.5, scale: 2.0 },
        Density::Logistic { mean: 0.5, scale: 2.0 },
        Density::Exponential { rate: 0.7 },
        Density::Gamma { shape: 2.0, rate: 0.1 },
    ];

    #[test]
    fn slopes_are_those_of_the_values() {
        for density in ALL {
            for x in [0.1, 0.4, 1.0, 7.0, 200.0] {
                let h = 1e-5 * x;
                let [high, low] = [x + h, x - h].map(|x| density.value_and_slope(x)[0]);
                let slope = density.value_and_slope(x)[1];
                let difference = (high - low) / (2.0 * h);
                let off = (slope - difference).abs();
                assert!(off <= 1e-7 * (1.0 + slope.abs()), "{density:?} at {x}: {off}");
            }
        }
    }

    /// Densities at 3 over those at 1, by Python's floats from the textbook formulas.
    #[test]
    fn ratios_are_those_of_the_densities() {
        let ratios = [1.0, 0.472_366_552_741, 0.450_553_574_780, 0.367_879_441_171];
        let ratios =
            ratios.into_iter().chain([0.703_294_663_897, 0.246_596_963_942, 2.456_192_259_234]);
        for (density, ratio) in ALL.into_iter().zip(ratios) {
            let [one, three] = [1.0, 3.0].map(|x| density.value_and_slope(x)[0]);
            let off = ((one - three).exp() / ratio - 1.0).abs();
            assert!(off < 1e-9, "{density:?}: {}", (one - three).exp());
        }
    }

    #[test]
    fn the_slope_at_the_centre_is_0() {
        for density in &ALL[1..5] {
            assert_eq!(density.value_and_slope(0.5)[1], 0.0, "{density:?}");
        }
    }

    #[test]
    fn bad_numbers_are_refused() {
        let bad = [
            Density::Normal { mean: f64::NAN, scale: 1.0 },
            Density::Normal { mean: 0.0, scale: 0.0 },
            Density::StudentT { degrees: -1.0, mean: 0.0, scale: 1.0 },
            Density::Laplace { mean: 0.0, scale: f64::INFINITY },
            Density::Exponential { rate: f64::NAN },
            Density::Gamma { shape: 0.0, rate: 1.0 },
        ];
        assert!(bad.iter().all(|density| density.check().is_err()));
        assert!(ALL.iter().all(|density| density.check().is_ok()));
    }
}
