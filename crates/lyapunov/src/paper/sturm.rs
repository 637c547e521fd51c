//! Signs of a polynomial in x on (0, 1], decided for every x by Sturm's theorem, and the largest
//! slack of an inequality.
//!
//! κ >= 1 means x = 1/κ in (0, 1]. A claim such as g6 > 0 for all κ >= 1 is decided by counting
//! roots exactly. Its margin is found by bisection on how much more could have been claimed, with
//! exact decisions, to about 2⁻³⁶.

use num_bigint::{BigInt, Sign};
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};

use super::polynomial::{Polynomial, rational};

/// A polynomial in x with integer coefficients, from the constant up, known up to a positive
/// factor: only its sign matters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Univariate {
    /// No trailing zero; empty for the zero polynomial.
    coefficients: Vec<BigInt>,
}

/// What an inequality requires of a polynomial on (0, 1].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Above zero everywhere.
    Positive,
    /// Nowhere below zero.
    NonNegative,
}

impl Univariate {
    /// From rational coefficients, constant first.
    #[must_use]
    pub fn from_rationals(coefficients: &[BigRational]) -> Self {
        let common = coefficients.iter().fold(BigInt::one(), |lcm, c| lcm.lcm(c.denom()));
        Self::primitive(coefficients.iter().map(|c| c.numer() * (&common / c.denom())).collect())
    }

    /// Trailing zeros removed, and the greatest common divisor of the coefficients divided out.
    fn primitive(mut coefficients: Vec<BigInt>) -> Self {
        while coefficients.last().is_some_and(Zero::is_zero) {
            coefficients.pop();
        }
        let content = coefficients.iter().fold(BigInt::zero(), |gcd, c| gcd.gcd(c));
        if !content.is_zero() && !content.is_one() {
            coefficients.iter_mut().for_each(|c| *c = &*c / &content);
        }
        Self { coefficients }
    }

    fn is_zero(&self) -> bool {
        self.coefficients.is_empty()
    }

    fn degree(&self) -> usize {
        self.coefficients.len().saturating_sub(1)
    }

    fn derivative(&self) -> Self {
        Self::primitive(
            self.coefficients
                .iter()
                .enumerate()
                .skip(1)
                .map(|(i, c)| c * BigInt::from(i))
                .collect(),
        )
    }

    /// A positive multiple of the remainder of division by `divisor`, which is not zero.
    fn remainder(&self, divisor: &Self) -> Self {
        let Some(lead) = divisor.coefficients.last() else {
            return Self { coefficients: Vec::new() };
        };
        let (scale, sign) = (lead.abs(), lead.signum());
        let mut rest = self.coefficients.clone();
        while rest.len() >= divisor.coefficients.len() {
            let Some(top) = rest.pop() else { break };
            let shift = rest.len() + 1 - divisor.coefficients.len();
            let factor = top * &sign;
            rest.iter_mut().for_each(|c| *c *= &scale);
            for (c, d) in rest[shift..].iter_mut().zip(&divisor.coefficients) {
                *c -= &factor * d;
            }
        }
        Self::primitive(rest)
    }

    /// The exact quotient by a divisor, up to a positive factor.
    fn quotient(&self, divisor: &Self) -> Self {
        let Some(lead) = divisor.coefficients.last() else { return self.clone() };
        let mut rest: Vec<BigRational> =
            self.coefficients.iter().map(|c| BigRational::from(c.clone())).collect();
        let mut quotient =
            vec![BigRational::zero(); (rest.len() + 1).saturating_sub(divisor.coefficients.len())];
        for shift in (0..quotient.len()).rev() {
            let top = &rest[shift + divisor.degree()] / BigRational::from(lead.clone());
            for (i, d) in divisor.coefficients.iter().enumerate() {
                rest[shift + i] -= &top * BigRational::from(d.clone());
            }
            quotient[shift] = top;
        }
        Self::from_rationals(&quotient)
    }

    /// The sign at a rational point: −1, 0 or 1.
    #[must_use]
    pub fn sign_at(&self, x: &BigRational) -> i8 {
        let mut value = BigInt::zero();
        let mut power = BigInt::one();
        for c in self.coefficients.iter().rev() {
            value = value * x.numer() + c * &power;
            power *= x.denom();
        }
        match value.sign() {
            Sign::Minus => -1,
            Sign::NoSign => 0,
            Sign::Plus => 1,
        }
    }

    /// The Sturm chain of the polynomial, with multiple roots reduced to simple ones.
    fn sturm_chain(&self) -> Vec<Self> {
        let chain = self.euclid_chain();
        match chain.last() {
            Some(gcd) if gcd.degree() > 0 => self.quotient(gcd).euclid_chain(),
            _ => chain,
        }
    }

    fn euclid_chain(&self) -> Vec<Self> {
        let mut chain = vec![self.clone(), self.derivative()];
        while let [.., before, last] = chain.as_slice() {
            if last.is_zero() {
                chain.pop();
                break;
            }
            let mut next = before.remainder(last);
            next.coefficients.iter_mut().for_each(|c| *c = -&*c);
            chain.push(next);
        }
        chain
    }

    /// The number of distinct roots in (`from`, `to`]. An end may be 0 only if 0 is no root.
    #[must_use]
    pub fn roots_in(&self, from: &BigRational, to: &BigRational) -> usize {
        roots_between(&self.sturm_chain(), from, to)
    }

    /// Points 0 = c0 < c1 < ... = 1 with at most one root in each (c_i, c_i+1]. None of them is a
    /// root, except perhaps 1.
    fn cuts(&self) -> Vec<BigRational> {
        let chain = self.sturm_chain();
        let mut done = vec![BigRational::zero()];
        let mut open = vec![BigRational::one()];
        while let (Some(from), Some(to)) = (done.last(), open.last()) {
            if roots_between(&chain, from, to) <= 1 {
                done.extend(open.pop());
            } else {
                open.push(self.split(from, to));
            }
        }
        done
    }

    /// The distinct roots in (0, 1], ascending, each to a relative accuracy of 2^−`bits`. 0 must
    /// not be a root.
    #[must_use]
    pub fn roots_in_unit(&self, bits: u32) -> Vec<BigRational> {
        let chain = self.sturm_chain();
        let relative = BigRational::new(BigInt::one(), BigInt::one() << bits);
        let has_root = |from: &BigRational, to: &BigRational| roots_between(&chain, from, to) == 1;
        let cuts = self.cuts();
        let isolated = cuts.windows(2).filter(|pair| has_root(&pair[0], &pair[1]));
        let refine = |pair: &[BigRational]| {
            let (mut low, mut high) = (pair[0].clone(), pair[1].clone());
            while &high - &low > &low * &relative {
                let centre = middle(&low, &high);
                if has_root(&low, &centre) { high = centre } else { low = centre }
            }
            high
        };
        isolated.map(refine).collect()
    }

    /// A point near the middle of an interval that is not a root.
    fn split(&self, from: &BigRational, to: &BigRational) -> BigRational {
        let width = to - from;
        let tries = [(1, 2), (3, 8), (5, 8), (7, 16), (9, 16)].into_iter();
        // More candidates than the polynomial has roots.
        let more = (2..).map(|i: i64| (1, i)).take(self.degree() + 1);
        let points = tries.chain(more).map(|(n, d)| from + &width * rational(n, d));
        points
            .into_iter()
            .find(|x| self.sign_at(x) != 0)
            .unwrap_or_else(|| (from + to) / rational(2, 1))
    }

    /// Decides the sign by halving [0, 1] until Descartes' rule excludes a root on each piece. This
    /// is far cheaper than Sturm's chain, whose coefficients grow, but does not terminate where the
    /// polynomial touches zero.
    fn by_descartes(&self) -> Decision {
        const DEPTH: u32 = 30;
        // A piece: the polynomial of u in [0, 1] there, the piece's left end in units of its width,
        // and its depth.
        let mut pieces = vec![(self.coefficients.clone(), BigInt::zero(), 0)];
        while let Some((mut piece, left, depth)) = pieces.pop() {
            let point = |units: BigInt| BigRational::new(units, BigInt::one() << depth);
            let at_right: BigInt = piece.iter().sum();
            if piece.first().is_some_and(Signed::is_negative) {
                return Decision::NegativeAt(point(left));
            }
            if at_right.is_negative() {
                return Decision::NegativeAt(point(left + 1));
            }
            // u = 1/(1 + y) takes the piece to y >= 0, with the right end at y = 0.
            let mut folded: Vec<BigInt> = piece.iter().rev().cloned().collect();
            shift_by_one(&mut folded);
            if at_right.is_positive() && folded.iter().all(|c| !c.is_negative()) {
                continue;
            }
            if depth == DEPTH {
                return Decision::Open;
            }
            // u/2 for the left half, and (u + 1)/2 for the right.
            let degree = piece.len();
            for (i, c) in piece.iter_mut().enumerate() {
                *c <<= degree - 1 - i;
            }
            let mut right = piece.clone();
            shift_by_one(&mut right);
            pieces.push((right, &left * 2 + 1, depth + 1));
            pieces.push((piece, left * 2, depth + 1));
        }
        Decision::Positive
    }

    /// A point in (0, 1] at which the need is not met; `None` if it is met everywhere. 0 stands for
    /// all x close to 0.
    #[must_use]
    pub fn violation(&self, need: Need) -> Option<BigRational> {
        if self.is_zero() {
            return (need == Need::Positive).then(BigRational::one);
        }
        if self.coefficients.iter().all(|c| !c.is_negative()) {
            // Descartes: no sign change, no positive root, and the sign is that of any coefficient.
            return None;
        }
        match self.by_descartes() {
            Decision::Positive => return None,
            Decision::NegativeAt(x) => return Some(x),
            Decision::Open => {}
        }
        let cuts = self.cuts();
        // After division by the lowest power of x there is a constant term, so the sign at 0 is the
        // sign near 0.
        if let Some(cut) = cuts.iter().find(|cut| self.sign_at(cut) < 0) {
            return Some(cut.clone());
        }
        if need == Need::NonNegative {
            return None;
        }
        let chain = self.sturm_chain();
        let touched = cuts.windows(2).find(|pair| roots_between(&chain, &pair[0], &pair[1]) > 0)?;
        Some(touched[1].clone())
    }
}

/// The result of a search for negative values that may give up.
#[derive(Debug)]
enum Decision {
    /// Positive on all of (0, 1].
    Positive,
    /// Negative at a point of [0, 1]; at 0 this means near it.
    NegativeAt(BigRational),
    /// Undecided at the depth reached.
    Open,
}

/// c(x + 1), by repeated summation.
fn shift_by_one(coefficients: &mut [BigInt]) {
    for start in 0..coefficients.len() {
        for i in (start..coefficients.len() - 1).rev() {
            let above = coefficients[i + 1].clone();
            coefficients[i] += above;
        }
    }
}

/// Sturm's theorem: the number of sign changes lost from one end to the other.
fn roots_between(chain: &[Univariate], from: &BigRational, to: &BigRational) -> usize {
    let changes = |x: &BigRational| {
        let signs: Vec<i8> = chain.iter().map(|p| p.sign_at(x)).filter(|&s| s != 0).collect();
        signs.windows(2).filter(|pair| pair[0] != pair[1]).count()
    };
    changes(from).saturating_sub(changes(to))
}

/// Whether every polynomial meets the need for all κ >= 1; false if one contains an unknown.
pub(crate) fn for_all_kappa(need: Need, conditions: &[Polynomial]) -> bool {
    violation(need, conditions, None).is_none()
}

/// An x at which a condition is not met: `hint`, if a condition is negative there, which only costs
/// an evaluation.
fn violation(
    need: Need, conditions: &[Polynomial], hint: Option<&BigRational>,
) -> Option<BigRational> {
    let polynomials: Vec<Option<Univariate>> = conditions.iter().map(Polynomial::in_x).collect();
    let negative = |x: &&BigRational| polynomials.iter().flatten().any(|p| p.sign_at(x) < 0);
    hint.filter(negative).cloned().or_else(|| {
        polynomials.iter().find_map(|polynomial| match polynomial {
            Some(polynomial) => polynomial.violation(need),
            None => Some(BigRational::one()),
        })
    })
}

/// How much more could have been claimed for all κ >= 1, and the κ that excludes more.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Slack {
    /// The largest proved slack, to within 2⁻³⁶ of the range searched.
    largest: BigRational,
    /// The κ at which a slightly larger slack is refuted; infinite if that is the limit of large κ.
    pub(crate) tightest_kappa: f64,
}

impl Slack {
    /// The slack as a double.
    pub(crate) fn margin(&self) -> f64 {
        self.largest.to_f64().unwrap_or(f64::NAN)
    }
}

/// The largest slack t in [`from`, `to`] for which all conditions(t) are met for every κ >= 1, by
/// bisection with an exact decision at each t. Conditions must get harder as t grows. `None` if
/// they are not met at `from`, or still met at `to`.
pub(crate) fn largest_slack(
    need: Need, [from, to]: [i64; 2], conditions: impl Fn(&BigRational) -> Vec<Polynomial>,
) -> Option<Slack> {
    let refuted =
        |t: &BigRational, hint: Option<&BigRational>| violation(need, &conditions(t), hint);
    let (mut low, mut high) = (rational(from, 1), rational(to, 1));
    let mut at = refuted(&high, None)?;
    if refuted(&low, None).is_some() {
        return None;
    }
    // Try 0 first, so that a claim that is sharp as printed has a margin of exactly 0.
    let mut next = if low.is_negative() { BigRational::zero() } else { middle(&low, &high) };
    for _ in 0..36 {
        // The last point of refutation often works again.
        match refuted(&next, Some(&at)) {
            Some(x) => (high, at) = (next, x),
            None => low = next,
        }
        next = middle(&low, &high);
    }
    let tightest_kappa =
        if at.is_zero() { f64::INFINITY } else { at.recip().to_f64().unwrap_or(f64::NAN) };
    Some(Slack { largest: low, tightest_kappa })
}

fn middle(a: &BigRational, b: &BigRational) -> BigRational {
    (a + b) / rational(2, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Π (x − n/d) over the given roots.
    fn with_roots(roots: &[(i64, i64)]) -> Univariate {
        let factor = |&(n, d): &(i64, i64)| Polynomial::table(&[(1, 1, 1), (0, -n, d)]);
        let product = roots.iter().fold(Polynomial::integer(1), |p, root| &p * &factor(root));
        product.in_x().unwrap()
    }

    #[test]
    fn roots_are_counted_once_each_with_the_right_end_included() {
        let p = with_roots(&[(1, 3), (1, 2), (1, 2), (1, 2), (3, 4), (2, 1), (-1, 5)]);
        let count =
            |a: (i64, i64), b: (i64, i64)| p.roots_in(&rational(a.0, a.1), &rational(b.0, b.1));
        assert_eq!(count((0, 1), (1, 1)), 3);
        assert_eq!(count((-1, 1), (3, 1)), 5);
        assert_eq!(count((2, 5), (1, 2)), 1);
        assert_eq!(count((3, 5), (7, 10)), 0);
    }

    #[test]
    fn a_dip_of_a_millionth_below_zero_is_found_and_a_touch_is_told_from_a_crossing() {
        let dip = Polynomial::table(&[(2, 1, 1), (1, -2, 3), (0, 1, 9)]);
        let touch = dip.in_x().unwrap();
        assert_eq!(touch.violation(Need::NonNegative), None);
        let found = touch.violation(Need::Positive).unwrap();
        assert!(
            found > rational(1, 3),
            "the root 1/3 lies at or before the end of its interval, {found}"
        );
        assert!(
            matches!(touch.by_descartes(), Decision::Open),
            "halving alone cannot settle a touch"
        );
        let below = (&dip - &Polynomial::constant(rational(1, 1_000_000))).in_x().unwrap();
        let x = below.violation(Need::NonNegative).unwrap();
        assert!((x - rational(1, 3)).abs() < rational(1, 1000));
        let above = (&dip + &Polynomial::constant(rational(1, 1_000_000))).in_x().unwrap();
        assert_eq!(above.violation(Need::Positive), None);
        assert_eq!(with_roots(&[(1, 1)]).violation(Need::NonNegative), Some(rational(0, 1)));
        assert_eq!(
            with_roots(&[(1, 4), (1, 2), (3, 4), (3, 4)]).violation(Need::NonNegative).map(|x| {
                assert!(rational(1, 4) < x && x < rational(1, 2));
            }),
            Some(())
        );
    }

    #[test]
    fn the_largest_slack_of_a_parabola_is_its_minimum() {
        // x² − x/2 + 1 has its minimum 15/16 at x = 1/4, that is κ = 4.
        let parabola = Polynomial::table(&[(2, 1, 1), (1, -1, 2), (0, 1, 1)]);
        let conditions = |t: &BigRational| vec![&parabola - &Polynomial::constant(t.clone())];
        let slack = largest_slack(Need::NonNegative, [-8, 8], conditions).unwrap();
        assert!((slack.margin() - 0.9375).abs() < 1e-9);
        assert!((slack.tightest_kappa - 4.0).abs() < 1e-3);
        // x >= t is sharp at large κ with a margin of exactly 0.
        let slack = largest_slack(Need::NonNegative, [-8, 8], |t| {
            vec![&Polynomial::x(1) - &Polynomial::constant(t.clone())]
        });
        let slack = slack.unwrap();
        assert_eq!((slack.margin(), slack.tightest_kappa), (0.0, f64::INFINITY));
        assert!(largest_slack(Need::NonNegative, [1, 8], conditions).is_none());
    }
}
