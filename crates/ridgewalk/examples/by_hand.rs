//! Steps a kernel by hand: two chains from different points that share their noise, and how they
//! approach each other. `cargo run --release -p ridgewalk --example by_hand`

use std::error::Error;

use ridgewalk::coefficients::Parameters;
use ridgewalk::potentials::Chebyshev;
use ridgewalk::prelude::*;
use ridgewalk::sampler::{Batch, Noise, Step, Stream, ThirdOrder, Workspace};

fn main() -> Result<(), Box<dyn Error>> {
    let gradient = |x: &[f64], g: &mut [f64]| {
        (g[0], g[1]) = (x[0], 0.2 * x[1]);
        Ok(())
    };
    let target = Chebyshev::new(FromFn::new(2, gradient), 2)?;
    let kernel = ThirdOrder::new(Parameters::new(1.45, 2.3, 0.4)?, 1.0)?;

    let (mut now, mut next) = (Batch::new(2, 2)?, Batch::new(2, 2)?);
    now.fields_mut().theta.copy_from_slice(&[5.0, 5.0, -5.0, -5.0]);
    let mut workspace = Workspace::default();
    let mut stream = Stream::new(1, 0);
    let mut normals = [0.0; 12];
    for step in 0..=100 {
        if step % 10 == 0 {
            let theta = now.theta();
            let distance = (theta[0] - theta[2]).hypot(theta[1] - theta[3]);
            println!("step {step:3}: distance {distance:.3e}");
        }
        // Six normals for each chain, the same for both.
        let (first, second) = normals.split_at_mut(6);
        stream.normals(first);
        second.copy_from_slice(first);
        let noise = Noise { normals: &normals, uniforms: &[] };
        let (from, to, workspace) = (&now, &mut next, &mut workspace);
        kernel.step(Step { potential: &target, from, noise, to, workspace })?;
        std::mem::swap(&mut now, &mut next);
    }
    Ok(())
}
