//! Interval arithmetic with bounds that are integers over 2^512, always rounded outwards.
//!
//! The steps of the algorithms contain e^(-ξη) and related functions, which are not rational. They
//! are enclosed to about 150 digits. An inequality that holds for everything between the bounds is
//! proved.

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, Zero};

/// Bits after the binary point.
const BITS: u32 = 512;

/// A real number between `low` and `high`, both in units of 2^-512.
#[derive(Debug, Clone)]
pub(crate) struct Enclosure {
    low: BigInt,
    high: BigInt,
}

/// A square matrix of enclosures.
pub(crate) type Enclosed<const N: usize> = [[Enclosure; N]; N];

impl Enclosure {
    /// The given finite double, exactly (rounded outwards if it has bits below 2^-512).
    pub(crate) fn of(value: f64) -> Self {
        let bits = value.to_bits();
        let fraction = i64::try_from(bits & ((1 << 52) - 1)).unwrap_or(0);
        let exponent = i32::try_from((bits >> 52) & 0x7ff).unwrap_or(0);
        let (mantissa, exponent) =
            if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) };
        let mantissa = BigInt::from(if value < 0.0 { -mantissa } else { mantissa });
        let shift = i64::from(exponent) + i64::from(BITS);
        match u64::try_from(shift) {
            Ok(shift) => Self::exactly(mantissa << shift),
            Err(_) => Self::exactly(mantissa).divided_by_power(shift.unsigned_abs()),
        }
    }

    /// A whole number.
    pub(crate) fn whole(value: i64) -> Self {
        Self::exactly(BigInt::from(value) << BITS)
    }

    fn exactly(value: BigInt) -> Self {
        Self { low: value.clone(), high: value }
    }

    pub(crate) fn plus(&self, other: &Self) -> Self {
        Self { low: &self.low + &other.low, high: &self.high + &other.high }
    }

    pub(crate) fn minus(&self, other: &Self) -> Self {
        Self { low: &self.low - &other.high, high: &self.high - &other.low }
    }

    pub(crate) fn negated(&self) -> Self {
        Self { low: -&self.high, high: -&self.low }
    }

    pub(crate) fn times(&self, other: &Self) -> Self {
        let products = [
            &self.low * &other.low,
            &self.low * &other.high,
            &self.high * &other.low,
            &self.high * &other.high,
        ];
        let low = products.iter().min().cloned().unwrap_or_default();
        let high = products.iter().max().cloned().unwrap_or_default();
        Self { low, high }.divided_by_power(u64::from(BITS))
    }

    /// The quotient by a positive divisor; `None` if the divisor may be zero or negative.
    pub(crate) fn over(&self, divisor: &Self) -> Option<Self> {
        if !divisor.low.is_positive() {
            return None;
        }
        let (low, high): (BigInt, BigInt) = (&self.low << BITS, &self.high << BITS);
        let under = if low.is_negative() { &divisor.low } else { &divisor.high };
        let over = if high.is_negative() { &divisor.high } else { &divisor.low };
        Some(Self { low: low.div_floor(under), high: high.div_ceil(over) })
    }

    /// The quotient by 2^`power`.
    fn divided_by_power(&self, power: u64) -> Self {
        // A right shift of a BigInt rounds down; negating before and after rounds up.
        Self { low: &self.low >> power, high: -(-&self.high >> power) }
    }

    /// The sum of the bounds (twice the midpoint) and their distance, in units of 2^-512.
    pub(crate) fn sum_and_width(&self) -> (BigInt, BigInt) {
        (&self.low + &self.high, &self.high - &self.low)
    }

    /// The largest absolute value, in units of 2^-512.
    fn magnitude(&self) -> BigInt {
        self.low.abs().max(self.high.abs())
    }
}

/// The sum of products Σ a_k b_k.
pub(crate) fn dot<'a>(
    pairs: impl IntoIterator<Item = (&'a Enclosure, &'a Enclosure)>,
) -> Enclosure {
    pairs.into_iter().fold(Enclosure::whole(0), |sum, (a, b)| sum.plus(&a.times(b)))
}

/// The exponential of a matrix by scaling and squaring: the matrix is halved until its norm is at
/// most 1/2, the power series is summed with a bounded remainder, and the result is squared back.
/// `None` for a norm above 2^63, where squaring would leave too few digits.
pub(crate) fn exponential<const N: usize>(matrix: &Enclosed<N>) -> Option<Enclosed<N>> {
    const MOST_HALVINGS: u64 = 64;
    /// (1/2)^91 / 91! is below 2^-550, the rest of the series below twice that.
    const TERMS: i64 = 90;
    let row_sums = matrix.iter().map(|row| row.iter().map(Enclosure::magnitude).sum::<BigInt>());
    let norm = row_sums.max().unwrap_or_default();
    let half = BigInt::one() << (BITS - 1);
    let mut halvings = 0_u64;
    while (&half << halvings) < norm {
        halvings += 1;
        if halvings > MOST_HALVINGS {
            return None;
        }
    }
    let x: Enclosed<N> =
        std::array::from_fn(|i| std::array::from_fn(|j| matrix[i][j].divided_by_power(halvings)));
    let mut term: Enclosed<N> = unit();
    let mut sum: Enclosed<N> = unit();
    for n in 1..=TERMS {
        let next = product(&term, &x);
        let divisor = Enclosure::whole(n);
        // The divisor is positive, so there always is a quotient.
        term = next.map(|row| row.map(|entry| entry.over(&divisor).unwrap_or(entry)));
        sum = std::array::from_fn(|i| std::array::from_fn(|j| sum[i][j].plus(&term[i][j])));
    }
    let remainder = Enclosure { low: -BigInt::one(), high: BigInt::one() };
    let mut result = sum.map(|row| row.map(|entry| entry.plus(&remainder)));
    for _ in 0..halvings {
        result = product(&result, &result);
    }
    Some(result)
}

fn unit<const N: usize>() -> Enclosed<N> {
    std::array::from_fn(|i| std::array::from_fn(|j| Enclosure::whole(i64::from(i == j))))
}

fn product<const N: usize>(a: &Enclosed<N>, b: &Enclosed<N>) -> Enclosed<N> {
    std::array::from_fn(|i| std::array::from_fn(|j| dot((0..N).map(|k| (&a[i][k], &b[k][j])))))
}

/// Proves that every symmetric matrix within the bounds is positive definite: the matrix of
/// midpoints is, even after N times the largest width is subtracted from its diagonal. Uses
/// fraction-free elimination (Bareiss), so all pivots are exact.
pub(crate) fn positive_definite<const N: usize>(matrix: &Enclosed<N>) -> bool {
    let mut widest = BigInt::zero();
    let mut m: [[BigInt; N]; N] = std::array::from_fn(|i| {
        std::array::from_fn(|j| {
            let (sum, width) = matrix[i.max(j)][i.min(j)].sum_and_width();
            widest = widest.clone().max(width);
            sum
        })
    });
    for (i, row) in m.iter_mut().enumerate() {
        row[i] -= &widest * BigInt::from(N);
    }
    crate::exact::positive_definite(m)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(enclosure: &Enclosure, value: f64) -> bool {
        let tolerance = Enclosure::of(value.abs() * 1e-15 + 1e-300);
        let distance = enclosure.minus(&Enclosure::of(value));
        distance.magnitude() <= tolerance.high
    }

    #[test]
    fn doubles_are_taken_exactly() {
        for value in [0.0, 1.0, -0.1, 1e-20, 12345.678, f64::MAX] {
            let e = Enclosure::of(value);
            assert_eq!(e.low, e.high);
        }
        assert_eq!(Enclosure::of(0.75).low, BigInt::from(3) << (BITS - 2));
        let tiny = Enclosure::of(-1e-300);
        assert!(tiny.low == BigInt::from(-1) && tiny.high.is_zero(), "rounded outwards");
    }

    #[test]
    fn products_and_quotients_hold_the_true_value_between_their_bounds() {
        let (third, three) =
            (Enclosure::whole(1).over(&Enclosure::whole(3)).unwrap(), Enclosure::whole(3));
        assert!(third.low < third.high);
        let one = third.times(&three);
        assert!(one.low < Enclosure::whole(1).low && Enclosure::whole(1).high <= one.high);
        let minus = third.negated().over(&three).unwrap();
        assert!(near(&minus, -1.0 / 9.0) && minus.low < minus.high);
        assert!(Enclosure::whole(1).over(&third.minus(&third)).is_none());
    }

    #[test]
    fn exponentials_agree_with_the_library_and_are_narrow() {
        for x in [-1e-9, -0.3, -2.5, -47.0, 3.0] {
            let [[e]] = exponential(&[[Enclosure::of(x)]]).unwrap();
            assert!(near(&e, x.exp()), "{x}");
            assert!(e.sum_and_width().1 < BigInt::one() << 80, "{x}: {}", e.sum_and_width().1);
        }
        // A rotation by 1 radian.
        let [one, zero] = [1, 0].map(Enclosure::whole);
        let rotation = exponential(&[[zero.clone(), one.clone()], [one.negated(), zero]]).unwrap();
        assert!(near(&rotation[0][0], 1f64.cos()) && near(&rotation[0][1], 1f64.sin()));
        assert!(near(&rotation[1][0], -(1f64.sin())));
        assert!(exponential(&[[Enclosure::of(1e120)]]).is_none());
    }

    #[test]
    fn definiteness_needs_more_than_the_width() {
        let wide = Enclosure { low: BigInt::one() << 500, high: BigInt::one() << 505 };
        let [one, zero] = [1, 0].map(Enclosure::whole);
        assert!(positive_definite(&[[one.clone(), zero.clone()], [zero.clone(), one.clone()]]));
        assert!(!positive_definite(&[[one.clone(), one.clone()], [one.clone(), one.clone()]]));
        assert!(positive_definite(&[[one.clone(), wide.clone()], [wide.clone(), one.clone()]]));
        assert!(
            !positive_definite(&[[wide.clone(), zero.clone()], [zero, one]]),
            "too uncertain to tell"
        );
    }
}
