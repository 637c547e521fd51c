//! What priors do to a posterior: in words, and whether they or the data decide.

use ridgewalk_potentials::Density;

use crate::model::Model;
use crate::prior_text::{Kind, rounded};

/// The most priors that are listed.
const LISTED: usize = 12;

/// The priors of a model in words.
pub(crate) fn in_words(model: &Model) -> String {
    let (priors, auxiliary) = (model.priors(), model.auxiliary());
    let names = model.names();
    let equal = priors.coefficients.windows(2).all(|pair| pair[0] == pair[1]);
    let mut words = Vec::new();
    if equal && priors.coefficients.len() > 1 {
        let prior = rounded(&priors.coefficients[0], Kind::Real);
        words.push(format!("{prior} on every coefficient"));
    } else {
        let intercept = model.frame().intercept && priors.centred;
        let columns = model.frame().columns.max(1);
        for (k, (name, prior)) in names.iter().zip(&priors.coefficients).enumerate() {
            let place =
                if intercept && k % columns == 0 { " at the means of the predictors" } else { "" };
            words.push(format!("{name}{place} ~ {}", rounded(prior, Kind::Real)));
        }
    }
    let kind = auxiliary.kind();
    let parameters = auxiliary.names().iter().zip(&priors.parameters);
    let uniform = Density::Logistic { mean: 0.0, scale: 1.0 };
    if kind == Kind::Real && priors.parameters.iter().all(|prior| *prior == uniform) {
        words.push("probabilities of the levels at the means of the predictors ~ uniform".into());
    } else {
        words.extend(parameters.map(|(name, prior)| format!("{name} ~ {}", rounded(prior, kind))));
    }
    if words.len() > LISTED {
        let more = words.len() - LISTED;
        let last: Vec<String> = words.split_off(words.len() - auxiliary.names().len().min(1));
        words.truncate(LISTED - last.len());
        words.extend(last);
        words.push(format!("and {more} more: see config.toml"));
    }
    words.join("; ")
}
