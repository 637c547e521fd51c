//! Writes a packed file of any length for measurements: a response `y` of 0 and 1, or of counts, and
//! predictors between −1 and 1 whose effects alternate in sign.
//!
//! `cargo run --profile checks -p ridgewalk-frame --example packed_rows -- OUT ROWS PREDICTORS [counts]`

use std::path::Path;

use ridgewalk_frame::{Column, DataError, PackWriter, Table};

/// Rows that are made together.
const BLOCK: usize = 1 << 16;

/// SplitMix64, uniform in [0, 1).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// A count of mean e^s: how many numbers it takes until their product is below e^−e^s.
fn poisson(numbers: &mut Numbers, s: f64) -> f64 {
    let least = (-s.exp()).exp();
    let (mut product, mut count) = (numbers.next(), 0.0);
    while product > least {
        product *= numbers.next();
        count += 1.0;
    }
    count
}

fn write(out: &Path, rows: usize, predictors: usize, counts: bool) -> Result<u64, DataError> {
    let mut writer = PackWriter::create(out)?;
    let mut numbers = Numbers(1);
    for first in (0..rows).step_by(BLOCK) {
        let count = BLOCK.min(rows - first);
        let (mut y, mut x) =
            (Vec::with_capacity(count), vec![Vec::with_capacity(count); predictors]);
        for _ in 0..count {
            let mut s = 0.2;
            for (k, x) in x.iter_mut().enumerate() {
                let value = 2.0 * numbers.next() - 1.0;
                s += value * if k % 2 == 0 { 0.3 } else { -0.2 };
                x.push(value);
            }
            y.push(if counts {
                poisson(&mut numbers, s)
            } else {
                f64::from(u8::from(numbers.next() < 1.0 / (1.0 + f64::exp(-s))))
            });
        }
        let named =
            x.iter().enumerate().map(|(k, x)| Column::from_numbers(&format!("x{}", k + 1), x));
        let columns = std::iter::once(Column::from_numbers("y", &y)).chain(named);
        writer.push(&Table::from_columns("rows", columns.collect())?)?;
    }
    Ok(writer.finish()?.bytes)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (out, rows, predictors, counts) = match &words[..] {
        [out, rows, predictors] => (out, rows, predictors, false),
        [out, rows, predictors, word] if word == "counts" => (out, rows, predictors, true),
        _ => return Err("need OUT ROWS PREDICTORS [counts]".into()),
    };
    let bytes = write(Path::new(out), rows.parse()?, predictors.parse()?, counts)?;
    println!("{bytes} bytes");
    Ok(())
}
