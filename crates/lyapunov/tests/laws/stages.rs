//! One step of each kernel composed of the linear equations that its stages solve, by matrix
//! exponentials: it shares no formula with the laws that are tested.

use ridgewalk_lyapunov::laws::{KernelKind, LinearForm, Scheme};
use ridgewalk_quadrature::LineRule;

pub(super) type Dense = Vec<Vec<f64>>;

pub(super) fn zeros(rows: usize, columns: usize) -> Dense {
    vec![vec![0.0; columns]; rows]
}

pub(super) fn identity(n: usize) -> Dense {
    (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect()
}

pub(super) fn product(a: &Dense, b: &Dense) -> Dense {
    a.iter()
        .map(|row| {
            (0..b[0].len()).map(|j| row.iter().zip(b).map(|(x, r)| x * r[j]).sum()).collect()
        })
        .collect()
}

pub(super) fn transpose(a: &Dense) -> Dense {
    (0..a[0].len()).map(|j| a.iter().map(|row| row[j]).collect()).collect()
}

pub(super) fn sum(a: &Dense, b: &Dense) -> Dense {
    a.iter().zip(b).map(|(x, y)| x.iter().zip(y).map(|(x, y)| x + y).collect()).collect()
}

/// exp(a t) by Taylor's series on t/4 and two squarings, for short times.
pub(super) fn exponential(a: &Dense, t: f64) -> Dense {
    let n = a.len();
    let (mut term, mut total) = (identity(n), identity(n));
    for k in 1..=20 {
        let scaled: Dense =
            a.iter().map(|row| row.iter().map(|x| x * t / 4.0 / f64::from(k)).collect()).collect();
        term = product(&term, &scaled);
        total = sum(&total, &term);
    }
    for _ in 0..2 {
        total = product(&total, &total);
    }
    total
}

/// dx = a x dt + noise of intensity q: the map and the covariance after a time t, by Van Loan's
/// block exponential over t/64 (its block −a grows as fast as a decays) and six doublings.
pub(super) fn flow_and_noise(a: &Dense, q: &Dense, t: f64) -> (Dense, Dense) {
    let n = a.len();
    let mut block = zeros(2 * n, 2 * n);
    for i in 0..n {
        for j in 0..n {
            block[i][j] = -a[i][j];
            block[i][j + n] = q[i][j];
            block[i + n][j + n] = a[j][i];
        }
    }
    let e = exponential(&block, t / 64.0);
    let flow: Dense = (0..n).map(|i| (0..n).map(|j| e[j + n][i + n]).collect()).collect();
    let upper: Dense = e[..n].iter().map(|row| row[n..].to_vec()).collect();
    let mut stages = Stages { noise: product(&flow, &upper), map: flow };
    for _ in 0..6 {
        let (map, noise) = (stages.map.clone(), stages.noise.clone());
        stages = stages.then((map, noise));
    }
    (stages.map, stages.noise)
}

/// A linear map with noise, composed of stages.
pub(super) struct Stages {
    pub(super) map: Dense,
    pub(super) noise: Dense,
}

impl Stages {
    pub(super) fn starting_with(map: Dense) -> Self {
        let noise = zeros(map.len(), map.len());
        Self { map, noise }
    }

    pub(super) fn then(self, (map, noise): (Dense, Dense)) -> Self {
        let carried = product(&product(&map, &self.noise), &transpose(&map));
        Self { map: product(&map, &self.map), noise: sum(&carried, &noise) }
    }

    pub(super) fn then_map(self, map: Dense) -> Self {
        let noise = zeros(map.len(), map.len());
        self.then((map, noise))
    }
}

pub(super) fn noise_on(n: usize, which: &[usize], intensity: f64) -> Dense {
    let mut q = zeros(n, n);
    for &i in which {
        for &j in which {
            q[i][j] = intensity;
        }
    }
    q
}

/// Algorithm 1 from the three stages it is derived from: r̂ is driven by the initial p, p̂ by r̂,
/// and θ and r̃ by p̂. The state is θ, p̂, r̃, r̂, the initial p, −ΔU/η. `push` is the sign of γ r
/// in dp.
pub(super) fn third_order_reference(
    gamma: f64, xi: f64, eta: f64, l: f64, push: f64, intensity: f64,
) -> Stages {
    let mut a = zeros(6, 6);
    a[0][1] = 1.0;
    a[1][3] = push * gamma;
    a[1][5] = 1.0;
    a[2][1] = -gamma;
    a[2][2] = -xi;
    a[3][3] = -xi;
    a[3][4] = -gamma;
    let mut inject = zeros(6, 3);
    (inject[0][0], inject[1][1], inject[2][2], inject[3][2], inject[4][1]) =
        (1.0, 1.0, 1.0, 1.0, 1.0);
    inject[5] = vec![-l, -l * eta / 2.0, 0.0];
    let (flow, noise) = flow_and_noise(&a, &noise_on(6, &[2, 3], intensity * xi), eta);
    let full = Stages { map: product(&flow, &inject), noise };
    Stages {
        map: full.map[..3].to_vec(),
        noise: full.noise[..3].iter().map(|row| row[..3].to_vec()).collect(),
    }
}

/// The symmetric splitting or the averaged kernel around a step of (p, r).
pub(super) fn around(scheme: &Scheme, l: f64, step: (Dense, Dense)) -> Stages {
    let eta = scheme.eta();
    let on_three = |m: Dense| {
        let mut big = identity(3);
        (0..2).for_each(|i| (0..2).for_each(|j| big[i][j] = m[i][j]));
        big
    };
    if scheme.kernel() == KernelKind::Symmetric {
        let kick = || on_three(vec![vec![1.0, 0.0], vec![-eta / 2.0 * l, 1.0]]);
        let drift = || on_three(vec![vec![1.0, eta / 2.0], vec![0.0, 1.0]]);
        return Stages::starting_with(kick())
            .then_map(drift())
            .then(step)
            .then_map(drift())
            .then_map(kick());
    }
    // The implicit midpoint rule rotates (θ, p) of a unit oscillator by 2 arctan(η/2); the segment
    // ends at that θ. The gradient is integrated along it by a linear equation for x, its velocity
    // and the integral, then applied as a constant force over the step.
    let (sin, cos) = (2.0 * (eta / 2.0).atan()).sin_cos();
    let segment =
        vec![vec![1.0, 0.0, 0.0], vec![(cos - 1.0) / eta, sin / eta, 0.0], vec![0.0, 0.0, 0.0]];
    let along = exponential(&vec![vec![0.0, 1.0, 0.0], vec![0.0; 3], vec![l, 0.0, 0.0]], eta);
    let total = product(&along, &segment)[2].clone();
    let moved = exponential(&vec![vec![0.0, 1.0, 0.0], vec![0.0, 0.0, 1.0], vec![0.0; 3]], eta);
    let force = total.iter().map(|x| -x / eta).collect();
    let kicked = product(&moved, &vec![vec![1.0, 0.0, 0.0], vec![0.0, 1.0, 0.0], force]);
    Stages::starting_with(identity(3)).then(step).then_map(on_three(kicked))
}

/// One step of a kernel, composed of the equations it solves; `alpha` is the time of the random
/// midpoint.
pub(super) fn reference(scheme: &Scheme, l: f64, alpha: f64) -> Stages {
    let (eta, xi, gamma) =
        (scheme.eta(), scheme.xi().unwrap_or(0.0), scheme.gamma().unwrap_or(0.0));
    let free = vec![vec![0.0, 1.0], vec![0.0, -xi]];
    let free_noise = noise_on(2, &[1], 2.0 * xi);
    let kick = |time: f64| vec![vec![1.0, 0.0], vec![-time * l, 1.0]];
    let drift = |time: f64| vec![vec![1.0, time], vec![0.0, 1.0]];
    match scheme.kernel() {
        KernelKind::ThirdOrder => third_order_reference(gamma, xi, eta, l, 1.0, 2.0),
        KernelKind::Symmetric | KernelKind::Averaged => {
            let mut a = zeros(3, 3);
            (a[1][2], a[2][1], a[2][2]) = (gamma, -gamma, -xi);
            around(scheme, l, flow_and_noise(&a, &noise_on(3, &[2], 2.0 * xi), eta))
        }
        KernelKind::Ula => Stages { map: vec![vec![1.0 - eta * l]], noise: vec![vec![2.0 * eta]] },
        KernelKind::Klmc => {
            // θ, p and the fixed gradient.
            let a = vec![vec![0.0, 1.0, 0.0], vec![0.0, -xi, -1.0], vec![0.0; 3]];
            let inject = vec![vec![1.0, 0.0], vec![0.0, 1.0], vec![l, 0.0]];
            let (flow, noise) = flow_and_noise(&a, &noise_on(3, &[1], 2.0 * xi), eta);
            Stages {
                map: product(&flow, &inject)[..2].to_vec(),
                noise: noise[..2].iter().map(|row| row[..2].to_vec()).collect(),
            }
        }
        KernelKind::Ubu => Stages::starting_with(identity(2))
            .then(flow_and_noise(&free, &free_noise, eta / 2.0))
            .then_map(kick(eta))
            .then(flow_and_noise(&free, &free_noise, eta / 2.0)),
        KernelKind::Baoab => {
            let a = vec![vec![0.0, 0.0], vec![0.0, -xi]];
            Stages::starting_with(kick(eta / 2.0))
                .then_map(drift(eta / 2.0))
                .then(flow_and_noise(&a, &free_noise, eta))
                .then_map(drift(eta / 2.0))
                .then_map(kick(eta / 2.0))
        }
        KernelKind::RandomizedMidpoint => {
            // Up to αη two paths with the same noise: the free path, and the path with the fixed
            // gradient that determines the midpoint. Then the free path gets the full kick of the
            // step and continues.
            let mut a = zeros(5, 5);
            (a[0][1], a[1][1], a[2][3], a[3][3], a[3][4]) = (1.0, -xi, 1.0, -xi, -1.0);
            let mut inject = zeros(5, 2);
            (inject[0][0], inject[1][1], inject[2][0], inject[3][1], inject[4][0]) =
                (1.0, 1.0, 1.0, 1.0, l);
            let kick = vec![vec![1.0, 0.0, 0.0, 0.0, 0.0], vec![0.0, 1.0, -eta * l, 0.0, 0.0]];
            let (flow, noise) = flow_and_noise(&a, &noise_on(5, &[1, 3], 2.0 * xi), alpha * eta);
            let kicked = Stages {
                map: product(&kick, &product(&flow, &inject)),
                noise: product(&product(&kick, &noise), &transpose(&kick)),
            };
            kicked.then(flow_and_noise(&free, &free_noise, (1.0 - alpha) * eta))
        }
        KernelKind::Quicsort => quicsort_reference(xi, eta, l),
        KernelKind::Should | KernelKind::Align => {
            interpolated_reference(scheme.kernel() == KernelKind::Should, xi, eta, l)
        }
        KernelKind::Hmc => {
            let mut stages = Stages { map: identity(2), noise: zeros(2, 2) };
            for _ in 0..scheme.trajectory().unwrap().steps {
                stages =
                    stages.then_map(kick(eta / 2.0)).then_map(drift(eta)).then_map(kick(eta / 2.0));
            }
            // p is drawn anew at the start.
            let [from_theta, from_p] = [stages.map[0][0], stages.map[0][1]];
            Stages { map: vec![vec![from_theta]], noise: vec![vec![from_p * from_p]] }
        }
        KernelKind::Adjusted | KernelKind::Subsampled => {
            panic!("a trajectory is not a single step")
        }
    }
}

/// The free flow with a constant force on (θ, p, force), over a time.
pub(super) fn forced(xi: f64, time: f64) -> Dense {
    exponential(&vec![vec![0.0, 1.0, 0.0], vec![0.0, -xi, 1.0], vec![0.0; 3]], time)
}

/// A combination of θ, p, W, H and K, the increment of a path and its two areas.
pub(super) type Row = Vec<f64>;

pub(super) fn unit(i: usize) -> Row {
    (0..5).map(|j| f64::from(u8::from(i == j))).collect()
}

pub(super) fn combined(terms: &[(f64, &Row)]) -> Row {
    (0..5).map(|i| terms.iter().map(|(factor, row)| factor * row[i]).sum()).collect()
}

/// A step whose θ and p are these combinations.
pub(super) fn of_rows(theta: &Row, p: &Row, eta: f64) -> Stages {
    let variances = [eta, eta / 12.0, eta / 720.0];
    let rows = [theta, p];
    let noise =
        |i: usize, j: usize| (0..3).map(|k| variances[k] * rows[i][k + 2] * rows[j][k + 2]).sum();
    Stages {
        map: rows.iter().map(|row| row[..2].to_vec()).collect(),
        noise: (0..2).map(|i| (0..2).map(|j| noise(i, j)).collect()).collect(),
    }
}

/// A jump of H + 6K, the flow along the slope (W − 12K)/η with a kick of η/2 at each node of Gauss's
/// rule, a jump of −H + 6K; the second node is moved by a kick of η that has acted over η/3.
pub(super) fn quicsort_reference(xi: f64, eta: f64, l: f64) -> Stages {
    let sigma = (2.0 * xi).sqrt();
    let [theta, p, w, h, k] = [0, 1, 2, 3, 4].map(unit);
    let jumped = combined(&[(1.0, &p), (sigma, &h), (6.0 * sigma, &k)]);
    let slope = combined(&[(sigma / eta, &w), (-12.0 * sigma / eta, &k)]);
    let free = |time: f64| {
        let flow = forced(xi, time);
        [0, 1]
            .map(|i| combined(&[(flow[i][0], &theta), (flow[i][1], &jumped), (flow[i][2], &slope)]))
    };
    let kicked = |time: f64, by: &Row| {
        let flow = forced(xi, time);
        [0, 1].map(|i| combined(&[(flow[i][1], by)]))
    };
    let offset = 3.0_f64.sqrt() / 6.0;
    let (early, late) = (eta * (0.5 - offset), eta * (0.5 + offset));
    let first = combined(&[(-eta * l, &free(early)[0])]);
    let moved = combined(&[(1.0, &free(late)[0]), (1.0, &kicked(eta / 3.0, &first)[0])]);
    let second = combined(&[(-eta * l, &moved)]);
    let end = |i: usize| {
        let (from_first, from_second) = (kicked(late, &first), kicked(early, &second));
        combined(&[(1.0, &free(eta)[i]), (0.5, &from_first[i]), (0.5, &from_second[i])])
    };
    let last = combined(&[(1.0, &end(1)), (-sigma, &h), (6.0 * sigma, &k)]);
    of_rows(&end(0), &last, eta)
}

/// Simpson's rule, or the line between the gradients at both ends, with the noise projected onto
/// polynomials of degree 2, or 1, by quadrature.
pub(super) fn interpolated_reference(simpson: bool, xi: f64, eta: f64, l: f64) -> Stages {
    let sigma = (2.0 * xi).sqrt();
    let [theta, p, w, h, k] = [0, 1, 2, 3, 4].map(unit);
    let rule = LineRule::new(40, 1.0).unwrap();
    // Components along 1, the straight line and the parabola that W, H and K are made of.
    let along = |which: usize, u: f64| [1.0, 0.5 - u, (6.0 * u * u - 6.0 * u + 1.0) / 12.0][which];
    let project = |of_theta: bool| {
        let mut row = vec![0.0; 5];
        for which in 0..if simpson { 3 } else { 2 } {
            let (mut product, mut square) = (0.0, 0.0);
            for (u, weight) in rule.nodes().iter().zip(rule.weights()) {
                let flow = forced(xi, eta * (1.0 - u));
                product += weight * flow[usize::from(!of_theta)][1] * along(which, *u);
                square += weight * along(which, *u).powi(2);
            }
            row[2 + which] = sigma * product / square;
        }
        row
    };
    let full = forced(xi, eta);
    let half = forced(xi, eta / 2.0);
    if !simpson {
        let end =
            combined(&[(1.0 - l * full[0][2], &theta), (full[0][1], &p), (1.0, &project(true))]);
        // The effect on p of a force that grows from 0 to 1 over the step: that of θ over η.
        let growing = full[0][2] / eta;
        let p = combined(&[
            (full[1][1], &p),
            (-l * (full[1][2] - growing), &theta),
            (-l * growing, &end),
            (1.0, &project(false)),
        ]);
        return of_rows(&end, &p, eta);
    }
    let jumped = combined(&[(1.0, &p), (sigma, &h), (6.0 * sigma, &k)]);
    let force = combined(&[(sigma / eta, &w), (-12.0 * sigma / eta, &k), (-l, &theta)]);
    let middle = combined(&[(1.0, &theta), (half[0][1], &jumped), (half[0][2], &force)]);
    let end = combined(&[
        (1.0 - l * full[0][2] / 3.0, &theta),
        (full[0][1], &p),
        (-2.0 * l * full[0][2] / 3.0, &middle),
        (1.0, &project(true)),
    ]);
    let p = combined(&[
        (full[1][1], &p),
        (-eta * l * full[1][1] / 6.0, &theta),
        (-4.0 * eta * l * half[1][1] / 6.0, &middle),
        (-eta * l / 6.0, &end),
        (1.0, &project(false)),
    ]);
    of_rows(&end, &p, eta)
}

/// The largest difference of a branch from its reference, relative to the largest entry of each
/// matrix.
pub(super) fn difference(form: &LinearForm, branch: usize, reference: &Stages) -> f64 {
    let branch = &form.branches()[branch];
    let n = reference.map.len();
    let mut worst = 0.0_f64;
    for (ours, theirs) in [(&branch.matrix, &reference.map), (&branch.noise, &reference.noise)] {
        let size = theirs.iter().flatten().fold(0.0_f64, |m, x| m.max(x.abs()));
        for i in 0..3 {
            for j in 0..3 {
                let expected = if i < n && j < n { theirs[i][j] } else { 0.0 };
                worst = worst.max((ours[i][j] - expected).abs() / size);
            }
        }
    }
    worst
}
