//! Moves that are reversible for N(0, I), accepted or rejected by a few rows of the data.

use ridgewalk_lyapunov::laws::Scheme;
use ridgewalk_potentials::{LineIntegral, Scratch, Verdict};

use super::{Kernel, LinearKernel, Step};
use crate::acceptance::Proposal;
use crate::error::{Error, positive};
use crate::kernels::{BuiltIn, components};
use crate::noise::Stream;

/// Rotates θ by η towards a fresh standard normal point: in coordinates in which the target is about
/// N(0, I), a quarter turn is an independent draw from that. The move is accepted or rejected by the
/// rows that [`Thinning`](ridgewalk_potentials::Thinning) picks, a few of all, without an error:
/// section 14 of `docs/theory.md`. One step in sixteen rotates by a quarter of η, for points far out,
/// where long moves are rejected. p and r stay as they are.
///
/// The potential must have [`LineIntegral::thinning`]. A step counts no gradients. Where bounds do
/// not hold it evaluates U at both ends.
#[derive(Debug, Clone)]
pub struct Subsampled {
    /// cos and sin of the angle, and of a short one.
    turns: [[f64; 2]; 2],
    smoothness: f64,
    scheme: Scheme,
}

impl Subsampled {
    /// Rotations by this angle, at most a quarter turn. Only p and r, which the kernel does not use,
    /// depend on the smoothness L.
    ///
    /// # Errors
    /// For an angle that is not positive or more than a quarter turn, and a bad L.
    pub fn new(angle: f64, smoothness: f64) -> Result<Self, Error> {
        let scheme = Scheme::subsampled(angle)?;
        let turn = |angle: f64| [angle.cos(), angle.sin()];
        let turns = [turn(angle), turn(angle * Scheme::SHORT_TURN)];
        Ok(Self { turns, smoothness: positive("smoothness", smoothness)?, scheme })
    }

    pub(super) const BUILT_IN: BuiltIn =
        BuiltIn::new(|scheme, smoothness| Ok(Box::new(Self::new(scheme.eta(), smoothness)?)));
}

impl LinearKernel for Subsampled {
    fn scheme(&self) -> &Scheme {
        &self.scheme
    }
}

impl Kernel for Subsampled {
    fn smoothness(&self) -> f64 {
        self.smoothness
    }

    fn name(&self) -> &'static str {
        self.scheme.name()
    }

    fn normals(&self) -> usize {
        1
    }

    fn uniforms(&self) -> usize {
        3
    }

    fn gradients_per_step(&self, _: &dyn LineIntegral) -> u64 {
        0
    }

    fn step(&self, step: Step<'_>) -> Result<u64, Error> {
        step.check(self)?;
        let Step { potential, from, noise, to, workspace } = step;
        let thinning = potential.thinning()?;
        let room = workspace.room(from);
        let lists = to.lists_mut();
        lists.p.copy_from_slice(&from.p);
        lists.r.copy_from_slice(&from.r);
        for chain in 0..from.chains() {
            let range = from.range(chain);
            let [normals] = components(noise, chain, from.dimension());
            let uniforms = &noise.uniforms[3 * chain..3 * chain + 3];
            let [cos, sin] = self.turns[usize::from(uniforms[0] < Scheme::SHORT_TURNS)];
            let (z, new) = (&from.theta[range.clone()], &mut lists.theta[range]);
            for ((new, z), normal) in new.iter_mut().zip(z).zip(normals) {
                *new = cos * z + sin * normal;
            }
            // As many random numbers as it takes: a stream of its own, by those of the step.
            let mut stream = Stream::new(uniforms[1].to_bits(), uniforms[2].to_bits());
            let accepted = match thinning.decide(z, new, &mut || stream.bits())? {
                Verdict::Accepted => true,
                Verdict::Rejected => false,
                Verdict::ByAllRows => {
                    let ratio = by_all_rows(potential, z, new, room.scratch)?;
                    Proposal::new(ratio, stream.uniform()).accepted
                }
            };
            if !accepted {
                new.copy_from_slice(z);
            }
            lists.proposals.push(Proposal {
                energy_error: 0.0,
                probability: f64::from(u8::from(accepted)),
                accepted,
                potential: f64::NAN,
                energy: f64::NAN,
            });
        }
        Ok(0)
    }
}

/// How much more U − |z|²/2 is at the second of two points.
fn by_all_rows(
    potential: &dyn LineIntegral, from: &[f64], to: &[f64], scratch: &mut Scratch,
) -> Result<f64, Error> {
    let points = [from, to].concat();
    let (mut values, mut gradients) = ([0.0; 2], vec![0.0; points.len()]);
    potential.values_and_gradients(&points, &mut values, &mut gradients, scratch)?;
    let squares = |z: &[f64]| z.iter().map(|z| z * z).sum::<f64>();
    Ok(values[1] - values[0] - 0.5 * (squares(to) - squares(from)))
}
