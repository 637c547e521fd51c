//! Exact linear algebra with integers and fractions, for proofs.

use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{One, Signed};

/// Whether a symmetric integer matrix is positive definite: all leading principal minors, computed
/// by Bareiss's elimination (in which every division is exact), are positive.
pub(crate) fn positive_definite<const N: usize>(mut m: [[BigInt; N]; N]) -> bool {
    let mut previous = BigInt::one();
    for k in 0..N {
        if !m[k][k].is_positive() {
            return false;
        }
        for i in k + 1..N {
            for j in k + 1..N {
                m[i][j] = (&m[i][j] * &m[k][k] - &m[i][k] * &m[k][j]) / &previous;
            }
        }
        previous = m[k][k].clone();
    }
    true
}

/// [`positive_definite`] for a matrix of fractions, which are brought to a common denominator.
pub(crate) fn positive_definite_fractions<const N: usize>(m: &[[BigRational; N]; N]) -> bool {
    let common = m.iter().flatten().fold(BigInt::one(), |lcm, entry| lcm.lcm(entry.denom()));
    positive_definite::<N>(std::array::from_fn(|i| {
        std::array::from_fn(|j| m[i][j].numer() * (&common / m[i][j].denom()))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn integers<const N: usize>(m: [[i64; N]; N]) -> [[BigInt; N]; N] {
        m.map(|row| row.map(BigInt::from))
    }

    #[test]
    fn definiteness_is_decided_exactly() {
        assert!(positive_definite(integers([[2, -1, 0], [-1, 2, -1], [0, -1, 2]])));
        assert!(!positive_definite(integers([[2, -1, 0], [-1, 2, -1], [0, -1, 0]])));
        assert!(!positive_definite(integers([[1, 1], [1, 1]])), "singular");
        assert!(!positive_definite(integers([[-1]])));
        // 1e17 + 1 against 1e17 on the diagonal: doubles cannot tell.
        let large = 100_000_000_000_000_000;
        assert!(positive_definite(integers([[large + 1, large], [large, large]])));
        assert!(!positive_definite(integers([[large, large], [large, large - 1]])));
    }

    #[test]
    fn fractions_are_brought_to_one_denominator() {
        let f = |n: i64, d: i64| BigRational::new(n.into(), d.into());
        assert!(positive_definite_fractions(&[[f(1, 3), f(1, 7)], [f(1, 7), f(1, 11)]]));
        assert!(!positive_definite_fractions(&[[f(1, 3), f(1, 5)], [f(1, 5), f(1, 11)]]));
    }
}
