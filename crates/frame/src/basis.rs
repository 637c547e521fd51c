//! Bases of one variable, as R makes them: orthogonal polynomials, B-splines and natural splines.
//! Each is learned from all rows once and then applied to any row.

use serde::{Deserialize, Serialize};

/// A basis with everything that was learned from the data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// x, x², and so on.
    Powers {
        /// The highest power.
        degree: usize,
    },
    /// Polynomials that are orthonormal over the rows and orthogonal to the constant.
    Polynomials {
        /// The centre of each step of the recurrence.
        centres: Vec<f64>,
        /// The sums of squares of the monic polynomials, from degree 0.
        norms: Vec<f64>,
    },
    /// B-splines.
    BSplines {
        /// The degree of the pieces.
        degree: usize,
        /// Inner knots, in order.
        knots: Vec<f64>,
        /// Both ends.
        ends: [f64; 2],
        /// Whether the first spline is kept.
        intercept: bool,
    },
    /// Cubic splines that are linear beyond both ends.
    NaturalSplines {
        /// Inner knots, in order.
        knots: Vec<f64>,
        /// Both ends.
        ends: [f64; 2],
        /// Whether the first spline is kept.
        intercept: bool,
    },
}

impl Basis {
    /// The number of columns.
    #[must_use]
    pub fn width(&self) -> usize {
        match self {
            Self::Powers { degree } => *degree,
            Self::Polynomials { centres, .. } => centres.len(),
            Self::BSplines { degree, knots, intercept, .. } => {
                degree + knots.len() + usize::from(*intercept)
            }
            Self::NaturalSplines { knots, intercept, .. } => {
                knots.len() + 1 + usize::from(*intercept)
            }
        }
    }

    /// Orthogonal polynomials over these values; `None` if there are too few distinct ones.
    ///
    /// The recurrence p_{j+1} = (x − a_j) p_j − (n_j/n_{j−1}) p_{j−1} with a_j = Σ x p_j²/n_j is
    /// the one that R predicts with. R makes the columns of its own rows by a factorisation; both
    /// agree to rounding for the degrees that are allowed here.
    pub(crate) fn polynomials(values: &[f64], degree: usize) -> Option<Self> {
        let mut distinct = values.to_vec();
        distinct.sort_unstable_by(f64::total_cmp);
        distinct.dedup();
        if distinct.len() <= degree {
            return None;
        }
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let mut norms = vec![values.len() as f64];
        let mut centres = Vec::with_capacity(degree);
        let (mut before, mut current) = (vec![0.0; values.len()], vec![1.0; values.len()]);
        for step in 0..degree {
            let sum: f64 = values.iter().zip(&current).map(|(x, p)| (x - mean) * p * p).sum();
            let centre = mean + sum / norms[step];
            let ratio = if step == 0 { 0.0 } else { norms[step] / norms[step - 1] };
            let next: Vec<f64> = values
                .iter()
                .zip(current.iter().zip(&before))
                .map(|(x, (p, q))| (x - centre) * p - ratio * q)
                .collect();
            let norm: f64 = next.iter().map(|p| p * p).sum();
            if !(norm > 0.0 && norm.is_finite()) {
                return None;
            }
            centres.push(centre);
            norms.push(norm);
            before = std::mem::replace(&mut current, next);
        }
        Some(Self::Polynomials { centres, norms })
    }

    /// The basis with everything computed that does not depend on the row.
    pub(crate) fn prepared(&self) -> Prepared<'_> {
        let (knots, reflections) = match self {
            Self::Powers { .. } | Self::Polynomials { .. } => (None, Vec::new()),
            Self::BSplines { degree, knots, ends, .. } => {
                (Some(Knots::new(knots, *ends, *degree)), Vec::new())
            }
            Self::NaturalSplines { knots, ends, intercept } => {
                let knots = Knots::new(knots, *ends, 3);
                let reflections = reflections(&knots, *ends, *intercept);
                (Some(knots), reflections)
            }
        };
        Prepared { basis: self, knots, reflections }
    }
}

/// A basis that is ready for rows.
pub(crate) struct Prepared<'b> {
    basis: &'b Basis,
    knots: Option<Knots>,
    reflections: Vec<Vec<f64>>,
}

impl Prepared<'_> {
    /// Writes the columns of one value.
    pub(crate) fn row(&self, x: f64, out: &mut [f64]) {
        match (self.basis, &self.knots) {
            (Basis::Polynomials { centres, norms }, _) => {
                let (mut before, mut current) = (0.0, 1.0);
                for (step, (value, centre)) in out.iter_mut().zip(centres).enumerate() {
                    let ratio = if step == 0 { 0.0 } else { norms[step] / norms[step - 1] };
                    let next = (x - centre) * current - ratio * before;
                    *value = next / norms[step + 1].sqrt();
                    before = std::mem::replace(&mut current, next);
                }
            }
            (Basis::BSplines { intercept, .. }, Some(knots)) => {
                out.copy_from_slice(&knots.splines(x, 0)[usize::from(!intercept)..]);
            }
            (Basis::NaturalSplines { ends, intercept, .. }, Some(knots)) => {
                self.natural(knots, *ends, *intercept, x, out);
            }
            _ => {
                let mut power = 1.0;
                for value in out {
                    power *= x;
                    *value = power;
                }
            }
        }
    }

    /// Natural splines: the cubic ones, continued as lines, in the coordinates of the space where
    /// the second derivatives at both ends vanish.
    fn natural(&self, knots: &Knots, ends: [f64; 2], intercept: bool, x: f64, out: &mut [f64]) {
        let inside = x.clamp(ends[0], ends[1]);
        let mut splines = knots.splines(inside, 0);
        if x < ends[0] || x > ends[1] {
            let slopes = knots.splines(inside, 1);
            let rows = splines.iter_mut().zip(slopes);
            rows.for_each(|(value, slope)| *value += slope * (x - inside));
        }
        let splines = &mut splines[usize::from(!intercept)..];
        for (step, reflection) in self.reflections.iter().enumerate() {
            reflect(reflection, splines, step);
        }
        out.copy_from_slice(&splines[self.reflections.len()..]);
    }
}

/// The reflections whose product has, in its last rows, a basis of the space where the second
/// derivatives at both ends vanish: R's, by Householder's method with LINPACK's signs.
fn reflections(knots: &Knots, ends: [f64; 2], intercept: bool) -> Vec<Vec<f64>> {
    let mut bends = ends.map(|end| knots.splines(end, 2).split_off(usize::from(!intercept)));
    let mut all = Vec::with_capacity(2);
    for step in 0..2 {
        let reflection = reflection(&bends[step], step);
        bends.iter_mut().skip(step).for_each(|bend| reflect(&reflection, bend, step));
        all.push(reflection);
    }
    all
}

/// The Householder vector that clears a column below `from`, scaled as LINPACK does.
pub(crate) fn reflection(column: &[f64], from: usize) -> Vec<f64> {
    let part = &column[from..];
    let size = part.iter().map(|value| value * value).sum::<f64>().sqrt();
    let size = if part[0] < 0.0 { -size } else { size };
    if size == 0.0 {
        return vec![0.0; part.len()];
    }
    let mut vector: Vec<f64> = part.iter().map(|value| value / size).collect();
    vector[0] += 1.0;
    vector
}

pub(crate) fn reflect(vector: &[f64], column: &mut [f64], from: usize) {
    if vector[0] == 0.0 {
        return;
    }
    let part = &mut column[from..];
    let product: f64 = vector.iter().zip(part.iter()).map(|(a, b)| a * b).sum();
    let by = -product / vector[0];
    part.iter_mut().zip(vector).for_each(|(value, v)| *value += by * v);
}

/// The knots of B-splines, with both ends repeated.
pub(crate) struct Knots {
    degree: usize,
    all: Vec<f64>,
}

impl Knots {
    pub(crate) fn new(inner: &[f64], ends: [f64; 2], degree: usize) -> Self {
        let mut all = vec![ends[0]; degree + 1];
        all.extend(inner);
        all.extend(vec![ends[1]; degree + 1]);
        Self { degree, all }
    }

    /// The value, or a derivative, of every spline at x. Beyond the ends the outer pieces continue
    /// as polynomials, as in R.
    pub(crate) fn splines(&self, x: f64, derivative: usize) -> Vec<f64> {
        let Self { degree, all } = self;
        let count = all.len() - degree - 1;
        // The last interval that begins at or before x, among those that are not empty.
        let interval =
            all[degree + 1..count].iter().take_while(|knot| **knot <= x).count() + degree;
        let low = degree - derivative.min(*degree);
        // Cox and de Boor's recursion, within the piece of that interval.
        let mut values = vec![1.0];
        for order in 1..=low {
            let mut next = vec![0.0; order + 1];
            for (k, value) in values.iter().enumerate() {
                let (left, right) = (all[interval + 1 + k - order], all[interval + 1 + k]);
                let share = value / (right - left);
                next[k] += (right - x) * share;
                next[k + 1] += (x - left) * share;
            }
            values = next;
        }
        for order in low + 1..=*degree {
            let mut next = vec![0.0; order + 1];
            for (k, value) in values.iter().enumerate() {
                let (left, right) = (all[interval + 1 + k - order], all[interval + 1 + k]);
                let share = order as f64 * value / (right - left);
                next[k] -= share;
                next[k + 1] += share;
            }
            values = next;
        }
        let mut splines = vec![0.0; count];
        splines[interval - degree..=interval].copy_from_slice(&values);
        splines
    }
}

/// Quantiles at `count` evenly spaced inner probabilities, by linear interpolation (R's type 7), of
/// sorted values.
pub(crate) fn inner_quantiles(sorted: &[f64], count: usize) -> Vec<f64> {
    (1..=count).map(|k| quantile(sorted, k as f64 / (count + 1) as f64)).collect()
}

/// The quantile of sorted values, by linear interpolation (R's type 7).
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index of the list")]
pub(crate) fn quantile(sorted: &[f64], probability: f64) -> f64 {
    let at = probability * (sorted.len().saturating_sub(1)) as f64;
    // R's allowance for the rounding of the product.
    let below = (at + 4.0 * f64::EPSILON).floor();
    let (index, share) = (below as usize, at - below);
    let share = if share.abs() < 4.0 * f64::EPSILON { 0.0 } else { share };
    let low = sorted.get(index).copied().unwrap_or(f64::NAN);
    let high = sorted.get(index + 1).copied().unwrap_or(low);
    if share == 0.0 { low } else { (1.0 - share) * low + share * high }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(basis: &Basis, x: f64) -> Vec<f64> {
        let mut out = vec![0.0; basis.width()];
        basis.prepared().row(x, &mut out);
        out
    }

    #[test]
    fn polynomials_are_orthonormal() {
        let values: Vec<f64> = (0..40).map(|k| f64::from(k * k % 23) - 3.0).collect();
        let basis = Basis::polynomials(&values, 5).unwrap();
        let rows: Vec<Vec<f64>> = values.iter().map(|&x| row(&basis, x)).collect();
        for i in 0..5 {
            let sum: f64 = rows.iter().map(|row| row[i]).sum();
            assert!(sum.abs() < 1e-12);
            for j in 0..5 {
                let product: f64 = rows.iter().map(|row| row[i] * row[j]).sum();
                assert!((product - f64::from(u8::from(i == j))).abs() < 1e-12);
            }
        }
        assert!(Basis::polynomials(&[1.0, 2.0, 1.0], 2).is_none());
    }

    #[test]
    fn splines_sum_to_one_and_continue_beyond_the_ends() {
        let basis =
            Basis::BSplines { degree: 3, knots: vec![0.2, 0.7], ends: [0.0, 1.0], intercept: true };
        for x in [-0.5, 0.0, 0.1, 0.2, 0.5, 0.7, 0.99, 1.0, 1.3] {
            let sum: f64 = row(&basis, x).iter().sum();
            assert!((sum - 1.0).abs() < 1e-13, "{x}");
        }
    }

    #[test]
    fn natural_splines_are_lines_beyond_the_ends() {
        let basis =
            Basis::NaturalSplines { knots: vec![0.2, 0.7], ends: [0.0, 1.0], intercept: false };
        for (a, b, c) in [(1.0, 1.5, 2.0), (-2.0, -1.0, 0.0)] {
            let [a, b, c] = [a, b, c].map(|x| row(&basis, x));
            for k in 0..basis.width() {
                assert!((a[k] - 2.0 * b[k] + c[k]).abs() < 1e-13);
            }
        }
    }
}
