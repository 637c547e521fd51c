//! Independent draws of the prior: for `--prior-only`, and for the group `prior` of an export.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, Exp1, Gamma, StandardNormal, StandardUniform, StudentT};
use ridgewalk_frame::FamilyName;
use ridgewalk_potentials::{Density, GroupTerm, ParameterScale};
use ridgewalk_sampler::{Draws, Sink};

use crate::config::Config;
use crate::data::{Data, prepare_data};
use crate::error::Error;
use crate::groups;
use crate::model::Model;

/// The stream of the first chain's generator, beyond those of sampling.
const STREAM: u64 = 1 << 40;

/// Draws of the prior that an export has.
const EXPORTED: u64 = 1000;

/// Independent draws of the prior of a fit, one chain of a thousand.
///
/// # Errors
/// A flat prior, of which there are no draws; data that cannot be framed as in the fit.
pub fn prior_draws(config: &Config, data: &Data<'_>) -> Result<Draws, Error> {
    let priors = config.resolved.model_priors(&config.options)?;
    let model = prepare_data(data, &config.options, Some(priors))?;
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
    let of_groups = model.groups().terms().iter().zip(&priors.groups);
    let flat = |(names, priors): (&groups::GroupNames, &groups::GroupPriors)| {
        let flat = priors.sds.iter().position(|prior| *prior == Density::Flat);
        flat.map(|coefficient| names.sd(coefficient))
    };
    if let Some(name) = of_groups.filter_map(flat).next() {
        let need = "proper priors; give this one with --group-prior or --priors";
        return Err(Error::setting("--prior-only", format!("with a flat prior of `{name}`"), need));
    }
    let terms = groups::terms(model.groups(), &priors.groups, model.frame().columns);
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
            let point = point(model, &terms, rng);
            sink.keep(chain, draw, &point).map_err(failed)?;
        }
    }
    sink.flush().map_err(failed)?;
    Ok(())
}

/// One draw of all coefficients and parameters, and of those of groups.
fn point(model: &Model, terms: &[GroupTerm], rng: &mut ChaCha8Rng) -> Vec<f64> {
    let priors = model.priors();
    let drawn: Vec<f64> = priors.coefficients.iter().map(|prior| one(prior, rng)).collect();
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
    // In the order of the posterior: the effects of a linear predictor follow its coefficients.
    let (columns, predictors) = (model.frame().columns, model.auxiliary().predictors());
    let each = columns + model.groups().effects() / predictors;
    let mut point = vec![0.0; predictors * each];
    let own = point.chunks_exact_mut(each.max(1)).zip(drawn.chunks_exact(columns.max(1)));
    own.for_each(|(point, drawn)| {
        point[..columns].copy_from_slice(drawn);
        // What is drawn is the linear predictor at the means.
        let others = drawn.iter().zip(model.means()).skip(1);
        point[0] -= others.map(|(x, mean)| x * mean).sum::<f64>();
    });
    let mut of_groups = Vec::new();
    for term in terms {
        let phi = covariance(term, rng);
        let scale = term.scale(&phi);
        let effects = &mut point[term.first..term.first + term.effects()];
        for u in effects.chunks_exact_mut(term.width) {
            u.iter_mut().for_each(|u| *u = StandardNormal.sample(rng));
            scale.times(u);
        }
        of_groups.extend(phi);
    }
    point.extend(parameters);
    point.extend(of_groups);
    if let Some(rescaling) = model.rescaling() {
        rescaling.apply_to_prior(&mut point);
    }
    point
}

/// φ of a term: the logarithms of standard deviations, and the inverse hyperbolic tangents of partial
/// correlations.
///
/// LKJ(η) makes the partial correlations of a coefficient with the j-th one, given those before,
/// independent: Beta(a, a) on (−1, 1), a = η + (q − 2 − j)/2 for q coefficients. With gamma numbers
/// g and h of shape a, the correlation is (g − h)/(g + h), and atanh of that is log(g/h)/2.
fn covariance(term: &GroupTerm, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let q = term.width;
    let mut phi: Vec<f64> = term.sds.iter().map(|prior| one(prior, rng).abs().ln()).collect();
    for i in 1..q {
        for j in 0..i {
            let shape = term.concentration + 0.5 * (q - 2 - j) as f64;
            let mut gamma = || Gamma::new(shape, 1.0).map_or(f64::NAN, |law| law.sample(rng));
            let (g, h): (f64, f64) = (gamma(), gamma());
            phi.push(0.5 * (g.ln() - h.ln()));
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
