//! Memory and time from a large CSV file to its design.
//! `cargo run --release -p ridgewalk-benches --bin framing [--rows 5000000]`.
//!
//! A file with a 0/1 response, numbers and two text columns, framed by the formula of each case on
//! one thread and on all. Each run is a process of its own, so that its peak memory (`VmHWM`) is its
//! own. Writes docs/results/framing.csv. The file is removed at the end.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use clap::Parser;
use ridgewalk::frame::{FamilyName, Frame, Question, Table};
use ridgewalk_benches::Failure;
use ridgewalk_benches::comparison::results;
use ridgewalk_benches::memory::peak;

const NUMBERS: usize = 18;

/// Memory and time from a large CSV file to its design.
#[derive(Debug, Parser)]
struct Arguments {
    /// Rows of the file.
    #[arg(long, default_value_t = 5_000_000)]
    rows: usize,
    /// In a child process: the file.
    #[arg(long, hide = true)]
    file: Option<PathBuf>,
    /// In a child process: the formula.
    #[arg(long, hide = true)]
    formula: Option<String>,
    /// In a child process: threads.
    #[arg(long, hide = true, default_value_t = 0)]
    threads: usize,
}

fn main() -> Result<(), Failure> {
    let arguments = Arguments::parse();
    match (&arguments.file, &arguments.formula) {
        (Some(file), Some(formula)) => child(file, formula, arguments.threads),
        _ => parent(arguments.rows),
    }
}

fn parent(rows: usize) -> Result<(), Failure> {
    let place = tempfile::tempdir()?;
    let file = place.path().join("data.csv");
    write_data(&file, rows)?;
    let megabytes = std::fs::metadata(&file)?.len() as f64 / 1e6;
    let all: Vec<String> = (1..=NUMBERS).map(|k| format!("x{k}")).collect();
    let formulas = [
        format!("y ~ {}", all.join(" + ")),
        "y ~ x1 * city + poly(x2, 2) + bs(x3, df = 5) + log(x4) + grade".to_owned(),
    ];
    let mut text =
        "rows,file_mb,formula,threads,columns,design_mb,peak_mb,read_s,frame_s\n".to_owned();
    for formula in &formulas {
        for threads in [1, std::thread::available_parallelism()?.get()] {
            let mut command = Command::new(std::env::current_exe()?);
            command.arg("--file").arg(&file).arg("--formula").arg(formula);
            let out = command.args(["--threads", &threads.to_string()]).output()?;
            let said = String::from_utf8_lossy(&out.stdout).trim().to_owned();
            if !out.status.success() {
                return Err(format!("{formula}: {}", String::from_utf8_lossy(&out.stderr)).into());
            }
            let line = format!("{rows},{megabytes:.0},\"{formula}\",{threads},{said}");
            println!("{line}");
            text.push_str(&line);
            text.push('\n');
        }
    }
    std::fs::write(results("framing.csv"), text)?;
    Ok(())
}

/// Frames the file and prints what it took.
fn child(file: &Path, formula: &str, threads: usize) -> Result<(), Failure> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    pool.install(|| {
        let began = Instant::now();
        let table = Table::read(file)?;
        let read = began.elapsed().as_secs_f64();
        let question = Question::of_formula(formula.parse()?, FamilyName::Logistic);
        let frame = Frame::new(&table, &question)?;
        let framed = began.elapsed().as_secs_f64() - read;
        let design = 8e-6 * frame.design.stored() as f64;
        let most = peak().ok_or("no peak memory on this system")? * 1.048_576;
        println!("{},{design:.0},{most:.0},{read:.1},{framed:.1}", frame.columns);
        Ok(())
    })
}

/// Writes rows of fixed pseudo-random values.
fn write_data(file: &Path, rows: usize) -> Result<(), Failure> {
    let mut out = BufWriter::with_capacity(1 << 20, File::create(file)?);
    let names: Vec<String> = (1..=NUMBERS).map(|k| format!("x{k}")).collect();
    writeln!(out, "y,city,grade,{}", names.join(","))?;
    let cities = ["Oslo", "Bergen", "Trondheim", "Stavanger"];
    let grades = ["a1", "a2", "a10", "b1", "b2", "c1"];
    let mut state = 1_u64;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / f64::from(1 << 24)
    };
    for _ in 0..rows {
        let y = u8::from(next() < 0.4);
        // Exact products of small numbers: indices stay below the lengths.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let (city, grade) = (cities[(4.0 * next()) as usize], grades[(6.0 * next()) as usize]);
        write!(out, "{y},{city},{grade}")?;
        for _ in 0..NUMBERS {
            write!(out, ",{:.5}", 0.01 + next())?;
        }
        out.write_all(b"\n")?;
    }
    out.flush()?;
    Ok(())
}
