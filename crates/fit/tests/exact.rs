//! Gaussian regression with unknown σ against its exact law.
//!
//! Given σ the coefficients are normal, with precision XᵀX/σ² + diag(1/s²) for priors of scale s;
//! what is left is the density of log σ, one-dimensional: the law is a mixture of normal laws, by
//! quadrature over log σ. The linear algebra is written out here, without code of ours.

use ridgewalk_diagnostics::{ess_moments, ess_quantile};
use ridgewalk_fit::{Fitted, Parameter, Settings, fit};
use ridgewalk_frame::{Column, FamilyName, Table};
use ridgewalk_sampler::Stream;

/// Standard errors that an estimate may be off by. A normal number is farther off with probability
/// 6.8e-6: one of the 290 in this file, with other seeds, once in 500 runs.
const ERRORS: f64 = 4.5;
/// Draws of each of 8 chains.
const DRAWS: u64 = 12_500;
/// Points of the quadrature, an odd number: every second one is a coarser rule.
const POINTS: usize = 4_001;
/// Densities below e^-this of the largest are left out.
const DEPTH: f64 = 45.0;

/// How a data set is made: predictors of these means and standard deviations, and a response of
/// this mean, whose signal has this unit.
struct Recipe {
    rows: usize,
    predictors: &'static [(f64, f64)],
    response: (f64, f64),
    /// The noise, in units of the signal.
    noise: f64,
    /// How much each predictor differs from the one before it, in standard deviations; 1 if they
    /// are independent.
    apart: f64,
}

const RECIPES: [Recipe; 10] = [
    Recipe { rows: 5, predictors: &[(0.0, 1.0)], response: (0.0, 1.0), noise: 1.0, apart: 1.0 },
    Recipe {
        rows: 6,
        predictors: &[(1e3, 10.0), (-4.0, 1e-3)],
        response: (50.0, 3.0),
        noise: 0.7,
        apart: 1.0,
    },
    // One degree of freedom is left for the noise.
    Recipe {
        rows: 8,
        predictors: &[(0.0, 1.0), (7.0, 1e-3), (2e4, 1e4), (0.3, 0.1), (-80.0, 9.0), (1.0, 1.0)],
        response: (-2.0, 1.0),
        noise: 0.5,
        apart: 1.0,
    },
    Recipe {
        rows: 12,
        predictors: &[(1970.0, 12.0), (0.0, 1e-3), (5e5, 1e4)],
        response: (1e5, 1e4),
        noise: 0.4,
        apart: 1.0,
    },
    // Two predictors that the data hardly tell apart: their priors do.
    Recipe {
        rows: 20,
        predictors: &[(30.0, 5.0), (-1e4, 1e3)],
        response: (1e6, 0.5),
        noise: 1.0,
        apart: 0.01,
    },
    Recipe {
        rows: 40,
        predictors: &[(1.0, 1e-3), (0.0, 30.0), (1e4, 1e4), (3.0, 0.2)],
        response: (1e-3, 1e-4),
        noise: 2.0,
        apart: 1.0,
    },
    // Little noise.
    Recipe {
        rows: 100,
        predictors: &[(0.0, 1.0), (9.0, 3.0), (1e2, 1e-2), (0.0, 1e4), (-5.0, 1.0), (0.0, 0.1)],
        response: (0.0, 20.0),
        noise: 0.01,
        apart: 1.0,
    },
    Recipe {
        rows: 300,
        predictors: &[(2.0, 1.0), (0.0, 1e-2), (1e3, 1e2), (0.0, 1.0), (4e4, 1e4)],
        response: (300.0, 40.0),
        noise: 1.5,
        apart: 1e-3,
    },
    Recipe {
        rows: 1000,
        predictors: &[(2e3, 8.0), (5e4, 1e4), (0.0, 1e-3), (3.0, 1.0), (0.0, 7.0), (1e2, 5.0)],
        response: (0.0, 1.0),
        noise: 5.0,
        apart: 0.3,
    },
    Recipe {
        rows: 5000,
        predictors: &[(1e4, 1e2), (0.02, 1e-3), (-3e4, 1e4)],
        response: (7.0, 2.0),
        noise: 1.0,
        apart: 1.0,
    },
];

struct Data {
    columns: Vec<Vec<f64>>,
    y: Vec<f64>,
}

impl Recipe {
    fn data(&self, seed: u64) -> Data {
        let mut stream = Stream::new(seed, 0);
        let mut normals = || {
            let mut list = vec![0.0; self.rows];
            stream.normals(&mut list);
            list
        };
        let mut z: Vec<Vec<f64>> = Vec::new();
        for _ in self.predictors {
            let mut own = normals();
            if let Some(before) = z.last().filter(|_| self.apart < 1.0) {
                own.iter_mut().zip(before).for_each(|(x, b)| *x = b + self.apart * *x);
            }
            z.push(own);
        }
        let mut y = normals();
        for (i, y) in y.iter_mut().enumerate() {
            let signal: f64 =
                z.iter().enumerate().map(|(k, z)| (1.0 - 0.4 * k as f64) * z[i]).sum();
            *y = self.response.0 + self.response.1 * (signal + self.noise * *y);
        }
        let columns = z.into_iter().zip(self.predictors);
        let in_units = |(z, (mean, sd)): (Vec<f64>, &(f64, f64))| {
            z.into_iter().map(|z| mean + sd * z).collect()
        };
        Data { columns: columns.map(in_units).collect(), y }
    }
}

impl Data {
    fn fit(&self) -> Fitted {
        let mut columns = vec![Column::from_numbers("y", &self.y)];
        for (k, column) in self.columns.iter().enumerate() {
            columns.push(Column::from_numbers(&format!("x{}", k + 1), column));
        }
        let table = Table::from_columns("made", columns).unwrap();
        let settings = Settings::new("y", FamilyName::Gaussian);
        fit(&table, &Settings { draws: DRAWS, seed: 3, ..settings }).unwrap()
    }
}

/// The mean and the standard deviation, with divisor n − 1.
fn mean_and_sd(x: &[f64]) -> (f64, f64) {
    let n = x.len() as f64;
    let mean = x.iter().sum::<f64>() / n;
    (mean, (x.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0)).sqrt())
}

/// L with L Lᵀ = a, of a positive definite matrix.
fn cholesky(a: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let d = a.len();
    let mut l = vec![vec![0.0; d]; d];
    for i in 0..d {
        for j in 0..=i {
            let rest = a[i][j] - (0..j).map(|k| l[i][k] * l[j][k]).sum::<f64>();
            l[i][j] = if i == j { rest.sqrt() } else { rest / l[j][j] };
        }
    }
    l
}

/// L⁻¹ b.
fn forward(l: &[Vec<f64>], b: &[f64]) -> Vec<f64> {
    let mut x = b.to_vec();
    for i in 0..x.len() {
        x[i] = (x[i] - (0..i).map(|k| l[i][k] * x[k]).sum::<f64>()) / l[i][i];
    }
    x
}

/// L⁻ᵀ b.
fn backward(l: &[Vec<f64>], b: &[f64]) -> Vec<f64> {
    let mut x = b.to_vec();
    for i in (0..x.len()).rev() {
        x[i] = (x[i] - (i + 1..x.len()).map(|k| l[k][i] * x[k]).sum::<f64>()) / l[i][i];
    }
    x
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The model with centred predictors, in coefficients θ that have standard normal priors.
struct Exact {
    /// Row after row.
    design: Vec<Vec<f64>>,
    gram: Vec<Vec<f64>>,
    /// The response less its mean, and its products with the columns.
    y: Vec<f64>,
    products: Vec<f64>,
    /// Of the exponential prior of σ.
    rate: f64,
    /// Each reported coefficient: a constant and the factors of θ.
    reported: Vec<(f64, Vec<f64>)>,
    /// Whether the change of variables from σ to log σ counts, as it must.
    jacobian: bool,
}

/// The law of all that is reported: points of log σ with their weights and, at each, the mean and
/// variance of each coefficient.
struct Law {
    step: f64,
    log_sigma: Vec<f64>,
    weights: Vec<f64>,
    /// Less these constants, which may be large.
    coefficients: Vec<Vec<(f64, f64)>>,
    constants: Vec<f64>,
}

/// What is compared: mean, sd, quantiles, and the factors that make standard errors of the latter
/// from 1/√ess.
#[derive(Debug, Clone, Copy)]
struct Summary {
    mean: f64,
    sd: f64,
    sd_factor: f64,
    quantiles: [f64; 3],
    quantile_factors: [f64; 3],
}

const LEVELS: [f64; 3] = [0.05, 0.5, 0.95];

impl Exact {
    fn new(data: &Data, jacobian: bool) -> Self {
        let (centre, spread) = mean_and_sd(&data.y);
        let sizes: Vec<(f64, f64)> = data.columns.iter().map(|x| mean_and_sd(x)).collect();
        // normal(mean of y, 2.5 sd(y)) at the means, and normal(0, 2.5 sd(y)/sd(x)).
        let mut scales = vec![2.5 * spread];
        scales.extend(sizes.iter().map(|(_, sd)| 2.5 * spread / sd));
        let d = scales.len();
        let row = |i: usize| {
            let centred = data.columns.iter().zip(&sizes).map(|(x, (mean, _))| x[i] - mean);
            std::iter::once(1.0).chain(centred).zip(&scales).map(|(x, s)| x * s).collect()
        };
        let design: Vec<Vec<f64>> = (0..data.y.len()).map(row).collect();
        let y: Vec<f64> = data.y.iter().map(|y| y - centre).collect();
        let sum = |f: &dyn Fn(usize) -> f64| (0..y.len()).map(f).sum::<f64>();
        let gram = (0..d)
            .map(|k| (0..d).map(|l| sum(&|i| design[i][k] * design[i][l])).collect())
            .collect();
        let products = (0..d).map(|k| sum(&|i| design[i][k] * y[i])).collect();
        let mut intercept = vec![scales[0]];
        intercept.extend(sizes.iter().zip(&scales[1..]).map(|((mean, _), s)| -mean * s));
        let mut reported = vec![(centre, intercept)];
        for k in 1..d {
            reported.push((0.0, (0..d).map(|l| if k == l { scales[k] } else { 0.0 }).collect()));
        }
        Self { design, gram, y, products, rate: 1.0 / spread, reported, jacobian }
    }

    /// At a log σ: the factor of the precision of θ, and its mean.
    fn given(&self, log_sigma: f64) -> (Vec<Vec<f64>>, Vec<f64>) {
        let inverse = (-2.0 * log_sigma).exp();
        let mut precision = self.gram.clone();
        for (k, row) in precision.iter_mut().enumerate() {
            row.iter_mut().for_each(|x| *x *= inverse);
            row[k] += 1.0;
        }
        let l = cholesky(&precision);
        let b: Vec<f64> = self.products.iter().map(|p| p * inverse).collect();
        let mean = backward(&l, &forward(&l, &b));
        (l, mean)
    }

    /// The log density of log σ, up to a constant. The quadratic form is that of the residuals at
    /// the mean of θ: as yᵀy less another one it would cancel where there is little noise.
    fn log_density(&self, log_sigma: f64, l: &[Vec<f64>], theta: &[f64]) -> f64 {
        let each = self.design.iter().zip(&self.y);
        let squares: f64 = each.map(|(row, y)| (y - dot(row, theta)).powi(2)).sum();
        let log_determinant: f64 = l.iter().enumerate().map(|(k, row)| row[k].ln()).sum();
        let misfit = squares * (-2.0 * log_sigma).exp() + dot(theta, theta);
        let jacobian = if self.jacobian { log_sigma } else { 0.0 };
        let prior = jacobian - self.rate * log_sigma.exp();
        prior - self.y.len() as f64 * log_sigma - log_determinant - 0.5 * misfit
    }

    fn law(&self) -> Law {
        let at = |x: f64| {
            let (l, theta) = self.given(x);
            self.log_density(x, &l, &theta)
        };
        // The peak, around the sd of y, by ever finer scans; then the ends.
        let (mut peak, mut reach) = (-self.rate.ln(), 20.0);
        for _ in 0..12 {
            let points = (-20..=20).map(|i| peak + reach * f64::from(i) / 20.0);
            peak = points.max_by(|a, b| at(*a).total_cmp(&at(*b))).unwrap();
            reach *= 0.2;
        }
        let most = at(peak);
        let end = |sign: f64| {
            let (mut near, mut far) = (0.0, 60.0);
            while far - near > 1e-3 {
                let middle = 0.5 * (near + far);
                if at(peak + sign * middle) > most - DEPTH { near = middle } else { far = middle }
            }
            peak + sign * far
        };
        let (low, high) = (end(-1.0), end(1.0));
        let step = (high - low) / (POINTS - 1) as f64;
        let log_sigma: Vec<f64> = (0..POINTS).map(|i| low + step * i as f64).collect();
        let mut weights = Vec::new();
        let mut coefficients = vec![Vec::new(); self.reported.len()];
        for &x in &log_sigma {
            let (l, theta) = self.given(x);
            weights.push((self.log_density(x, &l, &theta) - most).exp());
            for ((_, factors), list) in self.reported.iter().zip(&mut coefficients) {
                let v = forward(&l, factors);
                list.push((dot(factors, &theta), dot(&v, &v)));
            }
        }
        let total: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|w| *w /= total);
        let constants = self.reported.iter().map(|(constant, _)| *constant).collect();
        Law { step, log_sigma, weights, coefficients, constants }
    }
}

impl Law {
    /// Mean, variance and fourth central moment of a mixture of normal laws.
    fn moments(&self, parts: &[(f64, f64)]) -> [f64; 3] {
        moments(&self.weights, parts)
    }

    fn coefficient(&self, k: usize) -> Summary {
        let parts = &self.coefficients[k];
        let [mean, variance, fourth] = self.moments(parts);
        let sd = variance.sqrt();
        let sum = |f: &dyn Fn(f64, f64) -> f64| {
            self.weights.iter().zip(parts).map(|(w, (m, v))| w * f(*m, v.sqrt())).sum::<f64>()
        };
        let quantiles = LEVELS.map(|level| {
            let below = |x: f64| {
                sum(&|m, s| 0.5 * libm::erfc((m - x) / s * std::f64::consts::FRAC_1_SQRT_2))
            };
            let (mut low, mut high) = (mean - 10.0 * sd, mean + 10.0 * sd);
            for _ in 0..45 {
                let middle = 0.5 * (low + high);
                if below(middle) < level { low = middle } else { high = middle }
            }
            0.5 * (low + high)
        });
        let root = (2.0 * std::f64::consts::PI).sqrt();
        let density = |x: f64| sum(&|m, s| (-0.5 * ((x - m) / s).powi(2)).exp() / s / root);
        let mut summary = Summary::new([mean, variance, fourth], quantiles, quantiles.map(density));
        summary.mean += self.constants[k];
        summary.quantiles.iter_mut().for_each(|x| *x += self.constants[k]);
        summary
    }

    fn sigma(&self) -> Summary {
        let parts: Vec<(f64, f64)> = self.log_sigma.iter().map(|x| (x.exp(), 0.0)).collect();
        let moments = self.moments(&parts);
        let quantiles = LEVELS.map(|level| self.log_sigma_below(level));
        let sigmas = quantiles.map(|(x, _)| x.exp());
        let densities = quantiles.map(|(x, density)| density / x.exp());
        Summary::new(moments, sigmas, densities)
    }

    /// The log σ with this share of the law below it, by Simpson's rule and, between three points,
    /// the parabola through them; and the density of log σ there.
    fn log_sigma_below(&self, level: f64) -> (f64, f64) {
        let mut rest = level;
        for (i, f) in self.weights.windows(3).enumerate().step_by(2) {
            let whole = (f[0] + 4.0 * f[1] + f[2]) / 3.0;
            if whole < rest {
                rest -= whole;
                continue;
            }
            // f[1] + b t + c t² for t from −1 to 1.
            let (b, c) = (0.5 * (f[2] - f[0]), 0.5 * (f[2] + f[0]) - f[1]);
            let integral = |t: f64| t * (f[1] + t * (0.5 * b + t * c / 3.0));
            let (mut low, mut high) = (-1.0, 1.0);
            for _ in 0..50 {
                let t = 0.5 * (low + high);
                if integral(t) - integral(-1.0) < rest { low = t } else { high = t }
            }
            let density = (f[1] + low * (b + low * c)) / self.step;
            return (self.log_sigma[i + 1] + low * self.step, density);
        }
        unreachable!("shares add up to 1")
    }

    /// The largest relative change of means and variances if every second point is left out.
    fn roughness(&self) -> f64 {
        fn half<T: Copy>(list: &[T]) -> Vec<T> {
            list.iter().step_by(2).copied().collect()
        }
        let sigma: Vec<(f64, f64)> = self.log_sigma.iter().map(|x| (x.exp(), 0.0)).collect();
        let coarse = half(&self.weights);
        let mut worst: f64 = 0.0;
        for parts in self.coefficients.iter().chain([&sigma]) {
            let [mean, variance, _] = self.moments(parts);
            let [other, other_variance, _] = moments(&coarse, &half(parts));
            worst = worst.max((mean - other).abs() / variance.sqrt());
            worst = worst.max((other_variance / variance - 1.0).abs());
        }
        worst
    }
}

fn moments(weights: &[f64], parts: &[(f64, f64)]) -> [f64; 3] {
    let total: f64 = weights.iter().sum();
    let sum = |f: &dyn Fn(f64, f64) -> f64| {
        weights.iter().zip(parts).map(|(w, (m, v))| w * f(*m, *v)).sum::<f64>() / total
    };
    let mean = sum(&|m, _| m);
    let variance = sum(&|m, v| v + (m - mean).powi(2));
    let fourth = sum(&|m, v| {
        let off = (m - mean).powi(2);
        off * off + 6.0 * off * v + 3.0 * v * v
    });
    [mean, variance, fourth]
}

impl Summary {
    fn new([mean, variance, fourth]: [f64; 3], quantiles: [f64; 3], densities: [f64; 3]) -> Self {
        let sd = variance.sqrt();
        let excess = fourth / variance / variance - 1.0;
        let factor = |k: usize| (LEVELS[k] * (1.0 - LEVELS[k])).sqrt() / densities[k];
        let quantile_factors = [factor(0), factor(1), factor(2)];
        Self { mean, sd, sd_factor: 0.5 * sd * excess.sqrt(), quantiles, quantile_factors }
    }

    /// The estimate that is farthest off, in standard errors, and which it is.
    fn farthest(&self, found: &Parameter, chains: &[&[f64]]) -> (f64, String) {
        let Parameter { name, mean, sd, q05, q50, q95, mcse_mean, .. } = found;
        let error =
            |k: usize| self.quantile_factors[k] / ess_quantile(chains, LEVELS[k]).unwrap().sqrt();
        let of_sd = self.sd_factor / ess_moments(chains).unwrap().sqrt();
        let pairs = [
            ("mean", *mean, self.mean, *mcse_mean),
            ("sd", *sd, self.sd, of_sd),
            ("q05", *q05, self.quantiles[0], error(0)),
            ("q50", *q50, self.quantiles[1], error(1)),
            ("q95", *q95, self.quantiles[2], error(2)),
        ];
        farther(pairs.map(|(what, found, exact, error)| {
            ((found - exact).abs() / error, format!("{what} of {name}: {found} for {exact}"))
        }))
    }
}

/// The largest of some numbers; one that is not a number counts as infinite.
fn farther(each: impl IntoIterator<Item = (f64, String)>) -> (f64, String) {
    let all =
        each.into_iter().map(|(off, at)| (if off.is_nan() { f64::INFINITY } else { off }, at));
    all.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap()
}

/// The estimate of a fit that is farthest off.
fn farthest(fitted: &Fitted, law: &Law) -> (f64, String) {
    let count = law.coefficients.len();
    assert_eq!((fitted.summary().len(), &fitted.summary()[count].name[..]), (count + 1, "sigma"));
    farther(fitted.summary().iter().enumerate().map(|(k, found)| {
        let exact = if k < count { law.coefficient(k) } else { law.sigma() };
        let traces = fitted.draws().traces_of(&found.name).unwrap();
        let chains: Vec<&[f64]> = traces.iter().map(|trace| &trace[..]).collect();
        exact.farthest(found, &chains)
    }))
}

#[test]
fn posteriors_with_unknown_noise_are_the_exact_ones() {
    for (seed, recipe) in (1..).zip(&RECIPES) {
        let data = recipe.data(seed);
        let law = Exact::new(&data, true).law();
        let roughness = law.roughness();
        println!("quadrature {roughness:.1e}");
        assert!(roughness < 1e-10, "{} rows: quadrature {roughness:e}", recipe.rows);
        let (off, place) = farthest(&data.fit(), &law);
        println!("{} rows, {} predictors: {off:.2} ({place})", recipe.rows, data.columns.len());
        assert!(off < ERRORS, "{} rows: {off:.1} errors, {place}", recipe.rows);
    }
}

/// With the density of σ where that of log σ belongs, data of few rows have another law.
#[test]
fn a_forgotten_change_of_variables_is_found() {
    let data = RECIPES[1].data(2);
    let (off, place) = farthest(&data.fit(), &Exact::new(&data, false).law());
    println!("planted: {off:.0} ({place})");
    assert!(off > 10.0 * ERRORS, "{off:.1} errors, {place}");
}

/// Without predictors the algebra can be done by hand.
#[test]
fn the_exact_law_is_right_where_it_is_known() {
    let data = Data { columns: vec![], y: vec![1.0, 2.0, 4.0, 9.0] };
    let exact = Exact::new(&data, true);
    // Sum of squares 38, variance 38/3, prior sd s = 2.5 of its root; at σ = 2 the precision of
    // θ = (a − 4)/s is 1 + 4 s²/σ², its mean 0.
    let scale_squared = 6.25 * 38.0 / 3.0;
    let (l, theta) = exact.given(2_f64.ln());
    assert!((l[0][0].powi(2) / (1.0 + scale_squared) - 1.0).abs() < 1e-14);
    assert!(theta[0].abs() < 1e-14);
    // The density of y after integrating the intercept out: normal with covariance σ² I + s² J.
    let by_hand = |sigma: f64| {
        let log_determinant = 6.0 * sigma.ln() + (sigma * sigma + 4.0 * scale_squared).ln();
        let prior = sigma.ln() - sigma / (38.0_f64 / 3.0).sqrt();
        prior - 0.5 * (log_determinant + 38.0 / sigma / sigma)
    };
    let ours = |sigma: f64| {
        let (l, theta) = exact.given(sigma.ln());
        exact.log_density(sigma.ln(), &l, &theta)
    };
    for sigma in [0.1, 0.5, 3.0, 80.0] {
        let off = (ours(sigma) - ours(2.0)) - (by_hand(sigma) - by_hand(2.0));
        assert!(off.abs() < 1e-10, "{sigma}: {off:e}");
    }
}
