//! The problem that a plan solves, and the error of one step of Algorithm 1 on it.

use ridgewalk_coefficients::{Coefficients, Parameters};
use ridgewalk_quadrature::{LineRule, derivative_error_constant, highest_derivative};

use crate::certificate::Process;
use crate::error::{Error, in_range, positive};

/// The largest α of a [`DerivativeBound`].
pub const MAX_ALPHA: u32 = 32;

/// A bound on a higher derivative of U, as in the paper's Assumption 2: the α-th derivative is at
/// most L_α^(α − 1) in tensor norm.
///
/// Along a segment θ + t p the derivative of order j = α − 1 of ∇U/L is then at most L_α^j |p|^j/L.
/// In root mean square |p|^j is √(d (d + 2) ... (d + 2(j − 1)))/L^(j/2), because L|p|² has the
/// χ² law with d degrees of freedom. So over a step η a rule of n nodes errs in ΔU by at most
///
/// ```text
/// q = c(n, j) η^(j + 1) (L_α/√L)^j √(d (d + 2) ... (d + 2(j − 1)))/L
/// ```
///
/// with the sharp constant c(n, j) of [`derivative_error_constant`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DerivativeBound {
    alpha: u32,
    constant: f64,
}

impl DerivativeBound {
    /// ∇^α U is at most `constant`^(α − 1) in tensor norm.
    ///
    /// # Errors
    /// [`Error::NotInRange`] with the argument and its value.
    pub fn new(alpha: u32, constant: f64) -> Result<Self, Error> {
        let order = f64::from(alpha);
        in_range("alpha", order, (2..=MAX_ALPHA).contains(&alpha), "2 to 32")?;
        in_range("L_alpha", constant, constant >= 0.0, "a finite number of at least 0")?;
        Ok(Self { alpha, constant })
    }

    /// The Hessian is `constant`-Lipschitz in the operator norm: α = 3, L_3² = `constant`.
    ///
    /// # Errors
    /// [`Error::NotInRange`] unless the constant is finite and at least 0.
    pub fn lipschitz_hessian(constant: f64) -> Result<Self, Error> {
        let need = "a finite number of at least 0";
        in_range("lipschitz_hessian", constant, constant >= 0.0, need)?;
        let root = constant.sqrt();
        // The square of the root must not be below the constant.
        let root = if root.mul_add(root, -constant) < 0.0 { root.next_up() } else { root };
        Self::new(3, root)
    }

    /// α.
    #[must_use]
    pub fn alpha(&self) -> u32 {
        self.alpha
    }

    /// L_α.
    #[must_use]
    pub fn constant(&self) -> f64 {
        self.constant
    }

    /// j = α − 1, the derivative of the gradient along a segment that is bounded.
    fn derivative(&self) -> usize {
        self.alpha as usize - 1
    }

    /// q/η^(j + 1) for a number of nodes, in units of √(d/L).
    fn error(&self, nodes: usize, smoothness: f64, dimension: f64) -> Result<f64, Error> {
        let j = self.derivative();
        let usable = highest_derivative(nodes);
        if j > usable {
            let needed = if j.is_multiple_of(2) { j - 1 } else { j };
            return Err(Error::TooFewNodes { alpha: self.alpha, nodes, needed });
        }
        // One factor for each power: 0 stays 0, and an overflow is infinite.
        let root = smoothness.sqrt();
        let moments = (1..j).map(|i| (dimension + 2.0 * i as f64).sqrt());
        let scaled = std::iter::once(1.0 / root).chain(moments);
        let constant = derivative_error_constant(nodes, j)?;
        Ok(scaled.fold(constant, |product, factor| product * (self.constant / root * factor)))
    }
}

/// The problem that a plan solves.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    convexity: f64,
    smoothness: f64,
    dimension: f64,
    accuracy: f64,
    line_integral: IntegralRule,
    /// Bounds on the quadrature error of ΔU in units of √(d/L); the least counts.
    quadrature: Vec<Power>,
    start_distance: f64,
    at_rest: bool,
}

/// factor · η^power.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Power {
    factor: f64,
    power: i32,
}

/// How the integral of the gradient along a step is computed.
#[derive(Debug, Clone, PartialEq)]
pub enum IntegralRule {
    /// Exactly, as for ridge-separable potentials: one gradient-equivalent per step.
    Exact,
    /// From the gradient at Chebyshev nodes: one gradient per node and step.
    Nodes {
        /// The number of nodes.
        nodes: usize,
        /// Bounds on higher derivatives of U. The one that gives the least error counts; without
        /// any, the error is bounded by the smoothness alone.
        derivatives: Vec<DerivativeBound>,
    },
}

impl Problem {
    /// A problem with m-strong convexity, L-smoothness, dimension d and accuracy ε in the
    /// Wasserstein-2 distance.
    ///
    /// # Errors
    /// [`Error`] with name and value of an invalid argument.
    pub fn new(
        convexity: f64, smoothness: f64, dimension: u64, accuracy: f64, line_integral: IntegralRule,
    ) -> Result<Self, Error> {
        positive("convexity", convexity)?;
        positive("smoothness", smoothness)?;
        if convexity > smoothness {
            return Err(Error::ConvexityAboveSmoothness { convexity, smoothness });
        }
        positive("accuracy", accuracy)?;
        let dimension = dimension as f64;
        in_range("dimension", dimension, dimension >= 1.0, "at least 1")?;
        let kappa = smoothness / convexity;
        in_range("smoothness / convexity", kappa, kappa < 1e15, "a condition number below 1e15")?;
        // The unit of all lengths.
        let unit = (dimension / smoothness).sqrt();
        in_range(
            "accuracy / sqrt(dimension / smoothness)",
            accuracy / unit,
            accuracy / unit > 1e-300,
            "a number above 1e-300",
        )?;
        let quadrature = quadrature_errors(&line_integral, smoothness, dimension)?;
        Ok(Self {
            convexity,
            smoothness,
            dimension,
            accuracy,
            line_integral,
            quadrature,
            start_distance: 0.0,
            at_rest: false,
        })
    }

    /// The same problem with a start within `distance` of the minimiser instead of there.
    ///
    /// # Errors
    /// [`Error::NotInRange`] unless the distance is at least 0 and, in units of √(d/L), at most
    /// 1e100.
    pub fn with_start_distance(self, distance: f64) -> Result<Self, Error> {
        let need = "a finite number of at least 0";
        in_range("start_distance", distance, distance >= 0.0, need)?;
        in_range(
            "start_distance / sqrt(dimension / smoothness)",
            distance / self.unit(),
            distance / self.unit() <= 1e100,
            "at most 1e100",
        )?;
        Ok(Self { start_distance: distance, ..self })
    }

    /// The same problem, started with p = r = 0 instead of from N(0, I/L).
    #[must_use]
    pub fn started_at_rest(self) -> Self {
        Self { at_rest: true, ..self }
    }

    /// κ = L/m, rounded up: a certificate for some κ also holds for smaller κ, but not for larger.
    #[must_use]
    pub fn condition_number(&self) -> f64 {
        if self.convexity == self.smoothness {
            1.0
        } else {
            (self.smoothness / self.convexity).next_up()
        }
    }

    /// ε.
    pub(super) fn accuracy(&self) -> f64 {
        self.accuracy
    }

    /// ε in units of √(d/L).
    pub(super) fn scaled_accuracy(&self) -> f64 {
        self.accuracy * (self.smoothness / self.dimension).sqrt()
    }

    /// √(d/L), the unit of length.
    pub(super) fn unit(&self) -> f64 {
        (self.dimension / self.smoothness).sqrt()
    }

    pub(super) fn is_at_rest(&self) -> bool {
        self.at_rest
    }

    /// A bound on E|θ_0 − θ|² in units of d/L, with θ from the target: κ + 2 δ √(κ − 1) + δ².
    ///
    /// E|θ − θ*|² is at most κ, and the covariance of θ is at least that of the inverse mean
    /// Hessian, whose trace is at least 1. So the mean of θ is within √(κ − 1) of θ*.
    pub(super) fn square_distance(&self) -> f64 {
        let kappa = self.condition_number();
        let delta = self.start_distance / self.unit();
        kappa + delta * (2.0 * (kappa - 1.0).sqrt() + delta)
    }

    /// The step size at which the search begins, at or above the best: √ε, or less if the
    /// quadrature error is then far above ε.
    pub(super) fn largest_useful_step(&self) -> f64 {
        let accuracy = self.scaled_accuracy();
        let mut eta = accuracy.sqrt().min(1.0);
        while self.condition_number() * self.quadrature_error(eta) > 30.0 * accuracy * eta {
            eta *= 0.7;
        }
        eta
    }

    pub(super) fn process(&self, eta: f64) -> Process {
        let nodes = match &self.line_integral {
            IntegralRule::Exact => None,
            IntegralRule::Nodes { nodes, .. } => Some(*nodes),
        };
        Process::ThirdOrder { eta, nodes }
    }

    pub(super) fn gradients_per_step(&self) -> u64 {
        match &self.line_integral {
            IntegralRule::Exact => 1,
            IntegralRule::Nodes { nodes, .. } => *nodes as u64,
        }
    }

    /// A bound on the error of the rule in ΔU over a step, in units of √(d/L); 0 if the integral is
    /// exact.
    fn quadrature_error(&self, eta: f64) -> f64 {
        let bounds = self.quadrature.iter().map(|bound| bound.factor * eta.powi(bound.power));
        bounds.reduce(f64::min).unwrap_or(0.0)
    }

    /// e_θ, e_p and e_r in units of √(d/L).
    ///
    /// An error q in the quadrature of ΔU adds q to e_p, η/2 q to e_θ and μ31 q to e_r.
    pub(super) fn one_step_errors(&self, parameters: Parameters) -> Result<[f64; 3], Error> {
        let (gamma, eta) = (parameters.gamma(), parameters.eta());
        let [e_theta, e_p, e_r] = errors_of_one_step(gamma, eta);
        if self.quadrature.is_empty() {
            return Ok([e_theta, e_p, e_r]);
        }
        let q = self.quadrature_error(eta);
        let mu31 = Coefficients::new(parameters, 1.0)?.mu31();
        Ok([e_theta + 0.5 * eta * q, e_p + q, e_r + mu31 * q])
    }
}

/// e_θ, e_p and e_r with exact line integrals, in units of √(d/L).
pub(crate) fn errors_of_one_step(gamma: f64, eta: f64) -> [f64; 3] {
    let g2 = gamma * gamma;
    let a = (1.0 + g2).sqrt();
    let e_theta = eta.powi(3) / 12.0 + (1.0 + g2) * a * eta.powi(4) / 24.0;
    let e_p = (1.0 + g2) * a * eta.powi(3) / 6.0;
    [e_theta, e_p, gamma * e_theta]
}

/// Bounds on the quadrature error, from the smoothness (the derivative of the gradient along a
/// segment is at most L |p|, whose root mean square is √(d L)) and from each higher derivative.
fn quadrature_errors(
    rule: &IntegralRule, smoothness: f64, dimension: f64,
) -> Result<Vec<Power>, Error> {
    let IntegralRule::Nodes { nodes, derivatives } = rule else { return Ok(Vec::new()) };
    LineRule::new(*nodes, 1.0)?;
    let mut errors = vec![Power { factor: derivative_error_constant(*nodes, 1)?, power: 2 }];
    for bound in derivatives {
        let factor = bound.error(*nodes, smoothness, dimension)?;
        let power = i32::try_from(bound.alpha).unwrap_or(i32::MAX);
        errors.push(Power { factor, power });
    }
    Ok(errors)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::matrix::Matrix;

    /// The state of the diffusion and of one step, for one coordinate of a quadratic potential: θ,
    /// p, r of the diffusion; θ, p, r of the step and the r that drives its first stage; and the
    /// three starting values.
    const SIZE: usize = 10;

    /// The root mean square distances of θ, p and r between one step and the diffusion at curvature
    /// l, both from the stationary law and with the same Brownian motion: the covariance of the
    /// state above, by the classical Runge-Kutta method.
    pub(crate) fn true_errors(gamma: f64, xi: f64, eta: f64, l: f64) -> [f64; 3] {
        let mut a = [[0.0; SIZE]; SIZE];
        a[0][1] = 1.0;
        a[1][0] = -l;
        a[1][2] = gamma;
        a[2][1] = -gamma;
        a[2][2] = -xi;
        a[3][4] = 1.0;
        // The averaged gradient along θ0 + t p0.
        a[4][7] = -l;
        a[4][8] = -0.5 * l * eta;
        a[4][6] = gamma;
        a[5][4] = -gamma;
        a[5][5] = -xi;
        a[6][8] = -gamma;
        a[6][6] = -xi;
        let driven = [2, 5, 6];
        let slope = |c: &Matrix<SIZE>| {
            let ac = crate::matrix::product(&a, c);
            let mut sum: Matrix<SIZE> = crate::matrix::from_fn(|i, j| ac[i][j] + ac[j][i]);
            for i in driven {
                for j in driven {
                    sum[i][j] += 2.0 * xi;
                }
            }
            sum
        };
        let variances = [1.0 / l, 1.0, 1.0];
        let origin = |i: usize| [0, 1, 2, 0, 1, 2, 2, 0, 1, 2][i];
        let mut c: Matrix<SIZE> =
            crate::matrix::from_fn(
                |i, j| if origin(i) == origin(j) { variances[origin(i)] } else { 0.0 },
            );
        const PIECES: u32 = 100;
        let h = eta / f64::from(PIECES);
        for _ in 0..PIECES {
            let k1 = slope(&c);
            let k2 = slope(&crate::matrix::combine(1.0, &c, 0.5 * h, &k1));
            let k3 = slope(&crate::matrix::combine(1.0, &c, 0.5 * h, &k2));
            let k4 = slope(&crate::matrix::combine(1.0, &c, h, &k3));
            c = crate::matrix::from_fn(|i, j| {
                c[i][j] + h / 6.0 * (k1[i][j] + 2.0 * k2[i][j] + 2.0 * k3[i][j] + k4[i][j])
            });
        }
        std::array::from_fn(|i| (c[i][i] - 2.0 * c[i][i + 3] + c[i + 3][i + 3]).max(0.0).sqrt())
    }

    #[test]
    fn one_step_differs_from_the_diffusion_by_no_more_than_the_bounds() {
        let problem = Problem::new(0.1, 1.0, 1, 1.0, IntegralRule::Exact).unwrap();
        let mut closest = [0.0_f64; 3];
        for (gamma, xi) in [(1.2, 1.6), (0.3, 3.0), (2.5, 0.7), (0.05, 1.0)] {
            for eta in [0.1, 0.3, 0.8] {
                let bounds =
                    problem.one_step_errors(Parameters::new(gamma, xi, eta).unwrap()).unwrap();
                for l in [0.1, 0.3, 0.7, 1.0] {
                    let errors = true_errors(gamma, xi, eta, l);
                    for i in 0..3 {
                        assert!(
                            errors[i] <= bounds[i],
                            "({gamma}, {xi}, {eta}), l = {l}: {errors:?} above {bounds:?}"
                        );
                        closest[i] = closest[i].max(errors[i] / bounds[i]);
                    }
                }
            }
        }
        // Nearly attained: constants smaller by a tenth would be wrong.
        assert!(closest.iter().all(|share| *share > 0.9), "{closest:?}");
        let test =
            concat!(file!(), "::one_step_differs_from_the_diffusion_by_no_more_than_the_bounds");
        let mut figures = ridgewalk_figures::Figures::of("lyapunov", test);
        for (share, of) in closest.into_iter().zip(["theta", "p", "r"]) {
            figures.add(of, "largest share of the bound", share);
        }
        figures.hold(ridgewalk_figures::Near::Same);
    }

    /// The quadrature error of ΔU in root mean square on the law of exp(−U) and N(0, 1), with
    ///
    /// ```text
    /// U(θ) = (1 − b) θ²/2 + (b/w²) (g(wθ) − g'(0) wθ),    g = sin or cos
    /// ```
    ///
    /// whose minimum is at 0, whose curvature is between 1 − 2b and 1 and whose α-th derivative is
    /// b w^(α − 2) at most. g is chosen so that it is largest at 0.
    fn measured(alpha: u32, b: f64, w: f64, nodes: usize, eta: f64) -> f64 {
        let phase = if alpha.is_multiple_of(2) { 0.0 } else { 0.5 * std::f64::consts::PI };
        let [g, slope] = [f64::cos, |x: f64| -x.sin()].map(|f| move |x: f64| f(x - phase));
        let potential =
            |x: f64| 0.5 * (1.0 - b) * x * x + b / (w * w) * (g(w * x) - slope(0.0) * w * x);
        let rule = LineRule::new(nodes, eta).unwrap();
        let error = |x: f64, p: f64| {
            let exact = (g(w * (x + eta * p)) - g(w * x)) / (w * p);
            let pairs = rule.nodes().iter().zip(rule.weights());
            b / w * (pairs.map(|(s, weight)| weight * slope(w * (x + s * p))).sum::<f64>() - exact)
        };
        // The trapezoidal rule is exact to rounding for such laws.
        const HALF: i32 = 120;
        let grid = |width: f64| (-HALF..HALF).map(move |i| width * (f64::from(i) + 0.5));
        let reach = 10.0 / (1.0 - 2.0 * b).sqrt() / f64::from(HALF);
        let (mut square, mut mass) = (0.0, 0.0);
        for x in grid(reach) {
            for p in grid(9.0 / f64::from(HALF)) {
                let weight = (potential(0.0) - potential(x) - 0.5 * p * p).exp();
                square += weight * error(x, p).powi(2);
                mass += weight;
            }
        }
        (square / mass).sqrt()
    }

    fn bound(alpha: u32, b: f64, w: f64, nodes: usize, eta: f64, dimension: u64) -> f64 {
        let order = f64::from(alpha);
        let constant = (b * w.powf(order - 2.0)).powf(1.0 / (order - 1.0));
        let derivatives = vec![DerivativeBound::new(alpha, constant).unwrap()];
        let rule = IntegralRule::Nodes { nodes, derivatives };
        let problem = Problem::new(1.0 - 2.0 * b, 1.0, dimension, 1.0, rule).unwrap();
        let last = problem.quadrature[1];
        last.factor * eta.powi(last.power)
    }

    #[test]
    fn quadrature_errors_are_within_their_bounds_and_nearly_attain_them() {
        const B: f64 = 0.45;
        let mut closest = std::collections::BTreeMap::new();
        for nodes in 1..=6 {
            for alpha in 2..=u32::try_from(highest_derivative(nodes)).unwrap() + 1 {
                for (w, eta) in [(0.1, 1.5), (0.3, 0.5), (1.0, 0.2), (1.0, 1.5), (4.0, 0.8)] {
                    let found = measured(alpha, B, w, nodes, eta);
                    let one = bound(alpha, B, w, nodes, eta, 1);
                    let label = format!("{nodes} nodes, alpha {alpha}, w {w}, eta {eta}");
                    assert!(found <= one, "{label}: {found:e} above {one:e}");
                    // Both are in units of √(d/L): the error of d independent coordinates is the
                    // same in these units.
                    assert!(bound(alpha, B, w, nodes, eta, 100) >= one, "{label}");
                    let share = closest.entry((nodes, alpha)).or_insert(0.0_f64);
                    *share = share.max(found / one);
                }
            }
        }
        // Nearly attained by the highest derivative that a rule can use: constants or moments
        // smaller by a sixth would be wrong. (|p| has the moment E p^(2j) = 1 · 3 ... (2j − 1) in
        // one dimension, so one in the place of it would be wrong by far.)
        for nodes in 1..=6 {
            let highest = u32::try_from(highest_derivative(nodes)).unwrap() + 1;
            assert!(closest[&(nodes, highest)] > 0.85, "{closest:?}");
        }
        let test =
            concat!(file!(), "::quadrature_errors_are_within_their_bounds_and_nearly_attain_them");
        let mut figures = ridgewalk_figures::Figures::of("lyapunov", test);
        for ((nodes, alpha), share) in closest {
            figures.add(&format!("{nodes} nodes"), &format!("alpha {alpha}"), share);
        }
        figures.hold(ridgewalk_figures::Near::Same);
    }
}
