//! Draws as a Zarr store (format 3) that ArviZ and xarray open with one line.
//!
//! ```text
//! draws.zarr/zarr.json                   the root group, with consolidated metadata
//!   posterior/beta                       float64  chain x draw x coef
//!   posterior/chain, draw, coef          the coordinates; coef holds the names of the coefficients
//!   sample_stats/acceptance_rate         float64  chain x draw: mean over the trajectories since
//!                                        the draw before
//!   sample_stats/energy, lp              float64  chain x draw: the Hamiltonian, and minus the
//!                                        potential, at the draw
//!   sample_stats/diverging, n_steps      bool and int64  chain x draw
//!   sample_stats/chain, draw
//! ```
//!
//! Numbers are little-endian and not compressed, because draws hardly compress. A chunk of `beta`
//! holds a block of draws of one chain, in the file `c.CHAIN.BLOCK.0`. Chunks always have their
//! full size: beyond the shape they are filled with NaN, which no reader shows. Statistics have
//! chunks of the same draws, in files `c.CHAIN.BLOCK`. `n_steps` is the same for all draws: it has
//! no chunks, which in this format means the fill value.
//!
//! Kernels that do not accept or reject have no `acceptance_rate`, `energy` and `lp`, and their
//! `diverging` is always false and has no chunks: a chain that diverges ends and makes no further
//! draw.
//!
//! The shape is the number of draws that all chains have. Draws that a chain has beyond them stay
//! in its chunks; the attributes of the root say how many each chain made (`draws_of_chains`),
//! whether any has more than the shape shows (`truncated`, 0 or 1), and whether the run has not made
//! all its draws (`incomplete`, 0 or 1). There is no date in it, so that the same draws give the same bytes.
//!
//! An [`Export`] has further groups beside these, in the same encoding. Its arrays have one chunk
//! each, or are divided along one dimension: a log likelihood of chain x draw x obs into blocks of
//! rows, in the files `c.0.0.BLOCK`.

mod export;
mod metadata;
mod read;
mod write;
mod writer;

pub use export::{Export, ExportGroup, Stream, Values};
pub use metadata::ValueKind;
pub use read::{StoredDraws, read_draws, read_every_draw, replay};
pub use write::ZarrDraws;
