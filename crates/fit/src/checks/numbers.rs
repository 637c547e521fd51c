//! Reading numbers back from `checks.json`, where `null` stands for one that is not finite: the
//! ratio of a variance of 0 and a mean of 0, say.

use serde::{Deserialize, Deserializer};

/// A number, or `null`.
#[derive(Deserialize)]
struct Number(Option<f64>);

impl Number {
    fn value(self) -> f64 {
        self.0.unwrap_or(f64::NAN)
    }
}

pub(super) fn one<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Number::deserialize(from).map(Number::value)
}

pub(super) fn two<'de, D: Deserializer<'de>>(from: D) -> Result<[f64; 2], D::Error> {
    <[Number; 2]>::deserialize(from).map(|pair| pair.map(Number::value))
}

pub(super) fn list<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<f64>, D::Error> {
    Ok(Vec::<Number>::deserialize(from)?.into_iter().map(Number::value).collect())
}

pub(super) fn twos<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<[f64; 2]>, D::Error> {
    let pairs = Vec::<[Number; 2]>::deserialize(from)?;
    Ok(pairs.into_iter().map(|pair| pair.map(Number::value)).collect())
}

pub(super) fn named<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<(String, f64)>, D::Error> {
    let pairs = Vec::<(String, Number)>::deserialize(from)?;
    Ok(pairs.into_iter().map(|(name, number)| (name, number.value())).collect())
}

pub(super) fn lists<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Vec<f64>>, D::Error> {
    let lists = Vec::<Vec<Number>>::deserialize(from)?;
    Ok(lists.into_iter().map(|list| list.into_iter().map(Number::value).collect()).collect())
}
