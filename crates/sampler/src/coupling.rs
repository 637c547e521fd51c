//! Two step sizes driven by one Brownian path: the normals of a step of length 2h from those of two
//! steps of length h.
//!
//! The noise of a step is an integral of known functions against the path, and the path of the long
//! step is that of the two short ones. So its standard normals are a linear map of theirs, with
//! orthonormal rows: z' = A z₁ + C z₂ + b g. For Algorithm 1 the long step sees in the first half a
//! function that the three of the short step do not span, hence one further normal g for each
//! coordinate; exact Ornstein-Uhlenbeck steps (of the symmetric splitting and the averaged kernel)
//! and free flows (of the kinetic kernels) compose and need none.
//!
//! Chains that share a path stay close, so that differences between step sizes are known far better
//! than either side: the error of a path over a short time (its strong order) and the bias of the
//! stationary law (section 7 of the mathematics) are measured with it.

use ridgewalk_coefficients::{Coefficients, FreeFlow, OrnsteinUhlenbeck, Parameters, phi1, phi2};
use ridgewalk_quadrature::LineRule;

use crate::error::{Error, Quantity, length};

/// The longest short step, in units of 1/ξ: beyond it the quadrature that compares the noise
/// kernels is no longer exact.
const LONGEST: f64 = 2000.0;

/// How the standard normals of a long step follow from those of the two short steps that it is made
/// of.
#[derive(Debug, Clone, PartialEq)]
pub struct Coupling {
    normals: usize,
    extra: usize,
    /// A row for each normal of the long step: over the first short step's, the second's, and the
    /// extra one.
    matrix: Vec<f64>,
}

impl Coupling {
    /// A coupling of `normals` normals per coordinate and step, with `extra` normals for the long
    /// step alone. `matrix` has a row for each normal of the long step: over those of the first
    /// short step, of the second, and the extra ones.
    ///
    /// # Errors
    /// For no normals, and a matrix of another size.
    pub fn new(normals: usize, extra: usize, matrix: Vec<f64>) -> Result<Self, Error> {
        if normals == 0 {
            return Err(Error::Zero { what: Quantity::Normals });
        }
        length("the matrix of a coupling", matrix.len(), normals * (2 * normals + extra))?;
        Ok(Self { normals, extra, matrix })
    }

    /// For Algorithm 1, with the parameters of the short steps. Takes one extra normal for each
    /// coordinate.
    ///
    /// # Errors
    /// Parameters at which the coefficients of the short or of the long step over- or underflow,
    /// and ξη above 2000.
    pub fn third_order(short: Parameters) -> Result<Self, Error> {
        let z = short.xi() * short.eta();
        if z > LONGEST {
            return Err(ridgewalk_coefficients::Error::TooLong {
                quantity: "xi * eta",
                value: z,
                most: LONGEST,
            }
            .into());
        }
        let long = Parameters::new(short.gamma(), short.xi(), 2.0 * short.eta())?;
        let (short_factor, long_factor) =
            (Coefficients::new(short, 1.0)?.cholesky(), Coefficients::new(long, 1.0)?.cholesky());
        // The noise of the long step: what it sees of the first half, in the orthonormal functions;
        // and of the second, where its kernels are those of a short step.
        let mut matrix = Vec::with_capacity(3 * 7);
        let first = long_on_first_half(short)?;
        let second = lower(short_factor);
        let columns: Vec<[f64; 3]> = (0..3)
            .map(|k| std::array::from_fn(|i| first[i][k]))
            .chain((0..3).map(|k| std::array::from_fn(|i| second[i][k])))
            .chain(std::iter::once(std::array::from_fn(|i| first[i][3])))
            .map(|column| solve_lower(&lower(long_factor), column))
            .collect();
        for i in 0..3 {
            matrix.extend(columns.iter().map(|column| column[i]));
        }
        Ok(Self { normals: 3, extra: 1, matrix })
    }

    /// For the symmetric splitting and for [`crate::Averaged`], whose two normals are those of
    /// their step of (p, r).
    ///
    /// The averaged kernel begins with that step, so its θ is half a step behind the path: paths of
    /// steps η and η/2 from one state are apart by a shift of η/4, and their distance falls like η.
    /// Taken from where their θ are at the same time of the path it falls like η², as that of the
    /// symmetric splitting does.
    ///
    /// # Errors
    /// As [`Coupling::third_order`].
    pub fn symmetric(short: Parameters) -> Result<Self, Error> {
        let long = Parameters::new(short.gamma(), short.xi(), 2.0 * short.eta())?;
        let (short, long) =
            (OrnsteinUhlenbeck::new(short, 1.0)?, OrnsteinUhlenbeck::new(long, 1.0)?);
        let rows = composed(short.flow(), short.cholesky(), long.cholesky());
        Ok(Self { normals: 2, extra: 0, matrix: rows.concat() })
    }

    /// For [`crate::Ula`]: the increments of the path add up.
    #[must_use]
    pub fn ula() -> Self {
        Self { normals: 1, extra: 0, matrix: vec![0.5_f64.sqrt(); 2] }
    }

    /// For [`crate::Klmc`], with the friction and the length of the short steps: free flows
    /// compose.
    ///
    /// # Errors
    /// A bad ξ or η, and ξη above 350.
    pub fn klmc(xi: f64, eta: f64) -> Result<Self, Error> {
        Ok(Self { normals: 2, extra: 0, matrix: flows(xi, eta)?.concat() })
    }

    /// For [`crate::Ubu`], with the friction and the length of the short steps: its two free flows,
    /// before and after the kick, are each made of two of a short step.
    ///
    /// # Errors
    /// As [`Coupling::klmc`].
    pub fn ubu(xi: f64, eta: f64) -> Result<Self, Error> {
        let rows = flows(xi, 0.5 * eta)?;
        let nothing = [0.0; 4];
        let first = rows.iter().map(|row| [*row, nothing].concat());
        let second = rows.iter().map(|row| [nothing, *row].concat());
        Ok(Self { normals: 4, extra: 0, matrix: first.chain(second).flatten().collect() })
    }

    /// For [`crate::Baoab`], with the friction and the length of the short steps: its noise is that
    /// of p alone, which composes. What the path does to θ within a step it does not see, so that
    /// its paths converge like η, though its law does like η².
    ///
    /// # Errors
    /// As [`Coupling::klmc`].
    pub fn baoab(xi: f64, eta: f64) -> Result<Self, Error> {
        let short = FreeFlow::new(xi, eta, 1.0)?;
        let [short_variance, long_variance] =
            [2.0, 4.0].map(|times: f64| -(-times * xi * eta).exp_m1());
        let share = (short_variance / long_variance).sqrt();
        Ok(Self { normals: 1, extra: 0, matrix: vec![short.decay() * share, share] })
    }

    /// For kernels that know a path by its first `normals` components along Legendre's polynomials,
    /// up to three: [`crate::Quicsort`], [`crate::Should`] and [`crate::Align`]. A polynomial on the
    /// long step is one of the same degree on each half, so the components of the halves are enough.
    #[must_use]
    pub fn polynomial(normals: usize) -> Self {
        // P_j((x − 1)/2) in terms of P_i(x), both normalised; on the second half, with x + 1, terms
        // of odd i + j change sign.
        let (third, fifth) = (0.5 * 3.0_f64.sqrt(), 0.75 * (5.0_f64 / 3.0).sqrt());
        let first_half = [[1.0, 0.0, 0.0], [-third, 0.5, 0.0], [0.0, -fifth, 0.25]];
        let normals = normals.clamp(1, 3);
        let mut matrix = Vec::with_capacity(2 * normals * normals);
        for (j, row) in first_half.iter().take(normals).enumerate() {
            for second in [false, true] {
                matrix.extend(row.iter().take(normals).enumerate().map(|(i, factor)| {
                    let sign = if second && (i + j) % 2 == 1 { -1.0 } else { 1.0 };
                    sign * factor * 0.5_f64.sqrt()
                }));
            }
        }
        Self { normals, extra: 0, matrix }
    }

    /// Normals that a step needs for each coordinate.
    #[must_use]
    pub fn normals(&self) -> usize {
        self.normals
    }

    /// Normals that the long step needs beyond those of the short ones, for each coordinate.
    #[must_use]
    pub fn extra(&self) -> usize {
        self.extra
    }

    /// The normals of the long step, for one chain: component by component, as [`crate::Noise`] has
    /// them.
    ///
    /// # Errors
    /// Lists whose lengths do not fit.
    pub fn combine(
        &self, first: &[f64], second: &[f64], extra: &[f64], long: &mut [f64],
    ) -> Result<(), Error> {
        let d = long.len() / self.normals;
        length("the normals of the long step", long.len(), d * self.normals)?;
        length("the normals of the first short step", first.len(), long.len())?;
        length("the normals of the second short step", second.len(), long.len())?;
        length("the extra normals", extra.len(), d * self.extra)?;
        if d == 0 {
            return Ok(());
        }
        let width = 2 * self.normals + self.extra;
        let sources =
            || first.chunks_exact(d).chain(second.chunks_exact(d)).chain(extra.chunks_exact(d));
        for (row, out) in self.matrix.chunks_exact(width).zip(long.chunks_exact_mut(d)) {
            out.fill(0.0);
            for (factor, source) in row.iter().zip(sources()) {
                out.iter_mut().zip(source).for_each(|(out, z)| *out += factor * z);
            }
        }
        Ok(())
    }

    /// The map, a row for each normal of the long step: over those of the first short step, of the
    /// second, and the extra one.
    #[must_use]
    pub fn matrix(&self) -> &[f64] {
        &self.matrix
    }
}

/// The normals of a long step whose noise is n' = E n₁ + n₂, from the lower factors of a short and
/// of the long step's noise.
fn composed(
    e: [[f64; 2]; 2], [l11, l21, l22]: [f64; 3], [c11, c21, c22]: [f64; 3],
) -> [[f64; 4]; 2] {
    let solve = |p: f64, r: f64| [p / c11, (r - c21 * (p / c11)) / c22];
    let columns = [
        solve(e[0][0] * l11 + e[0][1] * l21, e[1][0] * l11 + e[1][1] * l21),
        solve(e[0][1] * l22, e[1][1] * l22),
        solve(l11, l21),
        solve(0.0, l22),
    ];
    [0, 1].map(|i| columns.map(|column| column[i]))
}

/// The same for free flows over one time and over twice that time.
fn flows(xi: f64, time: f64) -> Result<[[f64; 4]; 2], Error> {
    let (short, long) = (FreeFlow::new(xi, time, 1.0)?, FreeFlow::new(xi, 2.0 * time, 1.0)?);
    Ok(composed([[1.0, short.reach()], [0.0, short.decay()]], short.cholesky(), long.cholesky()))
}

/// What a long step sees of its first half, in orthonormal functions of which the first three are
/// those of the short step's factor.
///
/// Orthonormalises the kernels by their values at quadrature nodes: with weights under the root,
/// sums over nodes are integrals over the half step, exact to rounding for functions this smooth.
/// Working with values instead of the 4x4 matrix of integrals halves the digits lost to the near
/// dependence of the kernels.
fn long_on_first_half(short: Parameters) -> Result<[[f64; 4]; 3], Error> {
    let h = short.eta();
    let rule = LineRule::new(nodes(short.xi() * h), h)?;
    let at = |shift: f64| -> [Vec<f64>; 3] {
        let mut rows: [Vec<f64>; 3] = Default::default();
        for (tau, weight) in rule.nodes().iter().zip(rule.weights()) {
            let values = kernels(short.gamma(), short.xi(), tau + shift);
            rows.iter_mut().zip(values).for_each(|(row, value)| row.push(weight.sqrt() * value));
        }
        rows
    };
    let mut basis: Vec<Vec<f64>> = Vec::with_capacity(4);
    for row in at(0.0) {
        let (_, rest) = split(&basis, row);
        basis.push(unit(rest));
    }
    let mut long = [[0.0; 4]; 3];
    let mut rests: Vec<Vec<f64>> = Vec::with_capacity(3);
    for (i, row) in at(h).into_iter().enumerate() {
        let (parts, rest) = split(&basis, row);
        long[i][..3].copy_from_slice(&parts);
        rests.push(rest);
    }
    // What is left of all three is along one function.
    let widest = (0..3).max_by(|a, b| norm(&rests[*a]).total_cmp(&norm(&rests[*b]))).unwrap_or(0);
    let fourth = unit(rests[widest].clone());
    for i in 0..3 {
        long[i][3] = dot(&fourth, &rests[i]);
    }
    Ok(long)
}

/// k_θ, k_p and k_r of section 2 at a time τ before the end of the step, without cancellation,
/// times √L.
fn kernels(gamma: f64, xi: f64, tau: f64) -> [f64; 3] {
    let z = xi * tau;
    let root = (2.0 * xi).sqrt();
    let g = gamma * tau;
    [
        root * g * tau * phi2(z),
        root * g * phi1(z),
        root * ((-z).exp() - g * g * (phi1(z) - phi2(z))),
    ]
}

/// Enough nodes for functions with e^(−2z s), s in [0, 1], to full precision.
fn nodes(z: f64) -> usize {
    let enough = [(1.0, 24), (10.0, 48), (60.0, 128)];
    enough.into_iter().find(|(most, _)| z <= *most).map_or(512, |(_, nodes)| nodes)
}

/// The components of a vector along orthonormal ones, and what is left; twice, because once leaves
/// a trace.
fn split(basis: &[Vec<f64>], mut rest: Vec<f64>) -> (Vec<f64>, Vec<f64>) {
    let mut parts = vec![0.0; basis.len()];
    for _ in 0..2 {
        for (part, direction) in parts.iter_mut().zip(basis) {
            let along = dot(direction, &rest);
            *part += along;
            rest.iter_mut().zip(direction).for_each(|(x, d)| *x -= along * d);
        }
    }
    (parts, rest)
}

fn unit(vector: Vec<f64>) -> Vec<f64> {
    let length = norm(&vector);
    let scale = if length > 0.0 { 1.0 / length } else { 0.0 };
    vector.into_iter().map(|x| x * scale).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

fn lower([l11, l21, l22, l31, l32, l33]: [f64; 6]) -> [[f64; 3]; 3] {
    [[l11, 0.0, 0.0], [l21, l22, 0.0], [l31, l32, l33]]
}

/// x with L x = b.
fn solve_lower(l: &[[f64; 3]; 3], b: [f64; 3]) -> [f64; 3] {
    let x0 = b[0] / l[0][0];
    let x1 = (b[1] - l[1][0] * x0) / l[1][1];
    [x0, x1, (b[2] - l[2][0] * x0 - l[2][1] * x1) / l[2][2]]
}
