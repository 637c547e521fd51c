//! Average slopes and differences against the Python package marginaleffects, from the same draws:
//! `scripts/oracles/effects.py`.

use ridgewalk_fit::{Config, Effect, EffectsRequest, Predictor, Settings, prepare};
use serde::Deserialize;

use crate::references::{draws, read, table};

/// Relative to the standard deviation of an effect: slopes are differences over other steps.
const TOLERANCE: f64 = 1e-4;
const CHAINS: usize = 4;

#[derive(Debug, Deserialize)]
struct References {
    cases: Vec<Case>,
}

#[derive(Debug, Deserialize)]
struct Case {
    name: String,
    file: String,
    family: String,
    formula: String,
    effects: Vec<Reference>,
}

#[derive(Debug, Deserialize)]
struct Reference {
    by: String,
    contrast: String,
    mean: f64,
    sd: f64,
    lower: f64,
    median: f64,
    upper: f64,
}

impl Case {
    fn predictor(&self) -> Predictor {
        let settings = Settings::of_formula(&self.formula, self.family.parse().unwrap());
        let table = table(&self.file);
        let config = Config::new(&settings, &prepare(&table, &settings, None).unwrap(), &table);
        let draws = draws(&format!("effects/{}.csv", self.name), CHAINS);
        assert_eq!(draws.names(), config.resolved.names());
        Predictor::new(&config, &draws).unwrap()
    }

    /// Effects of a column, with other columns at some values.
    fn effects(&self, by: &str, at: &[(&str, &str)]) -> Vec<Effect> {
        let at = at.iter().map(|(name, value)| ((*name).to_owned(), vec![(*value).to_owned()]));
        let request = EffectsRequest { by: by.to_owned(), at: at.collect(), interval: 0.9 };
        self.predictor().effects(&table(&self.file), &request).unwrap().effects
    }
}

/// The largest difference, relative to the standard deviation.
fn off(found: &Effect, need: &Reference) -> f64 {
    let found = &found.effect;
    let pairs = [
        (found.mean, need.mean),
        (found.sd, need.sd),
        (found.lower, need.lower),
        (found.median, need.median),
        (found.upper, need.upper),
    ];
    pairs.iter().map(|(a, b)| (a - b).abs() / need.sd).fold(0.0, f64::max)
}

#[test]
fn effects_are_those_of_marginaleffects() {
    let References { cases } = read("effects/effects.json");
    assert_eq!(cases.len(), 2);
    for case in cases {
        for need in &case.effects {
            let all = case.effects(&need.by, &[]);
            let found = all.iter().find(|effect| effect.contrast == need.contrast);
            let Some(found) = found else { panic!("no {} in {all:?}", need.contrast) };
            let off = off(found, need);
            println!("{} {} {}: {off:.1e}", case.name, need.by, need.contrast);
            assert!(off < TOLERANCE, "{} {}: {found:?}, need {need:?}", case.name, need.by);
        }
        assert!(case.effects.len() >= 3, "{}", case.name);
    }
}

/// An effect at one level of another column instead of the average over the data.
#[test]
fn effects_elsewhere_are_told_apart() {
    let References { cases } = read("effects/effects.json");
    for case in cases {
        let need = &case.effects[0];
        let (other, level) =
            if case.name == "logistic" { ("region", "north") } else { ("plan", "none") };
        let off = off(&case.effects(&need.by, &[(other, level)])[0], need);
        println!("{} at {other} = {level}: {off:.1e}", case.name);
        assert!(off > 0.01, "{}: {off}", case.name);
    }
}
