//! Whether counts vary more than their family allows.

use ridgewalk_frame::FamilyName;

use crate::document::WarningEntry;
use crate::model::Model;

/// The factor by which the variance must exceed the family's, and the standard deviations by which
/// Pearson's statistic must be beyond its expectation: one false alarm in some 10,000 fits.
const FACTOR: f64 = 1.2;
const ERRORS: f64 = 4.0;

/// A warning if Pearson's statistic of poisson or binomial responses, at the mode, is far beyond what
/// the family allows. Responses of 0 and 1 cannot show it. Weighted rows are not judged, nor those
/// that other processes hold.
pub(crate) fn check(model: &Model, mode: &[f64]) -> Option<WarningEntry> {
    let frame = model.frame();
    let alternative = match model.family() {
        FamilyName::Poisson => "--family negative-binomial",
        FamilyName::Logistic | FamilyName::Probit => {
            "predictors that explain more, or fewer trials per row"
        }
        _ => return None,
    };
    if frame.weights.is_some() || frame.all_rows != frame.rows || frame.rows <= frame.columns {
        return None;
    }
    let predictors = model.posterior()?.linear_predictors(mode).ok()?;
    let (mut statistic, mut variance) = (0.0, 0.0);
    for (row, (&s, &y)) in predictors.iter().zip(&frame.response).enumerate() {
        let trials = frame.trials.as_ref().map(|trials| trials[row]);
        // The mean, its variance, and the excess kurtosis of the response.
        let (mean, spread, kurtosis) = match (model.family(), trials) {
            (FamilyName::Poisson, _) => (s.exp(), s.exp(), (-s).exp()),
            (family, Some(trials)) if trials > 1.0 => {
                let p =
                    if family == FamilyName::Probit { normal(s) } else { 1.0 / (1.0 + (-s).exp()) };
                let spread = trials * p * (1.0 - p);
                (trials * p, spread, (1.0 - 6.0 * p * (1.0 - p)) / spread)
            }
            _ => return None,
        };
        // A row whose response is certain shows nothing, and one that is nearly so too much.
        if spread < 0.05 {
            statistic += 1.0;
            continue;
        }
        statistic += (y - mean) * (y - mean) / spread;
        variance += 2.0 + kurtosis;
    }
    let degrees = (frame.rows - frame.columns) as f64;
    let factor = statistic / degrees;
    let beyond = (statistic - degrees) / variance.sqrt();
    (factor > FACTOR && beyond > ERRORS).then(|| WarningEntry {
        name: "overdispersion".into(),
        text: format!(
            "the responses vary {factor:.1} times as much as the {} family allows, so the standard \
             deviations are too small by a factor of about {:.1}. Try {alternative}",
            model.family(),
            factor.sqrt()
        ),
    })
}

/// The normal distribution function, to seven digits (Abramowitz and Stegun 26.2.17).
fn normal(x: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * x.abs());
    let tail = t
        * (0.319_381_530
            + t * (-0.356_563_782
                + t * (1.781_477_937 + t * (-1.821_255_978 + t * 1.330_274_429))));
    let below = tail * (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
    if x < 0.0 { below } else { 1.0 - below }
}
