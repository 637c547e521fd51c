//! The JSON documents of a store, the names of its files, and how values become bytes.

use std::path::{Path, PathBuf};

use ridgewalk_sampler::DrawStats;

use serde_json::{Map, Value, json};

/// The parameters of a store's documents.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    pub(super) chains: usize,
    pub(super) dimension: usize,
    /// Draws in a chunk.
    pub(super) block: usize,
    /// Steps between draws.
    pub(super) steps_per_draw: u64,
    /// Whether draws have statistics: whether the kernel accepts or rejects.
    pub(super) statistics: bool,
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

/// The type of an array's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ValueKind {
    /// float64; NaN beyond the shape.
    Float,
    /// int64; 0 beyond the shape.
    Integer,
    /// bool; false beyond the shape.
    Flag,
    /// Text; empty beyond the shape.
    String,
}

impl ValueKind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Float => "float64",
            Self::Integer => "int64",
            Self::Flag => "bool",
            Self::String => "string",
        }
    }

    fn fill(self) -> Value {
        match self {
            Self::Float => json!("NaN"),
            Self::Integer => json!(0),
            Self::Flag => json!(false),
            Self::String => json!(""),
        }
    }

    fn codecs(self) -> Value {
        match self {
            Self::Float | Self::Integer => {
                json!([{"name": "bytes", "configuration": {"endian": "little"}}])
            }
            Self::Flag => json!([{"name": "bytes"}]),
            Self::String => json!([{"name": "vlen-utf8", "configuration": {}}]),
        }
    }
}

/// One of the statistics of draws.
#[derive(Debug, Clone, Copy)]
pub(super) struct Statistic {
    /// Its path in the store.
    pub(super) array: &'static str,
    pub(super) kind: ValueKind,
    description: &'static str,
    /// Its value as a number; 0 or 1 for a flag.
    pub(super) of: fn(&DrawStats) -> f64,
}

impl Statistic {
    /// Bytes of one value.
    pub(super) fn width(&self) -> usize {
        if self.kind == ValueKind::Flag { 1 } else { size_of::<f64>() }
    }
}

/// All statistics of draws.
pub(super) const STATISTICS: [Statistic; 4] = [
    Statistic {
        array: "sample_stats/acceptance_rate",
        kind: ValueKind::Float,
        description: "mean acceptance probability of the trajectories since the draw before",
        of: |stats| stats.acceptance_rate,
    },
    Statistic {
        array: "sample_stats/diverging",
        kind: ValueKind::Flag,
        description: "one of the trajectories since the draw before diverged and was rejected",
        of: |stats| f64::from(u8::from(stats.diverging)),
    },
    Statistic {
        array: "sample_stats/energy",
        kind: ValueKind::Float,
        description: "potential plus kinetic energy of the chain at the draw",
        of: |stats| stats.energy,
    },
    Statistic {
        array: "sample_stats/lp",
        kind: ValueKind::Float,
        description: "log posterior density in the coordinates of the chain, up to a constant",
        of: |stats| stats.lp,
    },
];

/// The documents of all arrays, by their paths in the store.
pub(super) fn arrays(layout: &Layout, extent: &Extent) -> Vec<(&'static str, Value)> {
    let Layout { chains, dimension, block, steps_per_draw, statistics } = *layout;
    let draws = size(extent.common());
    let table = |kind: ValueKind, said: &str| {
        array(kind, (&[chains, draws], &[1, block]), &["chain", "draw"], said)
    };
    let chain = array(ValueKind::Integer, (&[chains], &[chains]), &["chain"], "");
    let draw = array(ValueKind::Integer, (&[draws], &[block]), &["draw"], "");
    let coef = array(ValueKind::String, (&[dimension], &[dimension]), &["coef"], "");
    let beta = array(
        ValueKind::Float,
        (&[chains, draws, dimension], &[1, block, dimension]),
        &["chain", "draw", "coef"],
        "coefficients of the model",
    );
    let failed = "the step to this draw failed; a chain that fails ends, and has no such draw";
    // The same for all draws: no chunk is written, and readers take the fill value.
    let mut steps = table(ValueKind::Integer, "steps of the kernel from one draw to the next");
    steps["fill_value"] = steps_per_draw.into();
    let mut all = vec![
        ("posterior/beta", beta),
        ("posterior/chain", chain.clone()),
        ("posterior/coef", coef),
        ("posterior/draw", draw.clone()),
        ("sample_stats/chain", chain),
        ("sample_stats/draw", draw),
        ("sample_stats/n_steps", steps),
    ];
    if statistics {
        let documents = STATISTICS.map(|s| (s.array, table(s.kind, s.description)));
        all.extend(documents);
    } else {
        all.push(("sample_stats/diverging", table(ValueKind::Flag, failed)));
    }
    all
}

/// One array; `shapes` are the shapes of the array and of its chunks.
pub(super) fn array(
    kind: ValueKind, shapes: (&[usize], &[usize]), dims: &[&str], description: &str,
) -> Value {
    let attributes =
        if description.is_empty() { json!({}) } else { json!({"description": description}) };
    json!({
        "zarr_format": 3,
        "node_type": "array",
        "shape": shapes.0,
        "data_type": kind.name(),
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": shapes.1}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "."}},
        "fill_value": kind.fill(),
        "codecs": kind.codecs(),
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

/// The root, with the documents of everything below it, and the extent of a run's draws.
pub(super) fn root(nodes: Map<String, Value>, extent: Option<&Extent>) -> Value {
    let mut root = group();
    if let Some(extent) = extent {
        // Flags are numbers: netCDF has no booleans, and xarray refuses to convert them.
        root["attributes"]["incomplete"] = u8::from(extent.incomplete).into();
        root["attributes"]["truncated"] = u8::from(extent.truncated()).into();
        root["attributes"]["draws_of_chains"] = json!(extent.made);
    }
    root["consolidated_metadata"] =
        json!({"kind": "inline", "must_understand": false, "metadata": nodes});
    root
}

/// The nodes below the root of a store of draws.
pub(super) fn nodes(arrays: Vec<(&'static str, Value)>) -> Map<String, Value> {
    let groups = GROUPS.into_iter().map(|name| (name, group()));
    groups.chain(arrays).map(|(path, document)| (path.to_owned(), document)).collect()
}

/// A document as the text of its file.
pub(super) fn text(document: &Value) -> Vec<u8> {
    format!("{document:#}\n").into_bytes()
}

/// A count as `usize`, saturating.
pub(super) fn size(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// The bytes of a coordinate that counts.
pub(super) fn counted(numbers: std::ops::Range<usize>) -> Vec<u8> {
    numbers.flat_map(|number| (number as i64).to_le_bytes()).collect()
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
pub(super) fn encode_strings<'a>(strings: impl IntoIterator<Item = &'a str>) -> Option<Vec<u8>> {
    let (mut bytes, mut count) = (vec![0; 4], 0_u32);
    for string in strings {
        bytes.extend(u32::try_from(string.len()).ok()?.to_le_bytes());
        bytes.extend(string.as_bytes());
        count = count.checked_add(1)?;
    }
    bytes[..4].copy_from_slice(&count.to_le_bytes());
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
        let bytes = encode_strings(names.iter().map(String::as_str)).unwrap();
        assert_eq!(decode_strings(&bytes).unwrap(), names);
        for cut in 0..bytes.len() {
            assert_eq!(decode_strings(&bytes[..cut]), None, "{cut}");
        }
        assert_eq!(decode_strings(&[1, 0, 0, 0, 1, 0, 0, 0, 0xff]), None, "not UTF-8");
        assert_eq!(decode_strings(&[0xff; 8]), None, "no such number of strings");
    }
}
