//! Whether an offset of counts is an exposure whose logarithm was meant.

use ridgewalk_frame::FamilyName;

use crate::document::WarningEntry;
use crate::model::Model;

/// The gain in log density, in units of the dispersion, from which the logarithm is taken to be
/// meant: two models without a difference in parameters whose odds are e^10 to 1.
const GAIN: f64 = 10.0;

/// A warning if the offset of a model with a logarithmic link is positive and the model fits far
/// better with its logarithm. Rows that other processes hold are not judged.
pub(crate) fn check(model: &Model, mode: &[f64]) -> Option<WarningEntry> {
    let (frame, family) = (model.frame(), model.family());
    let offset = frame.offset.as_ref()?;
    let counts = matches!(family, FamilyName::Poisson | FamilyName::NegativeBinomial);
    if !counts || frame.all_rows != frame.rows || offset.iter().any(|value| !(*value > 0.0)) {
        return None;
    }
    let logged = offset.iter().map(|value| value.ln()).collect();
    let (gain, dispersion) = model.gain_of_offsets(logged, mode)?;
    let name = frame.coding.offsets().join(" + ");
    (gain > GAIN * dispersion.max(1.0)).then(|| WarningEntry {
        name: "unlogged_offset".into(),
        text: format!(
            "the offset `{name}` seems to be an exposure that was not logged: the link is a \
             logarithm, and with log({name}) the same model fits far better (log density higher by \
             {gain:.0}). Write offset(log({name})) in a formula, or pass a column of logarithms"
        ),
    })
}
