//! The size of a table in three formats, and the seconds to read it: one row of a CSV table each.
//!
//! `cargo run --profile checks -p ridgewalk-frame --features parquet --example formats -- DIRECTORY ROWS`
//! writes the files into the directory and prints what docs/results/packed-formats.csv has.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use parquet::basic::Compression;
use parquet::data_type::DoubleType;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use ridgewalk_frame::{Table, pack};

type Failed = Box<dyn std::error::Error>;

const COLUMNS: usize = 20;
/// Each file is read this often; the fastest counts.
const TIMES: usize = 3;

fn value(row: usize, column: usize) -> f64 {
    let z = (row * COLUMNS + column + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((z ^ (z >> 29)) >> 11) as f64 / (1_u64 << 53) as f64
}

fn write_csv(path: &Path, rows: usize) -> Result<(), Failed> {
    let mut out = BufWriter::new(File::create(path)?);
    let names: Vec<String> = (0..COLUMNS).map(|column| format!("x{column}")).collect();
    writeln!(out, "{}", names.join(","))?;
    for row in 0..rows {
        let values: Vec<String> =
            (0..COLUMNS).map(|column| value(row, column).to_string()).collect();
        writeln!(out, "{}", values.join(","))?;
    }
    Ok(out.flush()?)
}

fn write_parquet(path: &Path, rows: usize) -> Result<(), Failed> {
    let columns: String =
        (0..COLUMNS).map(|column| format!("required double x{column};")).collect();
    let schema = Arc::new(parse_message_type(&format!("message m {{ {columns} }}"))?);
    let properties = WriterProperties::builder()
        .set_compression(Compression::UNCOMPRESSED)
        .set_dictionary_enabled(false)
        .build();
    let mut writer = SerializedFileWriter::new(File::create(path)?, schema, Arc::new(properties))?;
    for first in (0..rows).step_by(1 << 16) {
        let mut group = writer.next_row_group()?;
        let mut number = 0;
        while let Some(mut column) = group.next_column()? {
            let last = rows.min(first + (1 << 16));
            let values: Vec<f64> = (first..last).map(|row| value(row, number)).collect();
            column.typed::<DoubleType>().write_batch(&values, None, None)?;
            column.close()?;
            number += 1;
        }
        group.close()?;
    }
    writer.close()?;
    Ok(())
}

fn main() -> Result<(), Failed> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [directory, rows] = &words[..] else { return Err("need DIRECTORY ROWS".into()) };
    let (directory, rows) = (Path::new(directory), rows.parse()?);
    let [csv, parquet, packed] =
        ["rows.csv", "rows.parquet", "rows.pack"].map(|name| directory.join(name));
    write_csv(&csv, rows)?;
    write_parquet(&parquet, rows)?;
    pack(&csv, &packed)?;
    println!("format,rows,columns,bytes,seconds");
    for (name, path) in [("CSV", &csv), ("Parquet", &parquet), ("packed", &packed)] {
        let mut best = f64::INFINITY;
        for _ in 0..TIMES {
            let began = Instant::now();
            let table = Table::read(path)?;
            best = best.min(began.elapsed().as_secs_f64());
            assert_eq!((table.rows(), table.columns().len()), (rows, COLUMNS));
        }
        println!("{name},{rows},{COLUMNS},{},{best:.2}", fs::metadata(path)?.len());
    }
    Ok(())
}
