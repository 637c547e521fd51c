//! mini-mcmc's NUTS on a target of the gallery:
//! `ridgewalk-mini-mcmc TARGET WHITENED CHAINS DRAWS SEED`, with 0 or 1 for WHITENED. Prints the
//! figures that `compare` reads.
//!
//! As in the package's own example: acceptance 0.8, 400 steps of warm-up, starts from a standard
//! normal. The log-density and its gradient are ours, through its trait for user-supplied
//! gradients, so that no tensor is involved. It uses a unit metric, adapts only the step, and does
//! not limit the length of a trajectory.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use mini_mcmc::core::{MarkovChain, init_with_seed};
use mini_mcmc::distributions::ManualGradientTarget;
use mini_mcmc::nuts::ManualNUTSChain;
use ridgewalk::potentials::{Scratch, Whitening};
use ridgewalk_benches::clock::Stopwatch;
use ridgewalk_benches::problems::{Density, Problem, Visit, on};
use ridgewalk_benches::runs::{Cost, Measured, Run};
use ridgewalk_benches::{Failure, memory};

/// As its documentation recommends.
const ACCEPTANCE: f64 = 0.8;
const WARM_UP: usize = 400;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [target, whitened, chains, draws, seed] = &arguments[..] else {
        return Err("need TARGET WHITENED CHAINS DRAWS SEED".into());
    };
    let whitened = whitened.parse::<u8>()? != 0;
    let question = Question { whitened, chains: chains.parse()?, draws: draws.parse()?, seed: seed.parse()? };
    // Passes over the data use one thread, as for the other samplers.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    println!("{}", serde_json::to_string(&pool.install(|| on(target, question))?)?);
    Ok(())
}

struct Question {
    whitened: bool,
    chains: usize,
    draws: usize,
    seed: u64,
}

impl Visit for Question {
    type Output = Measured;

    fn visit<P: Problem>(self, problem: &P) -> Result<Measured, Failure> {
        let run = if self.whitened {
            let watch = Stopwatch::start();
            let (whitening, gradients) = problem.laplace()?;
            let density = problem.white(&whitening)?;
            let seconds = watch.seconds();
            let mut run = self.run(&density, Some(&whitening))?;
            run.warm_up.add(Cost { gradients, seconds });
            run
        } else {
            self.run(problem.plain(), None)?
        };
        run.measured(problem.plain().dimension(), memory::peak())
    }
}

impl Question {
    fn run<D: Density>(&self, density: &D, whitening: Option<&Whitening>) -> Result<Run, Failure> {
        let d = density.dimension();
        let mut run = Run::default();
        for (start, chain) in init_with_seed(self.chains, d, self.seed).into_iter().zip(0..) {
            let calls = Rc::new(Cell::new(0));
            let target = Counted { density, scratch: RefCell::default(), calls: Rc::clone(&calls) };
            let watch = Stopwatch::start();
            let mut chain =
                ManualNUTSChain::new(target, start, ACCEPTANCE, WARM_UP).set_seed(1000 * self.seed + chain);
            for _ in 0..WARM_UP {
                chain.step();
            }
            run.warm_up.add(Cost { gradients: calls.take(), seconds: watch.seconds() });
            let watch = Stopwatch::start();
            let mut kept = Vec::with_capacity(d * self.draws);
            let mut theta = vec![0.0; d];
            for _ in 0..self.draws {
                let point = chain.step();
                match whitening {
                    Some(whitening) => {
                        whitening.to_original(point, &mut theta)?;
                        kept.extend_from_slice(&theta);
                    }
                    None => kept.extend_from_slice(point),
                }
            }
            run.sampling.add(Cost { gradients: calls.take(), seconds: watch.seconds() });
            run.draws.push(kept);
        }
        Ok(run)
    }
}

/// A log-density that counts its calls.
struct Counted<'a, D> {
    density: &'a D,
    scratch: RefCell<Scratch>,
    /// Shared, because the chain owns its log-density.
    calls: Rc<Cell<u64>>,
}

impl<D: Density> ManualGradientTarget<f64> for Counted<'_, D> {
    fn unnorm_logp_and_grad_into(&self, position: &[f64], gradient: &mut [f64]) -> f64 {
        self.calls.set(self.calls.get() + 1);
        match self.density.value_and_gradient(position, gradient, &mut self.scratch.borrow_mut()) {
            Ok(value) => {
                gradient.iter_mut().for_each(|g| *g = -*g);
                -value
            }
            // A trajectory ends where the target cannot be evaluated.
            Err(_) => {
                gradient.fill(0.0);
                f64::NEG_INFINITY
            }
        }
    }
}
