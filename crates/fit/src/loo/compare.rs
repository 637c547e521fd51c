//! Several fits of the same responses side by side.

use ridgewalk_diagnostics::{ElpdDifference, stacking};
use serde::Serialize;

use super::{LooDocument, Responses};
use crate::error::Error;

/// A fit among others: one row of `ridgewalk compare`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Compared {
    /// Its name.
    pub name: String,
    /// Its expected log density of new responses.
    pub elpd_loo: f64,
    /// The standard error.
    pub se: f64,
    /// The effective number of parameters.
    pub p_loo: f64,
    /// By how much `elpd_loo` is below that of the best: 0 or negative.
    pub elpd_diff: f64,
    /// The standard error of the difference.
    pub se_diff: f64,
    /// Its weight in the mixture of all fits that predicts best.
    pub weight: f64,
}

/// The result of [`compare`]: the JSON document of `ridgewalk compare`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The fits, the best first.
    pub models: Vec<Compared>,
    /// Rows, or groups of rows that were left out together.
    pub n: usize,
    /// What they are groups by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<String>,
    /// What to be careful of.
    pub warnings: Vec<String>,
}

/// Below this many rows, normal approximations of differences are poor.
const FEW_ROWS: usize = 100;
/// Differences below this are small whatever their standard error.
const SMALL: f64 = 4.0;

/// Compares fits of the same responses, each with its name and its leave-one-out result.
///
/// # Errors
/// Fewer than two fits, or fits of different responses or weights; results for other groups of rows.
pub fn compare(fits: &[(String, &Responses, &LooDocument)]) -> Result<Comparison, Error> {
    let [(first, data, _), rest @ ..] = fits else {
        return Err(Error::setting("compare", "no run", "at least two run directories"));
    };
    if rest.is_empty() {
        return Err(Error::setting("compare", first, "at least two run directories"));
    }
    let of = |loo: &LooDocument| loo.groups.as_ref().map(|of| (of.levels.clone(), of.rows.clone()));
    for (name, other, loo) in rest {
        if other != data {
            return Err(Error::OtherResponses {
                first: first.clone(),
                rows: data.rows(),
                second: name.clone(),
                other_rows: other.rows(),
            });
        }
        if of(loo) != of(fits[0].2) {
            let need = format!("rows left out in the same groups as for {first}");
            return Err(Error::setting("compare", name, need));
        }
    }
    let lists: Vec<&[f64]> = fits.iter().map(|(.., loo)| &loo.pointwise[..]).collect();
    let (n, groups) = (lists[0].len(), fits[0].2.groups.as_ref().map(|groups| groups.by.clone()));
    let weights = stacking(&lists)?;
    let mut order: Vec<usize> = (0..fits.len()).collect();
    order.sort_by(|a, b| fits[*b].2.elpd_loo.total_cmp(&fits[*a].2.elpd_loo));
    let best = order[0];
    let models = order.iter().map(|&k| {
        let (name, _, loo) = &fits[k];
        let difference = ElpdDifference::of(lists[k], lists[best])?;
        Ok(Compared {
            name: name.clone(),
            elpd_loo: loo.elpd_loo,
            se: loo.se,
            p_loo: loo.p_loo,
            elpd_diff: difference.elpd_diff,
            se_diff: difference.se_diff,
            weight: weights[k],
        })
    });
    let models = models.collect::<Result<Vec<_>, Error>>()?;
    let mut warnings: Vec<String> = fits
        .iter()
        .flat_map(|(name, _, loo)| loo.warnings.iter().map(move |text| format!("{name}: {text}")))
        .collect();
    if models.iter().skip(1).any(|model| model.elpd_diff > -SMALL) {
        warnings.push(
            "some fits differ from the best by less than 4: they predict about equally well, and \
             standard errors of such small differences are too small"
                .to_owned(),
        );
    } else if n < FEW_ROWS {
        let what = if groups.is_some() { "groups" } else { "rows" };
        warnings
            .push(format!("there are only {n} {what}: standard errors of differences are rough"));
    }
    Ok(Comparison { models, n, groups, warnings })
}
