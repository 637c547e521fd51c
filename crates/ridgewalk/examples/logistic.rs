//! Fits a logistic regression: hours of study, and who passed. `cargo run --release -p ridgewalk --example logistic`

use std::error::Error;

use ridgewalk::prelude::*;

fn main() -> Result<(), Box<dyn Error>> {
    let hours = vec![0.5, 1.0, 1.5, 1.75, 2.0, 2.5, 3.0, 3.25, 4.0, 4.25, 4.75, 5.5];
    let passed = [0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0];
    let design = Dense::new(hours.len(), 1, hours)?.with_intercept();
    let posterior = Ridge::new(design, Logistic, &passed, Prior::centred(2, 2.5)?)?;

    let mode = posterior.mode()?;
    println!("mode {:.3?} after {} steps of Newton's method", mode.point, mode.iterations);
    let whitening = Whitening::from_hessian(&mode.point, &posterior.hessian(&mode.point)?)?;
    let white = posterior.whitened(&whitening)?;
    let kernel = ThirdOrder::new(Parameters::new(1.2, 2.0, 0.4)?, 1.0)?;

    let mut draws = Memory::default();
    let mut sampler = Sampler::new(&white, &kernel).chains(8).seed(1).warm_up(200).thin(5).draws(5000);
    let outcome = sampler.run(&mut InOriginal::new(&whitening, &mut draws))?;

    println!("{:9} {:>7} {:>7} {:>7} {:>7} {:>6} {:>6}", "", "mean", "sd", "5 %", "95 %", "ESS", "R-hat");
    for (name, s) in ["intercept", "hours"].into_iter().zip(summaries_of_table(&draws.tables(), 2)?) {
        let Summary { mean, sd, q05, q95, ess_bulk, rhat, .. } = s;
        println!("{name:9} {mean:7.3} {sd:7.3} {q05:7.3} {q95:7.3} {ess_bulk:6.0} {rhat:6.3}");
    }
    println!("{} draws, {} gradients, {:.2} s", outcome.draws(), outcome.gradients(), outcome.seconds);
    Ok(())
}
