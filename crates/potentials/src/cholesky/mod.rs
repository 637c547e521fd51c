//! Sparse Cholesky factors, and coordinates that they make.

mod factor;
mod gram;
mod root;
mod tilt;

pub(crate) use factor::{Memory, Symbolic};
pub(crate) use gram::Gram;
pub(crate) use root::Root;
pub(crate) use tilt::Tilt;

/// Runs a block for some of `count` vectors after others, `K` at a time.
macro_rules! together {
    ($count:expr, $k:ident => $body:block) => {{
        let mut left = $count;
        while left > 0 {
            match left {
                8.. => {
                    const $k: usize = 8;
                    $body;
                    left -= $k
                }
                4.. => {
                    const $k: usize = 4;
                    $body;
                    left -= $k
                }
                2.. => {
                    const $k: usize = 2;
                    $body;
                    left -= $k
                }
                _ => {
                    const $k: usize = 1;
                    $body;
                    left -= $k
                }
            }
        }
    }};
}
pub(crate) use together;
