//! Serialised form of numbers that may not be finite, for `#[serde(with = ...)]`.

/// A number, with words for those that are not finite where the format is text: JSON has none.
pub mod number {
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Number(f64),
        Word(String),
    }

    /// The number, or a word.
    pub fn serialize<S: Serializer>(x: &f64, to: S) -> Result<S::Ok, S::Error> {
        if x.is_finite() || !to.is_human_readable() {
            x.serialize(to)
        } else {
            x.to_string().serialize(to)
        }
    }

    /// What [`serialize`] has written.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        if !from.is_human_readable() {
            return f64::deserialize(from);
        }
        match Written::deserialize(from)? {
            Written::Number(x) => Ok(x),
            Written::Word(word) => word.parse().map_err(D::Error::custom),
        }
    }
}
