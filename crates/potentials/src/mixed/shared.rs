//! Mixed models whose rows are spread over processes are those of one process: threads in their role.

use std::sync::Arc;

use super::tests::{somewhere, value_and_gradient, wave};
use super::*;
use crate::design::Sparse;
use crate::families::{Logistic, Poisson};
use crate::likelihoods::{Likelihood, Multinomial, Normal, Ordinal, Plain};
use crate::peers::{Peers, Threads};
use crate::rows::Rows;

const ROWS: usize = 71;
/// Levels of a grouping with intercepts and slopes, which rows are sorted by, and of one that crosses
/// it.
const SORTED: usize = 9;
const CROSSED: usize = 6;
const COLUMNS: usize = 2 + 2 * SORTED + CROSSED;

/// The level of a row in both groupings. The last level of the first has one row, and some pairs of
/// levels occur in one row only.
fn levels(row: usize) -> [usize; 2] {
    let sorted = if row + 1 == ROWS { SORTED - 1 } else { row * (SORTED - 1) / (ROWS - 1) };
    [sorted, (row * row + row / 5) % CROSSED]
}

/// Some of the rows.
fn design(rows: &[usize]) -> Sparse {
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for &row in rows {
        let x = 1.5 * wave(row, 1.7);
        let [sorted, crossed] = levels(row);
        let entries = [
            (0, 1.0),
            (1, x),
            (2 + 2 * sorted, 1.0),
            (3 + 2 * sorted, x),
            (2 + 2 * SORTED + crossed, 1.0),
        ];
        columns.extend(entries.iter().map(|(column, _)| *column));
        values.extend(entries.iter().map(|(_, value)| *value));
        starts.push(columns.len());
    }
    Sparse::new(COLUMNS, starts, columns, values).unwrap()
}

fn terms(predictor: usize) -> [GroupTerm; 2] {
    let half_normal = |scale| Density::Normal { mean: 0.0, scale };
    let first = predictor * COLUMNS + 2;
    let slopes = GroupTerm {
        first,
        levels: SORTED,
        width: 2,
        sds: vec![half_normal(1.5), Density::StudentT { degrees: 3.0, mean: 0.0, scale: 1.0 }],
        concentration: 1.5,
    };
    let crossed = GroupTerm {
        first: first + 2 * SORTED,
        levels: CROSSED,
        width: 1,
        sds: vec![Density::Exponential { rate: 0.7 }],
        concentration: 1.0,
    };
    [slopes, crossed]
}

/// The model with some of the rows; `shared` says who has the others.
fn model(likelihood: Arc<dyn Likelihood>, y: &[f64], rows: &[usize], shared: &Rows) -> Mixed {
    let predictors = likelihood.predictors();
    let located = likelihood.scale() == ParameterScale::Ordered;
    let parameters = likelihood.parameters();
    let y: Vec<f64> = rows.iter().map(|&row| y[row]).collect();
    let own = |k: usize| k % COLUMNS < 2;
    let prior = |k: usize| match own(k) {
        true => Density::Normal { mean: 0.2, scale: 2.0 },
        false => Density::Flat,
    };
    let of_parameters = match located {
        true => Density::Logistic { mean: 0.0, scale: 1.0 },
        false => Density::Exponential { rate: 0.5 },
    };
    let joint = Joint::new(design(rows), likelihood, &y)
        .unwrap()
        .with_weights(rows.iter().map(|&row| 1.0 + 0.5 * wave(row, 0.7)).collect())
        .unwrap()
        .with_priors((0..predictors * COLUMNS).map(prior).collect())
        .unwrap()
        .with_parameter_priors(vec![of_parameters; parameters])
        .unwrap()
        .with_rows(shared);
    let start = vec![0.0; joint.dimension()];
    Mixed::new(joint, (0..predictors).flat_map(terms).collect(), &start).unwrap()
}

/// Does some work in every one of several threads, which have the rows between these ends.
fn in_parts<T: Send>(ends: &[usize], work: impl Fn(&[usize], &Rows) -> T + Sync) -> Vec<T> {
    let work = &work;
    std::thread::scope(|scope| {
        let threads = Threads::group(ends.len()).into_iter().map(|peers| {
            let first = peers.rank().checked_sub(1).map_or(0, |before| ends[before]);
            let rows: Vec<usize> = (first..ends[peers.rank()]).collect();
            scope.spawn(move || work(&rows, &Rows::shared(Arc::new(peers))))
        });
        threads.collect::<Vec<_>>().into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// What a sampler sees of a model.
struct Seen {
    /// Sums over rows at given points.
    sums: Vec<Vec<f64>>,
    /// What is searched for, and derivatives by differences, which magnify rounding.
    found: Vec<Vec<f64>>,
    /// The entries of the factor and of the matrix.
    fill: (usize, usize),
    /// A search that ends at rounding may take longer in one process than in several.
    gradients: u64,
}

impl Seen {
    fn new(model: &Mixed) -> Self {
        let point: Vec<f64> = (0..model.dimension()).map(|k| 0.3 * wave(k, 2.1)).collect();
        let (mut value, mut gradient) = ([0.0], vec![0.0; point.len()]);
        let scratch = &mut Scratch::default();
        model.values_and_gradients(&point, &mut value, &mut gradient, scratch).unwrap();
        let expansion = model.expand(&point[..model.joint.dimension()]).unwrap();
        let sums = vec![
            model.typical_scales(),
            value.to_vec(),
            gradient,
            expansion.rows,
            expansion.rows_linear,
        ];
        let chart = model.prepare().unwrap();
        let gradients = chart.gradients();
        let mut charts = vec![chart];
        if charts[0].follows() {
            charts.push(model.prepare().unwrap().with_one_factor(model).unwrap());
        }
        let mut found = Vec::new();
        for chart in &charts {
            found.push(chart.centre().to_vec());
            found.push(chart.hessian().to_vec());
            found.push(chart.quadratic.rows.clone());
            found.push(chart.quadratic.rows_linear.clone());
            for seed in 0..3 {
                let point = somewhere(model, chart, seed);
                let (value, gradient) = value_and_gradient(model, chart, &point);
                found.push(vec![value]);
                found.push(gradient);
            }
        }
        Self { sums, found, fill: model.fill(), gradients }
    }

    fn bits(&self) -> Vec<u64> {
        let lists = self.sums.iter().chain(&self.found);
        lists.flatten().map(|x| x.to_bits()).chain([self.gradients]).collect()
    }
}

/// The largest difference of two lists, in units of the largest number of the first.
fn apart(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let size = a.iter().fold(0.0_f64, |size, x| size.max(x.abs()));
    a.iter().zip(b).fold(0.0_f64, |most, (a, b)| most.max((a - b).abs())) / size.max(1e-300)
}

fn responses(of: impl Fn(f64) -> f64) -> Vec<f64> {
    let signal = |row: usize| {
        let [sorted, crossed] = levels(row);
        0.4 + wave(row, 1.7) + wave(row, 5.1) + wave(sorted, 2.0) + 0.7 * wave(crossed, 3.0)
    };
    (0..ROWS).map(|row| of(signal(row))).collect()
}

#[test]
fn processes_with_parts_of_the_rows_have_the_model_of_one_with_all() {
    let families: [(Arc<dyn Likelihood>, Vec<f64>); 5] = [
        (Arc::new(Normal), responses(|s| s)),
        (Arc::new(Plain(Logistic)), responses(|s| f64::from(u8::from(s > 0.5)))),
        (Arc::new(Plain(Poisson)), responses(|s| (1.0 + s).max(0.0).round())),
        (Arc::new(Ordinal::new(3).unwrap()), responses(|s| (1.0 + s).clamp(0.0, 2.0).round())),
        (Arc::new(Multinomial::new(3).unwrap()), responses(|s| (1.0 + s).clamp(0.0, 2.0).round())),
    ];
    let everything: Vec<usize> = (0..ROWS).collect();
    // Two processes and three; the last has the only row of a level, or the first one row.
    for ends in [&[40, ROWS][..], &[30, 55, ROWS], &[1, 70, ROWS]] {
        for (likelihood, y) in &families {
            let whole = model(likelihood.clone(), y, &everything, &Rows::default());
            let need = Seen::new(&whole);
            let found = in_parts(ends, |rows, shared| {
                let model = model(likelihood.clone(), y, rows, shared);
                // What the test is about: the rows of a process do not meet all pairs of levels.
                let own = model.gram.pattern(model.joint.design(), std::iter::empty());
                assert!(own.rows.len() < model.symbolic.pattern.rows.len());
                Seen::new(&model)
            });
            let first = &found[0];
            assert!(found.iter().all(|other| other.bits() == first.bits()), "{ends:?}");
            assert_eq!(need.fill, first.fill, "{ends:?}, {likelihood:?}");
            assert_eq!(need.found.len(), first.found.len(), "{ends:?}, {likelihood:?}");
            let sums = need.sums.iter().zip(&first.sums).map(|pair| (pair, 1e-9));
            let searched = need.found.iter().zip(&first.found).map(|pair| (pair, 1e-5));
            for (k, ((need, found), most)) in sums.chain(searched).enumerate() {
                let apart = apart(need, found);
                assert!(apart < most, "{ends:?}, {likelihood:?}, {k}: {apart:e}");
            }
        }
    }
}

/// A process whose rows cannot be computed ends with the others, which cannot know why.
#[test]
fn all_processes_end_with_the_error_of_one() {
    let y = responses(|s| (1.0 + s).max(0.0).round());
    let found = in_parts(&[40, ROWS], |rows, shared| {
        let first = rows[0] == 0;
        let mut offsets = vec![0.0; rows.len()];
        if first {
            offsets[3] = 800.0;
        }
        let model = model(Arc::new(Plain(Poisson)), &y, rows, shared);
        let joint = model.joint.with_offsets(offsets).unwrap();
        let start = vec![0.0; joint.dimension()];
        let model = Mixed::new(joint, terms(0).to_vec(), &start).unwrap();
        model.chart().err().map(|error| error.to_string())
    });
    assert!(found[0].as_ref().is_some_and(|error| error.contains("not finite")), "{found:?}");
    assert_eq!(found[0], found[1]);
}

/// Two rows of each of many levels, one in each process: what fits them exactly are responses that are
/// equal within levels.
#[test]
fn processes_see_together_whether_groups_fit_responses_exactly() {
    const LEVELS: usize = 20;
    let model = |rows: &[usize], y: &dyn Fn(usize) -> f64, shared: &Rows| {
        let entries = rows.iter().flat_map(|row| [0, 1 + row % LEVELS]).collect();
        let starts = (0..=rows.len()).map(|k| 2 * k).collect();
        let design = Sparse::new(1 + LEVELS, starts, entries, vec![1.0; 2 * rows.len()]).unwrap();
        let y: Vec<f64> = rows.iter().map(|&row| y(row)).collect();
        let joint = Joint::new(design, Arc::new(Normal), &y).unwrap().with_rows(shared);
        let sds = vec![Density::Exponential { rate: 1.0 }];
        let term = GroupTerm { first: 1, levels: LEVELS, width: 1, sds, concentration: 1.0 };
        Mixed::new(joint, vec![term], &[0.0; 2 + LEVELS]).unwrap().fits_exactly(&y)
    };
    let within = |row: usize| 3.0 + wave(row % LEVELS, 1.3);
    let noisy = |row: usize| 3.0 + wave(row, 1.3);
    let all: Vec<usize> = (0..2 * LEVELS).collect();
    let cases: [(&(dyn Fn(usize) -> f64 + Sync), bool); 2] = [(&within, true), (&noisy, false)];
    for (y, need) in cases {
        assert_eq!(model(&all, y, &Rows::default()), Some(need));
        let found = in_parts(&[LEVELS, 2 * LEVELS], |rows, shared| model(rows, y, shared));
        assert_eq!(found, [Some(need); 2]);
    }
    // The rows of one process alone leave no room for an error: what it would say by itself.
    assert_eq!(model(&all[..LEVELS], &noisy, &Rows::default()), Some(false));
    assert_eq!(model(&all[..LEVELS], &within, &Rows::default()), Some(false));
}
