//! Where a search among many rows begins: at the mode of some of them. That takes one pass over all
//! rows, and spares the passes of the iterations that it takes to come near.

use super::{Method, ModeSearch};
use crate::design::{Dense, Design};
use crate::families::Family;
use crate::quadratic::Quadratic;
use crate::ridge::Ridge;

/// The fewest rows for which this is done.
const MANY: usize = 200_000;
/// Rows that are enough, and rows for each column.
const ENOUGH: usize = 20_000;
const PER_COLUMN: usize = 100;
/// How near the mode of these rows is found, in their standard deviations.
const TOLERANCE: f64 = 0.01;

impl ModeSearch {
    /// The mode of rows at equal distances, each counted for those that it stands for; `None` for few
    /// rows, sparse ones, those that other processes share, and where the search among some fails: it
    /// then begins as usual, and says itself what is wrong.
    pub(super) fn of_some_rows<F: Family>(&self, ridge: &Ridge<'_, F>) -> Option<Vec<f64>> {
        let (rows, d) = (ridge.observations().len(), ridge.dimension());
        let step = rows / ENOUGH.max(PER_COLUMN.saturating_mul(d));
        let Quadratic::Diagonal(prior) = ridge.quadratic() else { return None };
        if rows < MANY || step < 4 || ridge.rows().is_shared() {
            return None;
        }
        let places = || (0..rows).step_by(step);
        let mut entries = Vec::with_capacity(places().count() * d);
        match ridge.design() {
            Design::Dense(dense) => {
                let some = dense.values().chunks_exact(d).step_by(step);
                some.for_each(|row| entries.extend_from_slice(row));
            }
            Design::Stored(stored) => {
                stored.for_blocks(step, |_, block| entries.extend_from_slice(&block[..d]));
            }
            Design::Sparse(_) => return None,
        }
        let design = Dense::new(places().count(), d, entries).ok()?;
        let observations = places().map(|row| ridge.observations()[row]).collect();
        // Behind a pointer, so that there is one kind of such models.
        let family: &dyn Family = ridge.family();
        let some = Ridge::of_observations(design, family, observations, prior.clone())
            .and_then(|some| {
                some.with_weights(places().map(|row| ridge.weight(row) * step as f64).collect())
            })
            .and_then(|some| some.with_offsets(places().map(|row| ridge.offset(row)).collect()));
        let search = self.clone().with_method(Method::Newton).with_tolerance(TOLERANCE).ok()?;
        Some(search.of_ridge(&some.ok()?).ok()?.point)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::families::Poisson;
    use crate::{Prior, StoredWriter};

    /// A search from the mode of some rows ends where others do, after fewer iterations, the same from
    /// memory and from a file.
    #[test]
    fn the_mode_of_some_rows_is_near_that_of_all() {
        let (rows, d) = (MANY + 77, 3);
        let number = |k: usize| ((k * 7919 + 13) as f64 * 0.618_033_988_749_895).fract();
        let values: Vec<f64> = (0..rows * d).map(|k| 2.0 * number(k) - 0.8).collect();
        let y: Vec<f64> = (0..rows).map(|i| (4.0 * number(i + 5).powi(3)).floor()).collect();
        let prior = || Prior::centred(d, 3.0).unwrap();
        let mut writer = StoredWriter::new(&std::env::temp_dir(), rows, d).unwrap();
        writer.push(&values).unwrap();
        let file = Ridge::new(writer.finish().unwrap(), Poisson, &y, prior()).unwrap();
        let memory =
            Ridge::new(Dense::new(rows, d, values).unwrap(), Poisson, &y, prior()).unwrap();
        let search = ModeSearch::new();
        let near = search.of_some_rows(&memory).unwrap();
        assert_eq!(search.of_some_rows(&file), Some(near));
        let found = search.of_ridge(&memory).unwrap();
        assert_eq!(search.of_ridge(&file).unwrap(), found);
        let zero = ModeSearch::new().with_start(vec![0.0; d]).of_ridge(&memory).unwrap();
        assert!(found.iterations + 2 <= zero.iterations, "{found:?} {zero:?}");
        for (a, b) in found.point.iter().zip(&zero.point) {
            assert!((a - b).abs() < 1e-9, "{found:?} {zero:?}");
        }
    }
}
