//! Draws as a Zarr store (format 3) that ArviZ and xarray open with one line.
//!
//! ```text
//! draws.zarr/zarr.json                   the root group, with consolidated metadata
//!   posterior/beta                       float64  chain x draw x coef
//!   posterior/chain, draw, coef          the coordinates; coef holds the names of the coefficients
//!   sample_stats/diverging, n_steps      bool and int64  chain x draw
//!   sample_stats/chain, draw
//! ```
//!
//! Numbers are little-endian and not compressed, because draws hardly compress. A chunk of `beta`
//! holds a block of draws of one chain, in the file `c.CHAIN.BLOCK.0`. Chunks always have their
//! full size: beyond the shape they are filled with NaN, which no reader shows. `diverging` and
//! `n_steps` are the same for all draws (a chain that diverges ends and makes no further draw):
//! they have no chunks, which in this format means the fill value.
//!
//! The shape is the number of draws that all chains have. Draws that a chain has beyond them stay
//! in its chunks; the attributes of the root say how many each chain made (`draws_of_chains`),
//! whether any has more than the shape shows (`truncated`), and whether the run has made all its
//! draws (`incomplete`). There is no date in it, so that the same draws give the same bytes.

mod metadata;
mod read;
mod write;
mod writer;

pub use read::{StoredDraws, read_draws, read_every_draw, replay};
pub use write::ZarrDraws;
