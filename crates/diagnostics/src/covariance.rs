//! Streaming mean and covariance matrix.

use crate::error::{Error, check_dimension};

/// Means and the full covariance matrix in one pass.
///
/// Takes d(d + 1)/2 numbers of memory and as many multiplications per draw; for means and variances
/// alone use [`Moments`](crate::Moments), whose documentation explains the recursion and its
/// accuracy.
///
/// A draw that is not finite makes all entries of its coordinate NaN from then on.
#[derive(Debug, Clone, PartialEq)]
pub struct Covariance {
    count: u64,
    /// The first draw; distances are measured from it.
    origin: Vec<f64>,
    /// Mean distance from the origin.
    mean: Vec<f64>,
    /// Sums of products of distances from the mean: the lower triangle, row by row.
    products: Vec<f64>,
    /// The distance of a draw from the mean of those before it.
    step: Vec<f64>,
}

impl Covariance {
    /// An empty accumulator for draws with `dimension` coordinates.
    pub fn new(dimension: usize) -> Self {
        Self {
            count: 0,
            origin: vec![0.0; dimension],
            mean: vec![0.0; dimension],
            products: vec![0.0; dimension * (dimension + 1) / 2],
            step: vec![0.0; dimension],
        }
    }

    /// The number of coordinates.
    pub fn dimension(&self) -> usize {
        self.origin.len()
    }

    /// The number of draws so far.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Adds a draw.
    pub fn push(&mut self, draw: &[f64]) -> Result<(), Error> {
        check_dimension(draw.len(), self.dimension())?;
        if self.count == 0 {
            self.origin.copy_from_slice(draw);
        }
        for (i, &x) in draw.iter().enumerate() {
            self.step[i] = (x - self.origin[i]) - self.mean[i];
        }
        let before = self.count as f64;
        self.count += 1;
        let share = 1.0 / self.count as f64;
        self.shift(share, before * share);
        Ok(())
    }

    /// Adds all draws of another accumulator.
    pub fn merge(&mut self, other: &Self) -> Result<(), Error> {
        check_dimension(other.dimension(), self.dimension())?;
        if other.count == 0 {
            return Ok(());
        }
        if self.count == 0 {
            self.clone_from(other);
            return Ok(());
        }
        for i in 0..self.dimension() {
            self.step[i] = (other.origin[i] - self.origin[i]) + (other.mean[i] - self.mean[i]);
        }
        let (here, there) = (self.count as f64, other.count as f64);
        self.count += other.count;
        let share = there / (here + there);
        for (sum, more) in self.products.iter_mut().zip(&other.products) {
            *sum += more;
        }
        self.shift(share, here * share);
        Ok(())
    }

    /// Moves the mean by `share` times the step, and adds `weight` times the outer product of the
    /// step with itself.
    fn shift(&mut self, share: f64, weight: f64) {
        let mut row = 0;
        for i in 0..self.step.len() {
            let scaled = weight * self.step[i];
            for (sum, step) in self.products[row..=row + i].iter_mut().zip(&self.step) {
                *sum += scaled * step;
            }
            row += i + 1;
            self.mean[i] += share * self.step[i];
        }
    }

    /// The mean of coordinate i; NaN before the first draw and for i out of range.
    pub fn mean(&self, i: usize) -> f64 {
        if self.count < 1 || i >= self.dimension() {
            f64::NAN
        } else {
            self.origin[i] + self.mean[i]
        }
    }

    /// The covariance of coordinates i and j with divisor n − 1; NaN before the second draw and for
    /// i or j out of range.
    pub fn covariance(&self, i: usize, j: usize) -> f64 {
        let (row, column) = (i.max(j), i.min(j));
        if self.count < 2 || row >= self.dimension() {
            return f64::NAN;
        }
        self.products[row * (row + 1) / 2 + column] / (self.count - 1) as f64
    }

    /// Writes the full d x d matrix, row by row.
    pub fn write_into(&self, matrix: &mut [f64]) -> Result<(), Error> {
        let d = self.dimension();
        check_dimension(matrix.len(), d * d)?;
        for i in 0..d {
            for j in 0..d {
                matrix[i * d + j] = self.covariance(i, j);
            }
        }
        Ok(())
    }
}
