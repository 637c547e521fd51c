//! Laws are laws: densities add up to 1, and means, probabilities, survival and draws are those of
//! the density, which the potentials' own tests compare with high-precision references.

use rand_chacha::rand_core::SeedableRng;

use super::*;

/// Draws of each law.
const DRAWS: usize = 20_000;
/// The limit of √n D, D the largest distance of two distribution functions (Kolmogorov and
/// Smirnov). A right law exceeds it with probability 2 e^(−2 · 2.4²) = 2e-5, one of the 23 laws
/// here, with other seeds, once in 2,000 runs; those of counts less often.
const DISTANCE: f64 = 2.4;
/// Intervals of each piece of an integral, an even number.
const INTERVALS: usize = 8_000;
/// Integrals go to this many e-folds of the response.
const FOLDS: f64 = 45.0;

/// A law at one point.
#[derive(Debug, Clone)]
struct Case {
    law: Law,
    s: Vec<f64>,
    natural: Vec<f64>,
    trials: f64,
}

/// What responses can be.
enum Support {
    Counts(usize),
    Levels(usize),
    Real,
    Positive,
}

fn case(family: FamilyName, s: &[f64], natural: &[f64], trials: f64) -> Case {
    case_of(&Settings::new("y", family), s, natural, trials)
}

fn case_of(settings: &Settings, s: &[f64], natural: &[f64], trials: f64) -> Case {
    let levels: Vec<String> = match settings.family {
        FamilyName::Ordinal => (0..=natural.len()).map(|k| k.to_string()).collect(),
        FamilyName::Multinomial => (0..=s.len()).map(|k| k.to_string()).collect(),
        _ => Vec::new(),
    };
    let law = Law::new(settings, &levels).unwrap();
    Case { law, s: s.to_vec(), natural: natural.to_vec(), trials }
}

fn cases() -> Vec<Case> {
    use FamilyName as F;
    let huber =
        |delta: f64| Settings { huber_delta: Some(delta), ..Settings::new("y", F::RobustHuber) };
    vec![
        case(F::Logistic, &[0.4], &[], 1.0),
        case(F::Logistic, &[-1.3], &[], 12.0),
        case(F::Probit, &[0.4], &[], 1.0),
        case(F::Probit, &[-1.3], &[], 12.0),
        case(F::Poisson, &[1.7], &[], 1.0),
        case(F::Poisson, &[-1.0], &[], 1.0),
        case(F::NegativeBinomial, &[1.5], &[0.7], 1.0),
        case(F::NegativeBinomial, &[2.5], &[12.0], 1.0),
        case(F::Gaussian, &[-3.0], &[2.5], 1.0),
        case(F::StudentT, &[1.0], &[0.5, 3.0], 1.0),
        case(F::RobustLogistic, &[1.0], &[0.5], 1.0),
        case(F::RobustHuber, &[1.0], &[0.5], 1.0),
        case_of(&huber(0.3), &[1.0], &[0.5], 1.0),
        case_of(&huber(4.0), &[1.0], &[2.0], 1.0),
        case(F::Gamma, &[1.0], &[2.3], 1.0),
        case(F::Gamma, &[-2.0], &[0.8], 1.0),
        case(F::Weibull, &[2.0], &[1.7], 1.0),
        case(F::LogLogistic, &[2.0], &[2.5], 1.0),
        case(F::LogNormal, &[2.0], &[1.4], 1.0),
        case(F::Exponential, &[2.0], &[1.0], 1.0),
        case(F::Ordinal, &[0.6], &[-1.0, 0.4, 1.9], 1.0),
        case(F::Ordinal, &[-0.3], &[-1.0, 0.4, 1.9], 1.0),
        case(F::Multinomial, &[0.8, -1.1, 0.3], &[], 1.0),
    ]
}

impl Case {
    fn support(&self) -> Support {
        use FamilyName as F;
        match self.law.family {
            // Trials are small counts.
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            F::Logistic | F::Probit => Support::Counts(self.trials as usize),
            F::Poisson | F::NegativeBinomial => Support::Counts(2_000),
            F::Ordinal | F::Multinomial => Support::Levels(self.law.levels.len() - 1),
            F::Gaussian | F::StudentT | F::RobustLogistic | F::RobustHuber => Support::Real,
            _ => Support::Positive,
        }
    }

    fn log_density_of(&self, y: Observation) -> f64 {
        let mut psi = self.natural.clone();
        self.law.to_unconstrained(&mut psi);
        let mut out = [0.0];
        self.law.log_densities(&self.s, &psi, y, &mut out);
        out[0]
    }

    fn density(&self, y: f64) -> f64 {
        let y = match self.law.family {
            family if family.is_survival() => Observation::between(y, y),
            _ => Observation { response: y, trials: self.trials },
        };
        self.log_density_of(y).exp()
    }

    /// The response at u, and its derivative: real responses are s + σ sinh u, positive ones
    /// e^(s + u), so that tails of any kind end within a few e-folds.
    fn at(&self, u: f64) -> (f64, f64) {
        match self.support() {
            Support::Real => (self.s[0] + self.natural[0] * u.sinh(), self.natural[0] * u.cosh()),
            _ => ((self.s[0] + u).exp(), (self.s[0] + u).exp()),
        }
    }

    /// ∫ g(y) f(y) dy between two u, by Simpson's rule.
    fn piece(&self, from: f64, to: f64, g: &impl Fn(f64) -> f64) -> f64 {
        let h = (to - from) / INTERVALS as f64;
        let value = |k: usize| {
            let (y, slope) = self.at(from + h * k as f64);
            let f = self.density(y) * slope;
            if f > 0.0 { g(y) * f } else { 0.0 }
        };
        let weight = |k: usize| match k {
            0 | INTERVALS => 1.0,
            _ if k % 2 == 1 => 4.0,
            _ => 2.0,
        };
        (0..=INTERVALS).map(|k| weight(k) * value(k)).sum::<f64>() * h / 3.0
    }

    /// Where Huber's density has no third derivative.
    fn breaks(&self) -> Vec<f64> {
        match self.law.family {
            FamilyName::RobustHuber => vec![-self.law.delta.asinh(), self.law.delta.asinh()],
            _ => vec![-1.0, 1.0],
        }
    }

    /// ∫ g(y) f(y) dy over all u, or the sum over all responses.
    fn expectation(&self, g: impl Fn(f64) -> f64) -> f64 {
        match self.support() {
            Support::Counts(most) | Support::Levels(most) => {
                (0..=most).map(|y| y as f64).map(|y| g(y) * self.density(y)).sum()
            }
            _ => {
                let ends = [vec![-FOLDS], self.breaks(), vec![FOLDS]].concat();
                ends.windows(2).map(|ends| self.piece(ends[0], ends[1], &g)).sum()
            }
        }
    }

    /// The distribution function at increasing responses: by summing or integrating the density.
    fn distribution(&self, at: &[f64]) -> Vec<f64> {
        let h = 2.0 * FOLDS / 40_000.0;
        let (mut sum, mut k) = (0.0, 0_usize);
        let mut upto = |y: f64| -> f64 {
            if let Support::Counts(most) | Support::Levels(most) = self.support() {
                while k <= most && k as f64 <= y {
                    sum += self.density(k as f64);
                    k += 1;
                }
                return sum;
            }
            // The midpoint rule; the last interval by its share.
            loop {
                let left = h * k as f64 - FOLDS;
                let (middle, slope) = self.at(left + 0.5 * h);
                let own = self.density(middle) * slope * h;
                let (low, high) = (self.at(left).0, self.at(left + h).0);
                if y < high || k > 40_000 {
                    return sum + own * ((y - low) / (high - low)).clamp(0.0, 1.0);
                }
                sum += own;
                k += 1;
            }
        };
        at.iter().map(|y| upto(*y)).collect()
    }

    fn sorted_draws(&self) -> Vec<f64> {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let draw = |_| self.law.draw(&self.s, &self.natural, self.trials, &mut rng);
        let mut draws: Vec<f64> = (0..DRAWS).map(draw).collect();
        draws.sort_by(f64::total_cmp);
        draws
    }

    /// √n times the largest distance between the distribution function and that of some draws.
    fn distance(&self, draws: &[f64]) -> f64 {
        let n = draws.len() as f64;
        let exact = self.distribution(draws);
        let discrete = matches!(self.support(), Support::Counts(_) | Support::Levels(_));
        let each = exact.iter().enumerate().map(|(k, p)| {
            let last = draws.get(k + 1).is_none_or(|next| *next > draws[k]);
            let above = if last { ((k + 1) as f64 / n - p).abs() } else { 0.0 };
            let below = if discrete { 0.0 } else { (p - k as f64 / n).abs() };
            above.max(below)
        });
        each.fold(0.0, f64::max) * n.sqrt()
    }
}

#[test]
fn densities_add_up_to_one() {
    for case in cases() {
        let limit = match case.support() {
            Support::Counts(_) | Support::Levels(_) => 1e-10,
            _ => 1e-8,
        };
        let off = (case.expectation(|_| 1.0) - 1.0).abs();
        println!("{:?} {:?} {:?}: {off:.1e}", case.law.family, case.s, case.natural);
        assert!(off < limit, "{case:?}: {off:e}");
    }
}

/// Without the binomial coefficient, or with y! twice, sums are far from 1.
#[test]
fn wrong_constants_are_seen() {
    for case in cases() {
        let Support::Counts(most) = case.support() else { continue };
        let wrong = |y: usize| {
            let y = Observation { response: y as f64, trials: case.trials };
            let own = match case.law.family {
                FamilyName::Poisson => ln_gamma(y.response + 1.0),
                _ => case.law.constant(y),
            };
            (case.log_density_of(y) - own).exp()
        };
        if case.trials > 1.0 || case.law.family == FamilyName::Poisson {
            let sum: f64 = (0..=most).map(wrong).sum();
            println!("{:?} {:?}: {sum}", case.law.family, case.s);
            assert!((sum - 1.0).abs() > 0.02, "{case:?}: {sum}");
        }
    }
}

#[test]
fn means_are_those_of_the_density() {
    for case in cases().iter().filter(|case| case.law.levels.is_empty()) {
        let need = case.expectation(|y| y / case.trials);
        let found = case.law.mean(case.s[0], &case.natural);
        let off = (found - need).abs() / need.abs();
        println!("{:?} {:?}: {found}, off by {off:.1e}", case.law.family, case.natural);
        assert!(off < 1e-8, "{case:?}: {found} for {need}");
    }
    let heavy = case(FamilyName::LogLogistic, &[2.0], &[0.9], 1.0);
    assert_eq!(heavy.law.mean(2.0, &[0.9]), f64::INFINITY);
}

#[test]
fn probabilities_are_those_of_the_density() {
    for case in cases().iter().filter(|case| !case.law.levels.is_empty()) {
        for shift in [0.0, -30.0, 30.0] {
            let s: Vec<f64> = case.s.iter().map(|s| s + shift).collect();
            let case = Case { s, ..case.clone() };
            let mut each = vec![0.0; case.law.levels.len()];
            case.law.probabilities(&case.s, &case.natural, &mut each);
            assert!((each.iter().sum::<f64>() - 1.0).abs() < 1e-14, "{each:?}");
            for (level, p) in each.iter().enumerate() {
                let need = case.density(level as f64);
                assert!((p - need).abs() < 1e-12 * need, "{case:?}: level {level} {p} {need}");
            }
        }
    }
}

#[test]
fn survival_is_the_integral_of_the_density() {
    for case in cases().iter().filter(|case| case.law.family.is_survival()) {
        let (s, natural) = (case.s[0], &case.natural[..]);
        for u in [-2.0, -0.5, 0.0, 0.4, 1.5] {
            let t = f64::exp(s + u);
            let beyond = case.law.survival(s, natural, t);
            let before = case.piece(-FOLDS, u, &|_| 1.0);
            let after = case.piece(u, FOLDS, &|_| 1.0);
            assert!((beyond + before - 1.0).abs() < 1e-8, "{case:?} {t}: {beyond} {before}");
            assert!((beyond - after).abs() < 1e-8, "{case:?} {t}: {beyond} {after}");
            let back = case.law.time(s, natural, 1.0 - beyond);
            assert!((back / t - 1.0).abs() < 1e-9, "{case:?} {t}: {back}");
            // Censored rows.
            let right = case.log_density_of(Observation::between(t, f64::INFINITY)).exp();
            let left = case.log_density_of(Observation::between(0.0, t)).exp();
            let inside = case.log_density_of(Observation::between(t, 2.0 * t)).exp();
            let later = case.law.survival(s, natural, 2.0 * t);
            assert!((right - beyond).abs() < 1e-12, "{case:?} {t}: {right} {beyond}");
            assert!((left - (1.0 - beyond)).abs() < 1e-12, "{case:?} {t}: {left} {beyond}");
            assert!((inside - (beyond - later)).abs() < 1e-12, "{case:?} {t}: {inside}");
        }
        for p in [1e-12, 1e-6, 0.01, 0.5, 0.9, 0.999_999] {
            let t = case.law.time(s, natural, p);
            let back = 1.0 - case.law.survival(s, natural, t);
            assert!((back - p).abs() < 1e-9 * p + 1e-15, "{case:?}: {back} for {p}");
        }
    }
}

#[test]
fn draws_have_the_distribution_of_the_density() {
    for case in cases() {
        let draws = case.sorted_draws();
        let found = case.distance(&draws);
        println!("{:?} {:?} {:?}: {found:.2}", case.law.family, case.s, case.natural);
        assert!(found < DISTANCE, "{case:?}: {found}");
        // A predictor that is off by 0.2, of real responses by 0.2 of their scale.
        let unit = if matches!(case.support(), Support::Real) { case.natural[0] } else { 1.0 };
        let mut wrong = vec![Case { s: vec![case.s[0] + 0.2 * unit], ..case.clone() }];
        wrong[0].s.extend(&case.s[1..]);
        // A parameter that is three times as large; a threshold that is lower by 0.5.
        let fixed = case.law.family == FamilyName::Exponential;
        for k in 0..if fixed { 0 } else { case.natural.len() } {
            let mut other = case.clone();
            match case.law.family {
                FamilyName::Ordinal => other.natural[k] -= 0.5,
                _ => other.natural[k] *= 3.0,
            }
            wrong.push(other);
        }
        for wrong in wrong {
            let off = wrong.distance(&draws);
            println!("    {:?} {:?}: {off:.2}", wrong.s, wrong.natural);
            assert!(off > DISTANCE, "{case:?} is not told apart from {wrong:?}: {off}");
        }
    }
}
