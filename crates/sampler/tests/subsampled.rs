//! Moves that are decided by a few rows: the exact law, mistakes that are seen, when the kernel is
//! chosen, and that draws depend on data and seed alone.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ridgewalk_lyapunov::laws::KernelKind;
use ridgewalk_potentials::families::{Huber, Logistic, Poisson};
use ridgewalk_potentials::{
    Dense, Error as Potential, LineIntegral, Prior, Ridge, Scratch, StoredWriter, Thinning,
    Verdict, Whitening,
};
use ridgewalk_sampler::automatic::{Decision, Length, Wanted, WarmUp};
use ridgewalk_sampler::{
    Draws, Error, Sampler, SavedRun, SavedWarmUp, Sink, SinkError, Subsampled,
};

/// Numbers that look random: SplitMix64, uniform in [0, 1).
fn numbers(seed: u64, count: usize) -> Vec<f64> {
    let number = |k: u64| {
        let mut z = (seed << 32 | k).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    };
    (0..count as u64).map(number).collect()
}

/// A Poisson model with one coefficient, in coordinates that are a little off.
fn counts(rows: usize) -> Ridge<'static, Poisson> {
    let x: Vec<f64> = numbers(1, rows).iter().map(|u| 2.0 * u - 0.7).collect();
    let y: Vec<f64> = numbers(2, rows).iter().map(|u| (3.0 * u * u).floor()).collect();
    let design = Dense::new(rows, 1, x).unwrap();
    let ridge = Ridge::new(design, Poisson, &y, Prior::centred(1, 1.0).unwrap()).unwrap();
    let mode = ridge.mode().unwrap().point;
    let hessian = 0.9 * ridge.hessian(&mode).unwrap()[0];
    let white = Whitening::from_hessian(&[mode[0] + 0.1 / hessian.sqrt()], &[hessian]).unwrap();
    ridge.whitened(&white).unwrap()
}

/// The shares of a law below some points, by quadrature.
const POINTS: [f64; 5] = [-1.5, -0.7, 0.0, 0.7, 1.5];
fn shares(model: &Ridge<'_, Poisson>) -> [f64; 5] {
    let (step, half) = (0.005, 1800);
    let base = model.value(&[0.0]).unwrap();
    let (mut total, mut below) = (0.0, [0.0; 5]);
    for k in -half..half {
        let z = step * (f64::from(k) + 0.5);
        let density = (base - model.value(&[z]).unwrap()).exp();
        total += density;
        below.iter_mut().zip(POINTS).filter(|(_, at)| z < *at).for_each(|(sum, _)| *sum += density);
    }
    below.map(|sum| sum / total)
}

/// The largest z-score of these shares over 400 chains of 500 steps, whose means are independent.
/// Five of them exceed 6 by chance with a probability below 1e-8.
fn worst_score(model: &Ridge<'_, Poisson>, potential: &(dyn LineIntegral + Sync)) -> f64 {
    let kernel = Subsampled::new(1.3, 1.0).unwrap();
    let mut draws = Draws::default();
    let mut sampler = Sampler::new(potential, &kernel).chains(400).seed(7).warm_up(20).draws(500);
    assert!(sampler.run(&mut draws).unwrap().complete());
    let expected = shares(model);
    let score = |k: usize| {
        let share = |chain: usize| {
            let draws = draws.chain(chain);
            draws.iter().filter(|z| **z < POINTS[k]).count() as f64 / draws.len() as f64
        };
        let means: Vec<f64> = (0..400).map(share).collect();
        let mean = means.iter().sum::<f64>() / 400.0;
        let squares = means.iter().map(|m| (m - mean).powi(2)).sum::<f64>();
        (mean - expected[k]).abs() / (squares / (400.0 * 399.0)).sqrt()
    };
    (0..5).map(score).fold(0.0, f64::max)
}

/// A potential whose decisions have a mistake.
struct Wrong<'a> {
    right: &'a Ridge<'a, Poisson>,
    mistake: Mistake,
    by_all: AtomicU64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Mistake {
    None,
    /// Moves that all rows have to decide are accepted.
    NotAllRows,
    /// The way back is decided instead of the way there.
    Back,
    /// Points a little off.
    Points,
    /// A rejection in two is overlooked.
    Overlooked,
}

impl LineIntegral for Wrong<'_> {
    fn dimension(&self) -> usize {
        1
    }

    fn gradients_per_integral(&self) -> u64 {
        1
    }

    fn integrate(
        &self, length: f64, positions: &[f64], momenta: &[f64], integrals: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<(), Potential> {
        self.right.integrate(length, positions, momenta, integrals, scratch)
    }

    fn gradients(
        &self, positions: &[f64], gradients: &mut [f64], scratch: &mut Scratch,
    ) -> Result<(), Potential> {
        self.right.gradients(positions, gradients, scratch)
    }

    fn values_and_gradients(
        &self, positions: &[f64], values: &mut [f64], gradients: &mut [f64], scratch: &mut Scratch,
    ) -> Result<(), Potential> {
        self.right.values_and_gradients(positions, values, gradients, scratch)
    }

    fn thinning(&self) -> Result<&dyn Thinning, Potential> {
        Ok(self)
    }
}

impl Thinning for Wrong<'_> {
    fn rows(&self) -> usize {
        self.right.thinning().unwrap().rows()
    }

    fn expected_rows(&self, distance: f64) -> Result<f64, Potential> {
        self.right.thinning()?.expected_rows(distance)
    }

    fn skewness(&self) -> Result<f64, Potential> {
        self.right.thinning()?.skewness()
    }

    fn decide(
        &self, from: &[f64], to: &[f64], bits: &mut dyn FnMut() -> u64,
    ) -> Result<Verdict, Potential> {
        let right = self.right.thinning()?;
        let off = |z: &[f64]| [z[0] + 0.4];
        let overlooked = self.mistake == Mistake::Overlooked && bits().is_multiple_of(2);
        let found = match self.mistake {
            Mistake::Back => right.decide(to, from, bits)?,
            Mistake::Points => right.decide(&off(from), &off(to), bits)?,
            _ => right.decide(from, to, bits)?,
        };
        self.by_all.fetch_add(u64::from(found == Verdict::ByAllRows), Ordering::Relaxed);
        Ok(match found {
            Verdict::ByAllRows if self.mistake == Mistake::NotAllRows => Verdict::Accepted,
            Verdict::Rejected if overlooked => Verdict::Accepted,
            found => found,
        })
    }
}

#[test]
fn draws_have_the_exact_law_and_mistakes_are_seen() {
    let score_of = |model: &Ridge<'_, Poisson>, mistake: Mistake| {
        let wrong = Wrong { right: model, mistake, by_all: AtomicU64::new(0) };
        (worst_score(model, &wrong), wrong.by_all.load(Ordering::Relaxed))
    };
    // Bounds hold for nearly all moves, and for few.
    let (many, few) = (counts(100), counts(4));
    assert_eq!(worst_score(&many, &many), score_of(&many, Mistake::None).0);
    let (score, by_all) = score_of(&many, Mistake::None);
    assert!(score < 6.0 && by_all < 4_000, "{score} {by_all}");
    let (score, by_all) = score_of(&few, Mistake::None);
    assert!(score < 6.0 && by_all > 20_000, "{score} {by_all}");
    for (model, mistake) in [
        (&few, Mistake::NotAllRows),
        (&many, Mistake::Back),
        (&many, Mistake::Points),
        (&many, Mistake::Overlooked),
    ] {
        let (score, _) = score_of(model, mistake);
        assert!(score > 10.0, "{mistake:?}: {score}");
    }
}

const MANY: usize = 220_000;
const D: usize = 3;

fn many_rows() -> (Vec<f64>, Vec<f64>) {
    let values: Vec<f64> = numbers(3, MANY * D).iter().map(|u| 2.0 * u - 1.0).collect();
    let success = |(u, x): (f64, &[f64])| {
        f64::from(u8::from(u < 1.0 / (1.0 + (-(0.3 + x[0] - 0.5 * x[1])).exp())))
    };
    let y = numbers(4, MANY).into_iter().zip(values.chunks_exact(D)).map(success).collect();
    (values, y)
}

fn prior() -> Prior {
    Prior::centred(D, 2.5).unwrap()
}

fn subsampled() -> Wanted {
    Wanted { kernel: Some(KernelKind::Subsampled), ..Wanted::default() }
}

/// Draws, and the states that it was given.
#[derive(Default)]
struct Keeps {
    draws: Draws,
    states: Vec<Vec<u8>>,
}

impl Sink for Keeps {
    fn begin(&mut self, chains: usize, dimension: usize) -> Result<(), SinkError> {
        self.draws.begin(chains, dimension)
    }

    fn keep(&mut self, chain: usize, draw: u64, point: &[f64]) -> Result<(), SinkError> {
        self.draws.keep(chain, draw, point)
    }

    fn checkpoint(&mut self, state: SavedRun) -> Result<(), SinkError> {
        self.states.push(state.to_bytes());
        Ok(())
    }
}

/// Chosen unasked for many rows; its draws are those of trajectories; from memory and from a file,
/// on one thread and on two, with an interruption and without they are the same.
#[test]
fn it_is_chosen_for_many_rows_and_draws_depend_on_data_and_seed_alone() {
    let (values, y) = many_rows();
    let mut writer = StoredWriter::new(&std::env::temp_dir(), MANY, D).unwrap();
    writer.push(&values).unwrap();
    let file = Ridge::new(writer.finish().unwrap(), Logistic, &y, prior()).unwrap();
    let memory = Ridge::new(Dense::new(MANY, D, values).unwrap(), Logistic, &y, prior()).unwrap();

    let mut warm = WarmUp::new(&memory).draws(500).seed(5).run().unwrap();
    assert_eq!(warm.scheme.kernel(), KernelKind::Subsampled);
    let tried = warm.history.iter().find_map(|decision| match decision {
        Decision::Subsampled { rows, acceptance, far, .. } => Some((*rows, *acceptance, *far)),
        _ => None,
    });
    let (rows, acceptance, far) = tried.unwrap();
    assert!(rows < 10.0 && acceptance > 0.95 && far > 0.8, "{rows} {acceptance} {far}");
    let mut draws = Draws::default();
    let sampled = warm.run(Length::Draws(500)).keep(&mut draws).unwrap();
    assert!(sampled.within_tolerance && sampled.gradients() == 0 && sampled.bias.largest() == 0.0);
    assert!(sampled.outcome.acceptance().rate() > 0.95);

    let saved = SavedWarmUp::from_bytes(&warm.saved().to_bytes()).unwrap();
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    one.install(|| {
        let mut again = WarmUp::new(&file).draws(500).seed(5).run().unwrap();
        let mut from_file = Draws::default();
        again.run(Length::Draws(500)).keep(&mut from_file).unwrap();
        for chain in 0..8 {
            assert_eq!(draws.chain(chain), from_file.chain(chain));
        }
    });

    let mut warm = WarmUp::new(&memory).draws(500).seed(5).restore(saved).unwrap();
    let mut sink = Keeps::default();
    let length = Length::Draws(500);
    warm.run(length).checkpoints(Duration::ZERO).keep(&mut sink).unwrap();
    let state = SavedRun::from_bytes(&sink.states[sink.states.len() / 2]).unwrap();
    let before = state.draws();
    let mut rest = Keeps::default();
    rest.begin(8, D).unwrap();
    for (chain, count) in before.iter().enumerate() {
        for (draw, at) in (0..*count).zip(0..) {
            rest.keep(chain, draw, draws.point(chain, at).unwrap()).unwrap();
        }
    }
    warm.begin_anew();
    warm.run(length).from_saved(state).keep(&mut rest).unwrap();
    for chain in 0..8 {
        assert_eq!(draws.chain(chain), sink.draws.chain(chain));
        assert_eq!(draws.chain(chain), rest.draws.chain(chain), "from {before:?}");
    }

    // Trajectories find the same means and standard deviations.
    let adjusted = Wanted { kernel: Some(KernelKind::Adjusted), ..Wanted::default() };
    let mut warm = WarmUp::new(&memory).draws(100).wanted(adjusted).seed(6).run().unwrap();
    let mut others = Draws::default();
    warm.run(Length::Draws(100)).keep(&mut others).unwrap();
    let (mine, others) = (draws.summary().unwrap(), others.summary().unwrap());
    for (mine, other) in mine.iter().zip(&others) {
        let error = mine.mcse_mean.hypot(other.mcse_mean);
        assert!((mine.mean - other.mean).abs() < 5.5 * error, "{mine:?} {other:?}");
        assert!((mine.sd / other.sd - 1.0).abs() < 0.15, "{mine:?} {other:?}");
    }
}

#[test]
fn it_is_refused_where_no_bounds_are_known_and_not_chosen_for_few_rows() {
    let (values, y) = many_rows();
    let few = 2000;
    let design = || Dense::new(few, D, values[..few * D].to_vec()).unwrap();
    let huber = Ridge::new(design(), Huber::new(1.0, 1.0).unwrap(), &y[..few], prior()).unwrap();
    let error = WarmUp::new(&huber).wanted(subsampled()).run().unwrap_err();
    assert!(
        matches!(&error, Error::Potential(Potential::NotThinned { why }) if why.contains("huber")),
        "{error}"
    );
    let logistic = Ridge::new(design(), Logistic, &y[..few], prior()).unwrap();
    assert_eq!(WarmUp::new(&logistic).run().unwrap().scheme.kernel(), KernelKind::Adjusted);
    let mut warm = WarmUp::new(&logistic).wanted(subsampled()).run().unwrap();
    assert_eq!(warm.scheme.kernel(), KernelKind::Subsampled);
    assert!(warm.run(Length::Draws(200)).keep(&mut Draws::default()).unwrap().within_tolerance);
    for eta in [0.0, 1.6, f64::NAN] {
        let error = Subsampled::new(eta, 1.0).unwrap_err().to_string();
        assert!(error.contains("an angle above 0 and of at most pi/2"), "{error}");
    }
}

/// Many rows of which one alone has a level: a direction that the prior holds back, and that few chains
/// would show. It is not chosen there, and refused if asked for.
#[test]
fn it_is_neither_chosen_nor_made_where_one_direction_is_skewed() {
    let values: Vec<f64> = (0..MANY).flat_map(|row| [1.0, f64::from(u8::from(row == 7))]).collect();
    let y: Vec<f64> =
        (0..MANY).map(|row| f64::from(u8::from(row != 7 && row.is_multiple_of(2)))).collect();
    let (design, wide) = (Dense::new(MANY, 2, values).unwrap(), Prior::centred(2, 5.0).unwrap());
    let model = Ridge::new(design, Logistic, &y, wide).unwrap();
    assert_eq!(WarmUp::new(&model).run().unwrap().scheme.kernel(), KernelKind::Adjusted);
    let error = WarmUp::new(&model).wanted(subsampled()).run().unwrap_err().to_string();
    assert!(error.contains("too far from normal"), "{error}");
}
