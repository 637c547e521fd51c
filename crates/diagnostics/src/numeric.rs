//! Means and variances in two passes, exact for constant data.

/// The mean, corrected by the mean of what it leaves: free of the rounding of a long sum, and exactly the value of
/// constant data, so that their variance is exactly zero.
pub(crate) fn mean(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let rough = values.iter().sum::<f64>() / n;
    rough + values.iter().map(|x| x - rough).sum::<f64>() / n
}

/// The sum of squared distances from `center`.
pub(crate) fn sum_of_squares(values: &[f64], center: f64) -> f64 {
    values.iter().map(|x| (x - center) * (x - center)).sum()
}

/// The variance with divisor n − 1; NaN for fewer than two values.
pub(crate) fn variance(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return f64::NAN;
    }
    sum_of_squares(values, mean(values)) / (values.len() as f64 - 1.0)
}

/// Whether the values differ by no more than rounding. ArviZ compares the spread with 1e-15 whatever the scale, and so
/// calls any parameter below about 1e-15 constant; here the tolerance follows the scale.
pub(crate) fn is_constant(values: &[f64]) -> bool {
    let mut least = f64::INFINITY;
    let mut most = f64::NEG_INFINITY;
    for &x in values {
        least = least.min(x);
        most = most.max(x);
    }
    most - least <= 1e-15 * most.abs().max(least.abs())
}

#[cfg(test)]
mod tests {
    use super::{is_constant, mean, variance};

    #[test]
    fn constant_data_have_no_variance_at_all() {
        // 0.1 added up 999 times and divided by 999 is not 0.1.
        let values = vec![0.1; 999];
        assert_ne!(values.iter().sum::<f64>() / 999.0, 0.1);
        assert_eq!(mean(&values), 0.1);
        assert_eq!(variance(&values), 0.0);
    }

    #[test]
    fn constant_is_relative() {
        assert!(is_constant(&[0.0, 0.0]));
        assert!(is_constant(&[3.0, 3.0 + 4e-16]));
        assert!(!is_constant(&[1e-30, 2e-30]));
        assert!(!is_constant(&[1e9, 1e9 + 1e-5]));
    }
}
