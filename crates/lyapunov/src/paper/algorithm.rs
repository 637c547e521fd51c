//! Claims about the constants of one step (Appendix C) and about interpolation at Chebyshev nodes.

use ridgewalk_coefficients::Coefficients;
use ridgewalk_quadrature::LineRule;

use super::claims::{Claim, Verdict};
use crate::error::Error;

/// The relative difference allowed between two forms of the same formula, at a well-conditioned
/// point.
const AGREEMENT: f64 = 1e-12;

/// Compares printed values of the seven μ (μ12, μ13, μ22, μ23, μ31, μ32, μ33) and six σ (σ11, σ12,
/// σ13, σ22, σ23, σ33) with the correct coefficients. A value that is correct after multiplication
/// by L is a misprint.
pub(crate) fn coefficient_claims(
    mu: &[f64; 7], sigma: &[f64; 6], right: &Coefficients,
) -> Vec<Claim> {
    let smoothness = right.smoothness();
    let pairs = right.named().into_iter().zip(mu.iter().chain(sigma));
    let off = |value: f64, right: f64| (value / right - 1.0).abs();
    let row = |((name, right), &value): ((&str, f64), &f64)| {
        let difference = off(value, right);
        let agrees = difference < AGREEMENT;
        let corrected = off(value * smoothness, right) < AGREEMENT;
        let detail = if agrees {
            format!(
                "relative difference from the exact integral {difference:.1e}, at L = {smoothness}"
            )
        } else if corrected {
            format!(
                "printed with a division by L too many: Sigma = sigma/L carries it already (seen at L = {smoothness})"
            )
        } else {
            format!("off by a factor of {:.6}, at L = {smoothness}", value / right)
        };
        Claim::new(name, "Appendix C", Verdict::of(agrees, corrected), detail)
    };
    pairs.map(row).collect()
}

/// The basis polynomial of node i at t, as printed in Section 3.3: Π over j ≠ i of (t − s_i)/(s_j −
/// s_i).
pub(crate) fn printed_basis(nodes: &[f64], i: usize, t: f64) -> f64 {
    product_over_others(nodes, i, |s, other| (t - s) / (other - s))
}

/// The Lagrange basis polynomial of node i at t: Π over j ≠ i of (t − s_j)/(s_i − s_j).
pub(crate) fn lagrange_basis(nodes: &[f64], i: usize, t: f64) -> f64 {
    product_over_others(nodes, i, |s, other| (t - other) / (s - other))
}

fn product_over_others(nodes: &[f64], i: usize, factor: impl Fn(f64, f64) -> f64) -> f64 {
    nodes
        .iter()
        .enumerate()
        .filter(|(j, _)| *j != i)
        .map(|(_, &other)| factor(nodes[i], other))
        .product()
}

/// The claims about interpolation, for the given form of the basis (as printed:
/// [`printed_basis`]).
pub(crate) fn interpolation_claims(
    basis: impl Fn(&[f64], usize, f64) -> f64,
) -> Result<Vec<Claim>, Error> {
    Ok(vec![basis_interpolates(basis)?, weights_are_positive()?, interpolation_error()?])
}

fn basis_interpolates(basis: impl Fn(&[f64], usize, f64) -> f64) -> Result<Claim, Error> {
    let rules: Vec<LineRule> = (1..=8).map(|n| LineRule::new(n, 1.0)).collect::<Result<_, _>>()?;
    let interpolates = |basis: &dyn Fn(&[f64], usize, f64) -> f64| {
        rules.iter().map(LineRule::nodes).all(|nodes| {
            let pairs = (0..nodes.len()).flat_map(|i| (0..nodes.len()).map(move |j| (i, j)));
            let unit = |(i, j): (usize, usize)| f64::from(u8::from(i == j));
            pairs
                .into_iter()
                .all(|(i, j)| (basis(nodes, i, nodes[j]) - unit((i, j))).abs() < AGREEMENT)
        })
    };
    Ok(Claim::new(
        "the basis prod (t - s_i)/(s_j - s_i) interpolates",
        "Section 3.3",
        Verdict::of(interpolates(&basis), interpolates(&lagrange_basis)),
        "1 to 8 Chebyshev nodes: a basis must be 1 at its own node and 0 at the others; the printed one is 0 at its own. \
         Right: prod over j != i of (t - s_j)/(s_i - s_j)",
    ))
}

fn weights_are_positive() -> Result<Claim, Error> {
    let mut smallest_value = f64::INFINITY;
    let mut smallest_weight = f64::INFINITY;
    for nodes in 1..=16 {
        let rule = LineRule::new(nodes, 1.0)?;
        let values = (0..=200).flat_map(|i| rule.basis(f64::from(i) / 200.0));
        smallest_value = values.fold(smallest_value, f64::min);
        smallest_weight = rule.weights().iter().copied().fold(smallest_weight, f64::min);
    }
    Ok(Claim::new(
        "the weights of Lagrange interpolation at Chebyshev nodes are non-negative",
        "Section 4.2.3",
        Verdict::of(smallest_value >= 0.0, smallest_weight > 0.0),
        format!(
            "for 1 to 16 nodes the basis goes down to {smallest_value:.3}, so the interpolant leaves the convex hull of its \
             data; its integrals, which are all that Algorithm 1 uses, are above {smallest_weight:.2e} of the step. \
             Margin: the smallest value of the basis"
        ),
    )
    .with_margin(smallest_value))
}

/// Lemma 6: sup |x − Φ| <= ℓ^α/(2^(α−1) α!) sup |x^(α)|. The error is Π(t − s_i)/α! times a
/// derivative, and the product is largest at the ends.
fn interpolation_error() -> Result<Claim, Error> {
    let mut margin = f64::INFINITY;
    for (alpha, power) in (1..=20).zip(0_i32..) {
        let rule = LineRule::new(alpha, 1.0)?;
        let attained: f64 = rule.nodes().iter().product();
        margin = margin.min(0.5f64.powi(power) / attained - 1.0);
    }
    Ok(Claim::new(
        "the interpolation error is at most l^alpha/(2^(alpha - 1) alpha!) times the derivative",
        "Lemma 6",
        Verdict::of(margin >= 0.0, false),
        "for alpha from 1 to 20; the sharp constant is smaller by 2^alpha. Margin: room above the sharp constant, as a fraction \
         of it, at alpha = 1",
    )
    .with_margin(margin))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ridgewalk_coefficients::{Parameters, printed};

    #[test]
    fn a_wrong_digit_in_a_coefficient_is_no_misprint_but_a_failure() {
        let p = Parameters::new(2.0, 4.0, 0.7).unwrap();
        let right = Coefficients::new(p, 3.0).unwrap();
        let (mut mu, mut sigma) = (printed::mu(&p), printed::sigma(&p, 3.0));
        mu[5] *= 1.0 + 1e-9;
        sigma[5] *= 1.0 + 1e-9;
        let claims = coefficient_claims(&mu, &sigma, &right);
        let failed: Vec<&str> = claims
            .iter()
            .filter(|c| c.verdict == Verdict::Fails)
            .map(|c| c.what.as_str())
            .collect();
        assert_eq!(failed, ["mu32", "sigma33"]);
    }

    #[test]
    fn the_right_basis_holds_and_the_printed_one_does_not() {
        assert_eq!(interpolation_claims(lagrange_basis).unwrap()[0].verdict, Verdict::Holds);
        assert_eq!(interpolation_claims(printed_basis).unwrap()[0].verdict, Verdict::Misprint);
    }
}
