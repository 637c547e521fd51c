//! Independent draws of the prior: for `--prior-only`, and for the group `prior` of an export.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Beta, Distribution, Exp1, Gamma, StandardNormal, StandardUniform, StudentT};
use ridgewalk_frame::{FamilyName, Table};
use ridgewalk_potentials::{Density, GroupTerm, ParameterScale};
use ridgewalk_sampler::{Draws, Sink};

use crate::config::Config;
use crate::error::Error;
use crate::fit::prepare;
use crate::groups;
use crate::model::Model;

/// The stream of the first chain's generator, beyond those of sampling.
const STREAM: u64 = 1 << 40;

/// Draws of the prior that an export has.
const EXPORTED: u64 = 1000;

/// Independent draws of the prior of a fit, one chain of a thousand.
///
/// # Errors
/// A flat prior, of which there are no draws; a table that cannot be framed as in the fit.
pub fn prior_draws(config: &Config, table: &Table) -> Result<Draws, Error> {
    let priors = config.resolved.model_priors(&config.options)?;
    let model = prepare(table, &config.options, Some(priors))?;
    let mut draws = Draws::named(config.resolved.names());
    sample_prior(&model, 1, EXPORTED, config.options.seed, &mut draws)?;
    Ok(draws)
}

/// Makes independent draws of the prior of a model and gives them to a sink, on the reported scale.
///
/// # Errors
/// A flat prior, of which there are no draws; a sink that fails.
pub fn sample_prior(
    model: &Model, chains: usize, draws: u64, seed: u64, sink: &mut dyn Sink,
) -> Result<(), Error> {
    let priors = model.priors();
    let all = || priors.coefficients.iter().chain(&priors.parameters);
    if let Some(flat) = all().position(|prior| *prior == Density::Flat) {
        let name = model.names().get(flat).map_or("", String::as_str);
        let need = "proper priors; give this one with --prior or --priors";
        return Err(Error::setting("--prior-only", format!("with a flat prior of `{name}`"), need));
    }
    for (names, priors) in model.groups().terms().iter().zip(&priors.groups) {
        if let Some(flat) = priors.sds.iter().position(|prior| *prior == Density::Flat) {
            let need = "proper priors; give this one with --group-prior";
            let found = format!("with a flat prior of `{}`", names.sd(flat));
            return Err(Error::setting("--prior-only", found, need));
        }
    }
    let failed = |source| ridgewalk_sampler::Error::Sink { kept: 0, source };
    sink.begin(chains, model.names().len()).map_err(failed)?;
    let mut generators: Vec<ChaCha8Rng> = (0..chains)
        .map(|chain| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            rng.set_stream(STREAM + chain as u64);
            rng
        })
        .collect();
    for draw in 0..draws {
        for (chain, rng) in generators.iter_mut().enumerate() {
            let point = point(model, rng);
            sink.keep(chain, draw, &point).map_err(failed)?;
        }
    }
    sink.flush().map_err(failed)?;
    Ok(())
}

/// One draw of all coefficients and parameters.
fn point(model: &Model, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let priors = model.priors();
    let mut point: Vec<f64> = priors.coefficients.iter().map(|prior| one(prior, rng)).collect();
    let mut parameters: Vec<f64> = priors.parameters.iter().map(|prior| one(prior, rng)).collect();
    let scale = if model.family() == FamilyName::Ordinal {
        // Priors of thresholds hold where they are in order: those are the order statistics.
        parameters.sort_by(f64::total_cmp);
        ParameterScale::Ordered
    } else {
        // Densities of the real line count as half of themselves.
        parameters.iter_mut().for_each(|value| *value = value.abs());
        ParameterScale::Positive
    };
    scale.to_unconstrained(&mut parameters);
    if !model.groups().is_empty() {
        point = with_groups(model, &point, &mut parameters, rng);
    }
    point.extend(parameters);
    if let Some(rescaling) = model.rescaling() {
        rescaling.apply_to_prior(&mut point);
    }
    point
}

/// Coefficients and effects of each linear predictor. The parameters of groups are added to those of
/// the likelihood.
fn with_groups(
    model: &Model, coefficients: &[f64], parameters: &mut Vec<f64>, rng: &mut ChaCha8Rng,
) -> Vec<f64> {
    let columns = model.frame().columns;
    let terms = groups::terms(model.groups(), &model.priors().groups, columns);
    let mut effects = vec![Vec::new(); model.auxiliary().predictors()];
    for (names, term) in model.groups().terms().iter().zip(&terms) {
        let phi = group_parameters(term, rng);
        let scale = term.scale(&phi);
        for _ in 0..term.levels {
            let mut u: Vec<f64> = (0..term.width).map(|_| StandardNormal.sample(rng)).collect();
            scale.times(&mut u);
            effects[names.predictor].extend(u);
        }
        parameters.extend(phi);
    }
    let own = coefficients.chunks_exact(columns).zip(&effects);
    own.flat_map(|(beta, effects)| beta.iter().chain(effects)).copied().collect()
}

/// Logarithms of standard deviations, and artanh of the partial correlations of the LKJ prior:
/// the one of coefficient i with j, given those before j, is 2b − 1 with b from a symmetric beta
/// distribution (Lewandowski, Kurowicka and Joe 2009, section 2.4).
fn group_parameters(term: &GroupTerm, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let sds = term.sds.iter();
    let mut phi: Vec<f64> = sds.map(|prior| one(prior, rng).abs().ln()).collect();
    for i in 0..term.width {
        for j in 0..i {
            let shape = term.concentration + 0.5 * (term.width - 2 - j) as f64;
            let share = Beta::new(shape, shape).map_or(f64::NAN, |law| law.sample(rng));
            phi.push((2.0_f64.mul_add(share, -1.0)).atanh());
        }
    }
    phi
}

/// A number of this density.
fn one(density: &Density, rng: &mut ChaCha8Rng) -> f64 {
    let uniform = |rng: &mut ChaCha8Rng| -> f64 { StandardUniform.sample(rng) };
    let exponential = |rng: &mut ChaCha8Rng| -> f64 { Exp1.sample(rng) };
    match *density {
        Density::Normal { mean, scale } => {
            let z: f64 = StandardNormal.sample(rng);
            mean + scale * z
        }
        Density::StudentT { degrees, mean, scale } => {
            StudentT::new(degrees).map_or(f64::NAN, |law| mean + scale * law.sample(rng))
        }
        Density::Laplace { mean, scale } => mean + scale * (exponential(rng) - exponential(rng)),
        Density::Logistic { mean, scale } => {
            let u = uniform(rng);
            mean + scale * (u.ln() - (-u).ln_1p())
        }
        Density::Exponential { rate } => exponential(rng) / rate,
        Density::Gamma { shape, rate } => {
            Gamma::new(shape, 1.0 / rate).map_or(f64::NAN, |law| law.sample(rng))
        }
        _ => f64::NAN,
    }
}
