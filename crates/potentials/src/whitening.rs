//! Changes of coordinates θ = centre + W z under which a posterior is nearly round.
//!
//! A row a of a ridge-separable potential becomes Wᵀ a, its offset grows by a·centre, and the
//! quadratic part stays quadratic: the potential is ridge-separable as before, and its line
//! integrals stay exact. With W Wᵀ the inverse of the Hessian at the mode, or a covariance, the
//! condition number falls from thousands to a small number (section 6 of `docs/theory.md`).

use std::borrow::Cow;
use std::sync::Arc;

use faer::linalg::triangular_inverse::invert_lower_triangular;
use faer::{Mat, MatRef, Par, Side};

use crate::black_box::Gradient;
use crate::cholesky::Root;
use crate::error::{Error, GradientError, length};
use crate::rotation::{Rotation, Scaling};
use crate::square;

/// Coordinates z with θ = centre + W z.
///
/// ```
/// use ridgewalk_potentials::Whitening;
///
/// // Two coefficients whose covariance is [[4, 1], [1, 9]].
/// let whitening = Whitening::from_covariance(&[1.0, -1.0], &[4.0, 1.0, 1.0, 9.0])?;
/// let (mut theta, mut back) = ([0.0; 2], [0.0; 2]);
/// whitening.to_original(&[1.0, 0.0], &mut theta)?;
/// assert_eq!(theta, [3.0, -0.5]);
/// whitening.to_whitened(&theta, &mut back)?;
/// assert_eq!(back, [1.0, 0.0]);
/// # Ok::<(), ridgewalk_potentials::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Whitening {
    centre: Vec<f64>,
    map: Map,
    /// The inverse of `map`.
    back: Map,
}

/// The numbers of a [`Whitening`].
#[derive(Debug, Clone, PartialEq)]
pub struct SavedWhitening {
    /// The centre.
    pub centre: Vec<f64>,
    /// Whether W is diagonal, and the two lists are diagonals; else they are matrices, row by row,
    /// of all coordinates or of as many of the last ones as their length says.
    pub diagonal: bool,
    /// W.
    pub map: Vec<f64>,
    /// Its inverse.
    pub back: Vec<f64>,
    /// Where W is a rotation after a matrix for its last coordinates: the numbers of the rotation;
    /// else empty.
    pub rotation: Vec<f64>,
}

/// A linear map of d dimensions.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Map {
    Diagonal(Vec<f64>),
    /// Row by row.
    Matrix(Vec<f64>),
    /// The same for the last coordinates alone, so many of them. Those before stay as they are.
    Last(usize, Vec<f64>),
    /// S Q M: a rotation after a matrix for its last coordinates, row by row.
    Wide(Arc<Rotation>, Vec<f64>),
    /// M Qᵀ S⁻¹: the way back, with the inverse matrix.
    WideBack(Arc<Rotation>, Vec<f64>),
    /// By a sparse factor.
    Factor(Arc<Root>),
    /// The way back.
    FactorBack(Arc<Root>),
}

impl Map {
    /// out += W v.
    pub(crate) fn add_image(&self, v: &[f64], out: &mut [f64]) {
        match self {
            Self::Diagonal(scales) => {
                out.iter_mut().zip(scales).zip(v).for_each(|((out, scale), v)| *out += scale * v);
            }
            Self::Matrix(rows) => square::add_product(rows, v, out),
            Self::Last(count, rows) => {
                let ((head, last), (into, out)) = apart(v, out, *count);
                into.iter_mut().zip(head).for_each(|(out, v)| *out += v);
                square::add_product(rows, last, out);
            }
            _ => self.add_images(v.len(), v, out),
        }
    }

    /// out += Wᵀ v.
    pub(crate) fn add_transposed_image(&self, v: &[f64], out: &mut [f64]) {
        match self {
            Self::Diagonal(_) => self.add_image(v, out),
            Self::Matrix(rows) => square::add_transposed_product(rows, |k| v[k], out),
            Self::Last(count, rows) => {
                let ((head, last), (into, out)) = apart(v, out, *count);
                into.iter_mut().zip(head).for_each(|(out, v)| *out += v);
                square::add_transposed_product(rows, |k| last[k], out);
            }
            _ => self.add_transposed_images(v.len(), v, out),
        }
    }

    /// out += W v for each of several points of d coordinates, stored one after the other: to the
    /// last bit what [`Map::add_image`] does to each.
    pub(crate) fn add_images(&self, d: usize, v: &[f64], out: &mut [f64]) {
        match self {
            Self::Matrix(rows) => square::add_products(rows, d, v, out),
            Self::Wide(rotation, inner) => {
                let inner = |v: &[f64], out: &mut [f64]| {
                    square::add_products(inner, rotation.few(), v, out)
                };
                rotation.add_forward(Scaling::Times, v, out, inner);
            }
            Self::WideBack(rotation, inner) => {
                let inner = |v: &[f64], out: &mut [f64]| {
                    square::add_products(inner, rotation.few(), v, out)
                };
                rotation.add_backward(Scaling::Over, v, out, inner);
            }
            Self::Diagonal(_) | Self::Last(..) => {
                let each = v.chunks_exact(d).zip(out.chunks_exact_mut(d));
                each.for_each(|(v, out)| self.add_image(v, out));
            }
            Self::Factor(root) => root.add_images(v, out),
            Self::FactorBack(root) => root.add_images_back(v, out),
        }
    }

    /// out += Wᵀ v for each of several points.
    pub(crate) fn add_transposed_images(&self, d: usize, v: &[f64], out: &mut [f64]) {
        match self {
            Self::Matrix(rows) => square::add_transposed_products(rows, d, v, out),
            Self::Wide(rotation, inner) => {
                let inner = |v: &[f64], out: &mut [f64]| {
                    square::add_transposed_products(inner, rotation.few(), v, out)
                };
                rotation.add_backward(Scaling::Times, v, out, inner);
            }
            Self::WideBack(rotation, inner) => {
                let inner = |v: &[f64], out: &mut [f64]| {
                    square::add_transposed_products(inner, rotation.few(), v, out)
                };
                rotation.add_forward(Scaling::Over, v, out, inner);
            }
            Self::Diagonal(_) | Self::Last(..) => {
                let each = v.chunks_exact(d).zip(out.chunks_exact_mut(d));
                each.for_each(|(v, out)| self.add_transposed_image(v, out));
            }
            Self::Factor(root) => root.add_transposed_images(v, out),
            Self::FactorBack(root) => root.add_transposed_images_back(v, out),
        }
    }

    /// A bound of the square of | |W|ᵀ v |, with the absolute value of each entry: that itself, or
    /// by the triangle inequality from the lengths of the rows of W.
    pub(crate) fn absolute_square(&self, v: &[f64]) -> f64 {
        let d = v.len();
        let mut out = vec![0.0; d];
        match self {
            Self::Diagonal(scales) => {
                out.iter_mut().zip(scales.iter().zip(v)).for_each(|(o, (s, v))| *o = s.abs() * v);
            }
            Self::Factor(root) => {
                let terms = root.variances().iter().zip(v);
                return terms.map(|(square, v)| square.sqrt() * v).sum::<f64>().powi(2);
            }
            _ => {
                for (row, v) in self.dense(d).chunks_exact(d).zip(v) {
                    out.iter_mut().zip(row).for_each(|(out, w)| *out += w.abs() * v);
                }
            }
        }
        crate::hessian::dot(&out, &out)
    }

    /// A bound of the largest |W x|² for |x| = 1.
    pub(crate) fn largest_square(&self, d: usize) -> f64 {
        match self {
            Self::Diagonal(scales) => scales.iter().map(|s| s * s).fold(0.0, f64::max),
            Self::Wide(rotation, inner) | Self::WideBack(rotation, inner) => {
                let scaling = match self {
                    Self::Wide(..) => Scaling::Times,
                    _ => Scaling::Over,
                };
                let inner: f64 = inner.iter().map(|w| w * w).sum();
                rotation.largest(scaling).powi(2) * inner.max(1.0)
            }
            Self::Factor(root) => root.largest_square(),
            Self::FactorBack(root) => root.largest_square_back(),
            _ => self.dense(d).iter().map(|w| w * w).sum(),
        }
    }

    /// Every entry, row by row.
    pub(crate) fn dense(&self, d: usize) -> Cow<'_, [f64]> {
        match self {
            Self::Matrix(rows) => rows.into(),
            Self::Diagonal(scales) => {
                let mut rows = vec![0.0; d * d];
                rows.iter_mut().step_by(d + 1).zip(scales).for_each(|(entry, s)| *entry = *s);
                rows.into()
            }
            Self::Last(count, last) => {
                let mut rows = vec![0.0; d * d];
                rows.iter_mut().step_by(d + 1).for_each(|entry| *entry = 1.0);
                for (k, row) in last.chunks_exact((*count).max(1)).enumerate() {
                    let end = (d - count + k + 1) * d;
                    rows[end - count..end].copy_from_slice(row);
                }
                rows.into()
            }
            _ => {
                let (mut identity, mut rows) = (vec![0.0; d * d], vec![0.0; d * d]);
                identity.iter_mut().step_by(d + 1).for_each(|entry| *entry = 1.0);
                self.add_transposed_images(d, &identity, &mut rows);
                rows.into()
            }
        }
    }
}

/// Two lists, each cut before its last `count` entries.
type Apart<'a> = ((&'a [f64], &'a [f64]), (&'a mut [f64], &'a mut [f64]));

fn apart<'a>(v: &'a [f64], out: &'a mut [f64], count: usize) -> Apart<'a> {
    let first = v.len() - count;
    (v.split_at(first), out.split_at_mut(first))
}

impl Map {
    /// Wᵀ Q W for a symmetric Q, symmetric to the last bit: code that reads one half relies on it.
    pub(crate) fn congruence(&self, q: &[f64], d: usize) -> Vec<f64> {
        match self {
            Self::Diagonal(scales) => {
                let entry = |(at, q): (usize, &f64)| scales[at / d] * scales[at % d] * q;
                q.iter().enumerate().map(entry).collect()
            }
            _ => {
                let w = self.dense(d);
                let (q, w) = (as_square(q, d), as_square(&w, d));
                let half = q * w;
                let whole = w.transpose() * &half;
                rows_of(Mat::from_fn(d, d, |i, j| 0.5 * (whole[(i, j)] + whole[(j, i)])).as_ref())
            }
        }
    }

    /// W V.
    fn times(&self, other: &Self, d: usize) -> Self {
        match (self, other) {
            // Of no coordinates: the identity.
            (map, Self::Last(0, _)) | (Self::Last(0, _), map) => map.clone(),
            (Self::Diagonal(a), Self::Diagonal(b)) => {
                Self::Diagonal(a.iter().zip(b).map(|(a, b)| a * b).collect())
            }
            (Self::Diagonal(a), Self::Matrix(b)) => {
                Self::Matrix(b.iter().enumerate().map(|(at, b)| a[at / d] * b).collect())
            }
            (Self::Matrix(a), Self::Diagonal(b)) => {
                Self::Matrix(a.iter().enumerate().map(|(at, a)| a * b[at % d]).collect())
            }
            (Self::Last(d, a), Self::Last(other, b)) if d == other => {
                Self::Last(*d, rows_of((as_square(a, *d) * as_square(b, *d)).as_ref()))
            }
            (Self::Wide(rotation, a), Self::Last(k, b)) if rotation.few() == *k => {
                let product = as_square(a, *k) * as_square(b, *k);
                Self::Wide(rotation.clone(), rows_of(product.as_ref()))
            }
            (Self::Last(k, a), Self::WideBack(rotation, b)) if rotation.few() == *k => {
                let product = as_square(a, *k) * as_square(b, *k);
                Self::WideBack(rotation.clone(), rows_of(product.as_ref()))
            }
            _ => {
                let (a, b) = (self.dense(d), other.dense(d));
                Self::Matrix(rows_of((as_square(&a, d) * as_square(&b, d)).as_ref()))
            }
        }
    }
}

impl Whitening {
    /// W with W Wᵀ the inverse of a positive definite matrix, for example the Hessian at the mode;
    /// row by row.
    ///
    /// # Errors
    /// A matrix of the wrong size, with an entry that is not finite, or not positive definite, by
    /// coefficient.
    pub fn from_hessian(centre: &[f64], hessian: &[f64]) -> Result<Self, Error> {
        // H = C Cᵀ gives W = C⁻ᵀ.
        let (factor, inverse) = factors("the Hessian", centre, hessian)?;
        Ok(Self {
            centre: centre.to_vec(),
            map: Map::Matrix(rows_of(inverse.transpose())),
            back: Map::Matrix(rows_of(factor.transpose())),
        })
    }

    /// W with W Wᵀ a given covariance, row by row.
    ///
    /// # Errors
    /// As [`Whitening::from_hessian`].
    pub fn from_covariance(centre: &[f64], covariance: &[f64]) -> Result<Self, Error> {
        let (factor, inverse) = factors("the covariance", centre, covariance)?;
        Ok(Self {
            centre: centre.to_vec(),
            map: Map::Matrix(rows_of(factor.as_ref())),
            back: Map::Matrix(rows_of(inverse.as_ref())),
        })
    }

    /// A scale for each coordinate: θ = centre + scale z. Sparse designs stay sparse.
    ///
    /// # Errors
    /// Lists of different lengths, a centre that is not finite, or a scale that is not positive,
    /// finite and of finite inverse.
    pub fn diagonal(centre: &[f64], scales: &[f64]) -> Result<Self, Error> {
        length("the list of scales", scales.len(), centre.len())?;
        finite_centre(centre)?;
        let unusable = |s: &f64| !(*s > 0.0 && s.is_finite() && (1.0 / s).is_finite());
        if let Some(coefficient) = scales.iter().position(unusable) {
            return Err(Error::Whitening {
                what: "the list of scales",
                coefficient,
                value: scales[coefficient],
                need: "a positive, finite number with a finite inverse",
            });
        }
        Ok(Self {
            centre: centre.to_vec(),
            map: Map::Diagonal(scales.to_vec()),
            back: Map::Diagonal(scales.iter().map(|s| 1.0 / s).collect()),
        })
    }

    /// Coordinates (β, α) of a rotation.
    pub(crate) fn rotated(centre: Vec<f64>, rotation: Rotation) -> Self {
        let k = rotation.few();
        let (rotation, mut identity) = (Arc::new(rotation), vec![0.0; k * k]);
        identity.iter_mut().step_by(k + 1).for_each(|entry| *entry = 1.0);
        let map = Map::Wide(rotation.clone(), identity.clone());
        Self { centre, map, back: Map::WideBack(rotation, identity) }
    }

    /// θ = centre + W z for a root W of the inverse of a sparse matrix.
    pub(crate) fn of_root(centre: Vec<f64>, root: Root) -> Result<Self, Error> {
        finite_centre(&centre)?;
        let root = Arc::new(root);
        Ok(Self { centre, map: Map::Factor(root.clone()), back: Map::FactorBack(root) })
    }

    /// These coordinates within those of a rotation, if they are of its kind: those of the last
    /// ones alone.
    pub(crate) fn within(&self, frame: &Self) -> Option<Self> {
        let (Map::Wide(rotation, inner), Map::WideBack(_, back)) = (&self.map, &self.back) else {
            return None;
        };
        let Map::Wide(same, _) = &frame.map else { return None };
        if !Arc::ptr_eq(rotation, same) && rotation != same {
            return None;
        }
        let mut centre = vec![0.0; self.dimension()];
        frame.to_whitened(&self.centre, &mut centre).ok()?;
        let centre = centre.split_off(self.dimension() - rotation.few());
        Some(Self { centre, map: Map::Matrix(inner.clone()), back: Map::Matrix(back.clone()) })
    }

    /// The coordinates of the last ones alone, if those before stay as they are.
    ///
    /// # Errors
    /// If they do not.
    pub fn last(&self, count: usize) -> Result<Self, Error> {
        let first = self.dimension().saturating_sub(count);
        let matrices = match (&self.map, &self.back) {
            _ if first == 0 => Some((self.map.clone(), self.back.clone())),
            (Map::Last(last, map), Map::Last(_, back)) if *last == count => {
                Some((Map::Matrix(map.clone()), Map::Matrix(back.clone())))
            }
            _ => None,
        };
        match matrices {
            Some((map, back)) => Ok(Self { centre: self.centre[first..].to_vec(), map, back }),
            None => Err(Error::Length {
                what: "the list of last coordinates",
                got: count,
                need: self.dimension(),
            }),
        }
    }

    /// These coordinates for the last ones of `dimension` coordinates. Those before stay as they
    /// are.
    ///
    /// # Errors
    /// A dimension that is less than this one.
    pub fn of_last(self, dimension: usize) -> Result<Self, Error> {
        let count = self.dimension();
        length("the list of coordinates", count.max(dimension), dimension)?;
        if count == dimension {
            return Ok(self);
        }
        let mut centre = vec![0.0; dimension - count];
        centre.extend_from_slice(&self.centre);
        let [map, back] =
            [&self.map, &self.back].map(|map| Map::Last(count, map.dense(count).into_owned()));
        Ok(Self { centre, map, back })
    }

    /// The same W around another centre.
    ///
    /// # Errors
    /// Unless the centre has the dimension and is finite.
    pub fn centred_at(&self, centre: Vec<f64>) -> Result<Self, Error> {
        length("the centre", centre.len(), self.dimension())?;
        if let Some(coefficient) = centre.iter().position(|x| !x.is_finite()) {
            let (what, value, need) = ("the centre", centre[coefficient], "a finite number");
            return Err(Error::Whitening { what, coefficient, value, need });
        }
        Ok(Self { centre, map: self.map.clone(), back: self.back.clone() })
    }

    /// The diagonal of W Wᵀ: the variances of θ when z is standard normal.
    #[must_use]
    pub fn variances(&self) -> Vec<f64> {
        match &self.map {
            Map::Diagonal(scales) => scales.iter().map(|scale| scale * scale).collect(),
            Map::Matrix(rows) => squares(rows, self.dimension()),
            Map::Last(count, rows) => {
                let mut variances = vec![1.0; self.dimension() - count];
                variances.extend(squares(rows, *count));
                variances
            }
            Map::Wide(rotation, inner) => rotation.squares(inner),
            Map::Factor(root) => root.variances().to_vec(),
            _ => squares(&self.map.dense(self.dimension()), self.dimension()),
        }
    }

    /// W Wᵀ, row by row.
    #[must_use]
    pub fn covariance(&self) -> Vec<f64> {
        let d = self.dimension();
        match &self.map {
            Map::Diagonal(scales) => {
                let mut covariance = vec![0.0; d * d];
                let squares = scales.iter().map(|s| s * s);
                covariance.iter_mut().step_by(d + 1).zip(squares).for_each(|(c, s)| *c = s);
                covariance
            }
            _ => {
                let w = self.map.dense(d);
                let w = as_square(&w, d);
                let whole = w * w.transpose();
                rows_of(Mat::from_fn(d, d, |i, j| 0.5 * (whole[(i, j)] + whole[(j, i)])).as_ref())
            }
        }
    }

    /// W.
    pub(crate) fn map(&self) -> &Map {
        &self.map
    }

    /// W⁻¹.
    pub(crate) fn back(&self) -> &Map {
        &self.back
    }

    /// The number of coordinates.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.centre.len()
    }

    /// The point whose z is 0.
    #[must_use]
    pub fn centre(&self) -> &[f64] {
        &self.centre
    }

    /// θ = centre + W z.
    ///
    /// # Errors
    /// Unless both lists have this dimension; also for the methods below.
    pub fn to_original(&self, z: &[f64], theta: &mut [f64]) -> Result<(), Error> {
        self.lengths(z, theta)?;
        theta.copy_from_slice(&self.centre);
        self.map.add_image(z, theta);
        Ok(())
    }

    /// The same for several points, one after the other: to the last bit what
    /// [`Whitening::to_original`] makes of each.
    ///
    /// # Errors
    /// Unless both lists are of whole points, equally many.
    pub fn to_original_all(&self, z: &[f64], theta: &mut [f64]) -> Result<(), Error> {
        let d = self.dimension().max(1);
        length("the list of points", z.len(), z.len() / d * d)?;
        length("the result", theta.len(), z.len())?;
        theta.chunks_exact_mut(d).for_each(|theta| theta.copy_from_slice(&self.centre));
        self.map.add_images(d, z, theta);
        Ok(())
    }

    /// z = W⁻¹ (θ − centre).
    ///
    /// # Errors
    /// As [`Whitening::to_original`].
    pub fn to_whitened(&self, theta: &[f64], z: &mut [f64]) -> Result<(), Error> {
        self.lengths(theta, z)?;
        let shifted: Vec<f64> = theta.iter().zip(&self.centre).map(|(x, c)| x - c).collect();
        z.fill(0.0);
        self.back.add_image(&shifted, z);
        Ok(())
    }

    /// W⁻¹ v: a direction or momentum in the new coordinates.
    ///
    /// # Errors
    /// As [`Whitening::to_original`].
    pub fn direction_to_whitened(&self, v: &[f64], out: &mut [f64]) -> Result<(), Error> {
        self.lengths(v, out)?;
        out.fill(0.0);
        self.back.add_image(v, out);
        Ok(())
    }

    /// Wᵀ g: a gradient in the new coordinates.
    ///
    /// # Errors
    /// As [`Whitening::to_original`].
    pub fn gradient_to_whitened(&self, g: &[f64], out: &mut [f64]) -> Result<(), Error> {
        self.lengths(g, out)?;
        out.fill(0.0);
        self.map.add_transposed_image(g, out);
        Ok(())
    }

    /// W⁻ᵀ g: a gradient in the original coordinates.
    ///
    /// # Errors
    /// As [`Whitening::to_original`].
    pub fn gradient_to_original(&self, g: &[f64], out: &mut [f64]) -> Result<(), Error> {
        self.lengths(g, out)?;
        out.fill(0.0);
        self.back.add_transposed_image(g, out);
        Ok(())
    }

    /// Wᵀ H W: a Hessian in the new coordinates, row by row.
    ///
    /// # Errors
    /// Unless the matrix is d x d.
    pub fn hessian_to_whitened(&self, hessian: &[f64]) -> Result<Vec<f64>, Error> {
        let d = self.dimension();
        length("the Hessian", hessian.len(), d * d)?;
        Ok(self.map.congruence(hessian, d))
    }

    /// This change followed by `next`, a change of the coordinates z: θ = centre + W (centre' + W'
    /// y).
    ///
    /// # Errors
    /// For another dimension.
    pub fn then(&self, next: &Self) -> Result<Self, Error> {
        length("the next whitening", next.dimension(), self.dimension())?;
        let (d, mut centre) = (self.dimension(), self.centre.clone());
        self.map.add_image(&next.centre, &mut centre);
        Ok(Self { centre, map: self.map.times(&next.map, d), back: next.back.times(&self.back, d) })
    }

    /// The change of coordinates that undoes this one.
    #[must_use]
    pub fn inverse(&self) -> Self {
        let mut centre = vec![0.0; self.dimension()];
        self.back.add_image(&self.centre, &mut centre);
        centre.iter_mut().for_each(|c| *c = -*c);
        Self { centre, map: self.back.clone(), back: self.map.clone() }
    }

    /// Its numbers, for storage: [`Whitening::restore`] makes the same whitening from them, bit for
    /// bit.
    #[must_use]
    pub fn saved(&self) -> SavedWhitening {
        let numbers = |map: &Map| match map {
            Map::Diagonal(list) | Map::Matrix(list) | Map::Last(_, list) => list.clone(),
            Map::Wide(_, list) | Map::WideBack(_, list) => list.clone(),
            Map::Factor(_) | Map::FactorBack(_) => Vec::new(),
        };
        let rotation = match &self.map {
            Map::Wide(rotation, _) => rotation.numbers(),
            // The inverse of a rotated whitening: rare, and no rotation of its own. One by a sparse
            // factor is made again from its model, not stored.
            Map::WideBack(..) | Map::Factor(_) | Map::FactorBack(_) => {
                return self.as_matrix().saved();
            }
            _ => Vec::new(),
        };
        SavedWhitening {
            centre: self.centre.clone(),
            diagonal: matches!(self.map, Map::Diagonal(_)),
            map: numbers(&self.map),
            back: numbers(&self.back),
            rotation,
        }
    }

    /// The same change of coordinates with matrices of all entries.
    #[must_use]
    pub fn as_matrix(&self) -> Self {
        let d = self.dimension();
        let [map, back] = [&self.map, &self.back].map(|map| Map::Matrix(map.dense(d).into_owned()));
        Self { centre: self.centre.clone(), map, back }
    }

    /// The whitening that was stored.
    ///
    /// # Errors
    /// Lists of lengths that do not fit, and a number that is not finite.
    pub fn restore(saved: SavedWhitening) -> Result<Self, Error> {
        let SavedWhitening { centre, diagonal, map, back, rotation } = saved;
        let d = centre.len();
        finite_centre(&centre)?;
        let side = if diagonal { d } else { map.len().isqrt().min(d) };
        for (what, list) in [("the map", &map), ("the inverse map", &back)] {
            length(what, list.len(), if diagonal { d } else { side * side })?;
            if let Some(at) = list.iter().position(|x| !x.is_finite()) {
                let row = if diagonal { at } else { d - side + at / side };
                let (coefficient, value) = (row, list[at]);
                return Err(Error::Whitening { what, coefficient, value, need: "a finite number" });
            }
        }
        if !rotation.is_empty() {
            let (what, need) = ("the rotation", "the numbers of a rotation");
            let found = Rotation::from_numbers(&rotation, d, side).filter(|_| !diagonal);
            let Some(rotation) = found.map(Arc::new) else {
                let value = rotation.len() as f64;
                return Err(Error::Whitening { what, coefficient: 0, value, need });
            };
            let map = Map::Wide(rotation.clone(), map);
            return Ok(Self { centre, map, back: Map::WideBack(rotation, back) });
        }
        let kind = |list| match diagonal {
            true => Map::Diagonal(list),
            false if side == d => Map::Matrix(list),
            false => Map::Last(side, list),
        };
        Ok(Self { centre, map: kind(map), back: kind(back) })
    }

    fn lengths(&self, from: &[f64], to: &[f64]) -> Result<(), Error> {
        length("the point", from.len(), self.dimension())?;
        length("the result", to.len(), self.dimension())
    }
}

/// A gradient seen in other coordinates: Wᵀ ∇U(centre + W z).
#[derive(Debug, Clone)]
pub struct Whitened<G> {
    gradient: G,
    whitening: Whitening,
}

impl<G: Gradient> Whitened<G> {
    /// The gradient as a function of z.
    ///
    /// # Errors
    /// A whitening of another dimension.
    pub fn new(gradient: G, whitening: Whitening) -> Result<Self, Error> {
        length("the whitening", whitening.dimension(), gradient.dimension())?;
        Ok(Self { gradient, whitening })
    }
}

thread_local! {
    /// Room for a point and a gradient, kept between calls.
    static ROOM: std::cell::Cell<Vec<f64>> = const { std::cell::Cell::new(Vec::new()) };
}

impl<G: Gradient> Gradient for Whitened<G> {
    fn dimension(&self) -> usize {
        self.whitening.dimension()
    }

    fn gradient(&self, point: &[f64], gradient: &mut [f64]) -> Result<(), GradientError> {
        self.in_original(point, gradient, |theta, slope| self.gradient.gradient(theta, slope))
    }

    fn value_and_gradient(
        &self, point: &[f64], gradient: &mut [f64],
    ) -> Result<Option<f64>, GradientError> {
        self.in_original(point, gradient, |theta, slope| {
            self.gradient.value_and_gradient(theta, slope)
        })
    }

    fn values_and_gradients_at(
        &self, points: &[f64], values: &mut [f64], gradients: &mut [f64],
    ) -> Result<(), Error> {
        let d = self.whitening.dimension().max(1);
        let mut room = ROOM.take();
        room.resize(2 * points.len(), 0.0);
        let (thetas, slopes) = room.split_at_mut(points.len());
        for (point, theta) in points.chunks_exact(d).zip(thetas.chunks_exact_mut(d)) {
            theta.copy_from_slice(&self.whitening.centre);
            self.whitening.map.add_image(point, theta);
        }
        slopes.fill(0.0);
        let outcome = self.gradient.values_and_gradients_at(thetas, values, slopes);
        gradients.fill(0.0);
        for (slope, gradient) in slopes.chunks_exact(d).zip(gradients.chunks_exact_mut(d)) {
            self.whitening.map.add_transposed_image(slope, gradient);
        }
        ROOM.set(room);
        outcome
    }
}

impl<G> Whitened<G> {
    /// Calls `evaluate` in the original coordinates and converts the gradient that it writes to the
    /// whitened ones.
    fn in_original<T>(
        &self, point: &[f64], gradient: &mut [f64],
        evaluate: impl FnOnce(&[f64], &mut [f64]) -> Result<T, GradientError>,
    ) -> Result<T, GradientError> {
        let d = self.whitening.dimension();
        // Taken out while in use, so that a whitened gradient inside another gets room of its own.
        let mut room = ROOM.take();
        room.resize(2 * d, 0.0);
        let (theta, slope) = room.split_at_mut(d);
        theta.copy_from_slice(&self.whitening.centre);
        self.whitening.map.add_image(point, theta);
        slope.fill(0.0);
        let outcome = evaluate(theta, slope);
        gradient.fill(0.0);
        self.whitening.map.add_transposed_image(slope, gradient);
        let outcome = outcome.map_err(|error| match error {
            GradientError::OutsideSupport => error,
            GradientError::Failed(message) => {
                format!("{message} (in original coordinates, at {theta:?})").into()
            }
        });
        ROOM.set(room);
        outcome
    }
}

/// The sum of squares of each row of a square matrix.
fn squares(rows: &[f64], d: usize) -> Vec<f64> {
    rows.chunks_exact(d.max(1)).map(|row| row.iter().map(|w| w * w).sum()).collect()
}

pub(crate) fn as_square(rows: &[f64], d: usize) -> MatRef<'_, f64> {
    MatRef::from_row_major_slice(rows, d, d)
}

pub(crate) fn rows_of(matrix: MatRef<'_, f64>) -> Vec<f64> {
    (0..matrix.nrows()).flat_map(|i| (0..matrix.ncols()).map(move |j| matrix[(i, j)])).collect()
}

fn finite_centre(centre: &[f64]) -> Result<(), Error> {
    match centre.iter().position(|c| !c.is_finite()) {
        Some(coefficient) => Err(Error::Whitening {
            what: "the centre",
            coefficient,
            value: centre[coefficient],
            need: "a finite number",
        }),
        None => Ok(()),
    }
}

/// The lower Cholesky factor of a matrix and its inverse, with the checks that every whitening
/// needs.
fn factors(
    what: &'static str, centre: &[f64], matrix: &[f64],
) -> Result<(Mat<f64>, Mat<f64>), Error> {
    let d = centre.len();
    length(what, matrix.len(), d * d)?;
    if d == 0 {
        return Err(Error::Empty { rows: 0, columns: 0 });
    }
    finite_centre(centre)?;
    let refused =
        |coefficient, value, need| Err(Error::Whitening { what, coefficient, value, need });
    if let Some(at) = matrix.iter().position(|x| !x.is_finite()) {
        return refused(at / d, matrix[at], "a finite number");
    }
    for i in 0..d {
        for j in 0..i {
            let (a, b) = (matrix[i * d + j], matrix[j * d + i]);
            let scale = (matrix[i * d + i] * matrix[j * d + j]).abs().sqrt();
            if !((a - b).abs() <= 1e-8 * scale) {
                return refused(i, a - b, "a symmetric matrix");
            }
        }
    }
    let not_definite = |coefficient: usize| {
        let value = matrix[coefficient * (d + 1)];
        refused(coefficient, value, "a positive definite matrix")
    };
    let factor = match as_square(matrix, d).llt(Side::Lower) {
        Ok(llt) => llt.L().to_owned(),
        Err(faer::linalg::cholesky::llt::factor::LltError::NonPositivePivot { index }) => {
            return not_definite(index.min(d - 1));
        }
    };
    let mut inverse = Mat::zeros(d, d);
    invert_lower_triangular(inverse.as_mut(), factor.as_ref(), Par::Seq);
    let usable = |k: &usize| inverse[(*k, *k)].is_finite() && factor[(*k, *k)] > 0.0;
    match (0..d).find(|k| !usable(k)) {
        Some(k) => not_definite(k),
        None => Ok((factor, inverse)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Coordinates of the last two of five are those of a matrix with an identity before them.
    #[test]
    fn coordinates_of_the_last_ones_are_those_of_the_whole_matrix() {
        let last = Whitening::from_covariance(&[1.0, -1.0], &[4.0, 1.0, 1.0, 9.0]).unwrap();
        let other = Whitening::diagonal(&[0.5, 2.0], &[3.0, 0.1]).unwrap();
        let of = |inner: &Whitening| {
            let small = inner.clone().of_last(5).unwrap();
            let full = Whitening {
                centre: small.centre.clone(),
                map: Map::Matrix(small.map.dense(5).into_owned()),
                back: Map::Matrix(small.back.dense(5).into_owned()),
            };
            (small, full)
        };
        let ((small, full), (next, full_next)) = (of(&last), of(&other));
        let point = [0.3, -2.0, 1.5, 0.7, -0.4];
        let both = |small: &Whitening, full: &Whitening| {
            type Change = fn(&Whitening, &[f64], &mut [f64]) -> Result<(), Error>;
            let changes: [Change; 5] = [
                Whitening::to_original,
                Whitening::to_whitened,
                Whitening::direction_to_whitened,
                Whitening::gradient_to_whitened,
                Whitening::gradient_to_original,
            ];
            for change in changes {
                let [mut a, mut b] = [[0.0; 5]; 2];
                change(small, &point, &mut a).unwrap();
                change(full, &point, &mut b).unwrap();
                assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-14), "{a:?} {b:?}");
            }
            assert_eq!(small.covariance(), full.covariance());
            assert_eq!(small.variances(), full.variances());
            let q: Vec<f64> = (0..25).map(|k| f64::from(k % 5 * (k / 5))).collect();
            let [a, b] = [small, full].map(|w| w.hessian_to_whitened(&q).unwrap());
            assert_eq!(a, b);
        };
        both(&small, &full);
        both(&small.then(&next).unwrap(), &full.then(&full_next).unwrap());
        both(&small.inverse(), &full.inverse());
        assert_eq!(Whitening::restore(small.saved()).unwrap(), small);
        assert_eq!(Whitening::restore(full.saved()).unwrap(), full);
        assert!(last.of_last(1).is_err());
    }
}
