//! How saved states are written: numbers in little-endian order, one after the other, in a frame
//! with a name and a checksum.
//!
//! ```text
//! 8 bytes    "ridgewlk"
//! 8 bytes    what it is, in ASCII, filled up with blanks
//! 4 bytes    version of the layout
//! 8 bytes    length of the content
//!            the content
//! 32 bytes   SHA-256 of everything before
//! ```
//!
//! Within the content a number takes 8 bytes (a position in a stream 16, a flag 1), floating-point
//! numbers as their bits; a list is its length and its entries, a text its length and UTF-8,
//! something optional a flag and the thing. Entries of a structure follow one another in the order
//! in which the lines below name them.

use ridgewalk_lyapunov::laws::{Drift, KernelKind, Scheme, Trajectory};
use ridgewalk_potentials::{SavedWhitening, Whitening};
use sha2::{Digest, Sha256};

use crate::acceptance::{Acceptance, DrawStats};
use crate::automatic::{Bias, Decision, Look};
use crate::batch::State;
use crate::coupled::{Difference, Shift};
use crate::draws::Table;
use crate::ensemble::{SavedChain, Snapshot};
use crate::error::{Error, SavedKind};
use crate::group::Waiting;
use crate::outcome::{ChainEnd, Why};
use crate::saved::{SavedLooks, SavedRun, SavedWarmUp};
use crate::vitals::{Reference, Segment, Spread, Vitals};

const MAGIC: &[u8; 8] = b"ridgewlk";
const VERSION: u32 = 4;
const HEAD: usize = 28;
const CHECKSUM: usize = 32;

/// Something that can be put into a frame of its own.
pub(crate) trait Framed: Code {
    /// What it is, at most eight letters.
    const KIND: &'static str;
    /// The same in words.
    const WHAT: SavedKind;
}

/// The bytes of a frame.
pub(crate) fn to_bytes<T: Framed>(content: &T) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(format!("{:8}", T::KIND).bytes());
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend([0; 8]);
    content.put(&mut bytes);
    let length = (bytes.len() - HEAD) as u64;
    bytes[HEAD - 8..HEAD].copy_from_slice(&length.to_le_bytes());
    let checksum = Sha256::digest(&bytes);
    bytes.extend(checksum);
    bytes
}

/// What a frame holds.
pub(crate) fn from_bytes<T: Framed>(bytes: &[u8]) -> Result<T, Error> {
    let bad =
        |found: String, need: &str| Error::Saved { what: T::WHAT, found, need: need.to_owned() };
    let cut = || bad(format!("{} bytes", bytes.len()), "all that were written");
    let Some((body, checksum)) = bytes.split_last_chunk::<CHECKSUM>() else { return Err(cut()) };
    let Some((head, content)) = body.split_first_chunk::<HEAD>() else { return Err(cut()) };
    let kind = format!("{:8}", T::KIND);
    if !head.starts_with(MAGIC) || head[8..16] != *kind.as_bytes() {
        return Err(bad(
            "something else".to_owned(),
            &format!("bytes that begin with `ridgewlk{kind}`"),
        ));
    }
    let mut rest = &head[16..];
    let version = u32::from_le_bytes(chunk(&mut rest)?);
    if version != VERSION {
        return Err(bad(format!("layout {version}"), &format!("layout {VERSION}")));
    }
    if u64::from_le_bytes(chunk(&mut rest)?) != content.len() as u64 {
        return Err(cut());
    }
    if Sha256::digest(body)[..] != checksum[..] {
        return Err(bad("another checksum".to_owned(), "bytes as they were written"));
    }
    let mut left = content;
    let found = T::take(&mut left)?;
    if left.is_empty() { Ok(found) } else { Err(cut()) }
}

/// Something that has a place in a frame.
pub(crate) trait Code: Sized {
    fn put(&self, bytes: &mut Vec<u8>);
    fn take(bytes: &mut &[u8]) -> Result<Self, Error>;
}

/// The next N bytes.
fn chunk<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N], Error> {
    let (first, rest) =
        bytes.split_first_chunk::<N>().ok_or_else(|| wrong(format!("{} bytes", bytes.len())))?;
    *bytes = rest;
    Ok(*first)
}

/// Content that does not fit together, although its checksum is right.
fn wrong(found: impl Into<String>) -> Error {
    Error::Saved {
        what: SavedKind::State,
        found: found.into(),
        need: "a state that this version has written".into(),
    }
}

impl Code for u64 {
    fn put(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.to_le_bytes());
    }

    fn take(bytes: &mut &[u8]) -> Result<Self, Error> {
        Ok(Self::from_le_bytes(chunk(bytes)?))
    }
}

impl Code for u128 {
    fn put(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.to_le_bytes());
    }

    fn take(bytes: &mut &[u8]) -> Result<Self, Error> {
        Ok(Self::from_le_bytes(chunk(bytes)?))
    }
}

impl Code for usize {
    fn put(&self, bytes: &mut Vec<u8>) {
        (*self as u64).put(bytes);
    }

    fn take(bytes: &mut &[u8]) -> Result<Self, Error> {
        let count = u64::take(bytes)?;
        Self::try_from(count).map_err(|_| wrong(format!("a count of {count}")))
    }
}

impl Code for u32 {
    fn put(&self, bytes: &mut Vec<u8>) {
        u64::from(*self).put(bytes);
    }

    fn take(bytes: &mut &[u8]) -> Result<Self, Error> {
        let count = u64::take(bytes)?;
        Self::try_from(count).map_err(|_| wrong(format!("a count of {count}")))
    }
}

impl Code for f64 {
    fn put(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.to_bits().to_le_bytes());
    }

    fn take(bytes: &mut &[u8]) -> Result<Self, Error> {
        Ok(Self::from_bits(u64::take(bytes)?))
    }
}

impl Code for bool {
    fn put(&self, bytes: &mut Vec<u8>) {
        bytes.push(u8::from(*self));
    }

    fn take(bytes: &mut &[u8]) -> Result<Self, Error> {
        match chunk(bytes)? {
            [0] => Ok(false),
            [1] => Ok(true),
            [other] => Err(wrong(format!("a flag of {other}"))),
        }
    }
}

impl Code for String {
    fn put(&self, bytes: &mut Vec<u8>) {
        self.len().put(bytes);
        bytes.extend(self.as_bytes());
    }

    fn take(bytes: &mut &[u8]) -> Result<Self, Error> {
        let length = usize::take(bytes)?;
        let (text, rest) = bytes
            .split_at_checked(length)
            .ok_or_else(|| wrong(format!("a text of {length} bytes")))?;
        *bytes = rest;
        Self::from_utf8(text.to_vec()).map_err(|error| wrong(error.to_string()))
    }
}

impl<T: Code> Code for Vec<T> {
    fn put(&self, bytes: &mut Vec<u8>) {
        self.len().put(bytes);
        self.iter().for_each(|entry| entry.put(bytes));
    }

    fn take(bytes: &mut &[u8]) -> Result<Self, Error> {
        let length = usize::take(bytes)?;
        // Every entry takes a byte at least.
        if length > bytes.len() {
            return Err(wrong(format!("a list of {length} entries")));
        }
        (0..length).map(|_| T::take(bytes)).collect()
    }
}

impl<T: Code + Copy + Default> Code for [T; 3] {
    fn put(&self, bytes: &mut Vec<u8>) {
        self.iter().for_each(|entry| entry.put(bytes));
    }

    fn take(bytes: &mut &[u8]) -> Result<Self, Error> {
        let mut all = [T::default(); 3];
        for entry in &mut all {
            *entry = T::take(bytes)?;
        }
        Ok(all)
    }
}

impl<T: Code> Code for Option<T> {
    fn put(&self, bytes: &mut Vec<u8>) {
        self.is_some().put(bytes);
        self.iter().for_each(|thing| thing.put(bytes));
    }

    fn take(bytes: &mut &[u8]) -> Result<Self, Error> {
        if bool::take(bytes)? { T::take(bytes).map(Some) } else { Ok(None) }
    }
}

/// The entries of a structure, in this order.
macro_rules! entries {
    ($($kind:ident { $($name:ident),+ })+) => {$(
        impl Code for $kind {
            fn put(&self, bytes: &mut Vec<u8>) {
                $(self.$name.put(bytes);)+
            }

            fn take(bytes: &mut &[u8]) -> Result<Self, Error> {
                $(let $name = Code::take(bytes)?;)+
                Ok(Self { $($name),+ })
            }
        }
    )+};
}

entries! {
    State { theta, p, r }
    ChainEnd { step, last, why }
    Acceptance { proposals, accepted, divergences, probabilities, errors, squared_errors, largest_error }
    DrawStats { acceptance_rate, energy, lp, diverging }
    SavedChain { state, gradient, value, position, steps, gradients, acceptance, recent, vitals, end }
    Reference { mode, value, far, bounds, segments, every }
    Spread { count, mean, squares }
    Segment { draws, heights, gradients, products }
    Vitals { reference, longest, present, heights, last_height, squared_changes, far, far_probabilities, above, highest, segments, full, length }
    Snapshot { seed, steps, chains }
    Waiting { points, stats, first, given }
    Table { dimension, chains }
    Look { draws, ess }
    SavedLooks { made, interval, next, fresh }
    SavedRun { ensemble, warm_up, thin, looks, continued }
    Shift { value, error }
    Difference { mean, mean_error, variance, variance_error, sd, quantiles, blocks }
    Bias { mean, mean_error, sd, sd_error, quantile, quantile_error }
    SavedWarmUp { whitening, scheme, thin, bias, differences, within_tolerance, starts, history, gradients, seed, tolerance, repairs }
}

/// The kind of a matrix: a full one, a diagonal, and one with a rotation after it.
const KINDS: [u8; 3] = [0, 1, 2];

impl Code for SavedWhitening {
    fn put(&self, bytes: &mut Vec<u8>) {
        self.centre.put(bytes);
        let rotated = !self.rotation.is_empty();
        bytes.push(if rotated { KINDS[2] } else { KINDS[usize::from(self.diagonal)] });
        self.map.put(bytes);
        self.back.put(bytes);
        if rotated {
            self.rotation.put(bytes);
        }
    }

    fn take(bytes: &mut &[u8]) -> Result<Self, Error> {
        let centre = Code::take(bytes)?;
        let [kind] = chunk(bytes)?;
        if !KINDS.contains(&kind) {
            return Err(wrong(format!("coordinates of kind {kind}")));
        }
        let [map, back] = [Code::take(bytes)?, Code::take(bytes)?];
        let rotation = if kind == KINDS[2] { Code::take(bytes)? } else { Vec::new() };
        Ok(Self { centre, diagonal: kind == KINDS[1], map, back, rotation })
    }
}

impl Code for Whitening {
    fn put(&self, bytes: &mut Vec<u8>) {
        self.saved().put(bytes);
    }

    fn take(bytes: &mut &[u8]) -> Result<Self, Error> {
        Ok(Self::restore(SavedWhitening::take(bytes)?)?)
    }
}

/// The kernel's name, γ, ξ (1 where the kernel has none), η, and of a trajectory its steps, its
/// drift, and how often steps are shorter.
impl Code for Scheme {
    fn put(&self, bytes: &mut Vec<u8>) {
        self.name().to_owned().put(bytes);
        [self.gamma().unwrap_or(1.0), self.xi().unwrap_or(1.0), self.eta()]
            .iter()
            .for_each(|x| x.put(bytes));
        if let Some(Trajectory { steps, drift, short }) = self.trajectory() {
            u64::from(steps).put(bytes);
            drift.name().to_owned().put(bytes);
            short.put(bytes);
        }
    }

    fn take(bytes: &mut &[u8]) -> Result<Self, Error> {
        let name = String::take(bytes)?;
        let [gamma, xi, eta] = [f64::take(bytes)?, f64::take(bytes)?, f64::take(bytes)?];
        if [KernelKind::Adjusted, KernelKind::Hmc].iter().any(|kind| kind.name() == name) {
            let steps = u64::take(bytes)?;
            let steps = u32::try_from(steps)
                .map_err(|_| wrong(format!("a trajectory of {steps} steps")))?;
            let drift = String::take(bytes)?;
            let drift =
                Drift::from_name(&drift).ok_or_else(|| wrong(format!("the drift `{drift}`")))?;
            let short = f64::take(bytes)?;
            if name == KernelKind::Hmc.name() {
                return Ok(Self::hmc(steps, eta)?);
            }
            return Ok(Self::adjusted(gamma, xi, eta, Trajectory { steps, drift, short })?);
        }
        if name == KernelKind::Subsampled.name() {
            return Ok(Self::subsampled(eta)?);
        }
        let kernel =
            KernelKind::from_name(&name).ok_or_else(|| wrong(format!("the kernel `{name}`")))?;
        Ok(Self::new(kernel, gamma, xi, eta)?)
    }
}

/// The cases of an enum: a number for the case, then its entries in this order.
macro_rules! cases {
    ($kind:ident, $words:literal, $($number:literal => $case:ident { $($name:ident),* })+) => {
        impl Code for $kind {
            fn put(&self, bytes: &mut Vec<u8>) {
                match self {$(
                    Self::$case { $($name),* } => {
                        u64::put(&$number, bytes);
                        $($name.put(bytes);)*
                    }
                )+}
            }

            fn take(bytes: &mut &[u8]) -> Result<Self, Error> {
                Ok(match u64::take(bytes)? {
                    $($number => Self::$case { $($name: Code::take(bytes)?),* },)+
                    other => return Err(wrong(format!("{} of kind {other}", $words))),
                })
            }
        }
    };
}

cases! {
    Why, "an end",
    0 => NonFinite {}
    1 => Gradient { message, point }
    2 => Panic { message }
    3 => OutsideSupport { point }
}

cases! {
    Decision, "a decision",
    0 => Mode { iterations, gradient_norm }
    1 => Pilot { draws, widest, narrowest }
    2 => Rewhitened { hessians }
    3 => Tried { scheme, bias, efficiency, accepted }
    4 => Chosen { scheme, thin }
    5 => Trajectories { scheme, acceptance, divergences, efficiency }
    6 => FarOut { acceptance, short }
    7 => NotNormal { eta }
    8 => Repaired { why, scheme }
    9 => NoValues { tolerance }
    10 => Capped { wanted, thin }
    11 => Subsampled { scheme, rows, acceptance, far }
}
