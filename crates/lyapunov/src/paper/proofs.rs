//! Steps of the paper's proofs that are misprinted or do not follow as printed, each in an example
//! small enough to be checked by hand.
//!
//! Identities between drifts, signs and units are decided in fractions; expressions with
//! exponentials are evaluated in floating point. They are compared with the dynamics itself, at
//! L = 1 unless stated otherwise. None of these changes a power in a theorem.

use num_rational::Rational64;
use num_traits::{Signed, ToPrimitive};
use ridgewalk_quadrature::LineRule;

use super::algorithm::lagrange_basis;
use super::claims::{Claim, Verdict};
use super::polynomial::Polynomial;
use super::printed::Printed;
use super::sturm::{Need, for_all_kappa};
use super::theorems::{Reading, Scaling, theorem1_time};
use crate::error::Error;

/// The friction parameters of the examples.
const GAMMA: i64 = 2;
const XI: i64 = 4;

/// One coordinate of (θ, p, r).
type State = [Rational64; 3];

/// The steps of the proofs, as printed ([`Reading::Printed`]) or as corrected (any other reading).
/// The corrected ones must hold.
///
/// # Errors
/// Never with the numbers of nodes used inside.
pub fn proof_claims(reading: Reading) -> Result<Vec<Claim>, Error> {
    let step = Step { corrected: reading != Reading::Printed };
    Ok(vec![
        step.moving_nodes()?,
        step.brackets(),
        step.product_rule(),
        step.bound_along_the_path(),
        step.stages(),
        step.bias_of_the_sketch(),
        step.slope_of_the_interpolant()?,
        step.chord(),
        step.moment_of_the_first_stage(),
        step.distance_of_r(),
        step.recursion_of_moments(),
        step.moment_of_theta(),
        step.unit_of_the_moment(),
        step.unit_of_the_logarithm(),
        step.decay(),
    ])
}

/// Whether steps are taken as printed or as corrected.
#[derive(Debug, Clone, Copy)]
struct Step {
    corrected: bool,
}

fn ratio(numerator: i64, denominator: i64) -> Rational64 {
    Rational64::new(numerator, denominator)
}

fn tenths(numbers: [i64; 3]) -> State {
    numbers.map(|number| ratio(number, 10))
}

fn double(value: Rational64) -> f64 {
    value.to_f64().unwrap_or(f64::NAN)
}

impl Step {
    /// A step that is either true or false; `holds` takes whether the corrected form is meant.
    fn decided(
        self, what: &'static str, place: &'static str, holds: impl Fn(bool) -> bool,
        detail: &'static str,
    ) -> Claim {
        Claim::new(what, place, Verdict::of(holds(self.corrected), holds(true)), detail)
    }

    /// A step that is true if there is room.
    fn measured(
        self, what: &'static str, place: &'static str, room: impl Fn(bool) -> f64,
        detail: &'static str,
    ) -> Claim {
        self.decided(what, place, |right| room(right) >= 0.0, detail)
            .with_margin(room(self.corrected))
    }

    /// Interpolation of s² on [0, η] at two nodes, shifted by kη with k = 50 or not, against the
    /// bound of Lemma 6.
    fn moving_nodes(self) -> Result<Claim, Error> {
        let eta = 0.1;
        let rule = LineRule::new(2, eta)?;
        let room = |right: bool| {
            let shift = if right { 0.0 } else { 50.0 * eta };
            let nodes: Vec<f64> = rule.nodes().iter().map(|node| node + shift).collect();
            let error = |i: u32| {
                let t = eta * f64::from(i) / 100.0;
                let value: f64 =
                    (0..2).map(|i| nodes[i] * nodes[i] * lagrange_basis(&nodes, i, t)).sum();
                (value - t * t).abs()
            };
            let worst = (0..=100).map(error).fold(0.0, f64::max);
            1.0 - worst / (0.5 * eta * eta)
        };
        Ok(self.measured(
            "the nodes are k eta + (eta/2)(1 + cos((2i - 1) pi/(2 alpha)))",
            "Section 3.3",
            room,
            "without k eta: psi(s) = grad U(theta + s p) and Phi are for s in [0, eta]. Margin: 1 \
             less the error over the bound of \
             Lemma 6, for s^2, two nodes and k = 50",
        ))
    }

    /// An identity between drifts, checked with ∇U(θ) = 0.3 θ and L = 1/2. The missing γ costs no
    /// power of κ: in the norm of S a bracket in the row of p alone has the factor S22.
    fn brackets(self) -> Claim {
        let (gamma, xi, smoothness) = (ratio(GAMMA, 1), ratio(XI, 1), ratio(1, 2));
        let gradient = |theta: Rational64| ratio(3, 10) * theta;
        let (x, tilde) = (tenths([7, -4, 11]), tenths([2, 5, -6]));
        let [g_hat, p_hat, r_hat] = tenths([9, 3, -13]);
        let drift_of_x =
            [x[1], -gradient(x[0]) / smoothness + gamma * x[2], -gamma * x[1] - xi * x[2]];
        let drift_of_tilde =
            [p_hat, -g_hat / smoothness + gamma * r_hat, -gamma * p_hat - xi * tilde[2]];
        // (Q − D) of the differences, and the bracket with p̂, which is printed correctly.
        let common = [
            x[1] - p_hat,
            -(gradient(x[0]) - gradient(tilde[0])) / smoothness + gamma * (x[2] - tilde[2]),
            -gamma * (x[1] - tilde[1]) - xi * (x[2] - tilde[2]) + gamma * (p_hat - tilde[1]),
        ];
        let holds = |right: bool| {
            let of_gradient = (g_hat - gradient(tilde[0])) / smoothness;
            let on_p = if right {
                of_gradient + gamma * (tilde[2] - r_hat)
            } else {
                -of_gradient + r_hat - tilde[2]
            };
            let sum = [common[0], common[1] + on_p, common[2]];
            (0..3).all(|i| sum[i] == drift_of_x[i] - drift_of_tilde[i])
        };
        let small = for_all_kappa(
            Need::NonNegative,
            &[&Polynomial::integer(3) - &Printed::paper().s[1][1]],
        );
        self.decided(
            "d(x - x~) has the brackets (1/L)(grad U(theta~) - g^) and r^ - r~ in the row of p",
            "Appendix A.1",
            |right| holds(right) && small,
            "(1/L)(g^ - grad U(theta~)) and gamma (r~ - r^). I2 then has the factor gamma^2; but \
             in the norm of S a bracket that has \
             a row of p alone counts with S22 <= 3 instead of the kappa^2 of the whole matrix, so \
             that kappa^8 in Proposition 2 stands",
        )
    }

    /// The derivative of (u + t v)ᵀ S (u + t v) at t = 0, which for a quadratic is half the
    /// difference of its values at 1 and −1.
    fn product_rule(self) -> Claim {
        let s = [tenths([20, 5, 3]), tenths([5, 15, 4]), tenths([3, 4, 10])];
        let product = |u: &State, v: &State| -> Rational64 {
            (0..3).map(|i| (0..3).map(|j| u[i] * s[i][j] * v[j]).sum::<Rational64>()).sum()
        };
        let (u, v) = (tenths([7, -4, 11]), tenths([2, 5, -6]));
        let square = |sign: i64| {
            let w: State = std::array::from_fn(|i| u[i] + v[i] * sign);
            product(&w, &w)
        };
        let derivative = (square(1) - square(-1)) / 2;
        self.decided(
            "J = integral of u^T S u'",
            "Appendix A.1",
            |right| derivative == product(&u, &v) * if right { 2 } else { 1 },
            "2 times the integral, and the last bracket, which has been left out; the inequality below it has both",
        )
    }

    /// The bracket of the bound at several times, with both processes started at θ = p = 0, r = 1
    /// and U = 0.9 θ²/2.
    fn bound_along_the_path(self) -> Claim {
        let gamma = double(ratio(GAMMA, 1));
        let room = |right: bool| {
            let bracket = |i: u32| {
                let stages = WithoutNoise::after(1e-3 * f64::from(i));
                let of_gradient = (0.9 * stages.theta).powi(2);
                let of_r = (stages.r_hat - stages.r).powi(2);
                if right { of_gradient + gamma * gamma * of_r } else { of_gradient - of_r }
            };
            (1..=200).map(bracket).fold(f64::INFINITY, f64::min)
        };
        self.measured(
            "the bound along the path has ||g^ - grad U(theta~)||^2 - ||r^ - r~||^2",
            "Section 4.2.1",
            room,
            "||g^ - grad U(theta~)||^2/L^2 + gamma^2 ||r^ - r~||^2: as printed the bound of a \
             square can be negative. Margin: the \
             smallest value along a path without noise, gamma = 2 and xi = 4",
        )
    }

    /// θ̂ − θ̃ without noise, where ĝ = 0 and θ̂ = 0, against the double integral of γ r̂, which is
    /// the integral of p̂.
    fn stages(self) -> Claim {
        let (time, pieces) = (0.1, 1000_u32);
        let width = time / f64::from(pieces);
        let integral: f64 =
            (0..pieces).map(|i| WithoutNoise::after((f64::from(i) + 0.5) * width).p * width).sum();
        let difference = -WithoutNoise::after(time).theta;
        self.decided(
            "theta^ - theta~ = double integral of the increments of p~",
            "Section 4.2.1",
            |right| {
                let claimed = if right { -integral } else { integral };
                (difference - claimed).abs() < 1e-6 * difference.abs()
            },
            "minus the double integral: where r^ pushes p forward, theta~ is ahead of theta^",
        )
    }

    /// η^a √d <= ε for η = (ε/√d)^(1/a): 1/η is d^(1/2a).
    fn bias_of_the_sketch(self) -> Claim {
        let proved = theorem1_time().dimension;
        let room = |right: bool| {
            let power = if right { ratio(2, 1) } else { ratio(3, 2) };
            let announced = (power * 2).recip();
            double(-(announced - proved).abs())
        };
        self.measured(
            "a bias of O(sqrt(eta^3 d)) gives the mixing time of Theorem 1",
            "Section 4.2.1",
            room,
            "O(eta^2 sqrt(d)), as in Appendix A.4; eta^(3/2) would give d^(1/3). Margin: minus \
             the difference of the powers of d",
        )
    }

    /// The steepest slope of the interpolant of |t − 1| on [0, 2], whose own slopes are ±1; and a
    /// bound for any function with such slopes, Σ |l_i'(t)| |s_i − 1|, which depends on the number
    /// of nodes alone.
    fn slope_of_the_interpolant(self) -> Result<Claim, Error> {
        let rules = (1..=8).map(|n| LineRule::new(n, 2.0)).collect::<Result<Vec<_>, _>>()?;
        let mut steepest = 0.0_f64;
        let mut within = true;
        for rule in &rules {
            let nodes = rule.nodes();
            for k in 0..=100 {
                let t = 0.02 * f64::from(k);
                let slopes: Vec<f64> = (0..nodes.len()).map(|i| basis_slope(nodes, i, t)).collect();
                let apart = nodes.iter().map(|s| (s - 1.0).abs());
                let slope: f64 = slopes.iter().zip(apart.clone()).map(|(l, f)| l * f).sum();
                let most: f64 = slopes.iter().zip(apart).map(|(l, f)| l.abs() * f).sum();
                within &=
                    slope.abs() <= most * (1.0 + 1e-12) && (nodes.len() > 2 || most <= 1.0 + 1e-12);
                steepest = if nodes.len() <= 3 { steepest.max(slope.abs()) } else { steepest };
            }
        }
        Ok(self.measured(
            "||d g^/ds|| <= L ||p~||",
            "Section 4.2.3",
            |right| if right { f64::from(u8::from(within)) - 1.0 } else { 1.0 - steepest },
            "with a factor that depends on the number of nodes alone, and is 1 for one node and \
             two: the interpolant can be steeper than what it \
             interpolates. Margin: 1 less the slope of |t - 1| through three Chebyshev nodes of [0, 2]",
        ))
    }

    /// x = t² on [0, ℓ]: the chord at λ is above the curve, and the two integrals of the display
    /// are those of 2 τ ℓ over [0, λ] and 2 (1 − τ) ℓ over [0, 1 − λ].
    fn chord(self) -> Claim {
        let (length, lambda, one) = (ratio(3, 2), ratio(3, 10), ratio(1, 1));
        let chord_minus_curve = lambda * length * length - (lambda * length) * (lambda * length);
        let (near, far) = (length * lambda * lambda, length * (one - lambda * lambda));
        let display = (one - lambda) * length * near - lambda * length * far;
        self.decided(
            "the chord less the curve is (1 - lambda) l times one integral less lambda l times the other",
            "Lemma 7",
            |right| chord_minus_curve == if right { -display } else { display },
            "minus that, as t^2 shows; only its norm is used",
        )
    }

    /// r = 0, p = 100, d = 1, L = 1, γ = κ = 10, ξ = 2κ, η = 0.01.
    fn moment_of_the_first_stage(self) -> Claim {
        let (gamma, xi, eta, p) = (10.0_f64, 20.0_f64, 0.01_f64, 100.0_f64);
        let mean = gamma * p * (1.0 - (-xi * eta).exp()) / xi;
        let moment = mean * mean + 1.0 - (-2.0 * xi * eta).exp();
        let room = |right: bool| {
            let factor = if right { gamma } else { 1.0 };
            3.0 * (factor * eta * p).powi(2) + 6.0 * xi * eta - moment
        };
        self.measured(
            "E ||r^||^2 has 3 eta^2 E ||p~||^2",
            "Appendix A.3.1",
            room,
            "3 gamma^2 eta^2 E ||p~||^2, as in the proof of Lemma 8. Margin: room below the bound \
             with r = 0, p = 100, gamma = kappa = 10 and \
             eta = 0.01",
        )
    }

    /// d|r̃ − r̃_0|²/dt = 2 ⟨r̃ − r̃_0, −γ p̂ − ξ r̃⟩, without noise.
    fn distance_of_r(self) -> Claim {
        let (t, h) = (0.1, 1e-5);
        let distance = |t: f64| (WithoutNoise::after(t).r - 1.0).powi(2);
        let derivative = (distance(t + h) - distance(t - h)) / (2.0 * h);
        let WithoutNoise { p, r, .. } = WithoutNoise::after(t);
        self.decided(
            "E ||r~ - r~_0||^2 changes with -E<., p~> - E<., r~>",
            "Lemma 8",
            |right| {
                let [gamma, xi] = if right { [2 * GAMMA, 2 * XI] } else { [1, 1] }
                    .map(|factor| double(ratio(factor, 1)));
                (derivative - (r - 1.0) * (-gamma * p - xi * r)).abs() < 1e-7
            },
            "-2 gamma E<., p^> - 2 xi E<., r~>; the steps are shorter than 1/gamma and 1/xi, so \
             that constants stay bounded",
        )
    }

    /// The limit of the last recursion for η = 1/100 and for η = 1: a ← (1 − ρη) a + c √η as
    /// printed, and a² ← (1 − ρη)² a² + c² η, which holds for noise with mean 0. Limits are
    /// squared, with c = 1.
    fn recursion_of_moments(self) -> Claim {
        let (rho, one) = (ratio(1, 140), ratio(1, 1));
        let limit = |right: bool, eta: Rational64| {
            let kept = one - rho * eta;
            if right { eta / (one - kept * kept) } else { eta / ((one - kept) * (one - kept)) }
        };
        let room =
            |right: bool| 1.0 - double(limit(right, ratio(1, 100)) / limit(right, one)).sqrt();
        // As η falls, the correct limit falls to c²/(2ρ).
        self.measured(
            "a <- (1 - eta/(10 kappa^2 + 100)) a + C kappa sqrt(eta (d + 2 alpha)/L) stays below \
             C kappa^3 sqrt((d + 2 alpha)/L)",
            "Lemma 9",
            room,
            "it grows to sqrt(1/eta) times that. The noise has mean 0 given the past, so squares \
             add up: ||u + v||^2 <= ||u||^2 + (2 alpha - 1) \
             ||v||^2 in the norm of the 2 alpha-th moment. With that the lemma stands, C growing \
             like sqrt(alpha); exponential moments give a C without alpha (its row). Margin: 1 \
             less the \
             limit at eta = 1/100 over that at eta = 1",
        )
    }

    /// U = m|θ|²/2, where E|θ|² = κ d/L, against a million times d/L; and E|∇U|² = m d <= d L,
    /// which gives the printed conclusion.
    fn moment_of_theta(self) -> Claim {
        let moment = Polynomial::kappa(1);
        let is_bound = |bound: &Polynomial| for_all_kappa(Need::NonNegative, &[bound - &moment]);
        let of_gradient =
            for_all_kappa(Need::NonNegative, &[&Polynomial::integer(1) - &Polynomial::kappa(-1)]);
        self.decided(
            "E ||theta - theta*||^2 <= C d/L",
            "Appendix A.4",
            |right| {
                if right {
                    is_bound(&Polynomial::kappa(1)) && of_gradient
                } else {
                    is_bound(&Polynomial::integer(1_000_000))
                }
            },
            "d/m: for U = m|theta|^2/2 it is kappa d/L. It comes from the gradient; E ||grad \
             U||^2 <= d L in its place gives what is printed",
        )
    }

    fn unit_of_the_moment(self) -> Claim {
        self.decided(
            "d/L^2 beside squares of lengths",
            "Appendix A.4",
            |right| {
                let power = ratio(if right { -1 } else { -2 }, 1);
                Scaling { smoothness: power, ..Scaling::one() }.length(2) == ratio(2, 1)
            },
            "d/L, as in the next line: a length squared",
        )
    }

    /// The argument of a logarithm has no unit.
    fn unit_of_the_logarithm(self) -> Claim {
        let unit = |smoothness: i64, accuracy: i64| {
            Scaling {
                smoothness: ratio(smoothness, 1),
                accuracy: ratio(accuracy, 1),
                ..Scaling::one()
            }
            .length(2)
        };
        let none = ratio(0, 1);
        self.decided(
            "the logarithms are log(d kappa/eps) and log(3d/(L eps)), for eps < 1",
            "Theorems 1 and 2",
            |right| {
                if right {
                    unit(-1, -2) == none
                } else {
                    unit(0, -1) == none && unit(-1, -1) == none
                }
            },
            "log(d kappa/(L eps^2)), for eps <= sqrt(d/L)/2: without a range eta < c \
             kappa^(-11/4) does not follow, and at kappa = 1 the logarithm \
             vanishes at eps = sqrt(d/L). What is printed changes with the unit of length",
        )
    }

    /// The decay over a time η at the rate of the line before, divided by η times that rate,
    /// against the claimed decay.
    fn decay(self) -> Claim {
        let room = |right: bool| {
            let taken_off = |kappa: f64| {
                let x = 0.1 * kappa.powf(-2.75) / (20.0 * kappa * kappa + 200.0);
                -(-x).exp_m1() / x
            };
            let least = [1.0, 2.0, 10.0].map(taken_off).into_iter().fold(f64::INFINITY, f64::min);
            least - if right { 0.5 } else { 2.0 }
        };
        self.measured(
            "the rate 1/(20 kappa^2 + 200) gives 1 - eta/(10 kappa^2 + 100)",
            "Appendix A.4",
            room,
            "1 - eta/(40 kappa^2 + 400); a larger C in the line before allows the 20 kappa^2 + \
             200 of Proposition 2. Likewise in the proof of \
             Theorem 1, where 40 kappa^2 + 400 becomes 20 kappa^2 + 200. Margin: what is taken \
             off, over eta times the rate, less what is claimed",
        )
    }
}

/// The derivative of the Lagrange basis polynomial of node i.
fn basis_slope(nodes: &[f64], i: usize, t: f64) -> f64 {
    let others = || (0..nodes.len()).filter(move |&j| j != i);
    let without = |k: usize| -> f64 {
        others().filter(|&j| j != k).map(|j| (t - nodes[j]) / (nodes[i] - nodes[j])).product()
    };
    others().map(|k| without(k) / (nodes[i] - nodes[k])).sum()
}

/// The state of a step without noise, from θ = p = 0 and r = 1, where the gradient along θ + t p is
/// 0: r̂, p̂ = p̃, θ̃ and r̃.
#[derive(Debug, Clone, Copy)]
struct WithoutNoise {
    r_hat: f64,
    p: f64,
    theta: f64,
    r: f64,
}

impl WithoutNoise {
    fn after(t: f64) -> Self {
        let (gamma, xi) = (double(ratio(GAMMA, 1)), double(ratio(XI, 1)));
        let z = xi * t;
        let e = (-z).exp();
        let phi1 = (1.0 - e) / z;
        let phi2 = (1.0 - phi1) / z;
        let (p, theta) = (gamma * t * phi1, gamma * t * t * phi2);
        Self { r_hat: e, p, theta, r: e - gamma * gamma * t * t * (phi1 - phi2) }
    }
}
