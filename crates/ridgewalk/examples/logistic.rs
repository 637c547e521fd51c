//! Fits a logistic regression: hours of study, and who passed. `cargo run --release -p ridgewalk --example logistic`

use std::error::Error;

use ridgewalk::prelude::*;

fn main() -> Result<(), Box<dyn Error>> {
    let hours = vec![0.5, 1.0, 1.5, 1.75, 2.0, 2.5, 3.0, 3.25, 4.0, 4.25, 4.75, 5.5];
    let passed = [0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0];
    // U'' is at most a quarter of AᵀA plus the prior's precision, and the largest eigenvalue at most the trace.
    let smoothness = 0.25 * hours.iter().map(|h| 1.0 + h * h).sum::<f64>() + 1.0 / (2.5 * 2.5);
    let design = Dense::new(hours.len(), 1, hours)?.with_intercept();
    let posterior = Ridge::new(design, Logistic, &passed, Prior::centred(2, 2.5)?)?;

    let kernel = ThirdOrder::new(Parameters::new(0.6, 2.0, 0.45)?, smoothness)?;
    let mut draws = Memory::default();
    let outcome = Sampler::new(&posterior, &kernel)
        .chains(8)
        .seed(1)
        .warm_up(1000)
        .thin(10)
        .draws(5000)
        .run(&mut draws)?;

    for (name, coefficient) in ["intercept", "hours"].into_iter().zip(0..) {
        let mut all: Vec<f64> =
            (0..draws.chains()).flat_map(|chain| draws.trace(chain, coefficient)).collect();
        all.sort_by(f64::total_cmp);
        let (low, high) = (all[all.len() / 20], all[all.len() * 19 / 20]);
        println!("{name:9} mean {:6.3}   90 % between {low:6.3} and {high:6.3}", draws.mean(coefficient));
    }
    println!("{} draws, {} gradients, {:.2} s", outcome.draws(), outcome.gradients(), outcome.seconds);
    Ok(())
}
