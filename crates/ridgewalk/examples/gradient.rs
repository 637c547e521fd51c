//! Samples a density known by the gradient of minus its logarithm, shows progress, and tells how
//! each chain ended. `cargo run --release -p ridgewalk --example gradient`

use std::error::Error;

use ridgewalk::coefficients::Parameters;
use ridgewalk::potentials::Chebyshev;
use ridgewalk::prelude::*;
use ridgewalk::sampler::{ChainStatus, Symmetric};

fn main() -> Result<(), Box<dyn Error>> {
    // U = Σ sqrt(1 + x²): tails like those of a Laplace distribution, curvature at most 1.
    let gradient = |x: &[f64], g: &mut [f64]| {
        g.iter_mut().zip(x).for_each(|(g, x)| *g = x / (1.0 + x * x).sqrt());
        Ok(())
    };
    let target = Chebyshev::new(FromFn::new(10, gradient), 4)?;
    let kernel = Symmetric::new(Parameters::new(0.7, 2.0, 0.7)?, 1.0)?;

    let mut draws = Draws::default();
    let outcome = Sampler::new(&target, &kernel)
        .chains(4)
        .seed(7)
        .warm_up(500)
        .thin(4)
        .draws(20_000)
        .progress(|p| eprint!("\r{:3.0} %", 100.0 * p.steps as f64 / p.of as f64))
        .run(&mut draws)?;
    eprintln!();

    for (chain, report) in outcome.chains.iter().enumerate() {
        match &report.status {
            ChainStatus::Ended(end) => {
                println!("chain {chain} ended at step {}: {}", end.step, end.why)
            }
            _ => println!("chain {chain}: {} draws, {} gradients", report.draws, report.gradients),
        }
    }
    let all: Vec<f64> = (0..4).flat_map(|chain| draws.trace(chain, 0)).collect();
    let variance = all.iter().map(|x| x * x).sum::<f64>() / all.len() as f64;
    // The density exp(-sqrt(1 + x²)) has the variance K2(1)/K1(1), a ratio of Bessel functions.
    println!("variance of the first coordinate: {variance:.3} (exactly 2.699)");
    Ok(())
}
