//! Priors: independent normal distributions of the coefficients, some of them flat.

use crate::error::{Error, PriorValue, length};

/// A normal prior for each coefficient; an infinite scale is a flat one.
#[derive(Debug, Clone, PartialEq)]
pub struct Prior {
    mean: Vec<f64>,
    /// 1/scale²; 0 where flat.
    precision: Vec<f64>,
}

impl Prior {
    /// Normal priors with these means and standard deviations; `f64::INFINITY` is flat.
    ///
    /// # Errors
    /// A mean that is not finite or a scale that is not positive, by coefficient; lists of
    /// different lengths.
    pub fn normal(means: &[f64], scales: &[f64]) -> Result<Self, Error> {
        length("the list of prior scales", scales.len(), means.len())?;
        for (coefficient, (&mean, &scale)) in means.iter().zip(scales).enumerate() {
            let bad = |what, value, need| Err(Error::Prior { what, coefficient, value, need });
            if !mean.is_finite() {
                return bad(PriorValue::Mean, mean, "a finite number");
            }
            // A precision that overflows or underflows would be a different prior.
            let usable =
                scale > 0.0 && (scale == f64::INFINITY || (1e-150..1e150).contains(&scale));
            if !usable {
                return bad(
                    PriorValue::Scale,
                    scale,
                    "a number between 1e-150 and 1e150, or infinity for a flat prior",
                );
            }
        }
        Ok(Self {
            mean: means.to_vec(),
            precision: scales.iter().map(|scale| 1.0 / (scale * scale)).collect(),
        })
    }

    /// normal(0, scale) for each of `dimension` coefficients.
    ///
    /// # Errors
    /// A scale that is not positive.
    pub fn centred(dimension: usize, scale: f64) -> Result<Self, Error> {
        Self::normal(&vec![0.0; dimension], &vec![scale; dimension])
    }

    /// Flat for each of `dimension` coefficients.
    #[must_use]
    pub fn flat(dimension: usize) -> Self {
        Self { mean: vec![0.0; dimension], precision: vec![0.0; dimension] }
    }

    /// The number of coefficients.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.mean.len()
    }

    /// From numbers that are known to be valid.
    pub(crate) fn from_precision(mean: Vec<f64>, precision: Vec<f64>) -> Self {
        Self { mean, precision }
    }

    /// The means.
    #[must_use]
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// The precisions 1/scale², 0 where flat.
    #[must_use]
    pub fn precision(&self) -> &[f64] {
        &self.precision
    }

    /// Minus the log density up to a constant: half the sum of precision · (θ − mean)².
    pub(crate) fn value(&self, point: &[f64]) -> f64 {
        let terms = point.iter().zip(&self.mean).zip(&self.precision);
        0.5 * terms.map(|((x, m), q)| q * (x - m) * (x - m)).sum::<f64>()
    }

    /// Adds to a sum the integral of the gradient over t in [0, length] along position + t
    /// momentum: length · precision · (position + (length/2) momentum − mean).
    pub(crate) fn add_integral(
        &self, length: f64, position: &[f64], momentum: &[f64], sum: &mut [f64],
    ) {
        for (k, sum) in sum.iter_mut().enumerate() {
            // Half a number is exact: a fused operation, which would be a function call here, would
            // not be more accurate.
            let middle = (position[k] - self.mean[k]) + 0.5 * (length * momentum[k]);
            *sum += length * self.precision[k] * middle;
        }
    }

    /// Adds to a sum the gradient at a point: precision · (point − mean).
    pub(crate) fn add_gradient(&self, point: &[f64], sum: &mut [f64]) {
        for (k, sum) in sum.iter_mut().enumerate() {
            *sum += self.precision[k] * (point[k] - self.mean[k]);
        }
    }
}
