//! A store with more groups than a run leaves: log likelihoods, predictions, observed data and so
//! on, in the layout that ArviZ expects. Large arrays are written block by block, so that whoever
//! computes them holds one block at a time.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use ridgewalk_fit::DrawsArray;
use serde_json::{Map, Value};

use super::metadata::{self, Extent, GROUPS, Layout, STATISTICS, ValueKind};
use super::read::Store;
use crate::directory::{prepare, sync_directory, take_away, write_atomically};
use crate::error::{Error, FileAction};

/// Values in a chunk of a [`Stream`], if that leaves room for one row: 8 MiB of numbers.
const CHUNK: usize = 1 << 20;
/// The longest name of a group or an array, in bytes: file systems allow 255.
const LONGEST_NAME: usize = 200;

/// Values of an array, in row-major order: the last dimension varies fastest.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Values<'a> {
    /// float64.
    Floats(&'a [f64]),
    /// int64.
    Integers(&'a [i64]),
    /// bool.
    Flags(&'a [bool]),
    /// Text.
    Strings(&'a [String]),
}

impl Values<'_> {
    /// Their type.
    #[must_use]
    pub fn kind(&self) -> ValueKind {
        match self {
            Self::Floats(_) => ValueKind::Float,
            Self::Integers(_) => ValueKind::Integer,
            Self::Flags(_) => ValueKind::Flag,
            Self::Strings(_) => ValueKind::String,
        }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Floats(list) => list.len(),
            Self::Integers(list) => list.len(),
            Self::Flags(list) => list.len(),
            Self::Strings(list) => list.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of a chunk: pieces of `piece` values, each filled up to `full`. `None` for more
    /// strings, or longer ones, than the format allows.
    fn chunk(&self, piece: usize, full: usize) -> Option<Vec<u8>> {
        match self {
            Self::Floats(list) => Some(bytes(list, piece, full, f64::NAN, f64::to_le_bytes)),
            Self::Integers(list) => Some(bytes(list, piece, full, 0, i64::to_le_bytes)),
            Self::Flags(list) => Some(bytes(list, piece, full, false, |flag| [u8::from(flag)])),
            Self::Strings(list) => {
                let pieces = list.chunks(piece.max(1));
                let padded = pieces.flat_map(|piece| {
                    let fill = std::iter::repeat_n("", full.saturating_sub(piece.len()));
                    piece.iter().map(String::as_str).chain(fill)
                });
                metadata::encode_strings(padded)
            }
        }
    }
}

/// As [`Values::chunk`], for values of a fixed size.
fn bytes<T: Copy, const N: usize>(
    list: &[T], piece: usize, full: usize, fill: T, encode: fn(T) -> [u8; N],
) -> Vec<u8> {
    let pieces = list.chunks(piece.max(1));
    let mut bytes = Vec::with_capacity(pieces.len() * full * N);
    for piece in pieces {
        bytes.extend(piece.iter().flat_map(|x| encode(*x)));
        let missing = full.saturating_sub(piece.len());
        bytes.extend(std::iter::repeat_n(fill, missing).flat_map(encode));
    }
    bytes
}

macro_rules! values_from {
    ($($case:ident $kind:ty),+) => {$(
        impl<'a> From<&'a [$kind]> for Values<'a> {
            fn from(list: &'a [$kind]) -> Self {
                Self::$case(list)
            }
        }

        impl<'a> From<&'a Vec<$kind>> for Values<'a> {
            fn from(list: &'a Vec<$kind>) -> Self {
                Self::$case(list)
            }
        }
    )+};
}

values_from! { Floats f64, Integers i64, Flags bool, Strings String }

/// A new Zarr store of several groups, for ArviZ.
///
/// It is written under another name and appears under its own, complete, with [`Export::finish`].
/// If it is dropped before, nothing is left.
///
/// A group has coordinates, one per dimension, and arrays over them. Arrays that do not fit into
/// memory are written by a [`Stream`]; several can be open at a time.
///
/// ```
/// use ridgewalk_store::{Export, ValueKind};
///
/// # let place = tempfile::tempdir()?;
/// # let path = place.path().join("export.zarr");
/// # let (chains, draws, rows) = (2, 3, 5);
/// # let log_density = |chain: usize, draw: usize, row: usize| (chain + draw + row) as f64;
/// let mut export = Export::create(&path)?;
/// // export.draws(&run.draws())?; copies the groups `posterior` and `sample_stats` of a run.
/// let mut group = export.group("log_likelihood")?;
/// group.counted("chain", chains)?.counted("draw", draws)?.counted("obs", rows)?;
/// let dims = ["chain", "draw", "obs"];
/// let mut stream = group.stream("y", &dims, "obs", ValueKind::Float, "log likelihood")?;
/// while let Some(rows) = stream.next_block() {
///     let mut block = Vec::new();
///     for chain in 0..chains {
///         for draw in 0..draws {
///             block.extend(rows.clone().map(|row| log_density(chain, draw, row)));
///         }
///     }
///     stream.write(&block)?;
/// }
/// let mut group = export.group("observed_data")?;
/// group.counted("obs", rows)?;
/// group.array("y", &["obs"], &vec![0_i64, 1, 1, 0, 1], "the response")?;
/// export.finish()?;
/// assert!(path.join("log_likelihood/y/c.0.0.0").is_file());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Export {
    path: PathBuf,
    /// Where it is written.
    partial: PathBuf,
    /// Parent directories created for it.
    above: Vec<PathBuf>,
    /// The documents of all groups and arrays.
    nodes: Map<String, Value>,
    /// The lengths of the dimensions of each group.
    groups: BTreeMap<String, BTreeMap<String, usize>>,
    /// The extent of the draws that were copied.
    extent: Option<Extent>,
    /// Arrays that streams write, with their chunks.
    streamed: Vec<(String, Vec<PathBuf>)>,
    finished: bool,
}

impl Export {
    /// A new store. Missing parent directories are created.
    ///
    /// # Errors
    /// If the path exists or cannot be created.
    pub fn create(path: &Path) -> Result<Self, Error> {
        if path.symlink_metadata().is_ok() {
            return Err(exists(path));
        }
        let (partial, above) = prepare(path)?;
        Ok(Self {
            path: path.to_owned(),
            partial,
            above,
            nodes: Map::new(),
            groups: BTreeMap::new(),
            extent: None,
            streamed: Vec::new(),
            finished: false,
        })
    }

    /// Copies the draws of a run: the groups `posterior` and `sample_stats`, with the dimensions
    /// `chain`, `draw` and `coef`.
    ///
    /// # Errors
    /// If the store of the run is damaged, the groups exist, or they cannot be written.
    pub fn draws(&mut self, store: &Path) -> Result<(), Error> {
        self.draws_apart(store, &[])
    }

    /// The same, with columns that are arrays of their own: those that `apart` names are not in
    /// `beta`. They are the last columns.
    ///
    /// # Errors
    /// As [`Export::draws`], and for arrays that are not made of the last columns.
    pub fn draws_apart(&mut self, store: &Path, apart: &[DrawsArray]) -> Result<(), Error> {
        let store = Store::open(store)?;
        let Layout { chains, dimension, block, statistics, .. } = store.layout;
        let draws = metadata::size(store.extent.common());
        let names = store.names()?;
        if let Some(name) = GROUPS.iter().find(|name| self.groups.contains_key(**name)) {
            return Err(self.wrong(name, "the group exists", "to copy draws before it is made"));
        }
        for name in GROUPS {
            let group = self.group(name)?;
            let dims = [("chain", chains), ("draw", draws)].map(|(d, n)| (d.to_owned(), n));
            group.export.groups.insert(group.name, BTreeMap::from(dims));
        }
        let posterior = self.groups.entry("posterior".to_owned()).or_default();
        let own = apart.iter().map(|array| array.columns.start).min().unwrap_or(dimension);
        let beyond = apart.iter().map(|array| array.columns.end).max().unwrap_or(dimension);
        if own > dimension || beyond != dimension {
            let found = format!("columns {own} to {beyond} of {dimension}");
            return Err(self.wrong("posterior/beta", found, "the last columns"));
        }
        posterior.insert("coef".to_owned(), own);
        let layout = Layout { dimension: own, ..store.layout };
        for (array, document) in metadata::arrays(&layout, &store.extent) {
            self.node(array, document)?;
        }
        let coef = Values::Strings(&names[..own]);
        self.chunk("posterior/coef", &[0], coef.chunk(own, own))?;
        let mut pieces = vec![("posterior/beta".to_owned(), 0..own, 1)];
        for array in apart {
            let mut group = self.group("posterior")?;
            for (dim, labels) in &array.dims {
                if !group.dims().contains_key(dim) {
                    group.coordinate(dim, labels)?;
                }
            }
            let dims = ["chain", "draw"].into_iter().chain(array.dims.iter().map(|d| d.0.as_str()));
            let dims: Vec<&str> = dims.collect();
            let (path, shape) = (group.new_name(&array.name)?, group.shape(&array.name, &dims)?);
            let wide: usize = shape[2..].iter().product();
            if wide != array.columns.len() {
                let found = format!("{} columns for the shape {shape:?}", array.columns.len());
                return Err(self.wrong(&path, found, "as many as its dimensions have"));
            }
            let mut chunks = shape.clone();
            chunks[..2].copy_from_slice(&[1, block]);
            let shapes = (&shape[..], &chunks[..]);
            let said = &array.description;
            self.node(&path, metadata::array(ValueKind::Float, shapes, &dims, said))?;
            pieces.push((path, array.columns.clone(), dims.len() - 2));
        }
        for number in 0..draws.div_ceil(block) {
            for chain in 0..chains {
                let bytes = store.bytes(chain, number)?;
                let bytes = bytes.ok_or_else(|| store.missing(chain, number))?;
                for (array, columns, inner) in &pieces {
                    let mut indices = vec![chain, number];
                    indices.resize(2 + inner, 0);
                    self.chunk(array, &indices, Some(columns_of(&bytes, dimension, columns)))?;
                }
                for statistic in STATISTICS.iter().filter(|_| statistics) {
                    let bytes = store.statistic_bytes(statistic, chain, number)?;
                    let path = metadata::chunk(store.path(), statistic.array, &[chain, number]);
                    let bytes = bytes.ok_or_else(|| store.missing_file(&path))?;
                    self.chunk(statistic.array, &[chain, number], Some(bytes))?;
                }
            }
            for group in GROUPS {
                let numbers = metadata::counted(number * block..(number + 1) * block);
                self.chunk(&format!("{group}/draw"), &[number], Some(numbers))?;
            }
        }
        for group in GROUPS {
            let numbers = metadata::counted(0..chains);
            self.chunk(&format!("{group}/chain"), &[0], Some(numbers))?;
        }
        self.extent = Some(store.extent);
        Ok(())
    }

    /// The group of this name, which is created if there is none.
    ///
    /// # Errors
    /// If the name cannot be used, or the group cannot be written.
    pub fn group(&mut self, name: &str) -> Result<ExportGroup<'_>, Error> {
        self.check_name(name, name)?;
        if !self.groups.contains_key(name) {
            self.node(name, metadata::group())?;
            self.groups.insert(name.to_owned(), BTreeMap::new());
        }
        Ok(ExportGroup { export: self, name: name.to_owned() })
    }

    /// Completes the store and gives it its name.
    ///
    /// # Errors
    /// If a stream has not written all its blocks, the path exists by now, or files cannot be
    /// written. Nothing is left then.
    pub fn finish(mut self) -> Result<(), Error> {
        for (array, chunks) in &self.streamed {
            let written = chunks.iter().filter(|chunk| chunk.is_file()).count();
            if written < chunks.len() {
                let found = format!("{written} of {} blocks are written", chunks.len());
                return Err(self.wrong(array, found, "all of them"));
            }
        }
        let root = metadata::root(std::mem::take(&mut self.nodes), self.extent.as_ref());
        write_atomically(&metadata::document(&self.partial, ""), &metadata::text(&root))?;
        // A rename replaces an empty directory without a word.
        if self.path.symlink_metadata().is_ok() {
            return Err(exists(&self.path));
        }
        fs::rename(&self.partial, &self.path)
            .and_then(|()| sync_directory(&self.path))
            .map_err(Error::file(FileAction::Write, &self.path))?;
        self.finished = true;
        Ok(())
    }

    /// Writes the document of a group or an array, in a directory of its own.
    fn node(&mut self, node: &str, document: Value) -> Result<(), Error> {
        let directory = self.partial.join(node);
        fs::create_dir_all(&directory).map_err(Error::file(FileAction::Make, &directory))?;
        write_atomically(&metadata::document(&self.partial, node), &metadata::text(&document))?;
        self.nodes.insert(node.to_owned(), document);
        Ok(())
    }

    fn chunk(&self, array: &str, indices: &[usize], bytes: Option<Vec<u8>>) -> Result<(), Error> {
        let bytes = bytes.ok_or_else(|| self.wrong(array, "too much text", "less than 4 GiB"))?;
        write_atomically(&metadata::chunk(&self.partial, array, indices), &bytes)
    }

    /// An error unless this can be the name of a directory on all systems, and of a variable in
    /// Zarr and netCDF.
    fn check_name(&self, at: &str, name: &str) -> Result<(), Error> {
        let bad = |c: char| c.is_control() || "/\\:*?\"<>|".contains(c);
        let good = !name.is_empty()
            && name.len() <= LONGEST_NAME
            && !name.starts_with('.')
            && !name.starts_with("__")
            && !name.ends_with(['.', ' '])
            && !name.eq_ignore_ascii_case("zarr.json")
            && !name.contains(bad);
        if good {
            return Ok(());
        }
        let need = "a short name without /\\:*?\"<>| that does not begin with a dot";
        Err(self.wrong(at, format!("the name {name:?}"), need))
    }

    fn wrong(&self, node: &str, found: impl Into<String>, need: impl Into<String>) -> Error {
        Error::Export { path: self.path.join(node), found: found.into(), need: need.into() }
    }
}

impl Drop for Export {
    fn drop(&mut self) {
        if !self.finished {
            // There is nobody to report to.
            let _ = fs::remove_dir_all(&self.partial);
            take_away(&self.above);
        }
    }
}

/// Some columns of a chunk of draws, each a number of eight bytes.
fn columns_of(bytes: &[u8], dimension: usize, columns: &Range<usize>) -> Vec<u8> {
    let [row, start, end] = [dimension, columns.start, columns.end].map(|k| k * size_of::<f64>());
    bytes.chunks_exact(row.max(1)).flat_map(|row| &row[start..end]).copied().collect()
}

fn exists(path: &Path) -> Error {
    let (found, remedy) = ("is not overwritten", "choose another name, or remove it".to_owned());
    Error::Exists { path: path.to_owned(), found, remedy }
}

/// A group of an [`Export`].
#[derive(Debug)]
pub struct ExportGroup<'a> {
    export: &'a mut Export,
    name: String,
}

impl ExportGroup<'_> {
    /// Adds a dimension with the labels of its entries, which give its length.
    ///
    /// # Errors
    /// If the group has something of that name, or it cannot be written.
    pub fn coordinate<'v>(
        &mut self, dim: &str, labels: impl Into<Values<'v>>,
    ) -> Result<&mut Self, Error> {
        let labels = labels.into();
        // Checked first: a dimension without its array would be a store that nobody can read.
        self.new_name(dim)?;
        self.dims().insert(dim.to_owned(), labels.len());
        self.array(dim, &[dim], labels, "")
    }

    /// Adds a dimension whose entries are numbered from 0.
    ///
    /// # Errors
    /// As [`ExportGroup::coordinate`].
    pub fn counted(&mut self, dim: &str, length: usize) -> Result<&mut Self, Error> {
        let numbers: Vec<i64> = (0..).take(length).collect();
        self.coordinate(dim, &numbers)
    }

    /// Writes an array over some of the group's dimensions. An empty description is left out.
    ///
    /// # Errors
    /// If a dimension is missing, the values are not as many as their dimensions need, the group
    /// has something of that name, or it cannot be written.
    pub fn array<'v>(
        &mut self, name: &str, dims: &[&str], values: impl Into<Values<'v>>, description: &str,
    ) -> Result<&mut Self, Error> {
        let values = values.into();
        let (array, shape) = (self.new_name(name)?, self.shape(name, dims)?);
        let need = count(&shape);
        if need != Some(values.len()) {
            let found = format!("{} values for the shape {shape:?}", values.len());
            return Err(self.export.wrong(&array, found, "as many as its dimensions have"));
        }
        let chunks: Vec<usize> = shape.iter().map(|length| (*length).max(1)).collect();
        let document = metadata::array(values.kind(), (&shape, &chunks), dims, description);
        self.export.node(&array, document)?;
        if !values.is_empty() {
            let bytes = values.chunk(values.len(), values.len());
            self.export.chunk(&array, &vec![0; shape.len()], bytes)?;
        }
        Ok(self)
    }

    /// An array that is written in blocks along the dimension `along`. Streams over the same
    /// dimensions have the same blocks. An empty description is left out.
    ///
    /// # Errors
    /// As [`ExportGroup::array`], and if `along` is not one of the dimensions.
    pub fn stream(
        &mut self, name: &str, dims: &[&str], along: &str, kind: ValueKind, description: &str,
    ) -> Result<Stream, Error> {
        let (array, shape) = (self.new_name(name)?, self.shape(name, dims)?);
        let Some(axis) = dims.iter().position(|dim| *dim == along) else {
            let found = format!("the dimensions {}", dims.join(", "));
            return Err(self.export.wrong(&array, found, format!("{along} among them")));
        };
        let length = shape[axis];
        let sizes = count(&shape[..axis]).zip(count(&shape[axis + 1..]));
        let values = sizes.and_then(|(outer, inner)| outer.checked_mul(inner));
        let (Some((outer, inner)), Some(values)) = (sizes, values) else {
            let found = format!("the shape {shape:?}");
            return Err(self.export.wrong(&array, found, "an array that can be addressed"));
        };
        let block = (CHUNK / values.max(1)).clamp(1, length.max(1));
        let mut chunks: Vec<usize> = shape.iter().map(|length| (*length).max(1)).collect();
        chunks[axis] = block;
        let document = metadata::array(kind, (&shape, &chunks), dims, description);
        self.export.node(&array, document)?;
        let file = |number: usize| {
            let mut indices = vec![0; shape.len()];
            indices[axis] = number;
            metadata::chunk(&self.export.partial, &array, &indices)
        };
        // An array without values has no chunks.
        let blocks = if values == 0 { 0 } else { length.div_ceil(block) };
        let files: Vec<PathBuf> = (0..blocks).map(file).collect();
        let path = self.export.path.join(&array);
        self.export.streamed.push((array, files.clone()));
        let files = files.into_iter();
        Ok(Stream { path, kind, files, outer, inner, length, block, next: 0 })
    }

    fn dims(&mut self) -> &mut BTreeMap<String, usize> {
        self.export.groups.entry(self.name.clone()).or_default()
    }

    /// The path of a new array of this name.
    fn new_name(&self, name: &str) -> Result<String, Error> {
        let array = format!("{}/{name}", self.name);
        self.export.check_name(&array, name)?;
        // Some file systems do not tell capital letters from small ones.
        let folded = array.to_lowercase();
        if self.export.nodes.keys().any(|node| node.to_lowercase() == folded) {
            return Err(self.export.wrong(&array, "it exists", "a name for each array"));
        }
        Ok(array)
    }

    fn shape(&mut self, name: &str, dims: &[&str]) -> Result<Vec<usize>, Error> {
        let known = self.dims();
        let shape: Result<Vec<usize>, &str> =
            dims.iter().map(|dim| known.get(*dim).copied().ok_or(*dim)).collect();
        shape.map_err(|dim| {
            let need = format!("the coordinate {dim} first");
            self.export.wrong(&format!("{}/{name}", self.name), "a dimension is missing", need)
        })
    }
}

/// The number of values of a shape.
fn count(shape: &[usize]) -> Option<usize> {
    shape.iter().try_fold(1_usize, |product, length| product.checked_mul(*length))
}

/// An array of an [`Export`] that is written block by block.
#[derive(Debug)]
pub struct Stream {
    path: PathBuf,
    kind: ValueKind,
    /// Chunks that are left to write.
    files: std::vec::IntoIter<PathBuf>,
    /// Values before and behind the dimension that is divided into blocks.
    outer: usize,
    inner: usize,
    length: usize,
    block: usize,
    /// The first entry of the next block.
    next: usize,
}

impl Stream {
    /// The entries of the next block; `None` after the last.
    #[must_use]
    pub fn next_block(&self) -> Option<Range<usize>> {
        let left = !self.files.as_slice().is_empty();
        left.then(|| self.next..self.length.min(self.next.saturating_add(self.block)))
    }

    /// Writes the next block: its values in row-major order of all dimensions, of which one is cut
    /// down to [`Stream::next_block`].
    ///
    /// # Errors
    /// If the values are of another type or number, all blocks are written, or the file cannot be
    /// written.
    pub fn write<'v>(&mut self, values: impl Into<Values<'v>>) -> Result<(), Error> {
        let values = values.into();
        let rows = self.next_block().unwrap_or_default();
        let need = self.outer.saturating_mul(rows.len()).saturating_mul(self.inner);
        if values.len() != need || values.kind() != self.kind || need == 0 {
            let found = format!("{} values of type {}", values.len(), values.kind().name());
            let need = format!("{need} of type {} in this block", self.kind.name());
            return Err(Error::Export { path: self.path.clone(), found, need });
        }
        let bytes = values.chunk(rows.len() * self.inner, self.block * self.inner);
        let bytes = bytes.ok_or_else(|| Error::Export {
            path: self.path.clone(),
            found: "too much text".to_owned(),
            need: "less than 4 GiB".to_owned(),
        })?;
        if let Some(file) = self.files.as_slice().first() {
            write_atomically(file, &bytes)?;
        }
        // Only now: a block that could not be written can be written again.
        self.files.next();
        self.next = rows.end;
        Ok(())
    }
}
