//! The command line for given settings, as recorded in `config.toml`.

use ridgewalk_frame::join_names;

use crate::settings::{DEFAULT_INTERVAL, KernelChoice, SearchChoice, Settings};

/// The command for these settings. It leaves out `--out`, since a run directory is not written
/// twice; `--threads` and `--memory`, on which no draw depends; and most settings at their defaults.
#[must_use]
pub fn command(settings: &Settings) -> String {
    // Every field is named, so that a new one cannot be forgotten here.
    #[rustfmt::skip]
    let Settings {
        data, formula, response, family, predictors, exclude, condition, factor, base, trials, offset, weights, event, upper, levels,
        no_intercept, prior_only, drop_missing, standardize, original_scale, prior, intercept_prior,
        aux_prior, group_prior, prior_scale, intercept_prior_scale, priors, prior_of, noise_scale, dispersion, shape,
        degrees_of_freedom, huber_delta, mode_search, kernel, nodes, gamma, xi, eta,
        bias_tolerance, chains, draws, thin, target_ess, max_draws, interval, seed, threads: _, memory: _, out: _,
        csv,
    } = settings;
    let mut words = Words(vec!["ridgewalk".to_owned(), "fit".to_owned()]);
    words.add(data.as_ref().map(|path| path.display().to_string()));
    words.add(formula.as_ref());
    // The built-in data come with a response and are standardized by default.
    let own = data.is_some();
    words.pair("--response", response.as_ref().filter(|_| own));
    words.pair("--family", Some(family));
    words.pair("--predictors", predictors.as_ref().map(|names| join_names(names)));
    for (name, list) in [("--exclude", exclude), ("--factor", factor)] {
        words.pair(name, (!list.is_empty()).then(|| join_names(list)));
    }
    base.iter().for_each(|base| words.pair("--base", Some(base)));
    for (name, value) in [
        ("--where", condition),
        ("--trials", trials),
        ("--offset", offset),
        ("--weights", weights),
        ("--event", event),
        ("--upper", upper),
        ("--prior", prior),
        ("--intercept-prior", intercept_prior),
        ("--aux-prior", aux_prior),
        ("--group-prior", group_prior),
    ] {
        words.pair(name, value.as_ref());
    }
    words.pair("--levels", levels.as_ref().map(|names| join_names(names)));
    words.pair("--priors", priors.as_ref().map(|path| path.display()));
    prior_of.iter().for_each(|prior| words.pair("--prior-of", Some(prior)));
    words.numbers(&[
        ("--prior-scale", *prior_scale),
        ("--intercept-prior-scale", *intercept_prior_scale),
        ("--noise-scale", *noise_scale),
        ("--dispersion", *dispersion),
        ("--shape", *shape),
        ("--degrees-of-freedom", *degrees_of_freedom),
        ("--huber-delta", *huber_delta),
        ("--gamma", *gamma),
        ("--xi", *xi),
        ("--eta", *eta),
        ("--bias-tolerance", *bias_tolerance),
    ]);
    let search = Some(mode_search).filter(|search| **search != SearchChoice::Auto);
    words.pair("--mode-search", search);
    words.pair("--kernel", Some(kernel).filter(|kernel| **kernel != KernelChoice::Auto));
    words.pair("--nodes", *nodes);
    words.pair("--chains", Some(chains));
    words.pair("--draws", target_ess.is_none().then_some(draws));
    words.pair("--target-ess", *target_ess);
    words.pair("--max-draws", target_ess.is_some().then_some(max_draws));
    words.pair("--thin", *thin);
    words.pair("--interval", Some(interval).filter(|interval| **interval != DEFAULT_INTERVAL));
    words.pair("--seed", Some(seed));
    words.flag("--no-intercept", *no_intercept);
    words.flag("--drop-missing", *drop_missing);
    words.flag("--prior-only", *prior_only);
    words.flag("--standardize", *standardize && own);
    words.flag("--original-scale", *original_scale);
    words.flag("--csv", *csv);
    words.0.join(" ")
}

/// The words of a command, quoted for a shell.
struct Words(Vec<String>);

impl Words {
    fn add(&mut self, word: Option<impl ToString>) {
        self.0.extend(word.map(|word| quoted(&word.to_string())));
    }

    fn pair(&mut self, name: &str, value: Option<impl ToString>) {
        if let Some(value) = value {
            self.add(Some(name));
            self.add(Some(value));
        }
    }

    fn numbers(&mut self, pairs: &[(&str, Option<f64>)]) {
        pairs.iter().for_each(|(name, value)| self.pair(name, *value));
    }

    fn flag(&mut self, name: &str, on: bool) {
        self.add(on.then_some(name));
    }
}

/// A word, quoted for a shell if necessary.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./,=+:@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
