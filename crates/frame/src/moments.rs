//! Means and standard deviations of the columns of a design that is read in passes: the same, to the
//! last bit, as those of a design in memory.

use crate::error::DataError;
use crate::frame::Frame;
use crate::question::FamilyName;
use crate::scaling::{Sizes, unit_of};

/// What is called with some whole rows after others.
pub type TakeRows<'a> = &'a mut dyn FnMut(&[f64]);

/// The mean, the standard deviation with divisor n and the largest entry of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Moments {
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub sd: f64,
    /// The largest magnitude.
    pub largest: f64,
}

impl Moments {
    /// The moments of each of `columns` columns of `rows` rows. `pass` calls the function that it is
    /// given with all rows in order, any number of whole rows at a time.
    ///
    /// # Errors
    /// Those of `pass`.
    pub fn of_columns<E>(
        rows: usize, columns: usize, pass: &mut dyn FnMut(TakeRows<'_>) -> Result<(), E>,
    ) -> Result<Vec<Self>, E> {
        let n = rows as f64;
        // What a sum of no numbers is.
        let none: f64 = std::iter::empty::<f64>().sum();
        let mut over = |start: f64, add: &dyn Fn(usize, f64, f64) -> f64| {
            let mut sums = vec![start; columns];
            pass(&mut |block| {
                for row in block.chunks_exact(columns.max(1)) {
                    for (k, (sum, x)) in sums.iter_mut().zip(row).enumerate() {
                        *sum = add(k, *sum, *x);
                    }
                }
            })?;
            Ok::<Vec<f64>, E>(sums)
        };
        let first = over(none, &|_, sum, x| sum + x)?;
        let first: Vec<f64> = first.into_iter().map(|sum| sum / n).collect();
        let rest = over(none, &|k, sum, x| sum + (x - first[k]))?;
        let means: Vec<f64> =
            first.iter().zip(rest).map(|(first, rest)| first + rest / n).collect();
        let far = over(f64::NEG_INFINITY, &|k, far, x| far.max((x - means[k]).abs()))?;
        let largest = over(f64::NEG_INFINITY, &|_, largest, x| largest.max(x.abs()))?;
        let units: Vec<f64> = far.iter().map(|far| unit_of(*far)).collect();
        let squares = over(none, &|k, sum, x| sum + ((x - means[k]) / units[k]).powi(2))?;
        Ok((0..columns)
            .map(|k| {
                let sd = if far[k] == 0.0 { 0.0 } else { units[k] * (squares[k] / n).sqrt() };
                Self { mean: means[k], sd, largest: largest[k] }
            })
            .collect())
    }
}

impl Frame {
    /// As [`Frame::standardize`], for a design that is elsewhere: returns what to subtract from each
    /// column and what to divide it by.
    ///
    /// # Errors
    /// [`DataError::Constant`] for a predictor that varies only by rounding.
    pub fn standardize_by(&mut self, moments: &[Moments]) -> Result<Vec<(f64, f64)>, DataError> {
        let mut scaling = vec![(0.0, 1.0); self.columns];
        for column in usize::from(self.intercept)..self.columns {
            let Moments { mean, sd, largest } = moments[column];
            if !(sd > 16.0 * f64::EPSILON * largest) {
                return Err(self.constant(column, mean));
            }
            scaling[column] = (mean, sd);
        }
        self.scaling = Some(scaling.clone());
        Ok(scaling)
    }

    /// As [`Frame::centre`], for a design that is elsewhere: returns what to subtract from each
    /// column, and 1; `None` if it was standardized.
    pub fn centre_by(&mut self, moments: &[Moments]) -> Option<Vec<(f64, f64)>> {
        if self.scaling.is_some() {
            return None;
        }
        let first = usize::from(self.intercept);
        let centre = |(k, moments): (usize, &Moments)| match k < first {
            true => (0.0, 1.0),
            false => (moments.mean, 1.0),
        };
        let scaling: Vec<(f64, f64)> = moments.iter().enumerate().map(centre).collect();
        self.scaling = Some(scaling.clone());
        Some(scaling)
    }

    /// As [`Frame::sizes`], for a design that is elsewhere.
    #[must_use]
    pub fn sizes_by(&self, moments: &[Moments], family: FamilyName) -> Sizes {
        let n = self.all_rows as f64;
        let unbiased = (n / (n - 1.0)).sqrt();
        let size = |sd: f64| if sd > 0.0 { unbiased * sd } else { 1.0 };
        let (mean, spread) = self.sizes_of_response(family, &mut |_, _| {});
        let columns = moments.iter().map(|moments| size(moments.sd)).collect();
        let means = moments.iter().map(|moments| moments.mean).collect();
        Sizes { columns, means, mean, spread, slopes: Vec::new() }
    }
}
