//! Stationary fourth moments of a step whose matrix is random, and whose stationary law therefore
//! is not Gaussian.
//!
//! E[x ⊗ x ⊗ x ⊗ x] satisfies a linear equation, M = E[F⊗⁴] M + terms of lower order in x and of
//! second or fourth order in the noise. A symmetric tensor of order four in three dimensions has
//! fifteen different entries, one for each monomial.

use super::linear::{Branch, LinearForm, PAIRS};
use crate::matrix::{self, Matrix};

/// The number of monomials of degree four in three variables.
const MONOMIALS: usize = 15;

/// The place of the monomial x_i x_j x_k x_l: ordered by the number of nonzero indices, then by the
/// number of indices equal to 2.
fn place(indices: [usize; 4]) -> usize {
    let nonzero = indices.iter().filter(|&&i| i > 0).count();
    let twos = indices.iter().filter(|&&i| i == 2).count();
    nonzero * (nonzero + 1) / 2 + twos
}

/// The indices of the monomial at each place, ascending within a monomial.
fn monomials() -> impl Iterator<Item = [usize; 4]> {
    (0..=4_usize).flat_map(|nonzero| {
        (0..=nonzero).map(move |twos| {
            std::array::from_fn(|position| {
                usize::from(position >= 4 - nonzero) + usize::from(position >= 4 - twos)
            })
        })
    })
}

/// Covariances of θ² with each x_i x_j in the stationary law with covariance `sigma`. `None` if the
/// fourth moments do not exist: for a random F, E[F⊗F] can be contracting while E[F⊗⁴] is not.
pub(super) fn covariance_with_square(form: &LinearForm, sigma: &Matrix<3>) -> Option<Matrix<3>> {
    let fourth = stationary(form, sigma)?;
    Some(matrix::from_fn(|i, j| fourth[place([0, 0, i, j])] - sigma[0][0] * sigma[i][j]))
}

/// The stationary fourth moments, place by place.
fn stationary(form: &LinearForm, sigma: &Matrix<3>) -> Option<[f64; MONOMIALS]> {
    let dimension = form.dimension();
    let mut system: Matrix<MONOMIALS> = matrix::identity();
    let mut known = [0.0; MONOMIALS];
    let mut unit = [0.0; MONOMIALS];
    let delta = |i, j| f64::from(u8::from(i == j));
    let used = |indices: &[usize; 4]| indices.iter().all(|&i| i < dimension);
    for indices in monomials().filter(used) {
        let row = place(indices);
        unit[row] = pairings(indices, delta, delta);
        for branch in form.branches() {
            known[row] += branch.weight * lower_order(branch, sigma, indices);
            subtract_images(&mut system[row], branch, indices, dimension);
        }
    }
    // As for second moments: the map preserves the cone of fourth moments, so it is a contraction
    // exactly if the sum of all images of a point inside that cone, here the moments of N(0, I), is
    // in the cone. A nonnegative form of degree four in up to three variables is a sum of squares
    // (Hilbert 1888), so a tensor is in the cone exactly if its matrix on pairs of monomials of
    // degree two is positive.
    let sum = matrix::solve(&system, &unit)?;
    let on_pairs = matrix::from_fn::<6, 6>(|row, column| {
        let ((i, j), (k, l)) = (PAIRS[row], PAIRS[column]);
        if used(&[i, j, k, l]) {
            sum[place([i, j, k, l])]
        } else {
            f64::from(u8::from(row == column))
        }
    });
    matrix::cholesky(&on_pairs)?;
    matrix::solve(&system, &known)
}

/// Subtracts a row of F⊗⁴ of a branch, times its weight.
fn subtract_images(
    row: &mut [f64; MONOMIALS], branch: &Branch, [i, j, k, l]: [usize; 4], dimension: usize,
) {
    let f = &branch.matrix;
    for a in 0..dimension {
        for b in 0..dimension {
            let two = branch.weight * f[i][a] * f[j][b];
            for c in 0..dimension {
                for d in 0..dimension {
                    row[place([a, b, c, d])] -= two * f[k][c] * f[l][d];
                }
            }
        }
    }
}

/// The contribution of the noise of a branch to the moment: with y = F x and independent noise n,
/// the expectations with two or four factors from n. Odd moments of both are 0.
fn lower_order(branch: &Branch, sigma: &Matrix<3>, indices: [usize; 4]) -> f64 {
    let moved = matrix::congruence(sigma, &matrix::transpose(&branch.matrix));
    let n = &branch.noise;
    let mixed = pairings(indices, |i, j| moved[i][j], |i, j| n[i][j]);
    let swapped = pairings(indices, |i, j| n[i][j], |i, j| moved[i][j]);
    mixed + swapped + pairings(indices, |i, j| n[i][j], |i, j| n[i][j])
}

/// The sum of first(pair) second(other pair) over the three ways to split four indices into two
/// pairs.
fn pairings(
    [i, j, k, l]: [usize; 4], first: impl Fn(usize, usize) -> f64,
    second: impl Fn(usize, usize) -> f64,
) -> f64 {
    first(i, j) * second(k, l) + first(i, k) * second(j, l) + first(i, l) * second(j, k)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::Scheme;

    #[test]
    fn every_monomial_has_its_own_place() {
        let all: Vec<[usize; 4]> = monomials().collect();
        assert_eq!(all.len(), MONOMIALS);
        for (expected, indices) in all.iter().enumerate() {
            assert!(indices.windows(2).all(|pair| pair[0] <= pair[1]));
            assert_eq!(place(*indices), expected, "{indices:?}");
        }
    }

    #[test]
    fn a_step_without_its_own_randomness_has_the_fourth_moments_of_a_gaussian() {
        for scheme in [
            Scheme::third_order(1.1, 2.2, 0.4).unwrap(),
            Scheme::ubu(1.5, 0.6).unwrap(),
            Scheme::ula(0.3).unwrap(),
        ] {
            let form = scheme.form(0.7);
            let sigma = form.stationary().unwrap();
            let covariance = covariance_with_square(&form, &sigma).unwrap();
            for i in 0..3 {
                for j in 0..3 {
                    let gaussian = 2.0 * sigma[0][i] * sigma[0][j];
                    assert!(
                        (covariance[i][j] - gaussian).abs() < 1e-11,
                        "{}: {i} {j}",
                        scheme.name()
                    );
                }
            }
        }
    }

    #[test]
    fn a_random_factor_has_the_moments_of_the_perpetuity() {
        // x' = a x + n with a = 0 or c, each with probability 1/2, and n standard normal: E x² =
        // 1/(1 − c²/2) and E x⁴ = (3 + 6 (c²/2) E x²)/(1 − c⁴/2), which exist for c² < 2 and c⁴ <
        // 2.
        let form = |c: f64| {
            let branch = |a: f64| Branch {
                weight: 0.5,
                matrix: [[a, 0.0, 0.0], [0.0; 3], [0.0; 3]],
                noise: [[1.0, 0.0, 0.0], [0.0; 3], [0.0; 3]],
            };
            LinearForm::new(1, vec![branch(0.0), branch(c)])
        };
        let c = 1.1_f64;
        let f = form(c);
        let sigma = f.stationary().unwrap();
        let second = 1.0 / (1.0 - c * c / 2.0);
        let fourth = (3.0 + 3.0 * c * c * second) / (1.0 - c.powi(4) / 2.0);
        assert!((sigma[0][0] / second - 1.0).abs() < 1e-14);
        let variance = covariance_with_square(&f, &sigma).unwrap()[0][0];
        assert!((variance / (fourth - second * second) - 1.0).abs() < 1e-13);
        // c = 1.3: a stationary variance, no fourth moment.
        let f = form(1.3);
        let sigma = f.stationary().unwrap();
        assert!(covariance_with_square(&f, &sigma).is_none());
        assert!(form(1.5).stationary().is_none());
    }
}
