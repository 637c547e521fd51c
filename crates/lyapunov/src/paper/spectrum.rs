//! Lemma 3 on the eigenvalues of S: the cubic f, and Lemmas 5 and 10 about it.

use num_rational::BigRational;

use super::claims::{Claim, Verdict};
use super::polynomial::{Polynomial, Unknown, characteristic, matrix, rational};
use super::printed::Printed;
use super::sturm::Need;

/// The claims of Section 4.1.3 and Appendix B.3.
pub(crate) fn spectrum_claims(printed: &Printed) -> Vec<Claim> {
    let mut claims = vec![cubic(printed)];
    claims.extend(values_of_the_cubic(printed));
    claims.extend(critical_points(printed));
    claims.extend(chain_of_part_b(printed));
    claims.extend(lemmas(printed));
    claims
}

fn one_plus(t: &BigRational) -> BigRational {
    rational(1, 1) + t
}

fn one_minus(t: &BigRational) -> BigRational {
    rational(1, 1) - t
}

fn cubic(printed: &Printed) -> Claim {
    let scale = Polynomial::table(&[(5, 4, 1)]);
    Claim::identity(
        "f is the characteristic polynomial of (4/kappa^5) S",
        "Section 4.1.3",
        &characteristic(&matrix(|i, j| &scale * &printed.s[i][j])),
        &printed.cubic(),
        "identity in the argument of f and kappa",
    )
}

fn values_of_the_cubic(printed: &Printed) -> Vec<Claim> {
    let f = printed.cubic();
    let [lower, upper] = printed.root_range();
    vec![
        Claim::identity(
            "f(4/kappa^3 + 40/kappa^5) = 48/kappa^9 + 1520/kappa^11 - ... - 1/kappa^25",
            "Appendix B.3",
            &f.substitute(Unknown::Lambda, &upper),
            &printed.f_at_upper,
            "identity of polynomials in 1/kappa, 16 coefficients",
        ),
        Claim::inequality(
            "f(4/kappa^3 + 40/kappa^5) >= 48/kappa^9 + 1376/kappa^11 + ... + 467/kappa^21 > 0",
            "Appendix B.3",
            Need::NonNegative,
            [-1, 8],
            |t| {
                let bound = &printed.f_at_upper_bound;
                vec![&printed.f_at_upper - &bound.scaled(&one_plus(t)), bound.clone()]
            },
            "margin: room above the bound, as a fraction of it",
        ),
        Claim::identity(
            "f(4/(5 kappa^6)) = -56/(25 kappa^15) - 8/kappa^17 - ... - 1/(5 kappa^25)",
            "Appendix B.3",
            &f.substitute(Unknown::Lambda, &lower),
            &printed.f_at_lower,
            "identity of polynomials in 1/kappa, 10 coefficients",
        ),
        Claim::inequality(
            "f(4/(5 kappa^6)) < 0",
            "Appendix B.3",
            Need::Positive,
            [-8, 64],
            |t| vec![&-&printed.f_at_lower - &Polynomial::x(15).scaled(t)],
            "margin: -kappa^15 f",
        ),
    ]
}

/// The claim `smaller` <= `larger` of Appendix B.3.
fn at_most(what: &str, smaller: &Polynomial, larger: &Polynomial, detail: &str) -> Claim {
    Claim::inequality(
        what,
        "Appendix B.3",
        Need::NonNegative,
        [-8, 1],
        |t| vec![&larger.scaled(&one_minus(t)) - smaller],
        detail,
    )
}

/// The claims of Appendix B.3 about g4, g5 and the roots (g4 ± √g5)/3 of f′.
fn critical_points(printed: &Printed) -> Vec<Claim> {
    let (g4, g5, root) = (&printed.g4, &printed.g5, &printed.root_bound);
    let discriminant =
        &printed.g4.power(2) - &(&printed.g3 * &Polynomial::x(9)).scaled(&rational(3, 1));
    let [_, upper] = printed.root_range();
    let quadratic = Claim::identity(
        "g4 = g2",
        "Appendix B.3",
        g4,
        &printed.g2,
        "both are printed in full; the roots of f' are (g4 +- sqrt(g5))/3 if so",
    );
    let room = "margin: room below the bound, as a fraction of it";
    let square = root.power(2);
    let two_steps = (&square - &printed.g5_bound).has_no_negative_coefficient();
    vec![
        quadratic,
        Claim::identity(
            "g5 = g4^2 - 3 g3/kappa^9",
            "Appendix B.3",
            g5,
            &discriminant,
            "identity of polynomials in 1/kappa, 13 coefficients",
        ),
        at_most("g4 <= 1/kappa^3 + 25/kappa^5", g4, &printed.g4_bound, room),
        at_most("g5 <= 11/kappa^6 + 125/kappa^10", g5, &printed.g5_bound, room),
        Claim::inequality(
            "sqrt(g5) <= sqrt(11/kappa^6) + sqrt(125/kappa^10) <= 4/kappa^3 + 12/kappa^5",
            "Appendix B.3",
            Need::NonNegative,
            [-8, 1],
            |t| {
                let step = if two_steps { 1 } else { -1 };
                let bound = root.scaled(&one_minus(t));
                vec![Polynomial::integer(step), bound.clone(), &bound.power(2) - g5]
            },
            "margin: room below the last bound, as a fraction of it",
        ),
        Claim::inequality(
            "the larger root of f' is at most 4/kappa^3 + 40/kappa^5",
            "Appendix B.3",
            Need::NonNegative,
            [-8, 1],
            |t| {
                let rest = &upper.scaled(&(one_minus(t) * rational(3, 1))) - g4;
                vec![g5.clone(), rest.clone(), &rest.power(2) - g5]
            },
            "margin: room below the bound, as a fraction of it (the paper's words before it say lower bound)",
        ),
    ]
}

/// The inequalities of part (b) that lead to the smaller root of f′.
fn chain_of_part_b(printed: &Printed) -> Vec<Claim> {
    let [first, second] = &printed.sum_bounds;
    let last = &printed.g3 * &Polynomial::x(3);
    let room = "margin: room below the larger side, as a fraction of it";
    let lower = &printed.root_range()[0];
    let smaller_root = |what: &str, bound: &Polynomial| {
        Claim::inequality(
            what,
            "Appendix B.3",
            Need::NonNegative,
            [-1, 64],
            |t| {
                let rest = &printed.g4 - &bound.scaled(&(one_plus(t) * rational(3, 1)));
                vec![rest.clone(), &rest.power(2) - &printed.g5]
            },
            "margin: room above the bound, as a fraction of it",
        )
    };
    vec![
        Claim::identity(
            "(g4^2 - g5)/3 = g3/kappa^9",
            "Appendix B.3",
            &(&printed.g4.power(2) - &printed.g5).scaled(&rational(1, 3)),
            &(&printed.g3 * &Polynomial::x(9)),
            "identity",
        ),
        at_most(
            "g4 + 4/kappa^3 + 12/kappa^5 <= 5/kappa^3 + 17/kappa^5 + 11/kappa^6 + ... + 1/kappa^10",
            &(&printed.g4 + &printed.root_bound),
            first,
            room,
        ),
        at_most("... <= 5/kappa^3 + 17/kappa^5 + 20/kappa^6", first, second, room),
        at_most("... <= g3/kappa^3", second, &last, room),
        smaller_root("the smaller root of f' is at least 1/kappa^6", &printed.smaller_root_bound),
        smaller_root("the smaller root of f' is at least 4/(5 kappa^6)", lower),
    ]
}

/// Values of f, f′ and f″ at a point, with signs such that all are nonnegative exactly if no root
/// is below.
fn nothing_below(printed: &Printed, point: &Polynomial) -> Vec<Polynomial> {
    let [f, first, second] = derivatives(printed, point);
    vec![-&f, first, -&second]
}

/// Values of f, f′ and f″ at a point, all nonnegative exactly if no root is above.
fn nothing_above(printed: &Printed, point: &Polynomial) -> Vec<Polynomial> {
    derivatives(printed, point).to_vec()
}

fn derivatives(printed: &Printed, point: &Polynomial) -> [Polynomial; 3] {
    let f = printed.cubic();
    let first = f.derivative(Unknown::Lambda);
    let second = first.derivative(Unknown::Lambda);
    [f, first, second].map(|p| p.substitute(Unknown::Lambda, point))
}

/// Lemmas 10, 5 and 3. All roots of f are real, so they are above a point exactly if f, f′, f″
/// alternate there, and below exactly if all are positive.
fn lemmas(printed: &Printed) -> Vec<Claim> {
    let [lower, upper] = printed.root_range();
    let below = |t: &BigRational| lower.scaled(&one_plus(t));
    let above = |t: &BigRational| upper.scaled(&one_minus(t));
    let fraction = "margin: how far the end of the interval could be moved, as a fraction of it";
    let lemma5 = |t: &BigRational| {
        let mut conditions = nothing_below(printed, &below(t));
        conditions.extend(nothing_above(printed, &above(t)));
        conditions
    };
    vec![
        Claim::inequality(
            "f increases beyond 4/kappa^3 + 40/kappa^5",
            "Lemma 10 (a)",
            Need::NonNegative,
            [-8, 1],
            |t| nothing_above(printed, &above(t)).split_off(1),
            fraction,
        ),
        Claim::inequality(
            "f increases below 4/(5 kappa^6)",
            "Lemma 10 (b)",
            Need::NonNegative,
            [-1, 64],
            |t| nothing_below(printed, &below(t)).split_off(1),
            fraction,
        ),
        Claim::inequality(
            "f < 0 up to 4/(5 kappa^6) and f > 0 from 4/kappa^3 + 40/kappa^5",
            "Lemma 5",
            Need::Positive,
            [-1, 1],
            lemma5,
            "margin: how far both ends could be moved at once, as a fraction of each",
        ),
        Claim::inequality(
            "eigenvalues of S are at least 1/(5 kappa)",
            "Lemma 3",
            Need::NonNegative,
            [-1, 64],
            |t| nothing_below(printed, &below(t)),
            "margin: the bound could be larger by this fraction of itself",
        ),
        Claim::inequality(
            "eigenvalues of S are at most kappa^2 + 10",
            "Lemma 3",
            Need::NonNegative,
            [-8, 1],
            |t| nothing_above(printed, &above(t)),
            "margin: the bound could be smaller by this fraction of itself",
        ),
        trace_of_inverse(printed),
    ]
}

/// f contains g3 twice: the sum of the inverse eigenvalues of S is 4κ.
fn trace_of_inverse(printed: &Printed) -> Claim {
    let f = characteristic(&printed.s);
    let linear = f.coefficient(Unknown::Lambda, 1);
    let determinant = -&f.coefficient(Unknown::Lambda, 0);
    let agrees = linear == &determinant * &Polynomial::table(&[(-1, 4, 1)]);
    Claim::new(
        "the last two coefficients of f share g3: the trace of S^-1 is 4 kappa",
        "Section 4.1.3",
        Verdict::of(agrees, false),
        "so the smallest eigenvalue of S is above 1/(4 kappa), in one line",
    )
}
