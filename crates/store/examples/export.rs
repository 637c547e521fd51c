//! Writes small exports for `scripts/checks/export.py`, from made-up draws of two models of the same
//! data: a line (`line.zarr`) and a constant (`constant.zarr`).
//!
//! ```text
//! cargo run -p ridgewalk-store --example export -- DIR
//! ```
//!
//! Draws are independent and normal about the least-squares estimates, with a noise scale of 1: the
//! posterior under flat priors.

use std::path::{Path, PathBuf};

use ridgewalk_sampler::{DrawStats, Sink, SinkError};
use ridgewalk_store::{Export, ValueKind, ZarrDraws};

const CHAINS: usize = 4;
const DRAWS: usize = 250;
const ROWS: usize = 40;

/// Normal numbers by Box and Muller, from the generator SplitMix64.
struct Normals(u64);

impl Normals {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn next(&mut self) -> f64 {
        let (u, v) = (1.0 - self.uniform(), self.uniform());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }
}

/// An entry of the design. The predictor is centred, so that the columns are orthogonal.
fn entry(row: usize, column: usize) -> f64 {
    let predictor = (row as f64 - 0.5 * (ROWS - 1) as f64) / 10.0;
    if column == 0 { 1.0 } else { predictor }
}

fn mean(draw: &[f64], row: usize) -> f64 {
    draw.iter().enumerate().map(|(k, beta)| beta * entry(row, k)).sum()
}

fn log_density(draw: &[f64], row: usize, y: &[f64]) -> f64 {
    -0.5 * (y[row] - mean(draw, row)).powi(2) - 0.5 * std::f64::consts::TAU.ln()
}

/// Draws of a model with as many coefficients as there are names.
fn draws(coefficients: usize, y: &[f64], normals: &mut Normals) -> Vec<Vec<f64>> {
    // Mean and standard deviation of each coefficient.
    let law = |k: usize| {
        let squares: f64 = (0..ROWS).map(|row| entry(row, k).powi(2)).sum();
        let products: f64 = (0..ROWS).map(|row| entry(row, k) * y[row]).sum();
        (products / squares, squares.sqrt().recip())
    };
    let laws: Vec<(f64, f64)> = (0..coefficients).map(law).collect();
    let mut draw = || laws.iter().map(|(mean, sd)| mean + sd * normals.next()).collect();
    (0..CHAINS * DRAWS).map(|_| draw()).collect()
}

/// The draws as a run leaves them.
fn run(
    path: &Path, names: &[String], draws: &[Vec<f64>], y: &[f64], normals: &mut Normals,
) -> Result<(), SinkError> {
    let mut sink = ZarrDraws::create(path, names, 1)?;
    sink.begin(CHAINS, names.len())?;
    for (at, draw) in draws.iter().enumerate() {
        let lp: f64 = (0..ROWS).map(|row| log_density(draw, row, y)).sum();
        let energy = 0.5 * normals.next().powi(2) - lp;
        let stats = DrawStats { acceptance_rate: 0.9, energy, lp, diverging: at == 5 };
        sink.keep_with(at / DRAWS, (at % DRAWS) as u64, draw, Some(&stats))?;
    }
    sink.finish(true)?;
    Ok(())
}

fn write(directory: &Path, name: &str, names: &[&str], y: &[f64]) -> Result<(), SinkError> {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let normals = &mut Normals(7);
    let draws = draws(names.len(), y, normals);
    let store = directory.join(format!("{name}-draws.zarr"));
    run(&store, &names, &draws, y, normals)?;

    let mut export = Export::create(&directory.join(format!("{name}.zarr")))?;
    export.draws(&store)?;
    let dims = ["chain", "draw", "obs"];
    let mut open = |group: &str, words: &str| {
        let mut group = export.group(group)?;
        group.counted("chain", CHAINS)?.counted("draw", DRAWS)?.counted("obs", ROWS)?;
        group.stream("y", &dims, "obs", ValueKind::Float, words)
    };
    let mut likelihood = open("log_likelihood", "log likelihood of each row")?;
    let mut predictive = open("posterior_predictive", "responses drawn from the model")?;
    while let Some(rows) = likelihood.next_block() {
        let (mut densities, mut responses) = (Vec::new(), Vec::new());
        for draw in &draws {
            for row in rows.clone() {
                densities.push(log_density(draw, row, y));
                responses.push(mean(draw, row) + normals.next());
            }
        }
        likelihood.write(&densities)?;
        predictive.write(&responses)?;
    }
    let mut observed = export.group("observed_data")?;
    observed.counted("obs", ROWS)?.array("y", &["obs"], y, "the response")?;
    let mut constant = export.group("constant_data")?;
    constant.counted("obs", ROWS)?.coordinate("coef", &names)?;
    let design: Vec<f64> =
        (0..ROWS).flat_map(|row| (0..names.len()).map(move |k| entry(row, k))).collect();
    constant.array("design", &["obs", "coef"], &design, "columns of the design")?;
    constant.array("trials", &["obs"], &vec![1_i64; ROWS], "")?;
    let mut prior = export.group("prior")?;
    prior.counted("chain", 1)?.counted("draw", DRAWS)?.coordinate("coef", &names)?;
    let beta: Vec<f64> = (0..DRAWS * names.len()).map(|_| 2.5 * normals.next()).collect();
    prior.array("beta", &["chain", "draw", "coef"], &beta, "draws from the prior")?;
    export.finish()?;
    Ok(())
}

fn main() -> Result<(), SinkError> {
    let directory = PathBuf::from(std::env::args().nth(1).ok_or("usage: export DIR")?);
    std::fs::create_dir_all(&directory)?;
    let normals = &mut Normals(1);
    let y: Vec<f64> = (0..ROWS).map(|row| mean(&[0.5, 0.8], row) + normals.next()).collect();
    write(&directory, "line", &["(Intercept)", "x"], &y)?;
    write(&directory, "constant", &["(Intercept)"], &y)
}
