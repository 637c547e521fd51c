//! `ridgewalk lab orders`: how fast paths converge with the step size, by how smooth the potential
//! is.
//!
//! A smooth potential shows the order of a kernel at its best. How bad it gets for some potential of
//! a class depends on the step: the worst ones oscillate on its scale. So for each step h the
//! potential is another one, with ∇U/L = a x + b ω^−k sin ωx and ω = 8/h, and the k-th derivative of
//! ∇U/L is bounded by the same number for all of them. The distance of steps h and h/2 on one
//! Brownian path, after a time in which the start is forgotten, then falls with the order that a
//! kernel has over the whole class.

use clap::Args;
use ridgewalk::lyapunov::laws::{KernelKind, Scheme};
use ridgewalk::sampler::{CoupledChains, Stream};
use serde::Serialize;

use super::chains::{failed, root_mean};
use super::separable::{Derivative, Separable};
use super::{Common, Power, exact, positive, power};
use crate::failure::Failure;
use crate::output;
use crate::plot::{Panel, Series};

/// The time over which paths are followed.
const TIME: f64 = 20.0;
/// ωh: how far the phase moves over a step at the speed 1. Gauss's rule of two nodes is wrong by
/// about a half there.
const PHASE: f64 = 8.0;
/// Coordinates, which are independent of each other, and pairs of chains.
const COORDINATES: usize = 64;
const PAIRS: usize = 64;
/// γ and ξ, and the duration of a trajectory.
const GAMMA: f64 = 1.2;
const XI: f64 = 2.0;
const TRAJECTORY: f64 = 2.0;

#[derive(Debug, Args)]
pub(super) struct Options {
    /// Longest step; a divisor of 2
    #[arg(long, value_name = "H", default_value_t = 0.25, allow_negative_numbers = true)]
    eta: f64,
    /// How often the step is halved
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=8))]
    halvings: u8,
    /// Seed of the chains
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    common: Common,
}

/// A class of potentials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Gradient,
    Hessian,
    Third,
    Smooth,
}

impl Class {
    const ALL: [Self; 4] = [Self::Gradient, Self::Hessian, Self::Third, Self::Smooth];

    fn name(self) -> &'static str {
        match self {
            Self::Gradient => "gradient",
            Self::Hessian => "hessian",
            Self::Third => "third derivative",
            Self::Smooth => "smooth",
        }
    }

    /// The member of the class that is followed with steps of h.
    fn rough(self, h: f64) -> Rough {
        let frequency = PHASE / h;
        let rough = |slope: f64, bound: f64, order: i32| Rough {
            slope,
            frequency,
            size: bound * frequency.powi(-order),
        };
        match self {
            Self::Gradient => rough(0.6, 0.4, 1),
            // Where the waves do not add to the curvature they may be larger.
            Self::Hessian => rough(0.4, 4.0, 2),
            Self::Third => rough(0.4, 4.0, 3),
            Self::Smooth => Rough { slope: 0.6, frequency: 1.0, size: 0.4 },
        }
    }

    /// The order of paths in published guarantees for the class.
    fn proved(self, kernel: KernelKind) -> Option<f64> {
        let smooth = match self {
            Self::Gradient => 0,
            Self::Hessian => 1,
            Self::Third | Self::Smooth => 2,
        };
        let orders = match kernel {
            KernelKind::ThirdOrder => [2.0; 3],
            KernelKind::Ula => [0.5, 1.0, 1.0],
            KernelKind::Klmc => [1.0; 3],
            KernelKind::RandomizedMidpoint => [1.5; 3],
            KernelKind::Ubu => [1.0, 2.0, 2.0],
            // Scott, O'Kane, Jelinčič and Foster 2025.
            KernelKind::Quicsort => [1.0, 2.0, 3.0],
            KernelKind::Symmetric
            | KernelKind::Averaged
            | KernelKind::Baoab
            | KernelKind::Should
            | KernelKind::Align
            | KernelKind::Hmc
            | KernelKind::Adjusted
            | KernelKind::Subsampled => return None,
        };
        Some(orders[smooth])
    }
}

/// ∇U = `slope` x + `size` sin(`frequency` x) in each coordinate; L = 1.
#[derive(Debug)]
struct Rough {
    slope: f64,
    frequency: f64,
    size: f64,
}

impl Derivative for Rough {
    fn at(&self, x: f64) -> f64 {
        self.slope * x + self.size * (self.frequency * x).sin()
    }

    /// The mean of the sine over a segment is its value in the middle times sin(a)/a, where a is
    /// half the change of the phase.
    fn mean(&self, x: f64, y: f64) -> f64 {
        let (middle, half) = (x + 0.5 * y, 0.5 * self.frequency * y);
        let share = if half.abs() < 1e-4 { 1.0 - half * half / 6.0 } else { half.sin() / half };
        self.slope * middle + self.size * share * (self.frequency * middle).sin()
    }
}

/// The JSON document; its keys are a promise to scripts.
#[derive(Debug, Serialize)]
struct Document {
    results: Vec<Row>,
    orders: Vec<Order>,
}

/// One kernel and step on one class.
#[derive(Debug, Serialize)]
struct Row {
    kernel: &'static str,
    lipschitz: &'static str,
    eta: f64,
    /// The root mean square distance of a coordinate, and its standard error.
    distance: f64,
    error: f64,
}

/// The power of the step that the distance falls with.
#[derive(Debug, Serialize)]
struct Order {
    kernel: &'static str,
    lipschitz: &'static str,
    measured: f64,
    error: f64,
    proved: Option<f64>,
}

pub(super) fn run(options: &Options) -> Result<(), Failure> {
    let kernels = options.common.kernels()?;
    let eta = positive("eta", options.eta)?;
    if (TRAJECTORY / eta).fract() != 0.0 {
        return Err(Failure::Usage(format!("eta = {eta}: need a step that divides {TRAJECTORY}")));
    }
    let (mut results, mut orders) = (Vec::new(), Vec::new());
    for &kernel in &kernels {
        for class in Class::ALL {
            let mut points = Vec::new();
            for halving in 0..=options.halvings {
                let h = eta * 0.5_f64.powi(i32::from(halving));
                let seed = options.seed.wrapping_add(u64::from(halving) << 32);
                let (distance, error) = apart(kernel, class, h, seed)?;
                points.push((h, distance, error));
            }
            let row = |&(eta, distance, error): &(f64, f64, f64)| Row {
                kernel: kernel.name(),
                lipschitz: class.name(),
                eta,
                distance,
                error,
            };
            results.extend(points.iter().map(row));
            orders.extend(Power::measured(&points).map(|order| Order {
                kernel: kernel.name(),
                lipschitz: class.name(),
                measured: order.value,
                error: order.error,
                proved: class.proved(kernel),
            }));
        }
    }
    let document = Document { results, orders };
    let cells = |row: &Row| {
        let numbers = [row.eta, row.distance, row.error].map(|x| exact(Some(x)));
        [row.kernel.to_owned(), row.lipschitz.to_owned()].into_iter().chain(numbers).collect()
    };
    options.common.to.write(
        (&["kernel", "lipschitz", "eta", "distance", "error"], document.results.iter().map(cells)),
        || panels(&document, &kernels),
        &document,
        || text(&document, &kernels),
    )
}

/// The root mean square distance per coordinate of steps h and h/2, and its standard error.
fn apart(kernel: KernelKind, class: Class, h: f64, seed: u64) -> Result<(f64, f64), Failure> {
    let potential = Separable { derivative: class.rough(h), dimension: COORDINATES };
    let scheme = match kernel {
        KernelKind::Hmc => Scheme::new(kernel, GAMMA, 1.0 / TRAJECTORY, h)?,
        _ => Scheme::new(kernel, GAMMA, XI, h)?,
    };
    let mut starts = vec![0.0; COORDINATES * PAIRS];
    Stream::new(seed, 1 << 41).normals(&mut starts);
    let mut chains = CoupledChains::new(&potential, &scheme, 1.0, seed, &starts).map_err(failed)?;
    chains.drift(TIME).map_err(failed)?;
    let pairs = chains.coarse().theta().iter().zip(chains.fine().theta());
    let squares: Vec<f64> = pairs.map(|(a, b)| (a - b) * (a - b)).collect();
    Ok(root_mean(&squares))
}

fn panels(document: &Document, kernels: &[KernelKind]) -> Vec<Panel> {
    let panel = |class: Class| {
        let series = |kernel: &KernelKind| {
            let own = |row: &&Row| row.kernel == kernel.name() && row.lipschitz == class.name();
            let points = document.results.iter().filter(own).map(|row| (row.eta, row.distance));
            Series { name: kernel.name().to_owned(), points: points.collect() }
        };
        Panel {
            title: match class {
                Class::Smooth => "Smooth potential".to_owned(),
                Class::Gradient | Class::Hessian | Class::Third => {
                    format!("Lipschitz {}", class.name())
                }
            },
            x_label: "step size".to_owned(),
            y_label: "distance of steps h and h/2".to_owned(),
            series: kernels.iter().map(series).collect(),
        }
    };
    Class::ALL.into_iter().map(panel).collect()
}

fn text(document: &Document, kernels: &[KernelKind]) -> String {
    let rows = kernels.iter().map(|kernel| {
        let cells = Class::ALL.into_iter().flat_map(|class| {
            let own = |o: &&Order| o.kernel == kernel.name() && o.lipschitz == class.name();
            let found = document.orders.iter().find(own);
            let measured = found.map(|o| Power { value: o.measured, error: o.error });
            let proved = found.and_then(|o| o.proved);
            [power(measured), proved.map_or_else(|| "-".to_owned(), |q| q.to_string())]
        });
        std::iter::once(kernel.name().to_owned()).chain(cells).collect()
    });
    let header = [
        "kernel", "gradient", "proved", "hessian", "proved", "third", "proved", "smooth", "proved",
    ];
    format!(
        "The power of the step with which paths converge, on rough potentials with a Lipschitz gradient, Hessian\n\
         or third derivative, and on a smooth one:\n{}\n\
         A method of order q takes 1/accuracy to the power 1/q. With a Lipschitz gradient alone, every method that follows\n\
         kinetic paths has an order of 1.5 or less on some potential (Cao, Lu and Wang 2020), perhaps not on this one.",
        output::table(header, rows)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integrals_are_those_of_the_gradient_and_derivatives_are_bounded() {
        for class in Class::ALL {
            for h in [0.25, 0.03] {
                let potential = class.rough(h);
                for (x, y) in [(0.3, 0.3), (-2.0, 1e-7), (0.9, 0.0), (1.5, -0.2)] {
                    let points = (0..1000).map(|i| x + y * (f64::from(i) + 0.5) / 1000.0);
                    let mean = points.map(|at| potential.at(at)).sum::<f64>() / 1000.0;
                    let found = potential.mean(x, y);
                    assert!((found - mean).abs() < 1e-4 * 0.4, "{class:?}: {found} and {mean}");
                }
                // The derivative that is bounded is so for every step.
                let (order, bound) = match class {
                    Class::Gradient => (1, 0.4),
                    Class::Hessian => (2, 4.0),
                    Class::Third => (3, 4.0),
                    Class::Smooth => (9, 0.4),
                };
                let Rough { slope, frequency, size } = potential;
                assert!(size * frequency.powi(order) <= bound * (1.0 + 1e-12));
                // The curvature of U/L is between 0 and 1.
                assert!(slope + size * frequency <= 1.0 && slope > size * frequency);
            }
        }
    }
}
