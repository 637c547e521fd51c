//! The sampling stage: draws into a sink.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ridgewalk_potentials::{Chebyshev, FromFn, GradientError};
use ridgewalk_sampler as sampler;
use ridgewalk_sampler::automatic::Sampled;
use ridgewalk_sampler::{SavedRun, Sink};

use crate::error::Error;
use crate::model::Model;
use crate::observer::Observer;
use crate::scale::Reported;
use crate::settings::Settings;
use crate::warm_up::Warm;

/// The maximum time between checkpoints, unless writing them would take more than a twentieth of
/// the time.
const CHECKPOINTS: Duration = Duration::from_secs(10);

/// Makes the run that the settings describe, or the rest of it after `saved`. The sink gets draws
/// on the reported scale.
///
/// # Errors
/// A sink that fails, or a saved state of another run.
pub fn sample(
    model: &Model, settings: &Settings, warm: &mut Warm, saved: Option<SavedRun>,
    sink: &mut dyn Sink, stop: &AtomicBool, observer: &dyn Observer,
) -> Result<Sampled, Error> {
    let thin = settings.thin.unwrap_or(warm.thin);
    let mut run = warm
        .run(settings.length())
        .thin(thin)
        .stop(stop)
        .checkpoints(CHECKPOINTS)
        .progress(|progress, _| observer.progress(progress));
    if let Some(saved) = saved {
        observer.resumed(saved.draws().into_iter().min().unwrap_or(0));
        run = run.from_saved(saved);
    }
    let sampled = run.keep(&mut Reported::new(model.rescaling(), observer, sink))?;
    forget_rows(warm)?;
    Ok(sampled)
}

/// Frees the rows in the coordinates of the sampler, and what was found of them: no summary needs
/// them, and of many rows they are hundreds of megabytes.
fn forget_rows(warm: &mut Warm) -> Result<(), Error> {
    let gone = |_: &[f64], _: &mut [f64]| Err(GradientError::from("sampling is over".to_owned()));
    let nothing = FromFn::new(warm.whitening.dimension(), gone);
    let nothing = Chebyshev::new(nothing, 1).map_err(sampler::Error::from)?;
    warm.potential = Box::new(nothing);
    Ok(())
}
