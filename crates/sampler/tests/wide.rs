//! Models with fewer rows than columns, which are sampled in the coordinates of their parts: their
//! exact law, the same model sampled as a whole, and going on bit for bit.

use std::time::Duration;

use ridgewalk_diagnostics::{Summary, summaries_of_table};
use ridgewalk_potentials::families::{Family, Gaussian, Logistic};
use ridgewalk_potentials::{
    Dense, LineIntegral, Mode, ModeSearch, Prior, Ridge, WhitenedWide, Whitening, Wide,
};
use ridgewalk_sampler::automatic::{Length, Target, WarmUp};
use ridgewalk_sampler::{Draws, Error, SavedRun, SavedWarmUp, Stream};

use crate::checkpoints::{Keeper, first};

fn normals(seed: u64, count: usize) -> Vec<f64> {
    let mut list = vec![0.0; count];
    Stream::new(seed, 0).normals(&mut list);
    list
}

/// A model whose predictors have a standard deviation of about 2 under a prior of this scale, if it
/// is 1.
fn model<F: Family>(family: F, [n, d]: [usize; 2], scale: f64) -> Ridge<'static, F> {
    let size = 2.0 / (d as f64).sqrt();
    let values: Vec<f64> = normals(1, n * d).iter().map(|x| size * x).collect();
    let responses: Vec<f64> = normals(2, n).iter().map(|x| f64::from(u8::from(*x > 0.3))).collect();
    let prior = Prior::normal(&normals(3, d), &vec![scale; d]).unwrap();
    Ridge::new(Dense::new(n, d, values).unwrap(), family, &responses, prior).unwrap()
}

/// A model taken apart, however many columns it has.
struct Apart<'a> {
    whole: &'a Ridge<'static, Logistic>,
    wide: Wide<Logistic>,
}

impl Target for Apart<'_> {
    type White = WhitenedWide<Logistic>;

    fn dimension(&self) -> usize {
        LineIntegral::dimension(self.whole)
    }

    fn frame(&self) -> Option<&Whitening> {
        Some(self.wide.frame())
    }

    fn mode(&self) -> Result<(Mode, u64), Error> {
        Ok((self.wide.mode(self.whole, &ModeSearch::new())?, 10))
    }

    fn hessian(&self, point: &[f64]) -> Result<(Vec<f64>, u64), Error> {
        Ok((self.wide.core().hessian(&point[self.wide.round()..])?, 10))
    }

    fn round(&self) -> usize {
        self.wide.round()
    }

    fn affordable_hessians(&self, most: usize) -> usize {
        most
    }

    fn log_concave(&self) -> bool {
        true
    }

    fn whitened(&self, whitening: &Whitening) -> Result<Self::White, Error> {
        Ok(self.wide.whitened(whitening)?)
    }
}

/// Draws of all chains.
fn sample<T: Target>(target: &T, seed: u64, draws: u64) -> Draws {
    let mut warm = WarmUp::new(target).seed(seed).draws(draws).run().unwrap();
    let mut found = Draws::default();
    let sampled = warm.run(Length::Draws(draws)).keep(&mut found).unwrap();
    assert!(sampled.outcome.complete() && sampled.within_tolerance, "{:?}", sampled.troubles);
    found
}

fn summaries(draws: &Draws) -> Vec<Summary> {
    summaries_of_table(&draws.tables(), draws.dimension()).unwrap()
}

/// The largest difference of means and of standard deviations from wanted ones, in standard errors
/// of both.
fn off(found: &[Summary], wanted: &[[f64; 4]]) -> f64 {
    assert_eq!(found.len(), wanted.len());
    let each = found.iter().zip(wanted).flat_map(|(s, [mean, sd, mean_error, sd_error])| {
        let of_mean = (s.mean - mean).abs() / s.mcse_mean.hypot(*mean_error);
        let of_sd = (s.sd - sd).abs() / s.mcse_sd.hypot(*sd_error);
        [of_mean, of_sd]
    });
    // What is not a number is far off.
    each.map(|z| if z.is_nan() { f64::INFINITY } else { z }).fold(0.0, f64::max)
}

/// A difference of so many standard errors is no chance: of 2,000 numbers the largest is beyond 6.5
/// with a probability below 2e-7, were errors known; they are, to 5 %.
const BEYOND: f64 = 6.5;

/// The law of a normal posterior, by dense algebra: of each coefficient, and of the linear
/// predictors of some rows, which correlations between coefficients decide.
#[test]
fn a_wide_linear_model_has_the_posterior_that_algebra_gives() {
    let (n, d, noise) = (40, 1010, 0.5);
    let target = model(Gaussian::new(noise).unwrap(), [n, d], 1.0);
    assert!(target.wide().is_some());
    let found = sample(&target, 1, 500);
    // Newton's method and inverses of matrices of all columns, which this model does not use.
    let exact = |target: &Ridge<'static, Gaussian>| {
        let mode = ModeSearch::new().of_ridge(target).unwrap().point;
        let law = Whitening::from_hessian(&mode, &target.hessian(&mode).unwrap()).unwrap();
        (mode, law.covariance())
    };
    let (mode, covariance) = exact(&target);
    let of_coefficients = |[mode, covariance]: [&[f64]; 2]| -> Vec<[f64; 4]> {
        (0..d).map(|k| [mode[k], covariance[k * (d + 1)].sqrt(), 0.0, 0.0]).collect()
    };
    let wanted = of_coefficients([&mode, &covariance]);
    let found_of_coefficients = summaries(&found);
    assert!(off(&found_of_coefficients, &wanted) < BEYOND);
    // Predictors of rows.
    let size = 2.0 / (d as f64).sqrt();
    let rows: Vec<f64> = normals(1, n * d).iter().map(|x| size * x).collect();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let tables: Vec<Vec<f64>> = (0..8)
        .map(|chain| {
            let draws = (0..found.draws(chain)).map(|draw| found.point(chain, draw).unwrap());
            draws.flat_map(|point| rows.chunks(d).map(move |row| dot(row, point))).collect()
        })
        .collect();
    let tables: Vec<&[f64]> = tables.iter().map(|table| &table[..]).collect();
    let found_of_rows = summaries_of_table(&tables, n).unwrap();
    let variance = |row: &[f64]| {
        covariance.chunks(d).zip(row).map(|(column, a)| a * dot(column, row)).sum::<f64>()
    };
    let wanted_of_rows: Vec<[f64; 4]> =
        rows.chunks(d).map(|row| [dot(row, &mode), variance(row).sqrt(), 0.0, 0.0]).collect();
    assert!(off(&found_of_rows, &wanted_of_rows) < BEYOND);
    // A prior that is 20 % wider, and predictors as if coefficients were independent.
    let (mode, covariance) = exact(&model(Gaussian::new(noise).unwrap(), [n, d], 1.2));
    let wider = off(&found_of_coefficients, &of_coefficients([&mode, &covariance]));
    assert!(wider > 1.3 * BEYOND, "{wider}");
    let independent = rows.chunks(d).zip(&wanted_of_rows).map(|(row, wanted)| {
        let terms = row.iter().zip(&found_of_coefficients);
        let variance: f64 = terms.map(|(a, s)| (a * s.sd).powi(2)).sum();
        [wanted[0], variance.sqrt(), 0.0, 0.0]
    });
    assert!(off(&found_of_rows, &independent.collect::<Vec<_>>()) > 2.0 * BEYOND);
}

/// The same posterior, sampled as a whole with matrices of all columns.
#[test]
fn a_model_taken_apart_has_the_posterior_of_the_whole() {
    let whole = model(Logistic, [200, 400], 1.0);
    assert!(whole.wide().is_none(), "few columns");
    let apart = |whole| Apart { whole, wide: Wide::new(whole).unwrap() };
    let wanted = summaries(&sample(&whole, 2, 1000));
    let wanted: Vec<[f64; 4]> =
        wanted.iter().map(|s| [s.mean, s.sd, s.mcse_mean, s.mcse_sd]).collect();
    let found = summaries(&sample(&apart(&whole), 3, 1000));
    assert!(off(&found, &wanted) < BEYOND, "{}", off(&found, &wanted));
    // A prior that is 10 % wider.
    let other = model(Logistic, [200, 400], 1.1);
    let found = summaries(&sample(&apart(&other), 3, 1000));
    assert!(off(&found, &wanted) > 1.5 * BEYOND, "{}", off(&found, &wanted));
}

fn question<'a>(target: &'a Ridge<'static, Logistic>) -> WarmUp<'a, Ridge<'static, Logistic>> {
    WarmUp::new(target).seed(4).chains(3).draws(60)
}

/// From any of its states, after a warm-up from its bytes. The map of all columns is not among them.
#[test]
fn a_wide_run_goes_on_bit_for_bit() {
    let [n, d] = [30, 1100];
    let target = model(Logistic, [n, d], 1.0);
    let mut warm = question(&target).run().unwrap();
    let bytes = warm.saved().to_bytes();
    assert!(bytes.len() < 8 * n * d, "{} bytes", bytes.len());
    let length = Length::Draws(60);
    let mut whole = Keeper::new(Draws::default());
    warm.run(length).checkpoints(Duration::ZERO).keep(&mut whole).unwrap();
    // Another model, of which everything is made anew.
    let again = model(Logistic, [n, d], 1.0);
    let states = &whole.states;
    for state in [&states[0], &states[states.len() / 2], &states[states.len() - 1]] {
        let saved = SavedRun::from_bytes(state).unwrap();
        let restored = question(&again).restore(SavedWarmUp::from_bytes(&bytes).unwrap());
        let mut restored = restored.unwrap();
        assert_eq!(restored.whitening, warm.whitening);
        assert_eq!(restored.mode.point, warm.mode.point);
        let mut rest = Keeper::new(first(&whole.draws, &saved.draws()));
        restored.run(length).from_saved(saved.clone()).keep(&mut rest).unwrap();
        assert!(rest.draws == whole.draws);
        // Of another design with the same numbers of rows and columns it is another run.
        let other = model(Logistic, [n, d], 1.0 + 1e-9);
        let restored = question(&other).restore(SavedWarmUp::from_bytes(&bytes).unwrap());
        let mut rest = Keeper::new(first(&whole.draws, &saved.draws()));
        restored.unwrap().run(length).from_saved(saved.clone()).keep(&mut rest).unwrap();
        assert!(rest.draws != whole.draws || saved.draws() == [60; 3]);
    }
}
