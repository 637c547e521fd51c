//! Likelihoods at the maximum likelihood estimates of R's own fits: glm.nb, survreg, polr, glm,
//! multinom and lm, see `scripts/oracles/modes.R`.

use std::path::PathBuf;
use std::sync::Arc;

use ridgewalk_fit::Settings;
use ridgewalk_frame::{FamilyName, Frame, Table};
use ridgewalk_potentials::families::{Objection, Observation};
use ridgewalk_potentials::likelihoods::{
    Block, Gamma, Likelihood, Multinomial, NegativeBinomial, Normal, Ordinal, Survival,
    SurvivalKind,
};
use ridgewalk_potentials::{Dense, Joint, LineIntegral, ParameterScale, Scratch};
use serde::Deserialize;

/// How large the slope of the log likelihood may be at R's estimates, per standard deviation given
/// all other parameters.
const SLOPE: f64 = 1e-4;
/// How far coefficients may be from R's, in standard deviations.
const DISTANCE: f64 = 5e-6;
/// The relative difference of log likelihoods. R's, as ours, have all constants: those of survreg
/// are of times, not of their logarithms, and for glm(Gamma) the script sums dgamma, since logLik()
/// uses another estimate of the shape.
const LIKELIHOOD: f64 = 1e-8;

#[derive(Debug, Deserialize)]
struct Estimates {
    cases: Vec<Case>,
}

#[derive(Debug, Deserialize)]
struct Case {
    file: String,
    family: String,
    response: Option<String>,
    predictors: Vec<String>,
    event: Option<String>,
    lower: Option<String>,
    upper: Option<String>,
    log_likelihood: f64,
    parameters: Vec<Estimate>,
}

#[derive(Debug, Deserialize)]
struct Estimate {
    name: String,
    estimate: f64,
}

fn cases() -> Vec<Case> {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/modes.json");
    let Estimates { cases } =
        serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    cases
}

/// A case with its data, and R's estimates as a point of ours.
struct Problem {
    frame: Frame,
    likelihood: Arc<dyn Likelihood>,
    beta: Vec<f64>,
    psi: Vec<f64>,
}

/// What is compared.
#[derive(Debug)]
struct Off {
    /// The largest slope at R's estimates, in units of the root of the curvature.
    slope: f64,
    /// The largest distance of a coefficient from R's, in standard deviations, the other
    /// parameters held at R's.
    distance: f64,
    /// The relative difference of the log likelihoods.
    likelihood: f64,
}

impl Case {
    fn frame(&self) -> Frame {
        let data = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/families");
        let table = Table::read(data.join(&self.file)).unwrap();
        let response = self.response.as_ref().or(self.lower.as_ref()).unwrap();
        let settings = Settings {
            predictors: Some(self.predictors.clone()),
            event: self.event.clone(),
            upper: self.upper.clone(),
            ..Settings::new(response, self.family.parse().unwrap())
        };
        Frame::new(&table, &settings.question(&table).unwrap()).unwrap()
    }

    fn likelihood(&self, frame: &Frame) -> Arc<dyn Likelihood> {
        let levels = frame.levels.len();
        match self.family.parse().unwrap() {
            FamilyName::Gaussian => Arc::new(Normal),
            FamilyName::NegativeBinomial => Arc::new(NegativeBinomial),
            FamilyName::Gamma => Arc::new(Gamma),
            FamilyName::Weibull => Arc::new(Survival::new(SurvivalKind::Weibull)),
            FamilyName::LogLogistic => Arc::new(Survival::new(SurvivalKind::LogLogistic)),
            FamilyName::LogNormal => Arc::new(Survival::new(SurvivalKind::LogNormal)),
            FamilyName::Exponential => {
                Arc::new(Survival::with_shape(SurvivalKind::Weibull, 1.0).unwrap())
            }
            FamilyName::Ordinal => Arc::new(Ordinal::new(levels).unwrap()),
            FamilyName::Multinomial => Arc::new(Multinomial::new(levels).unwrap()),
            other => panic!("no estimates for {other}"),
        }
    }

    fn problem(&self) -> Problem {
        let mut frame = self.frame();
        let likelihood = self.likelihood(&frame);
        let count = frame.columns * likelihood.predictors();
        self.check_names(&frame, count);
        let (beta, psi) = self.parameters.split_at(count);
        let [mut beta, mut psi] =
            [beta, psi].map(|list| list.iter().map(|e| e.estimate).collect::<Vec<f64>>());
        // Far from 0, columns cost digits: the design is centred, and the estimates with it.
        let sizes = frame.sizes(FamilyName::Logistic, |_, _| {});
        frame.centre(&sizes);
        let means = frame.scaling.clone().unwrap();
        for beta in beta.chunks_exact_mut(frame.columns) {
            let shift: f64 = beta.iter().zip(&means).map(|(b, (mean, _))| b * mean).sum();
            if frame.intercept {
                beta[0] += shift;
            } else {
                psi.iter_mut().for_each(|threshold| *threshold -= shift);
            }
        }
        likelihood.scale().to_unconstrained(&mut psi);
        Problem { frame, likelihood, beta, psi }
    }

    /// R's parameters have our names and our order.
    fn check_names(&self, frame: &Frame, count: usize) {
        for (estimate, name) in self.parameters[..count].iter().zip(frame.names.iter().cycle()) {
            let level = estimate.name.strip_suffix(&name[..]);
            let good = level.is_some_and(|level| level.is_empty() || level.ends_with(':'));
            assert!(good, "{} {}: {} for {name}", self.file, self.family, estimate.name);
        }
        let levels = frame.levels.iter().skip(1);
        for (level, estimate) in levels.zip(self.parameters[..count].chunks(frame.columns)) {
            let start = format!("{level}:");
            assert!(self.family == "ordinal" || estimate[0].name.starts_with(&start), "{start}");
        }
        let rest: Vec<&str> = self.parameters[count..].iter().map(|e| &e.name[..]).collect();
        let need: Vec<String> = match &self.family[..] {
            "gaussian" => vec!["sigma".to_owned()],
            "negative-binomial" => vec!["size".to_owned()],
            "exponential" | "multinomial" => vec![],
            "ordinal" => frame.levels.windows(2).map(|l| format!("{}|{}", l[0], l[1])).collect(),
            _ => vec!["shape".to_owned()],
        };
        assert_eq!(rest, need, "{} {}", self.file, self.family);
    }
}

/// A likelihood with its parameters held.
#[derive(Debug)]
struct Held {
    inner: Arc<dyn Likelihood>,
    psi: Vec<f64>,
}

impl Likelihood for Held {
    fn name(&self) -> &'static str {
        self.inner.name()
    }
    fn parameters(&self) -> usize {
        0
    }
    fn predictors(&self) -> usize {
        self.inner.predictors()
    }
    fn objection(&self, y: Observation) -> Option<Objection> {
        self.inner.objection(y)
    }
    fn unit(&self, _: &[f64]) -> f64 {
        self.inner.unit(&self.psi)
    }
    fn evaluate(&self, _: &[f64], block: Block<'_>, slopes: &mut [f64], _: &mut [f64]) -> f64 {
        self.inner.evaluate(&self.psi, block, slopes, &mut vec![0.0; self.psi.len()])
    }
}

impl Problem {
    /// The model with flat priors.
    fn joint(&self, likelihood: Arc<dyn Likelihood>) -> Joint<'_> {
        let Frame { rows, columns, design, response, upper, .. } = &self.frame;
        let second = |row: usize| upper.as_ref().map_or(1.0, |upper| upper[row]);
        let observations = response.iter().enumerate();
        let observations =
            observations.map(|(row, &y)| Observation { response: y, trials: second(row) });
        let design = Dense::new(*rows, *columns, design.dense()).unwrap();
        Joint::of_observations(design, likelihood, observations.collect()).unwrap()
    }

    fn off(&self, log_likelihood: f64) -> Off {
        let joint = self.joint(self.likelihood.clone());
        let point = [&self.beta[..], &self.psi[..]].concat();
        let d = point.len();
        let (mut value, mut gradient) = ([0.0], vec![0.0; d]);
        let scratch = &mut Scratch::default();
        joint.values_and_gradients(&point, &mut value, &mut gradient, scratch).unwrap();
        // U has the change of variables, −ψ for each logarithm; the likelihood has not.
        let first = match self.likelihood.scale() {
            ParameterScale::Positive => 0,
            ParameterScale::Ordered => 1,
        };
        for k in self.beta.len() + first..d {
            value[0] += point[k];
            gradient[k] += 1.0;
        }
        let hessian = joint.hessian(&point).unwrap();
        let slopes =
            gradient.iter().enumerate().map(|(k, g)| g.abs() / hessian[k * (d + 1)].sqrt());
        let slope = slopes.fold(0.0, f64::max);
        let likelihood = (value[0] / -log_likelihood - 1.0).abs();
        Off { slope, distance: self.distance(), likelihood }
    }

    fn distance(&self) -> f64 {
        let held = Held { inner: self.likelihood.clone(), psi: self.psi.clone() };
        let joint = self.joint(Arc::new(held));
        let d = self.beta.len();
        // A start of its own: no predictor has an effect.
        let mut start = vec![0.0; d];
        if self.frame.intercept {
            (0..d).step_by(self.frame.columns).for_each(|k| start[k] = self.beta[k]);
        }
        let mode = joint.mode(&start).unwrap().point;
        let hessian = joint.hessian(&mode).unwrap();
        // √(x' H x) is at least what any coefficient is off, in its own standard deviation.
        let off: Vec<f64> = mode.iter().zip(&self.beta).map(|(x, y)| x - y).collect();
        let product = |k: usize| (0..d).map(|l| hessian[k * d + l] * off[l]).sum::<f64>();
        (0..d).map(|k| off[k] * product(k)).sum::<f64>().max(0.0).sqrt()
    }
}

impl Off {
    fn agrees(&self) -> bool {
        self.slope < SLOPE && self.distance < DISTANCE && self.likelihood < LIKELIHOOD
    }
}

#[test]
fn maximum_likelihood_estimates_are_those_of_r() {
    let cases = cases();
    let mut families: Vec<&str> = cases.iter().map(|case| &case.family[..]).collect();
    families.dedup();
    assert_eq!((cases.len(), families.len()), (23, 9), "{families:?}");
    for case in &cases {
        let off = case.problem().off(case.log_likelihood);
        println!("{} {}: {off:?}", case.file, case.family);
        assert!(off.agrees(), "{} {}: {off:?}", case.file, case.family);
    }
}

/// One parameter off by 1 %, or one coefficient by a hundredth of its standard deviation.
#[test]
fn estimates_that_are_a_little_off_are_found() {
    for case in &cases() {
        let mut problem = case.problem();
        for k in 0..problem.psi.len() {
            let psi = problem.psi[k];
            problem.psi[k] += 0.01;
            let Off { slope, likelihood, .. } = problem.off(case.log_likelihood);
            assert!(slope > 2.0 * SLOPE, "{} {}: {slope:e}", case.file, case.family);
            assert!(likelihood > 2.0 * LIKELIHOOD, "{} {}: {likelihood:e}", case.file, case.family);
            problem.psi[k] = psi;
        }
        let d = problem.beta.len() + problem.psi.len();
        let point = [&problem.beta[..], &problem.psi[..]].concat();
        let hessian = problem.joint(problem.likelihood.clone()).hessian(&point).unwrap();
        for k in 0..problem.beta.len() {
            let beta = problem.beta[k];
            problem.beta[k] += 0.01 / hessian[k * (d + 1)].sqrt();
            let Off { slope, distance, .. } = problem.off(case.log_likelihood);
            assert!(slope > 2.0 * SLOPE && distance > 2.0 * DISTANCE, "{slope:e} {distance:e}");
            problem.beta[k] = beta;
        }
    }
}
