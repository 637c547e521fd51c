//! A square root of the inverse of a sparse matrix, as a change of coordinates.

use std::sync::OnceLock;

use super::{Symbolic, Tilt, together};

/// W = Pᵀ L⁻ᵀ T⁻¹, with W Wᵀ the inverse of a matrix P M Pᵀ = L T² Lᵀ.
#[derive(Debug)]
pub(crate) struct Root {
    symbolic: Symbolic,
    factor: Vec<f64>,
    tilt: Tilt,
    /// The diagonal of W Wᵀ, found when it is first needed.
    variances: OnceLock<Vec<f64>>,
}

impl PartialEq for Root {
    fn eq(&self, other: &Self) -> bool {
        self.factor == other.factor && self.tilt == other.tilt && self.symbolic == other.symbolic
    }
}

impl Root {
    pub(crate) fn new(symbolic: Symbolic, factor: Vec<f64>, tilt: Tilt) -> Self {
        Self { symbolic, factor, tilt, variances: OnceLock::new() }
    }

    pub(crate) fn size(&self) -> usize {
        self.symbolic.size()
    }

    /// out += W v for several vectors, one after the other.
    pub(crate) fn add_images(&self, v: &[f64], out: &mut [f64]) {
        let d = self.size();
        let (mut from, mut to) = (v.chunks_exact(d), out.chunks_exact_mut(d));
        together!(v.len() / d, K => {
            let mut z: [Vec<f64>; K] =
                std::array::from_fn(|_| from.next().unwrap_or_default().to_vec());
            z.iter_mut().for_each(|z| self.tilt.undo(z));
            let mut x: [Vec<f64>; K] = std::array::from_fn(|_| vec![0.0; d]);
            let into = x.each_mut().map(|x| &mut x[..]);
            self.symbolic.backward(&self.factor, z.each_ref().map(|z| &z[..]), into, &mut Vec::new());
            x.iter().zip(to.by_ref()).for_each(|(x, out)| add(x, out));
        });
    }

    /// out += Wᵀ g for several vectors.
    pub(crate) fn add_transposed_images(&self, g: &[f64], out: &mut [f64]) {
        let d = self.size();
        let (mut from, mut to) = (g.chunks_exact(d), out.chunks_exact_mut(d));
        together!(g.len() / d, K => {
            let g: [&[f64]; K] = std::array::from_fn(|_| from.next().unwrap_or_default());
            let mut z: [Vec<f64>; K] = std::array::from_fn(|_| vec![0.0; d]);
            let into = z.each_mut().map(|z| &mut z[..]);
            self.symbolic.forward(&self.factor, g, into, &mut Vec::new());
            z.iter_mut().for_each(|z| self.tilt.undo(z));
            z.iter().zip(to.by_ref()).for_each(|(z, out)| add(z, out));
        });
    }

    /// out += W⁻¹ v for several vectors.
    pub(crate) fn add_images_back(&self, v: &[f64], out: &mut [f64]) {
        let mut z = vec![0.0; self.size()];
        for (v, out) in v.chunks_exact(z.len()).zip(out.chunks_exact_mut(z.len())) {
            self.symbolic.fold(&self.factor, v, &mut z);
            self.tilt.apply(&mut z);
            add(&z, out);
        }
    }

    /// out += W⁻ᵀ g for several vectors.
    pub(crate) fn add_transposed_images_back(&self, g: &[f64], out: &mut [f64]) {
        let d = self.size();
        let mut x = vec![0.0; d];
        for (g, out) in g.chunks_exact(d).zip(out.chunks_exact_mut(d)) {
            let mut z = g.to_vec();
            self.tilt.apply(&mut z);
            self.symbolic.unfold(&self.factor, &z, &mut x);
            add(&x, out);
        }
    }

    /// The diagonal of W Wᵀ.
    pub(crate) fn variances(&self) -> &[f64] {
        self.variances.get_or_init(|| {
            let mut variances = self.symbolic.inverse_diagonal(&self.factor);
            if let Some((direction, share)) = self.tilt.taken() {
                let mut x = vec![0.0; self.size()];
                let into = [&mut x[..]];
                self.symbolic.backward(&self.factor, [direction], into, &mut Vec::new());
                variances.iter_mut().zip(&x).for_each(|(v, x)| *v -= share * x * x);
            }
            variances
        })
    }

    /// A bound of the largest |W x|² for |x| = 1: the trace of W Wᵀ.
    pub(crate) fn largest_square(&self) -> f64 {
        self.variances().iter().sum()
    }

    /// A bound of the largest |W⁻¹ x|² for |x| = 1.
    pub(crate) fn largest_square_back(&self) -> f64 {
        Symbolic::square(&self.factor) * self.tilt.largest().powi(2)
    }
}

fn add(from: &[f64], to: &mut [f64]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
}
