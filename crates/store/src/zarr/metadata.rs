//! The JSON documents of a store, and the names of its files.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// The parameters of a store's documents.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    pub(super) chains: usize,
    pub(super) dimension: usize,
    /// Draws in a chunk.
    pub(super) block: usize,
    /// Steps between draws.
    pub(super) steps_per_draw: u64,
}

/// The extent of a store.
#[derive(Debug, Clone)]
pub(super) struct Extent {
    /// Draws of each chain.
    pub(super) made: Vec<u64>,
    pub(super) incomplete: bool,
}

impl Extent {
    /// Draws that all chains have.
    pub(super) fn common(&self) -> u64 {
        self.made.iter().copied().min().unwrap_or(0)
    }

    /// Whether some chain has more.
    fn truncated(&self) -> bool {
        self.made.iter().any(|made| *made > self.common())
    }
}

/// The documents of all arrays, by their paths in the store.
pub(super) fn arrays(layout: &Layout, extent: &Extent) -> Vec<(&'static str, Value)> {
    let Layout { chains, dimension, block, steps_per_draw } = *layout;
    let draws = extent.common();
    let numbers = json!([{"name": "bytes", "configuration": {"endian": "little"}}]);
    let bytes = json!([{"name": "bytes"}]);
    let strings = json!([{"name": "vlen-utf8", "configuration": {}}]);
    let table = |data_type: &str, fill: Value, codecs: &Value, said: &str| {
        let shapes = (json!([chains, draws]), json!([1, block]));
        array(data_type, shapes, fill, codecs, json!(["chain", "draw"]), said)
    };
    let chain = array(
        "int64",
        (json!([chains]), json!([chains])),
        json!(0),
        &numbers,
        json!(["chain"]),
        "",
    );
    let draw =
        array("int64", (json!([draws]), json!([block])), json!(0), &numbers, json!(["draw"]), "");
    let coef_shape = (json!([dimension]), json!([dimension]));
    let coef = array("string", coef_shape, json!(""), &strings, json!(["coef"]), "");
    let beta_shape = (json!([chains, draws, dimension]), json!([1, block, dimension]));
    let dims = json!(["chain", "draw", "coef"]);
    let beta =
        array("float64", beta_shape, json!("NaN"), &numbers, dims, "coefficients of the model");
    let diverging = "the step to this draw failed; a chain that fails ends, and has no such draw";
    let steps = "steps of the kernel from one draw to the next";
    vec![
        ("posterior/beta", beta),
        ("posterior/chain", chain.clone()),
        ("posterior/coef", coef),
        ("posterior/draw", draw.clone()),
        ("sample_stats/chain", chain),
        ("sample_stats/diverging", table("bool", json!(false), &bytes, diverging)),
        ("sample_stats/draw", draw),
        ("sample_stats/n_steps", table("int64", json!(steps_per_draw), &numbers, steps)),
    ]
}

/// One array; `shapes` are the shapes of the array and of its chunks.
fn array(
    data_type: &str, shapes: (Value, Value), fill: Value, codecs: &Value, dims: Value, said: &str,
) -> Value {
    let attributes = if said.is_empty() { json!({}) } else { json!({"description": said}) };
    json!({
        "zarr_format": 3,
        "node_type": "array",
        "shape": shapes.0,
        "data_type": data_type,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": shapes.1}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "."}},
        "fill_value": fill,
        "codecs": codecs,
        "dimension_names": dims,
        "attributes": attributes,
    })
}

/// A group below the root, with the attributes that ArviZ writes.
pub(super) fn group() -> Value {
    json!({
        "zarr_format": 3,
        "node_type": "group",
        "attributes": {
            "inference_library": "ridgewalk",
            "inference_library_version": env!("CARGO_PKG_VERSION"),
        },
    })
}

/// The root, with everything below it.
pub(super) fn root(arrays: &[(&'static str, Value)], extent: &Extent) -> Value {
    let mut all = serde_json::Map::new();
    for name in GROUPS {
        all.insert(name.to_owned(), group());
    }
    all.extend(arrays.iter().map(|(path, document)| ((*path).to_owned(), document.clone())));
    let mut root = group();
    root["attributes"]["incomplete"] = extent.incomplete.into();
    root["attributes"]["truncated"] = extent.truncated().into();
    root["attributes"]["draws_of_chains"] = json!(extent.made);
    root["consolidated_metadata"] =
        json!({"kind": "inline", "must_understand": false, "metadata": all});
    root
}

/// A count as `usize`, saturating.
pub(super) fn size(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// The groups below the root.
pub(super) const GROUPS: [&str; 2] = ["posterior", "sample_stats"];

/// The document of the root, a group or an array.
pub(super) fn document(store: &Path, node: &str) -> PathBuf {
    store.join(node).join("zarr.json")
}

/// A chunk of an array, with its indices.
pub(super) fn chunk(store: &Path, array: &str, indices: &[usize]) -> PathBuf {
    let mut name = "c".to_owned();
    for index in indices {
        name.push('.');
        name.push_str(&index.to_string());
    }
    store.join(array).join(name)
}

/// Strings in the codec `vlen-utf8`: their number, then each string preceded by its length, as
/// 32-bit numbers.
///
/// `None` if the number or a length does not fit.
pub(super) fn encode_strings(strings: &[String]) -> Option<Vec<u8>> {
    let mut bytes = u32::try_from(strings.len()).ok()?.to_le_bytes().to_vec();
    for string in strings {
        bytes.extend(u32::try_from(string.len()).ok()?.to_le_bytes());
        bytes.extend(string.as_bytes());
    }
    Some(bytes)
}

/// The inverse; `None` for invalid bytes.
pub(super) fn decode_strings(bytes: &[u8]) -> Option<Vec<String>> {
    let number = |bytes: &[u8]| -> Option<(usize, usize)> {
        let first: [u8; 4] = bytes.get(..4)?.try_into().ok()?;
        Some((usize::try_from(u32::from_le_bytes(first)).ok()?, 4))
    };
    let (count, mut at) = number(bytes)?;
    let mut strings = Vec::new();
    for _ in 0..count {
        let (length, head) = number(bytes.get(at..)?)?;
        let text = bytes.get(at + head..)?.get(..length)?;
        strings.push(String::from_utf8(text.to_vec()).ok()?);
        at += head + length;
    }
    (at == bytes.len()).then_some(strings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_come_back_and_cut_ones_are_refused() {
        let names = vec![
            "(Intercept)".to_owned(),
            String::new(),
            "größe 身長 🌡".to_owned(),
            "x".repeat(300),
        ];
        let bytes = encode_strings(&names).unwrap();
        assert_eq!(decode_strings(&bytes).unwrap(), names);
        for cut in 0..bytes.len() {
            assert_eq!(decode_strings(&bytes[..cut]), None, "{cut}");
        }
        assert_eq!(decode_strings(&[1, 0, 0, 0, 1, 0, 0, 0, 0xff]), None, "not UTF-8");
        assert_eq!(decode_strings(&[0xff; 8]), None, "no such number of strings");
    }
}
