//! How the normals of a long step and of its two halves are made of one Brownian path, for each kernel that can be coupled.

use ridgewalk_coefficients::Parameters;
use ridgewalk_lyapunov::laws;

use crate::coupling::Coupling;
use crate::error::Error;
use crate::noise::Stream;

/// The normals of a long step and of the two short ones on the same piece of path.
#[derive(Debug, Default)]
pub(super) struct Lists {
    pub(super) first: Vec<f64>,
    pub(super) second: Vec<f64>,
    pub(super) long: Vec<f64>,
    /// What they are made from, of one chain.
    pub(super) parts: Vec<f64>,
}

/// How the steps of a kernel lie on the path.
#[derive(Debug)]
pub(super) enum Paths {
    /// A step uses the piece of path of its own time.
    InStep(Coupling),
    /// The averaged kernel uses the path half a step ahead of θ: a piece of a long step begins in the middle of a short one's. Pieces of half a
    /// short step are put together instead, and the last of them is kept for the next long step.
    Ahead { halves: Coupling, wholes: Coupling, last: Vec<f64> },
}

impl Paths {
    pub(super) fn new(kernel: laws::Kernel, short: Parameters) -> Result<Self, Error> {
        Ok(match kernel {
            laws::Kernel::ThirdOrder => Self::InStep(Coupling::third_order(short)?),
            laws::Kernel::Symmetric => Self::InStep(Coupling::symmetric(short)?),
            laws::Kernel::Averaged => {
                let half = Parameters::new(short.gamma(), short.xi(), 0.5 * short.eta())?;
                let (halves, wholes) = (Coupling::symmetric(half)?, Coupling::symmetric(short)?);
                Self::Ahead { halves, wholes, last: Vec::new() }
            }
            other => return Err(Error::NoCoupling { name: other.name() }),
        })
    }

    /// Draws the normals of one chain for a long step and its two halves. `each` is how many a step takes.
    pub(super) fn draw(
        &mut self,
        chain: usize,
        each: usize,
        stream: &mut Stream,
        lists: &mut Lists,
    ) -> Result<(), Error> {
        let range = chain * each..(chain + 1) * each;
        let (first, second) = (&mut lists.first[range.clone()], &mut lists.second[range.clone()]);
        let long = &mut lists.long[range.clone()];
        match self {
            Self::InStep(coupling) => {
                stream.normals(first);
                stream.normals(second);
                let extra = &mut lists.parts[..each / coupling.normals() * coupling.extra()];
                stream.normals(extra);
                coupling.combine(first, second, extra, long)
            }
            Self::Ahead { halves, wholes, last } => {
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
        }
    }
}
