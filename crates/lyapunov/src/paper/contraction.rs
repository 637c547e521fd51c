//! The dynamics, Lemma 2 on the eigenvalues of S M + Mᵀ S, and Proposition 1.

use num_rational::BigRational;
use num_traits::Signed;

use super::claims::{Claim, Verdict};
use super::polynomial::{
    Polynomial, PolynomialMatrix, Unknown, characteristic, leading_minors, matrix, plus_transpose,
    product, rational,
};
use super::printed::Printed;
use super::sturm::{Need, for_all_kappa, largest_slack};

/// The claims of Sections 2.4 and 4.1 about S M + Mᵀ S, with those of Appendix B.2.
pub(crate) fn contraction_claims(printed: &Printed) -> Vec<Claim> {
    vec![
        generic_drift(printed),
        stationary_law(printed),
        increment_of_p(printed),
        eigenvalues(printed),
        upper_eigenvalue(printed),
        g1_above_four(printed),
        expansion(printed),
        definition_of_g6(printed),
        recentred(printed),
        g6_positive(printed),
        g6_bound(printed),
        lemma2(printed),
        rate_from_lemmas(printed),
        proposition1(printed),
    ]
}

/// diag(l, 1, 1): the Hessian of H/L.
fn hessian() -> PolynomialMatrix {
    let ell = Polynomial::unknown(Unknown::Ell);
    matrix(|i, j| {
        if i != j {
            Polynomial::default()
        } else if i == 0 {
            ell.clone()
        } else {
            Polynomial::integer(1)
        }
    })
}

fn is_zero(a: &PolynomialMatrix) -> bool {
    a.iter().flatten().all(Polynomial::is_zero)
}

fn add(a: &PolynomialMatrix, b: &PolynomialMatrix) -> PolynomialMatrix {
    matrix(|i, j| &a[i][j] + &b[i][j])
}

fn constant(value: BigRational) -> Polynomial {
    Polynomial::constant(value)
}

/// dx = (D + Q) ∇H dt + √(2D) dB preserves the law exp(−H) if the drift times the covariance, which
/// for a quadratic H is the factor before ∇H, plus its transpose plus 2D vanishes. The drift must
/// also be that of the algorithm.
fn generic_drift(printed: &Printed) -> Claim {
    let works = |sign: i64| {
        let sign = rational(sign, 1);
        let factor =
            matrix(|i, j| &printed.diffusion[i][j].scaled(&sign) + &printed.rotation[i][j]);
        let noise = matrix(|i, j| printed.diffusion[i][j].scaled(&rational(2, 1)));
        let drift = product(&factor, &hessian());
        is_zero(&add(&plus_transpose(&factor), &noise)) && drift == printed.drift
    };
    Claim::new(
        "dx = (D + Q) grad H dt + sqrt(2 D) dB keeps exp(-H) and is the third-order dynamics",
        "Section 2.4",
        Verdict::of(works(printed.diffusion_sign), works(-printed.diffusion_sign)),
        "identity in l, gamma, xi for quadratic H; D must stand with a minus sign, (Q - D) grad H: with a plus the \
         auxiliary variable r is driven away (the same sign stands in Section 4.1.1 and Appendix A.1)",
    )
}

/// M Σ + Σ Mᵀ + (2ξ/L) e₃e₃ᵀ = 0 for Σ = diag(1/l, 1, 1)/L, multiplied by l L to stay polynomial.
fn stationary_law(printed: &Printed) -> Claim {
    let ell = Polynomial::unknown(Unknown::Ell);
    let covariance = matrix(|i, j| match (i, j) {
        (0, 0) => Polynomial::integer(1),
        _ if i == j => ell.clone(),
        _ => Polynomial::default(),
    });
    let noise = matrix(|i, j| (&printed.diffusion[i][j] * &ell).scaled(&rational(2, 1)));
    let rest = add(&plus_transpose(&product(&printed.drift, &covariance)), &noise);
    Claim::new(
        "exp(-U - (L/2)|p|^2 - (L/2)|r|^2) is stationary",
        "Section 4.1",
        Verdict::of(is_zero(&rest), false),
        "M Sigma + Sigma M^T + noise = 0 with Sigma = diag(1/l, 1, 1)/L, as an identity in l, gamma, xi",
    )
}

fn increment_of_p(printed: &Printed) -> Claim {
    let gamma = Polynomial::unknown(Unknown::Gamma);
    let matches = |sign: i64| gamma.scaled(&rational(sign, 1)) == printed.drift[1][2];
    Claim::new(
        "increments of p are (-g/L - gamma r) dt",
        "Section 4.2.1",
        Verdict::of(matches(printed.increment_sign), matches(-printed.increment_sign)),
        "the dynamics have -g/L + gamma r; also in Appendix A.3. Only squares of its terms are used, so nothing depends on it",
    )
}

/// The printed λ0 and λ± are the eigenvalues if det(λ − S M − Mᵀ S) = (λ + 1)(λ² + (l + x)/x λ +
/// (4(l + x)² − (l − x)² g1)/16x²).
fn eigenvalues(printed: &Printed) -> Claim {
    let lambda = Polynomial::unknown(Unknown::Lambda);
    let ell = Polynomial::unknown(Unknown::Ell);
    let x = Polynomial::x(1);
    let sum = &(&ell + &x) * &Polynomial::kappa(1);
    let four = (&ell + &x).power(2).scaled(&rational(4, 1));
    let difference = &four - &(&(&ell - &x).power(2) * &printed.g1);
    let pair_product = (&difference * &Polynomial::kappa(2)).scaled(&rational(1, 16));
    let pair = &(&lambda.power(2) + &(&sum * &lambda)) + &pair_product;
    let closed = &(&lambda + &Polynomial::integer(1)) * &pair;
    Claim::identity(
        "eigenvalues of S M + M^T S are -1 and -(2(l + 1/kappa) +- (l - 1/kappa) sqrt(g1))/(4/kappa)",
        "Section 4.1.2",
        &characteristic(&printed.derivative()),
        &closed,
        "characteristic polynomial, an identity in lambda, l and kappa",
    )
}

/// λ⁺ <= −(l + x)/(2x) <= −1: (l + x)/(2x) − 1 at l = x + y has no negative coefficient.
fn upper_eigenvalue(printed: &Printed) -> Claim {
    let ell = Polynomial::unknown(Unknown::Ell);
    let half_sum = (&(&ell + &Polynomial::x(1)) * &Polynomial::kappa(1)).scaled(&rational(1, 2));
    let beyond =
        (&half_sum - &Polynomial::integer(1)).substitute(Unknown::Ell, &(&Polynomial::x(1) + &ell));
    // The bound −1 on λ⁺ also requires √g1 to be real.
    let real = for_all_kappa(Need::NonNegative, std::slice::from_ref(&printed.g1));
    Claim::new(
        "lambda+ <= -(l + 1/kappa)/(2/kappa) <= -1",
        "Section 4.1.2",
        Verdict::of(real && beyond.has_no_negative_coefficient(), false),
        "sharp at l = 1/kappa",
    )
    .with_margin(0.0)
}

fn g1_above_four(printed: &Printed) -> Claim {
    Claim::inequality(
        "g1 >= 4, so 2 - sqrt(g1) <= 0",
        "Lemma 4",
        Need::NonNegative,
        [-8, 64],
        |t| vec![&(&printed.g1 - &Polynomial::integer(4)) - &constant(t.clone())],
        "margin: g1 - 4",
    )
}

/// (2κ + 6/5)² − (κ − 1)² g1.
fn squared_difference(printed: &Printed) -> Polynomial {
    let left = Polynomial::table(&[(-1, 2, 1), (0, 6, 5)]).power(2);
    let right = &Polynomial::table(&[(-1, 1, 1), (0, -1, 1)]).power(2) * &printed.g1;
    &left - &right
}

fn expansion(printed: &Printed) -> Claim {
    Claim::identity(
        "(2 kappa + 6/5)^2 - (kappa - 1)^2 g1 expands to (64/5) kappa - 564/25 - ... - 1/kappa^10",
        "Appendix B.2",
        &squared_difference(printed),
        &printed.expansion,
        "identity of polynomials in 1/kappa, 11 coefficients",
    )
}

fn definition_of_g6(printed: &Printed) -> Claim {
    Claim::identity(
        "g6 = ((2 kappa + 6/5)^2 - (kappa - 1)^2 g1)/kappa",
        "Appendix B.2",
        &(&squared_difference(printed) * &Polynomial::x(1)),
        &printed.g6,
        "identity of polynomials in 1/kappa, 11 coefficients",
    )
}

fn recentred(printed: &Printed) -> Claim {
    let y = Polynomial::table(&[(1, 1, 1), (0, -1, 2)]);
    let sum = printed
        .g6_recentred
        .iter()
        .rev()
        .fold(Polynomial::default(), |sum, c| &(&sum * &y) + &constant(c.clone()));
    Claim::identity(
        "g6 in powers of (1/kappa - 1/2)",
        "Appendix B.2",
        &sum,
        &printed.g6,
        "identity of polynomials in 1/kappa, 12 coefficients",
    )
}

fn g6_positive(printed: &Printed) -> Claim {
    Claim::inequality(
        "g6 > 0",
        "Appendix B.2",
        Need::Positive,
        [-64, 64],
        |t| vec![&printed.g6 - &constant(t.clone())],
        "margin: the smallest value of g6",
    )
}

/// The lower bound that |y| <= 1/2 gives for Σ c_i yⁱ, y = x − 1/2, as a constant and a factor of
/// y².
fn bound_from_recentred(coefficients: &[BigRational]) -> [BigRational; 2] {
    let mut bound = [rational(0, 1), rational(0, 1)];
    let mut scale = rational(1, 1);
    for (i, c) in coefficients.iter().enumerate() {
        let place = usize::from(i >= 2);
        if i == 2 {
            scale = rational(1, 1);
        }
        // An odd power can have either sign; an even power beyond the square lowers the bound only
        // if its coefficient is negative.
        if i == 0 || i == 2 {
            bound[place] += c;
        } else if i % 2 == 1 || c.is_negative() {
            bound[place] -= c.abs() * &scale;
        }
        scale /= rational(2, 1);
    }
    bound
}

fn g6_bound(printed: &Printed) -> Claim {
    let y2 = Polynomial::table(&[(1, 1, 1), (0, -1, 2)]).power(2);
    let below = |bound: &[BigRational; 2], t: &BigRational| {
        let bound = &constant(&bound[0] + t) + &y2.scaled(&bound[1]);
        vec![&printed.g6 - &bound]
    };
    let none = rational(0, 1);
    let right = bound_from_recentred(&printed.g6_recentred);
    let is_bound =
        |bound: &[BigRational; 2]| for_all_kappa(Need::NonNegative, &below(bound, &none));
    let conclusion = !right[0].is_negative() && !right[1].is_negative();
    let [constant_printed, factor_printed] = &printed.g6_bound;
    let slack = largest_slack(Need::NonNegative, [-64, 64], |t| below(&printed.g6_bound, t));
    Claim::new(
        format!("g6 >= {constant_printed} + (1/kappa - 1/2)^2 {factor_printed}"),
        "Appendix B.2",
        Verdict::of(printed.g6_bound == right && is_bound(&right), is_bound(&right) && conclusion),
        format!(
            "the printed bracket adds up to {} + (1/kappa - 1/2)^2 {}, which is a lower bound and positive, so the lemma \
             stands; margin: g6 minus the printed bound",
            right[0], right[1]
        ),
    )
    .with_slack(slack.as_ref())
}

/// Both parts of Lemma 4 and the argument around them: λ⁻ is affine in l, equal to −1 at l = x, and
/// at l = 1 below −(1/5 + t) exactly if 2(1 + x) − 4x(1/5 + t) is at least (1 − x) √g1.
fn lemma2(printed: &Printed) -> Claim {
    let conditions = |t: &BigRational| {
        let decay = &printed.decay + t;
        let left = &Polynomial::table(&[(0, 2, 1), (1, 2, 1)])
            - &Polynomial::x(1).scaled(&(&decay * rational(4, 1)));
        let right = &Polynomial::table(&[(0, 1, 1), (1, -1, 1)]).power(2) * &printed.g1;
        vec![&Polynomial::integer(1) - &constant(decay), left.clone(), &left.power(2) - &right]
    };
    Claim::inequality(
        format!("eigenvalues of S M + M^T S are below -{}", printed.decay),
        "Lemma 2",
        Need::Positive,
        [-1, 1],
        conditions,
        "margin: distance of the largest eigenvalue (at l = 1) from the bound",
    )
}

fn rate_from_lemmas(printed: &Printed) -> Claim {
    Claim::identity(
        "decay 1/5 over the largest eigenvalue kappa^2 + 10 is the rate 1/(5 kappa^2 + 50)",
        "Lemma 1",
        &printed.rate_denominator.scaled(&printed.decay),
        &printed.largest,
        "identity",
    )
}

/// −(S M + Mᵀ S) − (1 + t) S/(5κ² + 50) > 0 at l = 1/κ and l = 1, and in between since it is affine
/// in l.
fn proposition1(printed: &Printed) -> Claim {
    let derivative = printed.derivative();
    // The minors are formed once, with λ for 1 + t: forming them for each t would dominate the
    // time.
    let factor = Polynomial::unknown(Unknown::Lambda);
    let ends = [Polynomial::x(1), Polynomial::integer(1)];
    let minors = ends.map(|l| {
        leading_minors(&matrix(|i, j| {
            let entry = &derivative[i][j].substitute(Unknown::Ell, &l) * &printed.rate_denominator;
            &-&entry - &(&printed.s[i][j] * &factor)
        }))
    });
    let conditions = |t: &BigRational| {
        let factor = constant(rational(1, 1) + t);
        minors.iter().flatten().map(|minor| minor.substitute(Unknown::Lambda, &factor)).collect()
    };
    Claim::inequality(
        "the squared S-norm of the difference of two paths falls like exp(-t/(5 kappa^2 + 50))",
        "Proposition 1",
        Need::Positive,
        [-1, 63],
        conditions,
        "S M + M^T S + S/(5 kappa^2 + 50) < 0 for all l between 1/kappa and 1; margin: with this S the rate could be larger \
         by this fraction of itself",
    )
}
