//! Means and variances in two passes, exact for constant data, and a test for constant data.

/// The sum of f over the values, as eight running sums: less rounding, and additions that do not
/// wait for each other.
fn sum_of(values: &[f64], f: impl Fn(f64) -> f64) -> f64 {
    let mut lanes = [0.0; 8];
    let (blocks, rest) = values.as_chunks::<8>();
    for block in blocks {
        for (lane, &x) in lanes.iter_mut().zip(block) {
            *lane += f(x);
        }
    }
    for (lane, &x) in lanes.iter_mut().zip(rest) {
        *lane += f(x);
    }
    lanes.iter().sum()
}

/// The mean, corrected by the mean of the residuals: free of the rounding of a long sum, and exact
/// for constant data, so that their variance is exactly zero.
pub(crate) fn mean(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let rough = sum_of(values, |x| x) / n;
    rough + sum_of(values, |x| x - rough) / n
}

/// The sum of squared distances from `center`.
pub(crate) fn sum_of_squares(values: &[f64], center: f64) -> f64 {
    sum_of(values, |x| (x - center) * (x - center))
}

/// The variance with divisor n − 1; NaN for fewer than two values.
pub(crate) fn variance(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return f64::NAN;
    }
    sum_of_squares(values, mean(values)) / (values.len() as f64 - 1.0)
}

/// Whether all values equal the first up to rounding. ArviZ compares the spread with 1e-15 at any
/// scale, and so treats any parameter below about 1e-15 as constant; here the tolerance is
/// relative.
pub(crate) fn is_constant(values: &[f64]) -> bool {
    let Some(&first) = values.first() else {
        return true;
    };
    values.iter().all(|&x| (x - first).abs() <= 1e-15 * x.abs().max(first.abs()))
}

#[cfg(test)]
mod tests {
    use super::{is_constant, mean, variance};

    #[test]
    fn constant_data_have_no_variance_at_all() {
        // 0.1 added up 999 times and divided by 999 is not 0.1.
        let values = vec![0.1; 999];
        assert_ne!(values.iter().sum::<f64>() / 999.0, 0.1);
        assert_ne!(super::sum_of(&values, |x| x) / 999.0, 0.1);
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
