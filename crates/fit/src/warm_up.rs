//! The warm-up stage: mode, coordinates, kernel and step.

use std::sync::atomic::AtomicBool;

use ridgewalk_lyapunov::laws::KernelKind;
use ridgewalk_potentials::{LineIntegral, Note, Properness};
use ridgewalk_sampler as sampler;
use ridgewalk_sampler::automatic::{Decision, WarmUp, WarmedUp};
use ridgewalk_sampler::{Quantity, SavedWarmUp};

use crate::error::Error;
use crate::model::Model;
use crate::settings::Settings;

/// A warm-up that is finished.
pub type Warm = WarmedUp<Box<dyn LineIntegral + Send + Sync>>;

/// The warm-up that the settings describe, to be run or restored.
#[must_use]
pub fn configure<'a>(
    model: &'a Model, settings: &Settings, stop: &'a AtomicBool, hear: &'a dyn Fn(&Decision),
) -> WarmUp<'a, Model> {
    let question = WarmUp::new(model);
    let question = match settings.bias_tolerance {
        Some(tolerance) => question.tolerance(tolerance),
        None => question,
    };
    question
        .seed(settings.seed)
        .chains(settings.chains)
        .draws(settings.expected_draws())
        .wanted(settings.wanted())
        .stop(stop)
        .watch(hear)
}

/// Runs a warm-up, or restores it from `saved` bytes unless they are empty.
///
/// # Errors
/// An improper posterior or one that cannot be computed, with the names of the columns;
/// [`Error::Stopped`]; bytes that are not a warm-up of this model.
pub fn run(
    model: &Model, settings: &Settings, warm_up: &WarmUp<'_, Model>, saved: &[u8],
) -> Result<Warm, Error> {
    let warm = if saved.is_empty() {
        warm_up.run()
    } else {
        SavedWarmUp::from_bytes(saved).and_then(|saved| warm_up.restore(saved))
    };
    warm.map_err(|error| match error {
        sampler::Error::Stopped => Error::Stopped,
        sampler::Error::TooMany { what: Quantity::Chains } => Error::setting(
            "--chains",
            settings.chains,
            format!(
                "fewer chains, so that their {} coefficients each fit into memory",
                model.frame().columns
            ),
        ),
        sampler::Error::Potential(error) => model.words().potential(error),
        other => other.into(),
    })
}

/// Notes for the user before the first draw: about the data, the mode and the posterior.
///
/// # Errors
/// Numbers that differ too much in scale to compute with.
pub fn notes(model: &Model, settings: &Settings, warm: &Warm) -> Result<Vec<String>, Error> {
    let frame = model.frame();
    let mut notes = frame.notes.clone();
    // The frame has said which columns the others determine.
    let said = frame.rank.is_some_and(|rank| rank < frame.columns);
    let mode = warm.mode.notes.iter().filter(|note| !(said && matches!(note, Note::Collinear(_))));
    notes.extend(mode.map(|note| model.words().note(note)));
    let kernel = warm.scheme.kernel();
    let integrates = matches!(kernel, KernelKind::ThirdOrder | KernelKind::Averaged);
    if settings.nodes.is_some() && !integrates {
        notes.push(format!(
            "--nodes has no effect: the {} kernel has no line integrals; pass --kernel third-order",
            warm.scheme.name()
        ));
    }
    let capped = |decision: &&Decision| matches!(decision, Decision::Capped { .. });
    if let Some(capped) = warm.history.iter().find(capped).filter(|_| settings.thin.is_none()) {
        notes.push(format!("{capped}. For a larger effective sample size, pass more --draws"));
    }
    if let Properness::NotChecked(why) = warm.mode.properness {
        notes.push(format!("the posterior was not checked to be proper: {why}"));
    }
    notes.extend(model.separation_note()?);
    Ok(notes)
}
