//! Mutates inputs from a seed: changes, drops, doubles and swaps bytes and pieces, and inserts
//! pieces of other inputs.

/// Maximum length of an input.
const MAX_BYTES: usize = 8 << 10;

/// Random number generator (splitmix64).
#[derive(Debug, Clone)]
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`; 0 if there is none.
    #[allow(clippy::cast_possible_truncation, reason = "below a usize")]
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.roll() % (bound.max(1) as u64)) as usize
    }
}

/// Boundary values as text.
const NUMBERS: [&str; 22] = [
    "0",
    "-0",
    "1",
    "-1",
    "2",
    "255",
    "256",
    "65536",
    "2147483648",
    "4294967295",
    "9223372036854775808",
    "18446744073709551615",
    "1e308",
    "-1e308",
    "5e-324",
    "1e-320",
    "inf",
    "nan",
    "1e999",
    "0x10",
    "1_000",
    "999999999999999999999999",
];

/// Boundary values as eight bytes.
fn edge(chance: &mut Chance) -> [u8; 8] {
    let floats = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        2.0,
        1e-300,
        1e300,
        5e-324,
        f64::MAX,
        f64::INFINITY,
        f64::NAN,
        f64::MIN_POSITIVE,
    ];
    let whole = [
        0,
        1,
        2,
        3,
        7,
        8,
        255,
        1 << 16,
        1 << 31,
        1 << 32,
        1 << 40,
        1 << 53,
        1 << 62,
        u64::MAX / 2,
        u64::MAX - 1,
        u64::MAX,
    ];
    match chance.below(3) {
        0 => floats[chance.below(floats.len())].to_bits().to_le_bytes(),
        1 => whole[chance.below(whole.len())].to_le_bytes(),
        // A random magnitude.
        _ => {
            let exponent = i32::try_from(chance.below(600)).unwrap_or_default() - 300;
            let digits = 1.0 + chance.below(1000) as f64 / 100.0;
            (digits * 10_f64.powi(exponent)).to_bits().to_le_bytes()
        }
    }
}

/// A mutated copy of `input`: up to eight changes, with pieces of `other` and of a list of words.
pub(crate) fn mutated(chance: &mut Chance, input: &[u8], other: &[u8], words: &[&[u8]]) -> Vec<u8> {
    let mut bytes = input.to_vec();
    for _ in 0..1 + chance.below(3) * chance.below(4) {
        change(chance, &mut bytes, other, words);
    }
    bytes.truncate(MAX_BYTES);
    bytes
}

fn change(chance: &mut Chance, bytes: &mut Vec<u8>, other: &[u8], words: &[&[u8]]) {
    let at = chance.below(bytes.len() + 1);
    let length = chance.below(1 + bytes.len() - at).min(1 + chance.below(64));
    let piece = |chance: &mut Chance| -> Vec<u8> {
        match chance.below(5) {
            0 | 1 if !words.is_empty() => words[chance.below(words.len())].to_vec(),
            2 => NUMBERS[chance.below(NUMBERS.len())].as_bytes().to_vec(),
            3 => edge(chance).to_vec(),
            _ => {
                let from = chance.below(other.len() + 1);
                let length = chance.below(1 + other.len() - from).min(1 + chance.below(128));
                other[from..from + length].to_vec()
            }
        }
    };
    match chance.below(10) {
        0 if at < bytes.len() => bytes[at] ^= 1 << chance.below(8),
        1 if at < bytes.len() => bytes[at] = chance.roll().to_le_bytes()[0],
        2 => drop(bytes.drain(at..at + length)),
        3 => bytes.truncate(at),
        4 => {
            let copy = bytes[at..at + length].to_vec();
            let times = if chance.below(8) == 0 { chance.below(200) } else { 1 + chance.below(3) };
            bytes.splice(at..at, copy.repeat(times));
        }
        5 => {
            // Overwrites as many bytes as it has, so that lengths stay valid.
            let piece = piece(chance);
            let end = (at + piece.len()).min(bytes.len());
            bytes.splice(at..end, piece);
        }
        6 => {
            let at = at & !7;
            let end = (at + 8).min(bytes.len());
            let edge = edge(chance);
            bytes.splice(at..end, edge);
        }
        7 => drop(bytes.splice(at..at + length, piece(chance))),
        _ => drop(bytes.splice(at..at, piece(chance))),
    }
    bytes.truncate(MAX_BYTES);
}
