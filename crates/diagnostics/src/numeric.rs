//! Sums that become vector instructions, means and variances in two passes, exact for constant
//! data, a test for constant data, and an exponential.

/// The sum of f over the values, as eight running sums: less rounding, and additions that do not
/// wait for each other.
pub(crate) fn sum_of(values: &[f64], f: impl Fn(f64) -> f64) -> f64 {
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

/// The least value, the largest and the sum. The first two leave NaN out.
pub(crate) fn range_and_sum(values: &[f64]) -> (f64, f64, f64) {
    let mut least = [f64::INFINITY; 8];
    let mut most = [f64::NEG_INFINITY; 8];
    let mut sum = [0.0; 8];
    // Comparisons, since `f64::min` keeps loops from becoming vector instructions.
    let mut add = |i: usize, x: f64| {
        least[i] = if x < least[i] { x } else { least[i] };
        most[i] = if x > most[i] { x } else { most[i] };
        sum[i] += x;
    };
    let (blocks, rest) = values.as_chunks::<8>();
    for block in blocks {
        for (i, &x) in block.iter().enumerate() {
            add(i, x);
        }
    }
    for (i, &x) in rest.iter().enumerate() {
        add(i, x);
    }
    (
        least.into_iter().fold(f64::INFINITY, f64::min),
        most.into_iter().fold(f64::NEG_INFINITY, f64::max),
        sum.iter().sum(),
    )
}

/// Added to a small number and taken away again it rounds to whole numbers; in between, the last
/// bits are that whole number.
const ROUNDER: f64 = 6_755_399_441_055_744.0;
/// log 2 in two parts, the first with enough trailing zeros that whole multiples of it are exact.
const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// e^x for x from −700 to 0, to about one unit in the last place, without branches: a loop over it
/// becomes vector instructions, which calls of the library's function prevent.
///
/// x = m log 2 + r with |r| <= log(2)/2, and Taylor's series of e^r: its next term is below 5e-18.
#[inline(always)]
pub(crate) fn exp_of_negative(x: f64) -> f64 {
    let shifted = x * std::f64::consts::LOG2_E + ROUNDER;
    let m = shifted - ROUNDER;
    let r = (x - m * LN_2_HIGH) - m * LN_2_LOW;
    // Even and odd powers apart: half the latency of Horner's rule.
    let square = r * r;
    let (mut even, mut odd) = (1.0 / 479_001_600.0, 1.0 / 6_227_020_800.0);
    for (a, b) in [
        (1.0 / 3_628_800.0, 1.0 / 39_916_800.0),
        (1.0 / 40_320.0, 1.0 / 362_880.0),
        (1.0 / 720.0, 1.0 / 5_040.0),
        (1.0 / 24.0, 1.0 / 120.0),
        (0.5, 1.0 / 6.0),
    ] {
        even = even * square + a;
        odd = odd * square + b;
    }
    // 2^m, by its exponent: m stands in the last bits of `shifted`.
    let power = f64::from_bits((shifted.to_bits() << 52).wrapping_add(1.0_f64.to_bits()));
    (1.0 + (r + square * (even + r * odd))) * power
}

#[cfg(test)]
mod tests {
    use super::{exp_of_negative, is_constant, mean, variance};

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

    #[test]
    fn exponentials_are_those_of_the_library() {
        assert_eq!(exp_of_negative(0.0), 1.0);
        let mut x = -700.0;
        while x < 0.0 {
            let off = (exp_of_negative(x) / x.exp() - 1.0).abs();
            assert!(off <= 2.0 * f64::EPSILON, "{x}: {off:e}");
            x *= 0.9997;
            if x > -1e-20 {
                break;
            }
        }
    }
}
