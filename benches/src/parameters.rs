//! The best parameters of kernels on targets, and the file that stores them.

use ridgewalk::lyapunov::laws::KernelKind;
use ridgewalk_gallery as gallery;

use crate::Failure;
use crate::comparison::Plan;
use crate::problems::{Problem, Visit, on};
use crate::rivals::{Coordinates, note, run, settling};
use crate::runs::{Bias, Run};
use crate::tuning::{Point, Tuned, tune};

/// The best parameters of a kernel on a target: a line of rivals.csv.
#[derive(Debug, Clone, PartialEq)]
pub struct Best {
    /// The target.
    pub target: String,
    /// The kernel.
    pub kernel: KernelKind,
    /// Its parameters.
    pub point: Point,
    /// Effective draws per step.
    pub per_step: f64,
}

/// The first line of rivals.csv.
pub const BEST_HEAD: &str = "target,kernel,coordinates,gamma,xi,eta,ess_per_gradient,mean_bias_sd,mean_noise_sd,sd_bias_percent,\
                             sd_noise_percent,tried\n";

impl Best {
    /// Parses rivals.csv.
    ///
    /// # Errors
    /// For a line in another format.
    pub fn read(text: &str) -> Result<Vec<Self>, Failure> {
        let line = |line: &str| -> Option<Self> {
            let cells: Vec<&str> = line.split(',').collect();
            let number = |k: usize| cells.get(k)?.parse::<f64>().ok();
            let kernel = KernelKind::from_name(cells.get(1)?)?;
            let point = Point {
                coordinates: Coordinates::from_name(cells.get(2)?)?,
                gamma: number(3).unwrap_or(1.0),
                xi: number(4).unwrap_or(1.0),
                eta: number(5)?,
            };
            let gradients = point.scheme(kernel).ok()?.gradients_per_step();
            let per_step = number(6)? * f64::from(gradients);
            Some(Self { target: (*cells.first()?).into(), kernel, point, per_step })
        };
        let lines = text.lines().skip(1).filter(|text| !text.ends_with(",none"));
        lines
            .map(|text| {
                line(text).ok_or_else(|| format!("not a line of parameters: `{text}`").into())
            })
            .collect()
    }

    /// Runs the kernel for `draws` draws of each chain.
    ///
    /// # Errors
    /// If a chain does not finish.
    pub fn run<P: Problem>(&self, problem: &P, draws: u64, seed: u64) -> Result<Run, Failure> {
        let scheme = self.point.scheme(self.kernel)?;
        let (coordinates, steps) = (self.point.coordinates, [settling(self.per_step), draws]);
        let mut run = run(problem, coordinates, &scheme, steps, seed)?;
        run.note = format!("{} in coordinates of the {coordinates}", note(&scheme));
        Ok(run)
    }
}

/// Searches for the best parameters of a kernel on a target. Returns a line of rivals.csv, which
/// ends with `none` if no parameters are within the tolerance.
#[must_use]
pub fn tuned(target: &str, kernel: KernelKind) -> String {
    match on(target, Tune { target, kernel }) {
        Ok(Tuned { best, tried }) => {
            let Point { coordinates, gamma, xi, eta } = best.point;
            let has =
                |has: bool, value: f64| if has { format!("{value:.4}") } else { String::new() };
            let Bias { largest: [mean, sd], noise: [mean_noise, sd_noise], .. } = best.bias;
            format!(
                "{target},{},{coordinates},{},{},{eta:.4},{:.4},{mean:.4},{mean_noise:.4},{:.3},{:.3},{tried}\n",
                kernel.name(),
                has(kernel.has_gamma(), gamma),
                has(kernel.has_xi(), xi),
                best.efficiency,
                100.0 * sd,
                100.0 * sd_noise,
            )
        }
        Err(error) => {
            eprintln!("{target}: {error}");
            format!("{target},{},,,,,,,,,,none\n", kernel.name())
        }
    }
}

struct Tune<'a> {
    target: &'a str,
    kernel: KernelKind,
}

impl Visit for Tune<'_> {
    type Output = Tuned;

    fn visit<P: Problem>(self, problem: &P) -> Result<Tuned, Failure> {
        let reference = gallery::reference(self.target).map_err(|error| error.to_string())?;
        tune(problem, &reference, self.kernel, Plan::of(self.target).effort)
    }
}
