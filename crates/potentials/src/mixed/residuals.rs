//! Whether a model with effects of groups fits its responses without an error.

use super::Mixed;
use crate::cholesky::Memory;
use crate::hessian::{add_backward, dot, forward};

/// The share of a diagonal that is added to it, so that collinear columns have a factor.
const RIDGE: f64 = 1e-8;
/// Corrections, each of which takes away all but about that share of what is left.
const CORRECTIONS: usize = 6;
/// Residuals of this share of the responses are rounding.
const ROUNDING: f64 = 1e-10;

impl Mixed {
    /// Whether some coefficients and effects fit these responses to the last digits, although the
    /// design leaves room for residuals of other responses: the noise then has no lower bound.
    /// `None` for a model of several linear predictors, or one that cannot be computed. Where rows
    /// are spread over processes, the responses are those of this process.
    #[must_use]
    pub fn fits_exactly(&self, responses: &[f64]) -> Option<bool> {
        let (design, rows) = (self.joint.design(), self.joint.rows());
        let one = self.joint.likelihood().predictors() == 1;
        if !rows.everywhere(one && responses.len() == design.rows()) {
            return None;
        }
        // Any responses but those.
        let first = rows.before(design.rows());
        let others: Vec<f64> = (first..first + design.rows())
            .map(|row| (f64::from(u32::try_from(row % 65_521).unwrap_or(0)) * 0.618_034).fract())
            .collect();
        Some(self.left_of(responses)? < ROUNDING && self.left_of(&others)? > ROUNDING.sqrt())
    }

    /// The size of the residuals of least squares, as a share of that of the responses.
    fn left_of(&self, responses: &[f64]) -> Option<f64> {
        let (design, pattern) = (self.joint.design(), &self.symbolic.pattern);
        let rows = self.joint.rows();
        let norm = |list: &[f64]| {
            let mut squares = [dot(list, list)];
            rows.sum(&mut squares);
            squares[0].sqrt()
        };
        let mut values = vec![0.0; pattern.rows.len()];
        self.gram.add(design, &vec![1.0; design.rows()], pattern, &mut values);
        rows.sum(&mut values);
        for &at in &pattern.starts[..pattern.size()] {
            values[at] = if values[at] > 0.0 { values[at] * (1.0 + RIDGE) } else { 1.0 };
        }
        let (mut factor, mut memory) = (Vec::new(), Memory::default());
        self.symbolic.factor(&values, &mut factor, &mut memory).then_some(())?;
        let size = norm(responses);
        let mut residuals = responses.to_vec();
        let mut right = vec![0.0; self.head];
        let (mut half, mut step) = (right.clone(), right.clone());
        for _ in 0..CORRECTIONS {
            right.fill(0.0);
            add_backward(design, &residuals, &mut right);
            rows.sum(&mut right);
            self.symbolic.forward(&factor, [&right], [&mut half], &mut Vec::new());
            self.symbolic.backward(&factor, [&half], [&mut step], &mut Vec::new());
            let fitted = forward(design, &step);
            residuals.iter_mut().zip(fitted).for_each(|(r, fitted)| *r -= fitted);
        }
        Some(if size > 0.0 { norm(&residuals) / size } else { 0.0 })
    }
}
