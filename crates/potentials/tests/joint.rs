//! `Joint`: values, gradients and Hessians against sums by hand and differences, batches of chains,
//! rows in several processes, weights, modes, other coordinates, and errors.

use std::sync::Arc;

use ridgewalk_potentials::families::{Logistic, Observation, Poisson};
use ridgewalk_potentials::likelihoods::{
    Block, Gamma, HuberNoise, Likelihood, LogisticNoise, Multinomial, NegativeBinomial, Normal,
    Ordinal, Plain, StudentT, Survival, SurvivalKind,
};
use ridgewalk_potentials::peers::{Threads, share_of};
use ridgewalk_potentials::{
    Dense, Density, Error, Gradient, Joint, LineIntegral, ParameterScale, RowValue, Rows, Scratch,
    Sparse, WhitenedJoint, Whitening,
};

use crate::likelihoods::{Planted, WithResponses, all};
use crate::support::{largest, numbers, solve};

/// More rows than are computed together.
const ROWS: usize = 150;
const COLUMNS: usize = 3;

/// Every likelihood, families among them.
fn every() -> Vec<WithResponses> {
    let mut every = all();
    let binary = |i: usize| Observation::of((i % 2) as f64);
    every.push((Box::new(Plain(Logistic)), binary));
    every.push((Box::new(Plain(Poisson)), |i| Observation::of((i % 6) as f64)));
    every
}

/// The parts of a model with weights, offsets and priors of all kinds.
struct Parts {
    likelihood: Arc<dyn Likelihood>,
    design: Vec<f64>,
    observations: Vec<Observation>,
    weights: Vec<f64>,
    offsets: Vec<f64>,
    priors: Vec<Density>,
    parameter_priors: Vec<Density>,
}

impl Parts {
    fn new((likelihood, observation): WithResponses) -> Self {
        let mut design = numbers(1, ROWS * COLUMNS);
        design.iter_mut().step_by(COLUMNS).for_each(|x| *x = 1.0);
        let priors = [
            Density::Normal { mean: 0.3, scale: 2.0 },
            Density::Flat,
            Density::StudentT { degrees: 3.0, mean: -0.2, scale: 1.5 },
            Density::Laplace { mean: 2.0, scale: 0.7 },
            Density::Logistic { mean: 0.1, scale: 0.8 },
        ];
        let of_parameters = match likelihood.scale() {
            ParameterScale::Positive => [
                Density::Exponential { rate: 0.7 },
                Density::Gamma { shape: 2.0, rate: 0.1 },
                Density::Normal { mean: 0.0, scale: 2.0 },
            ],
            ParameterScale::Ordered => [
                Density::Logistic { mean: 0.0, scale: 1.0 },
                Density::Normal { mean: 0.5, scale: 3.0 },
                Density::StudentT { degrees: 4.0, mean: 0.0, scale: 2.0 },
            ],
        };
        let coefficients = COLUMNS * likelihood.predictors();
        Self {
            design,
            observations: (0..ROWS).map(observation).collect(),
            weights: numbers(2, ROWS).iter().map(|x| 1.3 + x).collect(),
            offsets: numbers(3, ROWS).iter().map(|x| 0.4 * x).collect(),
            priors: priors.into_iter().cycle().take(coefficients).collect(),
            parameter_priors: of_parameters
                .into_iter()
                .cycle()
                .take(likelihood.parameters())
                .collect(),
            likelihood: Arc::from(likelihood),
        }
    }

    fn all() -> Vec<Self> {
        every().into_iter().map(Self::new).collect()
    }

    /// The same without the prior whose curvature is not one.
    fn smooth(mut self) -> Self {
        let laplace = |prior: &&mut Density| matches!(prior, Density::Laplace { .. });
        self.priors.iter_mut().filter(laplace).for_each(|prior| *prior = Density::Flat);
        self
    }

    /// The same with proper priors that are log-concave and the same for all coefficients.
    fn proper(mut self) -> Self {
        self.priors.fill(Density::Normal { mean: 0.0, scale: 2.0 });
        self
    }

    fn joint(&self) -> Joint<'static> {
        self.of_rows(0..ROWS)
    }

    fn of_rows(&self, rows: std::ops::Range<usize>) -> Joint<'static> {
        let design = self.design[rows.start * COLUMNS..rows.end * COLUMNS].to_vec();
        let design = Dense::new(rows.len(), COLUMNS, design).unwrap();
        let observations = self.observations[rows.clone()].to_vec();
        Joint::of_observations(design, self.likelihood.clone(), observations)
            .unwrap()
            .with_weights(self.weights[rows.clone()].to_vec())
            .unwrap()
            .with_offsets(self.offsets[rows].to_vec())
            .unwrap()
            .with_priors(self.priors.clone())
            .unwrap()
            .with_parameter_priors(self.parameter_priors.clone())
            .unwrap()
    }

    fn name(&self) -> String {
        format!("{:?}", self.likelihood)
    }

    /// U and its gradient, one row after another and one prior after another.
    fn by_hand(&self, point: &[f64]) -> (f64, Vec<f64>) {
        let (beta, psi) = point.split_at(self.priors.len());
        let m = self.likelihood.predictors();
        let (mut value, mut by_beta) = (0.0, vec![0.0; beta.len()]);
        let mut by_psi = vec![0.0; psi.len()];
        for (i, row) in self.design.chunks_exact(COLUMNS).enumerate() {
            let product = |beta: &[f64]| row.iter().zip(beta).map(|(a, b)| a * b).sum::<f64>();
            let s: Vec<f64> =
                beta.chunks_exact(COLUMNS).map(|beta| product(beta) + self.offsets[i]).collect();
            let (mut slopes, mut own) = (vec![0.0; m], vec![0.0; psi.len()]);
            let block = Block { s: &s, y: &self.observations[i..=i], weights: &[] };
            value += self.weights[i] * self.likelihood.evaluate(psi, block, &mut slopes, &mut own);
            by_psi.iter_mut().zip(own).for_each(|(sum, own)| *sum += self.weights[i] * own);
            for (k, sum) in by_beta.iter_mut().enumerate() {
                *sum += self.weights[i] * slopes[k / COLUMNS] * row[k % COLUMNS];
            }
        }
        for (k, prior) in self.priors.iter().enumerate() {
            let [of, slope] = prior.value_and_slope(beta[k]);
            value += of;
            by_beta[k] += slope;
        }
        let ordered = self.likelihood.scale() == ParameterScale::Ordered;
        let mut natural = psi.to_vec();
        self.likelihood.scale().to_natural(&mut natural);
        for (j, prior) in self.parameter_priors.iter().enumerate() {
            let [of, slope] = prior.value_and_slope(natural[j]);
            value += of;
            for k in 0..=j {
                // ∂(threshold j)/∂ψ_k for k <= j, or that of one positive parameter.
                let moves = if ordered && k == 0 { 1.0 } else { psi[k].exp() };
                if ordered || k == j {
                    by_psi[k] += slope * moves;
                }
            }
            if !(ordered && j == 0) {
                value -= psi[j];
                by_psi[j] -= 1.0;
            }
        }
        (value, [by_beta, by_psi].concat())
    }
}

/// A point not far from 0.
fn point(seed: u64, dimension: usize) -> Vec<f64> {
    numbers(seed, dimension).iter().map(|x| 0.6 * x).collect()
}

fn values_and_gradients(joint: &impl LineIntegral, points: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let mut values = vec![f64::NAN; points.len() / joint.dimension()];
    let mut gradients = vec![f64::NAN; points.len()];
    joint
        .values_and_gradients(points, &mut values, &mut gradients, &mut Scratch::default())
        .unwrap();
    (values, gradients)
}

fn value_and_gradient(joint: &impl LineIntegral, point: &[f64]) -> (f64, Vec<f64>) {
    let (values, gradient) = values_and_gradients(joint, point);
    (values[0], gradient)
}

/// Differences of fourth order, of a list of functions of x around 0.
fn difference(step: f64, at: impl Fn(f64) -> Vec<f64>) -> Vec<f64> {
    let [a, b, c, d] = [2.0, 1.0, -1.0, -2.0].map(|i| at(i * step));
    let each = (0..a.len()).map(|k| (8.0 * (b[k] - c[k]) - (a[k] - d[k])) / (12.0 * step));
    each.collect()
}

fn moved(point: &[f64], k: usize, by: f64) -> Vec<f64> {
    let mut point = point.to_vec();
    point[k] += by;
    point
}

/// How far a gradient is from differences of the value, in units of what those may be off.
fn disagreement(joint: &impl LineIntegral, point: &[f64]) -> f64 {
    let (value, gradient) = value_and_gradient(joint, point);
    let off = |k: usize| {
        let found = difference(1e-3, |h| vec![value_and_gradient(joint, &moved(point, k, h)).0]);
        (found[0] - gradient[k]).abs() / (1e-12 * value.abs() + 1e-8 * (1.0 + gradient[k].abs()))
    };
    (0..point.len()).map(off).fold(0.0, f64::max)
}

#[track_caller]
fn near(found: &[f64], need: &[f64], tolerance: f64, name: &str) {
    let size = largest(need);
    assert_eq!(found.len(), need.len());
    for (k, (found, need)) in found.iter().zip(need).enumerate() {
        let off = (found - need).abs() / size.max(1e-300);
        assert!(off <= tolerance, "{name}, {k}: {found} for {need}, {off:e}");
    }
}

#[test]
fn values_and_gradients_are_sums_over_rows_and_priors() {
    for parts in Parts::all() {
        let joint = parts.joint();
        for seed in 4..8 {
            let point = point(seed, joint.dimension());
            let (value, gradient) = value_and_gradient(&joint, &point);
            let (by_hand, gradient_by_hand) = parts.by_hand(&point);
            near(&[value], &[by_hand], 1e-13, &parts.name());
            near(&gradient, &gradient_by_hand, 1e-12, &parts.name());
            let mut other = vec![0.0; gradient.len()];
            assert_eq!(joint.value_and_gradient(&point, &mut other), Ok(Some(value)));
            assert_eq!(other, gradient);
        }
    }
}

#[test]
fn gradients_are_those_of_the_value() {
    let mut worst: f64 = 0.0;
    for parts in Parts::all() {
        let joint = parts.joint();
        for seed in 4..6 {
            let error = disagreement(&joint, &point(seed, joint.dimension()));
            assert!(error < 1.0, "{}: {error}", parts.name());
            worst = worst.max(error);
        }
    }
    println!("{worst:.2}");
}

#[test]
fn a_wrong_gradient_is_found() {
    for which in 0..every().len() {
        for of_parameter in [false, true] {
            let mut parts = Parts::new(every().swap_remove(which));
            if of_parameter && parts.parameter_priors.is_empty() {
                continue;
            }
            let inner = every().swap_remove(which).0;
            let planted = Planted { inner, of_parameter, factor: 1.001 };
            parts.likelihood = Arc::new(planted);
            let joint = parts.joint();
            let error = disagreement(&joint, &point(4, joint.dimension()));
            assert!(error > 5.0, "{}, {of_parameter}: {error}", parts.name());
        }
    }
}

#[test]
fn hessians_are_differences_of_gradients() {
    let mut worst: f64 = 0.0;
    for parts in Parts::all().into_iter().map(Parts::smooth) {
        let joint = parts.joint();
        let d = joint.dimension();
        let point = point(5, d);
        let hessian = joint.hessian(&point).unwrap();
        let differences: Vec<Vec<f64>> = (0..d)
            .map(|k| difference(1e-4, |h| value_and_gradient(&joint, &moved(&point, k, h)).1))
            .collect();
        for k in 0..d {
            for l in 0..d {
                let (found, need) = (hessian[k * d + l], differences[k][l]);
                assert_eq!(found, hessian[l * d + k], "{}: not symmetric", parts.name());
                let size = (hessian[k * (d + 1)] * hessian[l * (d + 1)]).abs().sqrt().max(1.0);
                let off = (found - need).abs() / size;
                assert!(off < 1e-8, "{}, {k}, {l}: {found} for {need}, {off:e}", parts.name());
                worst = worst.max(off);
            }
        }
    }
    println!("{worst:.1e}");
}

/// Chains side by side and each on its own, in dense and sparse designs, to the last bit.
#[test]
fn batches_give_what_each_chain_gives() {
    for parts in Parts::all() {
        let dense = parts.joint();
        let design = Dense::new(ROWS, COLUMNS, &parts.design[..]).unwrap();
        let sparse = Joint::of_observations(
            Sparse::from_dense(&design),
            parts.likelihood.clone(),
            parts.observations.clone(),
        );
        for joint in [dense, sparse.unwrap()] {
            let d = joint.dimension();
            for chains in [1, 2, 3, 5, 8, 17] {
                let points = point(6, d * chains);
                let (values, gradients) = values_and_gradients(&joint, &points);
                let mut alone = vec![f64::NAN; gradients.len()];
                joint.gradients(&points, &mut alone, &mut Scratch::default()).unwrap();
                assert_eq!(alone, gradients, "{}, {chains}", parts.name());
                for (chain, point) in points.chunks_exact(d).enumerate() {
                    let (value, gradient) = value_and_gradient(&joint, point);
                    let own = &gradients[chain * d..(chain + 1) * d];
                    assert_eq!(value.to_bits(), values[chain].to_bits(), "{}", parts.name());
                    assert_eq!(gradient, own, "{}, {chain} of {chains}", parts.name());
                }
            }
        }
    }
}

/// So many rows that threads share them, for few chains; a scratch that was used before.
#[test]
fn many_rows_give_the_same_whatever_was_computed_before() {
    let rows = 40_000;
    let design = Dense::new(rows, 2, numbers(1, 2 * rows)).unwrap();
    let joint = Joint::new(design, Arc::new(StudentT::new()), &numbers(2, rows)).unwrap();
    let points = point(3, 4 * 5);
    let (values, gradients) = values_and_gradients(&joint, &points);
    let scratch = &mut Scratch::default();
    for (chain, point) in points.chunks_exact(4).enumerate() {
        let (mut value, mut gradient) = ([0.0], vec![0.0; 4]);
        joint.values_and_gradients(point, &mut value, &mut gradient, scratch).unwrap();
        assert_eq!(value[0].to_bits(), values[chain].to_bits());
        assert_eq!(gradient, gradients[4 * chain..4 * chain + 4]);
    }
}

/// Everything that is a sum over rows.
fn everything(joint: &Joint<'_>) -> Vec<f64> {
    let d = joint.dimension();
    let points = point(7, 3 * d);
    let (values, gradients) = values_and_gradients(joint, &points);
    [values, gradients, joint.hessian(&points[..d]).unwrap()].concat()
}

#[test]
fn rows_in_two_processes_are_one_model() {
    for parts in Parts::all() {
        let found: Vec<Vec<f64>> = std::thread::scope(|scope| {
            let parts = &parts;
            let threads = Threads::group(2).into_iter().enumerate().map(|(part, peers)| {
                scope.spawn(move || {
                    let joint = parts.of_rows(share_of(ROWS, part, 2));
                    let joint = joint.with_rows(&Rows::shared(Arc::new(peers)));
                    assert!(joint.collective());
                    everything(&joint)
                })
            });
            let threads: Vec<_> = threads.collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(found[0], found[1], "{}: not the same in both", parts.name());
        let joint = parts.joint();
        assert!(!joint.collective());
        let alone = everything(&joint);
        let first = 3 + 3 * joint.dimension();
        near(&found[0][..3], &alone[..3], 1e-13, &parts.name());
        near(&found[0][3..first], &alone[3..first], 1e-12, &parts.name());
        near(&found[0][first..], &alone[first..], 1e-9, &parts.name());
    }
}

#[test]
fn weights_count_rows() {
    for mut parts in Parts::all() {
        let times = |i: usize| [1, 3, 2][i % 3];
        parts.weights = (0..ROWS).map(|i| times(i) as f64).collect();
        let each: Vec<usize> = (0..ROWS).flat_map(|i| vec![i; times(i)]).collect();
        let design: Vec<f64> =
            each.iter().flat_map(|&i| &parts.design[i * COLUMNS..][..COLUMNS]).copied().collect();
        let design = Dense::new(each.len(), COLUMNS, design).unwrap();
        let observations = each.iter().map(|&i| parts.observations[i]).collect();
        let repeated = Joint::of_observations(design, parts.likelihood.clone(), observations)
            .unwrap()
            .with_offsets(each.iter().map(|&i| parts.offsets[i]).collect())
            .unwrap()
            .with_priors(parts.priors.clone())
            .unwrap()
            .with_parameter_priors(parts.parameter_priors.clone())
            .unwrap();
        let weighted = parts.joint();
        let (found, need) = (everything(&weighted), everything(&repeated));
        let first = 3 + 3 * weighted.dimension();
        near(&found[..3], &need[..3], 1e-13, &parts.name());
        near(&found[3..first], &need[3..first], 1e-12, &parts.name());
        near(&found[first..], &need[first..], 1e-9, &parts.name());
    }
}

/// How far a point is from the mode, in standard deviations: √(gᵀ H⁻¹ g).
fn distance(joint: &Joint<'_>, point: &[f64]) -> f64 {
    let d = point.len();
    let (gradient, hessian) = (value_and_gradient(joint, point).1, joint.hessian(point).unwrap());
    let unit: Vec<f64> = (0..d).map(|k| hessian[k * (d + 1)].sqrt()).collect();
    let matrix =
        (0..d).map(|k| (0..d).map(|l| hessian[k * d + l] / unit[k] / unit[l]).collect()).collect();
    let scaled: Vec<f64> = gradient.iter().zip(&unit).map(|(g, u)| g / u).collect();
    let x = solve(matrix, scaled.clone());
    x.iter().zip(&scaled).map(|(x, g)| x * g).sum::<f64>().max(0.0).sqrt()
}

#[test]
fn modes_are_found_from_bad_starts() {
    let mut worst: f64 = 0.0;
    for parts in Parts::all().into_iter().map(Parts::proper) {
        let joint = parts.joint();
        let d = joint.dimension();
        let starts = [vec![0.0; d], vec![3.0; d], vec![-3.0; d]];
        let random = (8..11).map(|seed| numbers(seed, d).iter().map(|x| 4.0 * x).collect());
        for start in starts.into_iter().chain(random) {
            match joint.mode(&start) {
                Ok(mode) => {
                    let off = distance(&joint, &mode.point);
                    assert!(off < 1e-5, "{} from {start:?}: {off:e}", parts.name());
                    worst = worst.max(off);
                    let gradient = value_and_gradient(&joint, &mode.point).1;
                    let norm = gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
                    near(&[mode.gradient_norm], &[norm], 1e-12, &parts.name());
                }
                Err(error) => panic!("{} from {start:?}: {error}", parts.name()),
            }
        }
    }
    println!("{worst:.1e}");
}

/// Where the slope of a prior jumps through 0 together with that of U, the mode is at its centre, and
/// no gradient vanishes.
#[test]
fn a_point_near_the_mode_is_found_at_the_kink_of_a_prior() {
    let design = Dense::new(4, 1, vec![1.0; 4]).unwrap();
    let joint = Joint::new(design, Arc::new(Normal), &[1.0, -1.0, 2.0, -2.1])
        .unwrap()
        .with_priors(vec![Density::Laplace { mean: 0.0, scale: 0.1 }])
        .unwrap()
        .with_parameter_priors(vec![Density::Exponential { rate: 1.0 }])
        .unwrap();
    let mode = joint.mode(&[0.5, 0.0]).unwrap().point;
    // In units of the prior, whose normal stand-in is drawn to the mean of −0.025 a little.
    assert!(mode[0].abs() < 1e-3, "{mode:?}");
}

/// A response and its unit: coefficients, or the intercept, and the noise scale move with it.
#[test]
fn modes_do_not_depend_on_units() {
    let rows = 60;
    let mut columns = vec![1.0; 3 * rows];
    for (i, x) in numbers(1, rows).into_iter().enumerate() {
        columns[3 * i + 1] = 1e-3 * x;
        columns[3 * i + 2] = 1e4 * ((i * 7 % 11) as f64 / 5.0 - 1.0);
    }
    let noise = numbers(2, rows);
    let real: Vec<f64> = (0..rows)
        .map(|i| 0.5 + 400.0 * columns[3 * i + 1] - 3e-5 * columns[3 * i + 2] + noise[i].powi(3))
        .collect();
    let joint = |likelihood: Arc<dyn Likelihood>, unit: f64| {
        let positive = likelihood.name() == "gamma" || likelihood.name() == "weibull";
        let to = |y: &f64| {
            let y = if positive { unit * y.exp() } else { unit * y };
            if likelihood.name() == "weibull" {
                Observation::between(y, y)
            } else {
                Observation::of(y)
            }
        };
        let observations = real.iter().map(to).collect();
        let design = Dense::new(rows, 3, columns.clone()).unwrap();
        let joint = Joint::of_observations(design, likelihood.clone(), observations).unwrap();
        let mut priors = vec![Density::Flat; likelihood.parameters()];
        // Noise without outliers may have any large ν.
        priors.iter_mut().skip(1).for_each(|p| *p = Density::Gamma { shape: 2.0, rate: 0.1 });
        joint.with_parameter_priors(priors).unwrap()
    };
    let noises: [Arc<dyn Likelihood>; 5] = [
        Arc::new(Normal),
        Arc::new(LogisticNoise),
        Arc::new(HuberNoise::new(1.345).unwrap()),
        Arc::new(StudentT::with_degrees(4.0).unwrap()),
        Arc::new(StudentT::new()),
    ];
    let with_link: [Arc<dyn Likelihood>; 2] =
        [Arc::new(Gamma), Arc::new(Survival::new(SurvivalKind::Weibull))];
    let mut failed = Vec::new();
    for (likelihood, link) in
        noises.into_iter().map(|l| (l, false)).chain(with_link.into_iter().map(|l| (l, true)))
    {
        let d = 3 + likelihood.parameters();
        let one = joint(likelihood.clone(), 1.0).mode(&vec![0.0; d]).unwrap().point;
        for unit in [1e-6, 1e6] {
            let scaled = joint(likelihood.clone(), unit);
            // The start knows nothing of the unit, and then no more than it.
            for start in [0.0, unit.ln()] {
                let mut from = vec![0.0; d];
                if link {
                    from[0] = start
                } else {
                    from[3] = start
                }
                let mode = match scaled.mode(&from) {
                    Ok(mode) => mode.point,
                    Err(error) => {
                        failed.push(format!("{likelihood:?}, {unit:e} from {start}: {error}"));
                        continue;
                    }
                };
                let off = distance(&scaled, &mode);
                assert!(off < 1e-5, "{likelihood:?}, {unit:e}: {off:e}");
                let mut need = one.clone();
                if link {
                    need[0] += unit.ln();
                } else {
                    need[..3].iter_mut().for_each(|x| *x *= unit);
                    need[3] += unit.ln();
                }
                let hessian = scaled.hessian(&need).unwrap();
                for k in 0..d {
                    let off = (mode[k] - need[k]).abs() * hessian[k * (d + 1)].sqrt();
                    assert!(off < 1e-4, "{likelihood:?}, {unit:e}, {k}: {mode:?} for {need:?}");
                }
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn other_coordinates_are_those_of_the_whitening() {
    for parts in Parts::all() {
        let joint = Arc::new(parts.joint());
        let d = parts.joint().dimension();
        // Any positive definite matrix: A Aᵀ + 1.
        let a = numbers(5, d * d);
        let entry = |k: usize, l: usize| {
            let product: f64 = (0..d).map(|i| a[k * d + i] * a[l * d + i]).sum();
            product / d as f64 + f64::from(u8::from(k == l))
        };
        let matrix: Vec<f64> = (0..d * d).map(|i| 0.1 * entry(i / d, i % d)).collect();
        let whitening = Whitening::from_covariance(&point(4, d), &matrix).unwrap();
        let white = WhitenedJoint::new(joint.clone(), whitening.clone()).unwrap();
        assert_eq!((white.dimension(), white.collective()), (d, false));
        assert_eq!(white.gradients_per_integral(), 1);
        let z = point(9, 3 * d);
        let (values, gradients) = values_and_gradients(&white, &z);
        for chain in 0..3 {
            let range = chain * d..(chain + 1) * d;
            let (mut theta, mut need) = (vec![0.0; d], vec![0.0; d]);
            whitening.to_original(&z[range.clone()], &mut theta).unwrap();
            let (value, gradient) = value_and_gradient(&*joint, &theta);
            whitening.gradient_to_whitened(&gradient, &mut need).unwrap();
            assert_eq!(value.to_bits(), values[chain].to_bits(), "{}", parts.name());
            assert_eq!(need, gradients[range], "{}", parts.name());
        }
        let error = disagreement(&white, &z[..d]);
        assert!(error < 1.0, "{}: {error}", parts.name());
        let mut out = vec![0.0; d];
        let found = white.integrate(0.1, &z[..d], &z[..d], &mut out, &mut Scratch::default());
        assert_eq!(found, Err(Error::NoLineIntegral));
        let other = Whitening::diagonal(&vec![0.0; d + 1], &vec![1.0; d + 1]).unwrap();
        let found = WhitenedJoint::new(joint, other).unwrap_err();
        assert_eq!(found, Error::Length { what: "the whitening", got: d + 1, need: d });
    }
}

#[test]
fn there_are_no_line_integrals() {
    for parts in Parts::all() {
        let joint = parts.joint();
        let (point, mut out) = (point(4, joint.dimension()), vec![0.0; joint.dimension()]);
        let found = joint.integrate(0.1, &point, &point, &mut out, &mut Scratch::default());
        assert_eq!(found, Err(Error::NoLineIntegral));
        assert_eq!(joint.gradients_per_integral(), 1);
    }
}

#[test]
fn posteriors_know_what_is_convex_and_proper() {
    let design = || Dense::new(4, 1, vec![1.0; 4]).unwrap();
    let y = [0.0, 1.0, 1.0, 0.0];
    let plain = || Joint::new(design(), Arc::new(Plain(Logistic)), &y).unwrap();
    let with = |prior| plain().with_priors(vec![prior]).unwrap();
    assert!(plain().log_concave() && !plain().has_proper_prior());
    let normal = with(Density::Normal { mean: 0.0, scale: 1.0 });
    assert!(normal.log_concave() && normal.has_proper_prior());
    let cauchy = with(Density::StudentT { degrees: 1.0, mean: 0.0, scale: 1.0 });
    assert!(!cauchy.log_concave() && cauchy.has_proper_prior());
    let noise = Joint::new(design(), Arc::new(Normal), &y).unwrap();
    assert!(!noise.log_concave() && !noise.has_proper_prior());
    assert_eq!((noise.dimension(), noise.coefficients()), (2, 1));
    assert_eq!(noise.likelihood().name(), "gaussian");
    let levels = Joint::new(design(), Arc::new(Multinomial::new(3).unwrap()), &y).unwrap();
    assert!(levels.log_concave());
    assert_eq!((levels.dimension(), levels.coefficients()), (2, 2));
}

/// An intercept and five counts.
fn counts() -> Joint<'static> {
    let design = Dense::new(5, 1, vec![1.0; 5]).unwrap();
    Joint::new(design, Arc::new(NegativeBinomial), &[0.0, 1.0, 4.0, 2.0, 9.0]).unwrap()
}

#[test]
fn lists_of_wrong_lengths_are_refused() {
    let refused = |found: Result<Joint<'_>, Error>, what: &str, got: usize, need: usize| {
        let message = format!("{what} has {got} entries: need {need}");
        assert_eq!(found.unwrap_err().to_string(), message);
    };
    let design = Dense::new(5, 1, vec![1.0; 5]).unwrap();
    let short = Joint::new(design, Arc::new(NegativeBinomial), &[1.0; 4]);
    refused(short, "the list of responses", 4, 5);
    refused(counts().with_priors(vec![]), "the list of priors", 0, 1);
    let two = vec![Density::Flat; 2];
    refused(counts().with_parameter_priors(two), "the list of priors of parameters", 2, 1);
    assert!(matches!(
        counts().with_weights(vec![1.0; 6]),
        Err(Error::Length { got: 6, need: 5, .. })
    ));
    assert!(matches!(
        counts().with_offsets(vec![1.0; 4]),
        Err(Error::Length { got: 4, need: 5, .. })
    ));
    let start = Error::Length { what: "the start", got: 3, need: 2 };
    assert_eq!(counts().mode(&[0.0; 3]).unwrap_err(), start);
    let at = Error::Length { what: "the point", got: 1, need: 2 };
    assert_eq!(counts().hessian(&[0.0]), Err(at));
    let scratch = &mut Scratch::default();
    let mut gradients = [0.0; 4];
    let found = counts().values_and_gradients(&[0.0; 4], &mut [0.0; 3], &mut gradients, scratch);
    assert_eq!(found, Err(Error::Length { what: "the list of values", got: 3, need: 2 }));
    let found = counts().values_and_gradients(&[0.0; 3], &mut [0.0], &mut gradients[..3], scratch);
    assert!(matches!(found, Err(Error::Length { got: 3, .. })), "{found:?}");
    let found = counts().gradients(&[0.0; 4], &mut gradients[..2], scratch);
    assert!(matches!(found, Err(Error::Length { got: 2, need: 4, .. })), "{found:?}");
}

#[test]
fn responses_weights_and_offsets_that_make_no_sense_are_refused_with_their_row() {
    let design = || Dense::new(3, 1, vec![1.0; 3]).unwrap();
    let row = |likelihood: Arc<dyn Likelihood>, y: [f64; 3]| {
        Joint::new(design(), likelihood, &y).unwrap_err()
    };
    for (likelihood, y, bad) in [
        (Arc::new(Normal) as Arc<dyn Likelihood>, [0.0, 1.0, f64::INFINITY], 2),
        (Arc::new(NegativeBinomial), [0.0, 1.5, 2.0], 1),
        (Arc::new(Gamma), [0.0, 1.0, 2.0], 0),
        (Arc::new(Ordinal::new(3).unwrap()), [0.0, 2.0, 3.0], 2),
        (Arc::new(Multinomial::new(3).unwrap()), [0.0, -1.0, 3.0], 1),
        (Arc::new(Plain(Logistic)), [1.0, 0.0, 2.0], 2),
    ] {
        let Error::Row { what, row, value, .. } = row(likelihood, y) else { panic!() };
        assert_eq!((what, row, value), (RowValue::Response, bad, y[bad]));
    }
    let times = [(1.0, 1.0), (1.0, f64::INFINITY), (3.0, 2.0)];
    let times = times.map(|(lower, upper)| Observation::between(lower, upper)).to_vec();
    let survival = Arc::new(Survival::new(SurvivalKind::Weibull));
    let found = Joint::of_observations(design(), survival, times).unwrap_err();
    assert!(matches!(found, Error::Row { row: 2, .. }), "{found:?}");
    let trials = vec![Observation { response: 1.0, trials: 2.0 }; 3];
    let found = Joint::of_observations(design(), Arc::new(Gamma), trials).unwrap_err();
    assert!(matches!(found, Error::Row { what: RowValue::Trials, row: 0, .. }), "{found:?}");
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let found = counts().with_weights(vec![1.0, 1.0, 1.0, bad, 1.0]).unwrap_err();
        assert!(matches!(found, Error::Row { what: RowValue::Weight, row: 3, .. }), "{found:?}");
    }
    for bad in [f64::NAN, f64::INFINITY] {
        let found = counts().with_offsets(vec![0.0, bad, 0.0, 0.0, 0.0]).unwrap_err();
        assert!(matches!(found, Error::Row { what: RowValue::Offset, row: 1, .. }), "{found:?}");
    }
}

#[test]
fn priors_and_points_that_make_no_sense_are_refused() {
    let message = |prior: Density| {
        let found = counts().with_priors(vec![prior]).unwrap_err().to_string();
        assert_eq!(counts().with_parameter_priors(vec![prior]).unwrap_err().to_string(), found);
        found
    };
    let negative = message(Density::Normal { mean: 0.0, scale: -1.0 });
    assert_eq!(negative, "prior scale = -1: need a positive, finite number");
    let nan = message(Density::Laplace { mean: f64::NAN, scale: 1.0 });
    assert_eq!(nan, "prior mean = NaN: need a finite number");
    let rate = message(Density::Exponential { rate: 0.0 });
    assert_eq!(rate, "prior rate = 0: need a positive, finite number");
    assert!(message(Density::Gamma { shape: f64::NAN, rate: 1.0 }).starts_with("prior shape"));
    for start in [[f64::NAN, 0.0], [0.0, f64::NAN]] {
        let found = counts().mode(&start).unwrap_err();
        assert!(matches!(found, Error::NotFinite { what: "the potential", .. }), "{found:?}");
    }
    let found = counts().hessian(&[f64::NAN, 0.0]).unwrap_err();
    assert!(matches!(found, Error::NotFinite { what: "the Hessian", .. }), "{found:?}");
}
