//! Lower bounds on the time of a step on this machine: its matrix products by a library, one pass
//! over the design, its random numbers, and the slopes of its rows.

use std::hint::black_box;

use faer::linalg::matmul::matmul;
use faer::sparse::linalg::matmul::{dense_sparse_matmul, sparse_dense_matmul};
use faer::sparse::{SparseRowMatRef, SymbolicSparseRowMatRef};
use faer::{Accum, MatMut, MatRef, Par};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use ridgewalk::potentials::families::{Family, Logistic, Observation};
use ridgewalk::potentials::{Dense, Prior, Ridge, Sparse};

use crate::Failure;
use crate::data::{numbers, responses};

/// The entries of a design.
#[derive(Debug, Clone)]
pub enum Entries {
    /// All entries, row by row.
    Dense(Vec<f64>),
    /// Compressed rows.
    Sparse {
        /// The start of each row, and the end of the last.
        starts: Vec<usize>,
        /// The column of each entry.
        indices: Vec<usize>,
        /// The entries.
        values: Vec<f64>,
    },
}

/// A logistic regression with rows of about unit length, so that predictors and their steps have
/// realistic sizes.
#[derive(Debug, Clone)]
pub struct Shape {
    /// The number of rows.
    pub rows: usize,
    /// The number of columns.
    pub columns: usize,
    /// The design.
    pub entries: Entries,
    responses: Vec<f64>,
}

impl Shape {
    /// A dense design.
    #[must_use]
    pub fn dense(rows: usize, columns: usize) -> Self {
        let values = numbers(1, rows * columns, (3.0 / columns as f64).sqrt());
        Self { rows, columns, entries: Entries::Dense(values), responses: responses(rows) }
    }

    /// A sparse design with the given share of entries, at random places.
    #[must_use]
    pub fn sparse(rows: usize, columns: usize, share: f64) -> Self {
        let scale = (3.0 / (share * columns as f64)).sqrt().min(2.0);
        let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        // Gaps between entries are geometric, so the time is proportional to the number of entries.
        let gaps = |u: f64| ((0.5 * (u + 1.0)).max(1e-300).ln() / (-share).ln_1p()).min(1e15);
        let mut sizes = numbers(2, 2 * (rows * columns / 50).max(1000), 1.0).into_iter().cycle();
        let mut place = 0.0;
        let all = (rows * columns) as f64;
        let mut row = 0;
        loop {
            place += gaps(sizes.next().unwrap_or(0.0)).floor();
            while row < rows && (place >= all || place >= ((row + 1) * columns) as f64) {
                starts.push(values.len());
                row += 1;
            }
            if row == rows {
                break;
            }
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            indices.push(place as usize % columns);
            values.push(scale * sizes.next().unwrap_or(0.0));
            place += 1.0;
        }
        Self {
            rows,
            columns,
            entries: Entries::Sparse { starts, indices, values },
            responses: responses(rows),
        }
    }

    /// The responses: 0 or 1 for each row.
    #[must_use]
    pub fn responses(&self) -> &[f64] {
        &self.responses
    }

    /// The model.
    ///
    /// # Errors
    /// Never, unless this crate has a mistake.
    pub fn model(&self) -> Result<Ridge<'_, Logistic>, Failure> {
        let prior = Prior::centred(self.columns, 2.5)?;
        Ok(match &self.entries {
            Entries::Dense(values) => Ridge::new(
                Dense::new(self.rows, self.columns, values)?,
                Logistic,
                &self.responses,
                prior,
            )?,
            Entries::Sparse { starts, indices, values } => {
                let design =
                    Sparse::new(self.columns, starts.clone(), indices.clone(), values.clone())?;
                Ridge::new(design, Logistic, &self.responses, prior)?
            }
        })
    }
}

/// Buffers to measure the lower bounds for some chains on a design.
#[derive(Debug)]
pub struct Ceilings<'a> {
    shape: &'a Shape,
    chains: usize,
    both: Vec<f64>,
    predictors: Vec<f64>,
    sums: Vec<f64>,
    normals: Vec<f64>,
    observations: Vec<Observation>,
    generator: ChaCha8Rng,
}

impl<'a> Ceilings<'a> {
    /// Buffers for a number of chains.
    #[must_use]
    pub fn new(shape: &'a Shape, chains: usize) -> Self {
        let Shape { rows, columns, .. } = *shape;
        Self {
            shape,
            chains,
            both: numbers(3, 2 * chains * columns, 1.0),
            predictors: vec![0.0; 2 * chains * rows],
            sums: vec![0.0; chains * columns],
            normals: vec![0.0; 3 * chains * columns],
            observations: shape.responses.iter().map(|y| Observation::of(*y)).collect(),
            generator: ChaCha8Rng::seed_from_u64(1),
        }
    }

    /// A [θ p] and Aᵀ c for all chains, by faer, with chains in the layout that is fastest for it:
    /// columns for a dense design, rows for a sparse one.
    pub fn products(&mut self) {
        let Shape { rows, columns, .. } = *self.shape;
        let chains = self.chains;
        match &self.shape.entries {
            Entries::Dense(values) => {
                let design = MatRef::from_row_major_slice(values, rows, columns);
                let both = MatRef::from_column_major_slice(&self.both, columns, 2 * chains);
                let into =
                    MatMut::from_column_major_slice_mut(&mut self.predictors, rows, 2 * chains);
                matmul(into, Accum::Replace, design, both, 1.0, Par::Seq);
                let slopes = MatRef::from_column_major_slice(
                    &self.predictors[..rows * chains],
                    rows,
                    chains,
                );
                let into = MatMut::from_column_major_slice_mut(&mut self.sums, columns, chains);
                matmul(into, Accum::Replace, design.transpose(), slopes, 1.0, Par::Seq);
            }
            Entries::Sparse { starts, indices, values } => {
                let structure =
                    SymbolicSparseRowMatRef::new_checked(rows, columns, starts, None, indices);
                let design = SparseRowMatRef::new(structure, values);
                let both = MatRef::from_column_major_slice(&self.both, columns, 2 * chains);
                let into =
                    MatMut::from_column_major_slice_mut(&mut self.predictors, rows, 2 * chains);
                sparse_dense_matmul(into, Accum::Replace, design, both, 1.0, Par::Seq);
                let slopes =
                    MatRef::from_row_major_slice(&self.predictors[..rows * chains], chains, rows);
                let into = MatMut::from_row_major_slice_mut(&mut self.sums, chains, columns);
                dense_sparse_matmul(into, Accum::Replace, slopes, design, 1.0, Par::Seq);
            }
        }
        black_box(&self.sums);
    }

    /// One pass over the design.
    pub fn reading(&self) {
        let sum = match &self.shape.entries {
            Entries::Dense(values) => sum(values),
            Entries::Sparse { indices, values, .. } => {
                sum(values) + indices.iter().fold(0, |a: usize, b| a.wrapping_add(*b)) as f64
            }
        };
        black_box(sum);
    }

    /// The normals of a step: three for each coordinate.
    pub fn normals(&mut self) {
        for x in &mut self.normals {
            *x = StandardNormal.sample(&mut self.generator);
        }
        black_box(&self.normals);
    }

    /// The mean slopes of all rows and chains, given the predictors, computed in lists by the
    /// family.
    pub fn slopes(&mut self) {
        let rows = self.shape.rows;
        for chain in 0..self.chains {
            let (s, t) =
                self.predictors[2 * chain * rows..2 * (chain + 1) * rows].split_at_mut(rows);
            for from in (0..rows).step_by(96) {
                let range = from..(from + 96).min(rows);
                let mut slopes = [0.0; 96];
                let slopes = &mut slopes[..range.len()];
                Logistic.mean_slopes(
                    &s[range.clone()],
                    &t[range.clone()],
                    &self.observations[range],
                    slopes,
                );
                black_box(slopes);
            }
        }
    }
}

/// Thirty-two independent sums: as many loads at a time as the machine can execute.
fn sum(values: &[f64]) -> f64 {
    let (chunks, rest) = values.as_chunks::<32>();
    let mut sums = [0.0; 32];
    for chunk in chunks {
        sums.iter_mut().zip(chunk).for_each(|(sum, x)| *sum += x);
    }
    sums.iter().chain(rest).sum()
}
