//! Mixed models of every family against their exact law by quadrature.
//!
//! With one grouping and no predictors the effects of the groups are independent given the location
//! μ, the standard deviation τ and the parameter ψ of the likelihood: what is left is an integral
//! over (μ, log τ, log ψ), with an integral over one effect for each group within. All integrands are
//! smooth and die out at the ends, so sums over equally spaced points are as good as exact. Densities
//! are written out here, without code of ours. Levels that share no row with others make multinomial
//! responses and correlated slopes too large for this: those are compared with a second run.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "places in tables: small and not negative"
)]

use ridgewalk_diagnostics::{mcse_mean, mcse_sd};
use ridgewalk_fit::{Fitted, Settings, fit};
use ridgewalk_frame::{Column, FamilyName, Table};
use ridgewalk_sampler::Stream;

/// Standard errors that an estimate may be off by: of about 300 numbers in this file, one is farther
/// off in 2,000 runs with other seeds.
pub(crate) const ERRORS: f64 = 5.0;
const GROUPS: usize = 5;
const EACH: usize = 6;
/// Degrees of freedom, and where Huber's loss becomes linear.
const DEGREES: f64 = 4.0;
const DELTA: f64 = 1.345;

/// The exact mean and standard deviation of a parameter or of its logarithm.
#[derive(Debug, Clone)]
pub(crate) struct Need {
    pub(crate) name: String,
    pub(crate) log: bool,
    pub(crate) mean: f64,
    pub(crate) sd: f64,
}

/// The most that a mean or a standard deviation is off, in standard errors, and where.
pub(crate) fn farthest(fitted: &Fitted, needs: &[Need]) -> (f64, String) {
    let mut worst = (0.0, String::new());
    for Need { name, log, mean, sd } in needs {
        let traces = fitted.draws().traces_of(name);
        let mut traces = traces.unwrap_or_else(|| panic!("no {name} in {:?}", fitted.names()));
        if *log {
            traces.iter_mut().flatten().for_each(|x| *x = x.ln());
        }
        let chains: Vec<&[f64]> = traces.iter().map(|trace| &trace[..]).collect();
        let all = traces.concat();
        let n = all.len() as f64;
        let found = all.iter().sum::<f64>() / n;
        let spread = (all.iter().map(|x| (x - found).powi(2)).sum::<f64>() / n).sqrt();
        let errors = [mcse_mean(&chains).unwrap(), mcse_sd(&chains).unwrap()];
        for (what, found, need, error) in
            [("mean", found, mean, errors[0]), ("sd", spread, sd, errors[1])]
        {
            let off = (found - need).abs() / error;
            if !(off <= worst.0) {
                let log = if *log { "log " } else { "" };
                worst = (off, format!("{what} of {log}{name}: {found} for {need}"));
            }
        }
    }
    worst
}

/// A response: a number, and whether it is one rather than the start of what is not known.
#[derive(Debug, Clone, Copy)]
struct Observed {
    y: f64,
    event: bool,
}

fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

/// log Φ.
fn log_phi(x: f64) -> f64 {
    (0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2)).max(1e-300).ln()
}

/// The log density of a response, up to a constant, with predictor s and parameter ψ.
fn log_density(family: FamilyName, Observed { y, event }: Observed, s: f64, psi: f64) -> f64 {
    let z = (y - s) / psi;
    // Times: the standardised logarithm.
    let t = psi * (y.max(1e-300).ln() - s);
    match family {
        FamilyName::Logistic => y * s - softplus(s),
        FamilyName::Probit => log_phi(if y > 0.5 { s } else { -s }),
        FamilyName::Poisson => y * s - s.exp(),
        FamilyName::NegativeBinomial => {
            libm::lgamma(y + psi) - libm::lgamma(psi)
                + psi * (psi.ln() - (psi + s.exp()).ln())
                + y * (s - (psi + s.exp()).ln())
        }
        FamilyName::Gaussian => -psi.ln() - 0.5 * z * z,
        FamilyName::StudentT => -psi.ln() - 0.5 * (DEGREES + 1.0) * (z * z / DEGREES).ln_1p(),
        FamilyName::RobustLogistic => -psi.ln() - z - 2.0 * softplus(-z),
        FamilyName::RobustHuber => {
            let loss = if z.abs() < DELTA { 0.5 * z * z } else { DELTA * (z.abs() - 0.5 * DELTA) };
            -psi.ln() - loss
        }
        FamilyName::Gamma => {
            psi * psi.ln() - libm::lgamma(psi) - psi * s + psi * y.ln() - psi * y * (-s).exp()
        }
        FamilyName::Weibull if event => psi.ln() + t - t.exp(),
        FamilyName::Weibull => -t.exp(),
        FamilyName::LogLogistic if event => psi.ln() + t - 2.0 * softplus(t),
        FamilyName::LogLogistic => -softplus(t),
        FamilyName::LogNormal if event => psi.ln() - 0.5 * t * t,
        FamilyName::LogNormal => log_phi(-t),
        FamilyName::Exponential if event => t - t.exp(),
        FamilyName::Exponential => -t.exp(),
        // Thresholds 0 and ψ.
        FamilyName::Ordinal => match y {
            0.0 => -softplus(s),
            1.0 => (1.0 / (1.0 + (s - psi).exp()) - 1.0 / (1.0 + s.exp())).ln(),
            _ => -softplus(psi - s),
        },
        FamilyName::Multinomial => unreachable!(),
    }
}

/// Whether a family has a parameter here.
fn has_parameter(family: FamilyName) -> bool {
    use FamilyName::{Exponential, Logistic, Poisson, Probit};
    !matches!(family, Logistic | Probit | Poisson | Exponential)
}

fn survival(family: FamilyName) -> bool {
    use FamilyName::{Exponential, LogLogistic, LogNormal, Weibull};
    matches!(family, Weibull | LogLogistic | LogNormal | Exponential)
}

/// Responses of all groups, and a predictor that only some models have.
struct Data {
    groups: Vec<Vec<Observed>>,
    x: Vec<f64>,
}

fn data(family: FamilyName) -> Data {
    let mut stream = Stream::new(11, family as u64);
    let mut normal = || {
        let mut z = [0.0];
        stream.normals(&mut z);
        z[0]
    };
    let mut x = Vec::new();
    let mut group = |j: usize| -> Vec<Observed> {
        let effect = 0.8 * normal() + if j == 0 { 0.5 } else { 0.0 };
        let mut row = || {
            x.push(normal());
            let (s, z, w) = (0.3 + effect, normal(), normal());
            let level = s + 1.5 * z;
            let (y, event) = match family {
                FamilyName::Logistic | FamilyName::Probit => {
                    (f64::from(u8::from(level > 0.0)), true)
                }
                FamilyName::Poisson | FamilyName::NegativeBinomial => {
                    ((s + 0.7 * z).exp().floor(), true)
                }
                FamilyName::Ordinal | FamilyName::Multinomial => {
                    (f64::from(u8::from(level > -0.5) + u8::from(level > 1.0)), true)
                }
                FamilyName::Gamma => ((s + 0.6 * z).exp(), true),
                _ if survival(family) => ((s + 0.6 * z).exp(), w > -0.5),
                _ => (s + 0.9 * z, true),
            };
            Observed { y, event }
        };
        (0..EACH).map(|_| row()).collect()
    };
    let groups = (0..GROUPS).map(&mut group).collect();
    Data { groups, x }
}

const NAMES: [&str; 3] = ["low", "mid", "top"];

impl Data {
    fn table(&self, family: FamilyName) -> Table {
        let rows = || self.groups.iter().flatten();
        let labels = self
            .groups
            .iter()
            .enumerate()
            .flat_map(|(j, group)| vec![format!("g{j}"); group.len()]);
        let y = if matches!(family, FamilyName::Ordinal | FamilyName::Multinomial) {
            let texts: Vec<&str> = rows().map(|row| NAMES[row.y as usize]).collect();
            Column::from_texts("y", &texts)
        } else {
            Column::from_numbers("y", &rows().map(|row| row.y).collect::<Vec<f64>>())
        };
        let events: Vec<f64> = rows().map(|row| f64::from(u8::from(row.event))).collect();
        let columns = vec![
            y,
            Column::from_numbers("event", &events),
            Column::from_numbers("x", &self.x),
            Column::from_texts("g", &labels.collect::<Vec<String>>()),
        ];
        Table::from_columns("made", columns).unwrap()
    }
}

fn settings(family: FamilyName, formula: &str) -> Settings {
    let levelled = matches!(family, FamilyName::Ordinal | FamilyName::Multinomial);
    let thresholds = family == FamilyName::Ordinal;
    let aux = if thresholds { "normal(0, 2)" } else { "exponential(1)" };
    Settings {
        prior: Some("normal(0, 1)".to_owned()),
        intercept_prior: (!thresholds).then(|| "normal(0, 2)".to_owned()),
        aux_prior: (thresholds || has_parameter(family) && !levelled).then(|| aux.to_owned()),
        group_prior: Some("half_normal(1)".to_owned()),
        event: survival(family).then(|| "event".to_owned()),
        levels: levelled.then(|| NAMES.map(str::to_owned).to_vec()),
        degrees_of_freedom: (family == FamilyName::StudentT).then_some(DEGREES),
        draws: 2500,
        seed: 5,
        ..Settings::of_formula(formula, family)
    }
}

/// Equally spaced points of log τ and log ψ, of μ, of a standard normal effect, and of the table of
/// the likelihood.
const LOG_TAU: [f64; 2] = [-9.0, 1.7];
const LOG_PSI: [f64; 2] = [-2.5, 3.0];
const MU: [f64; 2] = [-5.5, 5.5];
const POINTS: [usize; 3] = [67, 55, 41];
const EFFECT: f64 = 7.5;
const EFFECTS: usize = 91;
const PREDICTOR: f64 = 26.0;
const STEP: f64 = 0.04;

fn at(range: [f64; 2], count: usize, k: usize) -> f64 {
    range[0] + (range[1] - range[0]) * k as f64 / (count - 1) as f64
}

/// The exact law: means and standard deviations, and how much of it is at small standard deviations of
/// groups.
struct Exact {
    needs: Vec<Need>,
    small: f64,
}

/// By sums over points.
fn exact(family: FamilyName, groups: &[Vec<Observed>]) -> Exact {
    let psis = if has_parameter(family) { POINTS[2] } else { 1 };
    let thresholds = family == FamilyName::Ordinal;
    // The sums of weights, and of weights times powers of each quantity: μ, τ, log τ, two of ψ,
    // whether τ is small, effects.
    let count = 6 + groups.len();
    let (mut total, mut first, mut second) = (0.0, vec![0.0; count], vec![0.0; count]);
    let steps = (2.0 * PREDICTOR / STEP) as usize;
    let effect = |k: usize| -EFFECT + 2.0 * EFFECT * k as f64 / (EFFECTS - 1) as f64;
    let shape: Vec<f64> = (0..EFFECTS).map(|k| (-0.5 * effect(k).powi(2)).exp()).collect();
    let scale: f64 = shape.iter().sum();
    let mut weights = Vec::new();
    for k in 0..psis {
        let log_psi = if psis > 1 { at(LOG_PSI, psis, k) } else { 0.0 };
        let psi = log_psi.exp();
        let table = |group: &Vec<Observed>| -> Vec<f64> {
            let of = |s: f64| {
                let sum = group.iter().map(|y| log_density(family, *y, s, psi)).sum::<f64>();
                // Beyond, the cubics would have infinite values.
                sum.max(-1e4)
            };
            (0..=steps).map(|k| of(-PREDICTOR + STEP * k as f64)).collect()
        };
        let tables: Vec<Vec<f64>> = groups.iter().map(table).collect();
        for l in 0..POINTS[1] {
            let log_tau = at(LOG_TAU, POINTS[1], l);
            let tau = log_tau.exp();
            for m in 0..POINTS[0] {
                let mu = at(MU, POINTS[0], m);
                // Priors: half_normal(1), and normal(0, 2) or, for thresholds −μ and ψ − μ, both.
                let mut log = log_tau - 0.5 * tau * tau - mu * mu / 8.0;
                if thresholds {
                    log += log_psi - (psi - mu).powi(2) / 8.0;
                } else if psis > 1 {
                    log += log_psi - psi;
                }
                let mut effects = [0.0; 2 * GROUPS];
                for (j, table) in tables.iter().enumerate() {
                    let mut sums = [0.0; 3];
                    let mut top = f64::NEG_INFINITY;
                    let values: Vec<f64> = (0..EFFECTS)
                        .map(|k| {
                            let value =
                                interpolated(table, (mu + tau * effect(k) + PREDICTOR) / STEP);
                            top = top.max(value);
                            value
                        })
                        .collect();
                    for (k, value) in values.iter().enumerate() {
                        let (u, w) = (tau * effect(k), shape[k] * (value - top).exp());
                        (sums[0], sums[1], sums[2]) =
                            (sums[0] + w, sums[1] + w * u, sums[2] + w * u * u);
                    }
                    log += top + (sums[0] / scale).ln();
                    effects[2 * j] = sums[1] / sums[0];
                    effects[2 * j + 1] = sums[2] / sums[0];
                }
                weights.push((log, mu, tau, log_tau, psi, effects));
            }
        }
    }
    let top = weights.iter().map(|w| w.0).fold(f64::NEG_INFINITY, f64::max);
    for (log, mu, tau, log_tau, psi, effects) in weights {
        let w = (log - top).exp();
        total += w;
        let last = if thresholds { psi - mu } else { psi };
        let location = if thresholds { -mu } else { mu };
        for (k, x) in [location, tau, log_tau, last, psi, small(tau)].into_iter().enumerate() {
            first[k] += w * x;
            second[k] += w * x * x;
        }
        for j in 0..groups.len() {
            first[6 + j] += w * effects[2 * j];
            second[6 + j] += w * effects[2 * j + 1];
        }
    }
    let need = |name: &str, log: bool, k: usize| {
        let mean = first[k] / total;
        Need { name: name.to_owned(), log, mean, sd: (second[k] / total - mean * mean).sqrt() }
    };
    let tau = "sd_g__(Intercept)";
    let mut needs = vec![need(tau, false, 1)];
    if thresholds {
        needs.extend([need("low|mid", false, 0), need("mid|top", false, 3)]);
    } else {
        needs.push(need("(Intercept)", false, 0));
        let name = match family {
            FamilyName::NegativeBinomial => "size",
            FamilyName::Gamma => "shape",
            _ if survival(family) => "shape",
            _ => "sigma",
        };
        needs.extend((psis > 1).then(|| need(name, false, 4)));
    }
    needs.extend((0..groups.len()).map(|j| need(&format!("r_g[g{j},(Intercept)]"), false, 6 + j)));
    Exact { needs, small: first[5] / total }
}

/// Smoothly from 1 for a standard deviation far below 0.1 to 0 for one far above.
fn small(tau: f64) -> f64 {
    (-(10.0 * tau).powi(2)).exp()
}

/// The cubic through the four values around a place; beyond the ends, which hardly count, the last
/// one.
fn interpolated(table: &[f64], place: f64) -> f64 {
    let place = place.clamp(1.0, (table.len() - 3) as f64);
    let at = (place.floor() as usize).clamp(1, table.len() - 3);
    let t = place - at as f64;
    let [a, b, c, d] = [table[at - 1], table[at], table[at + 1], table[at + 2]];
    b + 0.5 * t * (c - a + t * (2.0 * a - 5.0 * b + 4.0 * c - d + t * (3.0 * (b - c) + d - a)))
}

fn warnings(fitted: &Fitted) -> Vec<&str> {
    fitted.warnings().iter().map(|warning| warning.name.as_str()).collect()
}

#[test]
fn intercepts_of_groups_have_their_exact_law_in_every_family() {
    for family in FamilyName::ALL.into_iter().filter(|family| *family != FamilyName::Multinomial) {
        let data = data(family);
        let formula = "y ~ 1 + (1 | g)";
        let fitted = fit(&data.table(family), &settings(family, formula)).unwrap();
        let (off, place) = farthest(&fitted, &exact(family, &data.groups).needs);
        println!("{family}: {off:.2} ({place}) {:?}", warnings(&fitted));
        assert!(off < ERRORS, "{family}: {off:.1} errors, {place}");
    }
}

/// Chains visit small standard deviations seldom, and stay for a hundred draws: a single run does not
/// know how often. 48 chains are compared, by the differences between them; a chain is 10,000 draws.
/// The limit is that of a normal number in 15,000 runs, 3.9 for Student's law with 47 degrees of
/// freedom in half as many.
#[test]
fn small_standard_deviations_are_as_frequent_as_they_should_be() {
    for family in [FamilyName::LogNormal, FamilyName::Weibull] {
        let data = data(family);
        let need = exact(family, &data.groups).small;
        let mut means = Vec::new();
        for seed in 1..7 {
            let settings = Settings { seed, draws: 10_000, ..settings(family, "y ~ 1 + (1 | g)") };
            let fitted = fit(&data.table(family), &settings).unwrap();
            let traces = fitted.draws().traces_of("sd_g__(Intercept)").unwrap();
            let mean = |trace: &Vec<f64>| {
                trace.iter().map(|x| small(*x)).sum::<f64>() / trace.len() as f64
            };
            means.extend(traces.iter().map(mean));
        }
        let n = means.len() as f64;
        let mean = means.iter().sum::<f64>() / n;
        let variance = means.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let off = (mean - need) / (variance / n).sqrt();
        println!("{family}: {mean:.5} for {need:.5}, {off:.2} errors");
        assert!(off.abs() < 4.0, "{family}: {off}");
    }
}

/// With another prior of the standard deviation, the same comparison fails.
#[test]
fn another_prior_of_the_standard_deviation_is_told_apart() {
    for family in [FamilyName::Logistic, FamilyName::Gamma, FamilyName::Ordinal] {
        let data = data(family);
        let wrong = Settings {
            group_prior: Some("half_normal(1.3)".to_owned()),
            ..settings(family, "y ~ 1 + (1 | g)")
        };
        let (off, place) = farthest(
            &fit(&data.table(family), &wrong).unwrap(),
            &exact(family, &data.groups).needs,
        );
        println!("{family} planted: {off:.1} ({place})");
        assert!(off > 2.0 * ERRORS, "{family}: {off}");
    }
}

/// Two runs of the same model that have nothing in common but the density: another seed, and half
/// the step.
#[test]
fn slopes_of_groups_do_not_depend_on_the_step() {
    for family in FamilyName::ALL {
        let table = data(family).table(family);
        let intercepts = (family == FamilyName::Multinomial).then_some("y ~ 1 + (1 | g)");
        for formula in intercepts.into_iter().chain(["y ~ x + (1 + x | g)"]) {
            let settings = Settings { draws: 1500, ..settings(family, formula) };
            let one = fit(&table, &settings).unwrap();
            let eta = Some(0.5 * one.document().sampler.eta);
            let two = fit(&table, &Settings { eta, seed: 6, ..settings }).unwrap();
            let (off, place) = apart(&one, &two);
            println!(
                "{family} {formula}: {off:.2} ({place}) {:?} {:?}",
                warnings(&one),
                warnings(&two)
            );
            assert!(off < ERRORS, "{family}: {off:.1} errors, {place}");
        }
    }
}

/// The most that means and standard deviations of two fits differ, in standard errors.
pub(crate) fn apart(one: &Fitted, two: &Fitted) -> (f64, String) {
    let mut worst = (0.0, String::new());
    assert_eq!(one.names(), two.names());
    for name in one.names() {
        let of = |fitted: &Fitted| {
            let traces = fitted.draws().traces_of(name).unwrap();
            let chains: Vec<&[f64]> = traces.iter().map(|trace| &trace[..]).collect();
            let parameter = fitted.parameter(name).unwrap();
            [
                [parameter.mean, mcse_mean(&chains).unwrap()],
                [parameter.sd, mcse_sd(&chains).unwrap()],
            ]
        };
        for ((a, b), what) in of(one).iter().zip(of(two)).zip(["mean", "sd"]) {
            let off = (a[0] - b[0]).abs() / a[1].hypot(b[1]);
            if !(off <= worst.0) {
                worst = (off, format!("{what} of {name}: {} and {}", a[0], b[0]));
            }
        }
    }
    worst
}

/// All responses of a group are the same: only the prior keeps its effect finite. And groups of one
/// row.
#[test]
fn separated_groups_have_their_exact_law() {
    let of = |y: f64| Observed { y, event: true };
    let separated: Vec<Vec<Observed>> =
        [1.0, 0.0, 1.0, 1.0, 0.0].iter().map(|y| vec![of(*y); 8]).collect();
    let single: Vec<Vec<Observed>> =
        [1.0, 0.0, 1.0, 1.0, 0.0].iter().map(|y| vec![of(*y)]).collect();
    for (name, groups) in [("separated", separated), ("one row for each group", single)] {
        let x = vec![0.0; groups.iter().map(Vec::len).sum()];
        for family in [FamilyName::Logistic, FamilyName::Probit, FamilyName::Poisson] {
            let data = Data { groups: groups.clone(), x: x.clone() };
            let fitted = fit(&data.table(family), &settings(family, "y ~ 1 + (1 | g)")).unwrap();
            let (off, place) = farthest(&fitted, &exact(family, &data.groups).needs);
            println!("{name}, {family}: {off:.2} ({place}) {:?}", warnings(&fitted));
            assert!(off < ERRORS, "{name}, {family}: {off:.1} errors, {place}");
        }
    }
}
