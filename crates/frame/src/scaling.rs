//! Standardized predictors: centred, and divided by their standard deviation with divisor n.

use crate::error::DataError;
use crate::frame::Frame;
use crate::groups::Grouping;
use crate::question::FamilyName;

/// How numbers of several parts of a table are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Combine {
    /// Their sum.
    Sum,
    /// Their maximum.
    Largest,
}

impl Frame {
    /// Centres every predictor and divides it by its standard deviation. For a part of the table,
    /// `combine` replaces each number by its sum or maximum over all parts; for a whole table it
    /// does nothing.
    ///
    /// # Errors
    /// [`DataError::Constant`] for a predictor that varies only by rounding.
    pub fn standardize(
        &mut self, mut combine: impl FnMut(Combine, &mut [f64]),
    ) -> Result<(), DataError> {
        let (first, all) = (usize::from(self.intercept), self.all_rows);
        let found = self.design.by_column(|column, values, zeros| {
            let (mean, sd) = mean_and_sd(values, zeros, all, &mut combine);
            let size = largest(values.iter().map(|value| value.abs()), &mut combine);
            // Rounding differences would be scaled up to differences of size 1.
            match sd > 16.0 * f64::EPSILON * size {
                _ if column < first => Ok((0.0, 1.0)),
                true => Ok((mean, sd)),
                false => Err((column, mean)),
            }
        });
        let scaling = found.into_iter().collect::<Result<Vec<(f64, f64)>, (usize, f64)>>();
        let scaling = scaling.map_err(|(column, mean)| self.constant(column, mean))?;
        self.rescale(scaling);
        Ok(())
    }

    /// Subtracts its mean from every predictor, so that the intercept is that of the mean of the
    /// predictors. For a frame that was standardized it does nothing, nor for a sparse design, whose
    /// zeros stay 0.
    pub fn centre(&mut self, sizes: &Sizes) {
        if self.scaling.is_some() || self.design.is_sparse() {
            return;
        }
        let centre = |(column, mean): (usize, &f64)| {
            (if column < usize::from(self.intercept) { 0.0 } else { *mean }, 1.0)
        };
        self.rescale(sizes.means.iter().enumerate().map(centre).collect());
    }

    /// Subtracts its first number from each column, and divides by the second.
    fn rescale(&mut self, scaling: Vec<(f64, f64)>) {
        self.design.map(|column, value| {
            let (mean, sd) = scaling[column];
            (value - mean) / sd
        });
        self.scaling = Some(scaling);
    }

    /// The sizes that priors are scaled by.
    pub fn sizes(&self, family: FamilyName, mut combine: impl FnMut(Combine, &mut [f64])) -> Sizes {
        let n = self.all_rows as f64;
        // With divisor n − 1.
        let unbiased = (n / (n - 1.0)).sqrt();
        let (means, columns) = self
            .design
            .by_column(|_, values, zeros| {
                let (mean, sd) = mean_and_sd(values, zeros, self.all_rows, &mut combine);
                (mean, if sd > 0.0 { unbiased * sd } else { 1.0 })
            })
            .into_iter()
            .unzip();
        let slopes = self.groups.iter().map(|group| slopes(group, n, &mut combine)).collect();
        let (mean, spread) = self.sizes_of_response(family, &mut combine);
        Sizes { columns, means, mean, spread, slopes }
    }

    /// The mean and the spread of the response.
    pub(crate) fn sizes_of_response(
        &self, family: FamilyName, combine: &mut impl FnMut(Combine, &mut [f64]),
    ) -> (f64, f64) {
        let n = self.all_rows as f64;
        let unbiased = (n / (n - 1.0)).sqrt();
        let responses: Vec<f64> = match &self.upper {
            Some(ends) => {
                let time = |(&start, &end): (&f64, &f64)| if start > 0.0 { start } else { end };
                self.response.iter().zip(ends).map(|pair| time(pair).ln()).collect()
            }
            None => self.response.clone(),
        };
        let (mean, sd) = mean_and_sd(&responses, 0, self.all_rows, combine);
        let own = family.has_noise() || family.is_survival();
        (mean, if own && sd > 0.0 { unbiased * sd } else { 1.0 })
    }
}

/// The sizes of the columns that vary with a grouping.
fn slopes(grouping: &Grouping, n: f64, combine: &mut impl FnMut(Combine, &mut [f64])) -> Vec<f64> {
    let wide = grouping.coefficients.len();
    let values = grouping.entries.values();
    if values.is_empty() {
        return vec![1.0; wide];
    }
    let mut sum = |here: f64| {
        let mut sum = [here];
        combine(Combine::Sum, &mut sum);
        sum[0]
    };
    let size = |coefficient: usize| {
        let column = || values.iter().skip(coefficient).step_by(wide).copied();
        let mean = sum(column().sum()) / n;
        let variance = sum(column().map(|x| (x - mean).powi(2)).sum()) / (n - 1.0);
        let sd = variance.sqrt();
        if sd > 1e-12 * mean.abs() && sd.is_finite() { sd } else { 1.0 }
    };
    (0..wide).map(size).collect()
}

/// The sizes that priors are scaled by.
#[derive(Debug, Clone, PartialEq)]
pub struct Sizes {
    /// The standard deviation of each column of the design, with divisor n − 1; 1 for the intercept.
    pub columns: Vec<f64>,
    /// The mean of each column.
    pub means: Vec<f64>,
    /// The standard deviation of the column of each coefficient of each grouping, with divisor
    /// n − 1; 1 for a constant column and for smooths.
    pub slopes: Vec<Vec<f64>>,
    /// The mean of the response, or of the logarithm of times.
    pub mean: f64,
    /// The standard deviation of the response, for real numbers, or of the logarithm of times; 1 for
    /// other families.
    pub spread: f64,
}

/// The exponent bits of a number.
const EXPONENT: u64 = 0x7ff0_0000_0000_0000;

/// The mean and the standard deviation with divisor n of these values and some zeros, in two passes,
/// without overflow or underflow as long as the sum is finite.
fn mean_and_sd(
    values: &[f64], zeros: usize, all: usize, combine: &mut impl FnMut(Combine, &mut [f64]),
) -> (f64, f64) {
    let mut sum = |here: f64| {
        let mut sum = [here];
        combine(Combine::Sum, &mut sum);
        sum[0]
    };
    let n = all as f64;
    let of_zeros = zeros as f64;
    let first = sum(values.iter().sum()) / n;
    // The second pass removes the rounding error of the first sum.
    let rest: f64 = values.iter().map(|value| value - first).sum();
    let mean = first + sum(rest - of_zeros * first) / n;
    let furthest = values.iter().map(|value| (value - mean).abs());
    let largest = largest(furthest.chain((zeros > 0).then_some(mean.abs())), combine);
    if largest == 0.0 {
        return (mean, 0.0);
    }
    let unit = unit_of(largest);
    let rest: f64 = values.iter().map(|value| ((value - mean) / unit).powi(2)).sum();
    let mut squares = [rest + of_zeros * (mean / unit).powi(2)];
    combine(Combine::Sum, &mut squares);
    (mean, unit * (squares[0] / n).sqrt())
}

/// A power of two in which squares of numbers up to this one neither overflow nor underflow; the
/// scaling is exact.
pub(crate) fn unit_of(largest: f64) -> f64 {
    let power = f64::from_bits(largest.to_bits() & EXPONENT);
    if power > 0.0 { power } else { largest }
}

/// The maximum over all parts.
fn largest(
    values: impl Iterator<Item = f64>, combine: &mut impl FnMut(Combine, &mut [f64]),
) -> f64 {
    let mut largest = [values.fold(f64::NEG_INFINITY, f64::max)];
    combine(Combine::Largest, &mut largest);
    largest[0]
}

#[cfg(test)]
mod tests {
    use super::mean_and_sd;

    #[test]
    fn standard_deviations_have_divisor_n_and_do_not_overflow() {
        let alone = |values: &[f64]| {
            let with_zeros = [values, &[0.0; 3]].concat();
            let zeros = mean_and_sd(values, 3, values.len() + 3, &mut |_, _| {});
            let plain = mean_and_sd(&with_zeros, 0, values.len() + 3, &mut |_, _| {});
            assert_eq!(zeros.0, plain.0);
            assert!((zeros.1 / plain.1 - 1.0).abs() < 1e-15);
            mean_and_sd(values, 0, values.len(), &mut |_, _| {})
        };
        assert_eq!(alone(&[1.0, 2.0, 3.0, 4.0]), (2.5, 1.25_f64.sqrt()));
        let (mean, sd) = alone(&[1e200, 3e200]);
        assert_eq!(mean, 2e200);
        assert!((sd / 1e200 - 1.0).abs() < 1e-15);
        // With the squares themselves this would be 0.
        let (_, sd) = alone(&[1e-200, 3e-200]);
        assert!((sd / 1e-200 - 1.0).abs() < 1e-15);
        let (mean, sd) = alone(&[1e9, 1e9 + 1.0, 1e9 + 2.0]);
        assert_eq!(mean, 1e9 + 1.0);
        assert!((sd - (2.0_f64 / 3.0).sqrt()).abs() < 1e-12);
    }
}
