//! Functions of the form (P(z) + A(z) e^-z + B(z) e^-2z) / z^m, where the numerator vanishes to
//! order m at zero.
//!
//! Every function of z = ξη behind the coefficients has this form, so one type represents them all.
//! The same integers give the closed form, for large z, and a power series, for small z, where the
//! closed form cancels. The series is that of e^(2z) times the function: all its terms have the
//! same sign, so nothing cancels, unlike in the function's own alternating series. The integers are
//! twelfths, because 12 is the common denominator of the polynomials.

/// The number of terms of the series: at z = [`crate::SERIES_BELOW`] the remainder is below 1e-16
/// of the sum.
pub(crate) const TERMS: usize = 36;

/// A function of this form. `twelfths[j][q]` is 12 times the coefficient of z^q e^(-jz).
#[derive(Debug, Clone, Copy)]
pub(crate) struct ExpPoly {
    order: usize,
    twelfths: [[i64; 4]; 3],
}

impl ExpPoly {
    /// The function with numerator `twelfths` / 12 over z^`order`.
    pub(crate) const fn new(order: usize, twelfths: [[i64; 4]; 3]) -> Self {
        Self { order, twelfths }
    }

    /// The Taylor coefficients at 0 of e^(2z) times the function. Their numerators are exact
    /// integers, so each coefficient is rounded at most three times.
    ///
    /// z^q e^(2z - jz) contributes (2-j)^(n-q) / (n-q)! = (2-j)^(n-q) n(n-1)...(n-q+1) / n! to the
    /// coefficient of z^n.
    pub(crate) const fn growing_series(&self) -> [f64; TERMS] {
        let mut coefficients = [0.0; TERMS];
        let mut k = 0;
        while k < TERMS {
            let n = k + self.order;
            // n! as a product of two exact integers: for the last terms it does not fit in one.
            let half = if n < 30 { n } else { 30 };
            let numerator = self.numerator_times_factorial(n) as f64;
            coefficients[k] =
                numerator / (12 * falling(half, half)) as f64 / falling(n, n - half) as f64;
            k += 1;
        }
        coefficients
    }

    /// 12 n! times the coefficient of z^n in e^(2z) times the numerator.
    const fn numerator_times_factorial(&self, n: usize) -> i128 {
        let mut sum = 0;
        let mut q = 0;
        while q < 4 && q <= n {
            let mut j = 0;
            while j <= 2 {
                sum += self.twelfths[j][q] as i128 * power(2 - j as i128, n - q) * falling(n, q);
                j += 1;
            }
            q += 1;
        }
        sum
    }

    /// The closed form, given e = e^-z. It cancels for z below 1.
    pub(crate) fn closed(&self, z: f64, e: f64) -> f64 {
        let [free, once, twice] = self.twelfths.map(|p| {
            let [p0, p1, p2, p3] = p.map(|integer| integer as f64);
            ((p3 * z + p2) * z + p1) * z + p0
        });
        let mut value = (free + e * (once + e * twice)) / 12.0;
        for _ in 0..self.order {
            value /= z;
        }
        value
    }
}

/// n (n-1) ... (n-q+1).
const fn falling(n: usize, q: usize) -> i128 {
    let mut product = 1;
    let mut i = 0;
    while i < q {
        product *= (n - i) as i128;
        i += 1;
    }
    product
}

const fn power(base: i128, exponent: usize) -> i128 {
    let mut product = 1;
    let mut i = 0;
    while i < exponent {
        product *= base;
        i += 1;
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;

    /// (1 - e^-z) / z.
    const PHI1: ExpPoly = ExpPoly::new(1, [[12, 0, 0, 0], [-12, 0, 0, 0], [0; 4]]);

    #[test]
    fn the_series_of_phi1_is_that_of_two_exponentials() {
        // e^(2z) (1 - e^-z)/z = (e^(2z) - e^z)/z has the coefficients (2^(k+1) - 1)/(k+1)!.
        let mut factorial = 1.0;
        for (k, coefficient) in PHI1.growing_series().into_iter().enumerate() {
            factorial *= k as f64 + 1.0;
            let expected = (2f64.powi(i32::try_from(k).unwrap() + 1) - 1.0) / factorial;
            assert!((coefficient / expected - 1.0).abs() < 4e-15, "coefficient {k}");
        }
    }

    #[test]
    fn closed_form_of_phi1() {
        let z = 2.5_f64;
        assert!((PHI1.closed(z, (-z).exp()) - (1.0 - (-z).exp()) / z).abs() < 1e-16);
    }
}
