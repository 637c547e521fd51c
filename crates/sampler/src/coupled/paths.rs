//! How the normals of a long step and of its two halves follow from one Brownian path.

use ridgewalk_coefficients::{FreeFlow, Parameters};

use crate::coupling::Coupling;
use crate::error::Error;
use crate::noise::{Noise, Stream};

/// The normals of a long step and of the two short ones on the same piece of path.
#[derive(Debug, Default)]
pub(super) struct Lists {
    pub(super) first: Vec<f64>,
    pub(super) second: Vec<f64>,
    pub(super) long: Vec<f64>,
    /// The times of the midpoints: for the first short step, the second, and the long one. Empty
    /// unless the kernel has them.
    pub(super) midpoints: [Vec<f64>; 3],
    /// Working space: the normals of one chain that the others are made from.
    pub(super) parts: Vec<f64>,
}

impl Lists {
    /// The noise of the first short step, of the second, and of the long one.
    pub(super) fn steps(&self) -> [Noise<'_>; 3] {
        let [first, second, long] = &self.midpoints;
        [
            Noise { normals: &self.first, uniforms: first },
            Noise { normals: &self.second, uniforms: second },
            Noise { normals: &self.long, uniforms: long },
        ]
    }
}

/// How the noise of a long step and of its two halves is drawn from one Brownian path.
#[derive(Debug)]
pub struct Paths(Kind);

#[derive(Debug)]
enum Kind {
    /// A step uses the piece of path of its own time.
    InStep(Coupling),
    /// The averaged kernel uses the path half a step ahead of θ: a piece of a long step begins in
    /// the middle of a short one's. Pieces of half a short step are put together instead, and the
    /// last of them is kept for the next long step.
    Ahead { halves: Coupling, wholes: Coupling, last: Vec<f64> },
    /// The randomized midpoint cuts the path at a time of its own in each short step; the long step
    /// takes one of these two cuts, each with probability 1/2, which makes its own uniform.
    Cut { xi: f64, short: f64 },
    /// Trajectories of the same duration from the same momenta: one short step, of as many pieces
    /// more, belongs to a long one.
    Shared,
}

impl Paths {
    /// For kernels whose step uses the piece of path of its own time.
    #[must_use]
    pub fn in_step(coupling: Coupling) -> Self {
        Self(Kind::InStep(coupling))
    }

    /// For the averaged kernel, with the parameters of the short steps.
    pub(crate) fn ahead(short: Parameters) -> Result<Self, Error> {
        let (gamma, xi, eta) = (short.gamma(), short.xi(), short.eta());
        let halves = Coupling::symmetric(Parameters::new(gamma, xi, 0.5 * eta)?)?;
        let wholes = Coupling::symmetric(short)?;
        Ok(Self(Kind::Ahead { halves, wholes, last: Vec::new() }))
    }

    /// For the randomized midpoint, with ξ and the length of the short steps.
    pub(crate) fn cut(xi: f64, short: f64) -> Self {
        Self(Kind::Cut { xi, short })
    }

    /// For trajectories whose noise is all at their start.
    pub(crate) fn shared() -> Self {
        Self(Kind::Shared)
    }

    /// How many short steps take as long as a long one.
    pub(super) fn short_steps(&self) -> usize {
        match self.0 {
            Kind::InStep(_) | Kind::Ahead { .. } | Kind::Cut { .. } => 2,
            Kind::Shared => 1,
        }
    }

    /// Draws the normals of one chain for a long step and its two halves. `each` is the number of
    /// normals per chain and step.
    pub(super) fn draw(
        &mut self, chain: usize, each: usize, stream: &mut Stream, lists: &mut Lists,
    ) -> Result<(), Error> {
        let range = chain * each..(chain + 1) * each;
        let (first, second) = (&mut lists.first[range.clone()], &mut lists.second[range.clone()]);
        let long = &mut lists.long[range.clone()];
        match &mut self.0 {
            Kind::InStep(coupling) => {
                stream.normals(first);
                stream.normals(second);
                let extra = &mut lists.parts[..each / coupling.normals() * coupling.extra()];
                stream.normals(extra);
                coupling.combine(first, second, extra, long)
            }
            Kind::Ahead { halves, wholes, last } => {
                if last.len() < range.end {
                    last.resize(range.end, 0.0);
                    stream.normals(&mut last[range.clone()]);
                }
                let (pieces, sums) = lists.parts.split_at_mut(4 * each);
                stream.normals(pieces);
                let piece = |k: usize| &pieces[k * each..(k + 1) * each];
                halves.combine(piece(0), piece(1), &[], first)?;
                halves.combine(piece(2), piece(3), &[], second)?;
                let (early, late) = sums.split_at_mut(each);
                halves.combine(&last[range.clone()], piece(0), &[], early)?;
                halves.combine(piece(1), piece(2), &[], late)?;
                last[range].copy_from_slice(piece(3));
                wholes.combine(early, late, &[], long)
            }
            Kind::Shared => {
                stream.normals(long);
                first.copy_from_slice(long);
                Ok(())
            }
            Kind::Cut { xi, short } => {
                stream.normals(first);
                stream.normals(second);
                let mut drawn = [0.0; 3];
                stream.uniforms(&mut drawn);
                let [early, late, which] = drawn;
                let in_second = which >= 0.5;
                let cut = 0.5 * if in_second { 1.0 + late } else { early };
                for (list, time) in lists.midpoints.iter_mut().zip([early, late, cut]) {
                    list[chain] = time;
                }
                let pieces = [early, 1.0 - early, late, 1.0 - late];
                let mut flows = Vec::with_capacity(pieces.len());
                for share in pieces {
                    flows.push(FreeFlow::new(*xi, share * *short, 1.0)?);
                }
                let mut whole = [FreeFlow::new(*xi, 2.0 * *short * cut, 1.0)?; 2];
                whole[1] = FreeFlow::new(*xi, 2.0 * *short * (1.0 - cut), 1.0)?;
                join(&flows, &whole, if in_second { 3 } else { 1 }, first, second, long);
                Ok(())
            }
        }
    }
}

/// The normals of the two parts of a long step, from those of four pieces of path of which the
/// first `before` make the first part.
fn join(
    pieces: &[FreeFlow], whole: &[FreeFlow; 2], before: usize, first: &[f64], second: &[f64],
    long: &mut [f64],
) {
    let d = long.len() / 4;
    for k in 0..d {
        let normal = |piece: usize, component: usize| {
            let list = if piece < 2 { first } else { second };
            list[(2 * (piece % 2) + component) * d + k]
        };
        for (part, range) in [(0, 0..before), (1, before..4)] {
            let (mut theta, mut p) = (0.0, 0.0);
            for piece in range {
                let flow = &pieces[piece];
                let ([l11, l21, l22], [n1, n2]) =
                    (flow.cholesky(), [0, 1].map(|c| normal(piece, c)));
                theta += flow.reach() * p + l11 * n1;
                p = flow.decay() * p + l21 * n1 + l22 * n2;
            }
            let [c11, c21, c22] = whole[part].cholesky();
            // A part of no length has no noise.
            let z1 = if c11 > 0.0 { theta / c11 } else { 0.0 };
            let z2 = if c22 > 0.0 { (p - c21 * z1) / c22 } else { 0.0 };
            long[2 * part * d + k] = z1;
            long[(2 * part + 1) * d + k] = z2;
        }
    }
}
