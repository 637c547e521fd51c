//! Claims, verdicts on them, and the list of all claims.

use num_rational::BigRational;
use ridgewalk_coefficients::{Coefficients, Parameters, printed};

use super::algorithm::{coefficient_claims, interpolation_claims, printed_basis};
use super::contraction::contraction_claims;
use super::numeric::claims_at;
use super::polynomial::Polynomial;
use super::printed::Printed;
use super::proofs::proof_claims;
use super::scaling::scaling_claims;
use super::spectrum::spectrum_claims;
use super::statements::{Statements, statement_claims};
use super::sturm::{Need, Slack, for_all_kappa, largest_slack};
use super::theorems::Reading;
use crate::error::{Error, condition_number};

/// Whether a claim is true.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// True as printed, or, if the claim names its own corrections, as the row states it.
    Holds,
    /// Not true as printed, but true with the correction that the detail names.
    Misprint,
    /// Not true, or not shown with the constants given, and no correction is known.
    Fails,
}

impl Verdict {
    /// The verdict, given whether the claim is true as printed and as corrected.
    #[must_use]
    pub fn of(printed: bool, corrected: bool) -> Self {
        match (printed, corrected) {
            (true, _) => Self::Holds,
            (false, true) => Self::Misprint,
            (false, false) => Self::Fails,
        }
    }
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Holds => "holds",
            Self::Misprint => "misprint",
            Self::Fails => "fails",
        })
    }
}

/// A claim of the paper and the verdict on it.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// The claim.
    pub what: String,
    /// Where the paper makes it.
    pub place: &'static str,
    /// Whether it is true.
    pub verdict: Verdict,
    /// How much more could have been claimed, if that is a number: negative if the printed claim is
    /// false. The detail explains what it measures.
    pub margin: Option<f64>,
    /// The κ at which the margin is attained; infinite if it is approached as κ grows.
    pub at_kappa: Option<f64>,
    /// How the verdict was reached, what the margin measures, and the correction of a misprint.
    pub detail: String,
}

impl Claim {
    /// A claim without a margin.
    pub(crate) fn new(
        what: impl Into<String>, place: &'static str, verdict: Verdict, detail: impl Into<String>,
    ) -> Self {
        Self {
            what: what.into(),
            place,
            verdict,
            margin: None,
            at_kappa: None,
            detail: detail.into(),
        }
    }

    /// An identity: both sides are the same polynomial.
    pub(crate) fn identity(
        what: impl Into<String>, place: &'static str, left: &Polynomial, right: &Polynomial,
        detail: impl Into<String>,
    ) -> Self {
        Self::new(what, place, Verdict::of(left == right, false), detail)
    }

    /// An inequality for all κ >= 1 with a slack: at slack 0 the `conditions` are the printed
    /// claim, and they get harder as the slack grows.
    pub(crate) fn inequality(
        what: impl Into<String>, place: &'static str, need: Need, range: [i64; 2],
        conditions: impl Fn(&BigRational) -> Vec<Polynomial>, detail: impl Into<String>,
    ) -> Self {
        let printed = for_all_kappa(need, &conditions(&super::polynomial::rational(0, 1)));
        let slack = largest_slack(need, range, conditions);
        Self::new(what, place, Verdict::of(printed, false), detail).with_slack(slack.as_ref())
    }

    /// The same claim with the margin and the κ of a slack.
    pub(crate) fn with_slack(mut self, slack: Option<&Slack>) -> Self {
        self.margin = slack.map(Slack::margin);
        self.at_kappa = slack.map(|s| s.tightest_kappa);
        self
    }

    /// The same claim with a margin that belongs to no particular κ.
    pub(crate) fn with_margin(mut self, margin: f64) -> Self {
        self.margin = Some(margin);
        self
    }
}

/// The largest κ for numerical rows: κ³ must be representable as a double.
const LARGEST_KAPPA: f64 = 1e100;

/// Every claim of the paper that can be checked, each for all κ >= 1 (Lemma 9, Proposition 2 and the
/// theorems with their constants at values of κ from 1 to 10⁶), and the steps of its proofs that do not follow as
/// printed, each in an example.
///
/// # Errors
/// Never with the parameters used inside; the type is that of the crates that compute coefficients
/// and nodes.
pub fn verify() -> Result<Vec<Claim>, Error> {
    let mut claims = verify_printed(&Printed::paper());
    // At ξη = 2.8 no printed formula loses digits. L is not 1, so that a wrong L is detected.
    let parameters = Parameters::new(2.0, 4.0, 0.7)?;
    let right = Coefficients::new(parameters, 3.0)?;
    let (mu, sigma) = (printed::mu(&parameters), printed::sigma(&parameters, right.smoothness()));
    claims.extend(coefficient_claims(&mu, &sigma, &right));
    claims.extend(interpolation_claims(printed_basis)?);
    claims.extend(statement_claims(&Statements::paper())?);
    claims.extend(scaling_claims());
    claims.extend(proof_claims(Reading::Printed)?);
    Ok(claims)
}

/// The claims of the continuous-time proof, decided from the given printed matrices and functions,
/// which may have been altered.
#[must_use]
pub fn verify_printed(printed: &Printed) -> Vec<Claim> {
    let mut claims = contraction_claims(printed);
    claims.extend(spectrum_claims(printed));
    claims
}

/// The claims of [`verify`], and for each given κ a numerical check of the closed forms of the
/// eigenvalues and the margin of each lemma.
///
/// # Errors
/// [`Error::NotInRange`] for a κ below 1, above 1e100 or not a number.
pub fn verify_at(kappas: &[f64]) -> Result<Vec<Claim>, Error> {
    for &kappa in kappas {
        if condition_number(kappa)? > LARGEST_KAPPA {
            return Err(Error::NotInRange {
                name: "kappa",
                value: kappa,
                need: "a number from 1 to 1e100",
            });
        }
    }
    let mut claims = verify()?;
    for &kappa in kappas {
        claims.extend(claims_at(&Printed::paper(), kappa));
    }
    Ok(claims)
}
