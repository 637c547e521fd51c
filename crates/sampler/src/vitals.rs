//! What a chain notes about itself as it goes, for the checks of a finished run: runs of
//! rejections, energies, acceptance far out, and the sums of Stein's identities at its draws.
//!
//! A trajectory costs a few additions, a draw 2 d of them.

use crate::acceptance::Proposal;

/// What a chain's notes are relative to. It is fixed before the run begins.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Reference {
    /// The mode, in the coordinates of the chains.
    pub mode: Vec<f64>,
    /// U there.
    #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
    pub value: f64,
    /// The height U − U(mode) from which on a point is far out.
    #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
    pub far: f64,
    /// Heights above which draws are counted, from the lowest to the highest.
    pub bounds: [f64; 3],
    /// The most segments that a chain's draws are divided into: an even number.
    pub segments: usize,
    /// Kernels that leave no gradient with their draws have it computed for one in this many.
    pub every: u64,
}

impl Reference {
    /// The height from which on a point is far out, given the heights of the chains' starts.
    ///
    /// The height of a draw has mean and variance d/2 on a normal target, and at most d on any
    /// log-concave one; in both cases it is about Gamma distributed with the mean as its shape.
    /// Two standard deviations and 1 above the starts' median, kept between d/4 and d, is exceeded
    /// by about 2 % of the draws of a normal target in any dimension and by at most 8 % of those of
    /// a log-concave one. A median: a start or two may be anywhere.
    #[must_use]
    pub fn far_out(dimension: usize, heights: &[f64]) -> f64 {
        let d = dimension as f64;
        let mut sorted = heights.to_vec();
        sorted.sort_by(f64::total_cmp);
        let median = sorted.get(sorted.len() / 2).copied().unwrap_or(0.5 * d);
        let shape = if median.is_finite() { median.clamp(0.25 * d, d) } else { 0.5 * d };
        shape + 2.0 * shape.sqrt() + 1.0
    }

    /// The segments of each of so many chains: enough for an error bar from all of them.
    #[must_use]
    pub fn segments_of(chains: usize) -> usize {
        match chains {
            0..=8 => 8,
            9..=16 => 4,
            _ => 2,
        }
    }
}

/// Count, mean and sum of squared deviations of some numbers.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Spread {
    /// How many.
    pub count: u64,
    /// Their mean.
    #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
    pub mean: f64,
    /// The sum of the squares of their deviations from it.
    #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
    pub squares: f64,
}

impl Spread {
    /// Counts one more.
    pub(crate) fn push(&mut self, value: f64) {
        self.count += 1;
        let before = value - self.mean;
        self.mean += before / self.count as f64;
        self.squares += before * (value - self.mean);
    }

    /// The variance; 0 without two numbers.
    #[must_use]
    pub fn variance(&self) -> f64 {
        if self.count > 1 { self.squares / (self.count - 1) as f64 } else { 0.0 }
    }
}

/// Sums over draws that follow each other.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Segment {
    /// How many draws.
    pub draws: u64,
    /// The sum of their heights; 0 where U is not known.
    #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
    pub heights: f64,
    /// For each coordinate the sum of the gradient g_k: 0 in expectation.
    pub gradients: Vec<f64>,
    /// For each coordinate the sum of g_k (z_k − c_k), with c the mode: 1 each in expectation.
    pub products: Vec<f64>,
}

impl Segment {
    fn empty(dimension: usize) -> Self {
        let (gradients, products) = (vec![0.0; dimension], vec![0.0; dimension]);
        Self { gradients, products, ..Self::default() }
    }

    fn clear(&mut self) {
        (self.draws, self.heights) = (0, 0.0);
        self.gradients.fill(0.0);
        self.products.fill(0.0);
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.draws += other.draws;
        self.heights += other.heights;
        self.gradients.iter_mut().zip(&other.gradients).for_each(|(sum, g)| *sum += g);
        self.products.iter_mut().zip(&other.products).for_each(|(sum, g)| *sum += g);
    }
}

/// What a chain has noted about itself.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Vitals {
    pub(crate) reference: Reference,
    pub(crate) longest: u64,
    pub(crate) present: u64,
    /// Heights at the starts of trajectories.
    pub(crate) heights: Spread,
    pub(crate) last_height: f64,
    pub(crate) squared_changes: f64,
    pub(crate) far: u64,
    pub(crate) far_probabilities: f64,
    /// Of the draws: how many are above each bound, and the greatest height.
    pub(crate) above: [u64; 3],
    pub(crate) highest: f64,
    /// The full segments, then the one that is being filled.
    pub(crate) segments: Vec<Segment>,
    pub(crate) full: usize,
    /// Draws of a full segment.
    pub(crate) length: u64,
}

impl Vitals {
    /// No notes yet.
    #[must_use]
    pub fn new(reference: Reference) -> Self {
        let room = reference.segments.max(2).next_multiple_of(2);
        Self {
            segments: vec![Segment::empty(reference.mode.len()); room],
            reference,
            longest: 0,
            present: 0,
            heights: Spread::default(),
            last_height: 0.0,
            squared_changes: 0.0,
            far: 0,
            far_probabilities: 0.0,
            above: [0; 3],
            highest: 0.0,
            full: 0,
            length: 1,
        }
    }

    /// What they are relative to.
    #[must_use]
    pub fn reference(&self) -> &Reference {
        &self.reference
    }

    /// The most trajectories that were rejected one after the other.
    #[must_use]
    pub fn longest_rejection(&self) -> u64 {
        self.longest
    }

    /// U − U(mode) at the starts of trajectories.
    #[must_use]
    pub fn heights(&self) -> Spread {
        self.heights
    }

    /// The energy fraction of missing information: the mean squared change of the energy from one
    /// trajectory to the next, over its variance (Betancourt 2016). Not a number without two
    /// trajectories.
    ///
    /// The kinetic energy counts as if every trajectory began with a fresh momentum: d/2 to the
    /// variance and d to the squared change. Kernels that keep a part of the momentum so have a
    /// fraction that says as much about the potential as that of others.
    #[must_use]
    pub fn energy_fraction(&self) -> f64 {
        if self.heights.count < 2 {
            return f64::NAN;
        }
        let d = self.reference.mode.len() as f64;
        let changes = self.squared_changes / (self.heights.count - 1) as f64;
        (changes + d) / (self.heights.variance() + 0.5 * d)
    }

    /// The trajectories that started far out, and the sum of the probabilities with which they were
    /// accepted.
    #[must_use]
    pub fn far_out(&self) -> (u64, f64) {
        (self.far, self.far_probabilities)
    }

    /// How many draws are above each of the reference's bounds, and the greatest height of a draw.
    #[must_use]
    pub fn above(&self) -> ([u64; 3], f64) {
        (self.above, self.highest)
    }

    /// Segments of equally many draws, and at their end one with at least half as many, if there is
    /// one.
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        let last = self.segments.get(self.full).is_some_and(|last| 2 * last.draws >= self.length);
        &self.segments[..self.full + usize::from(last)]
    }

    /// Counts a trajectory.
    pub(crate) fn count(&mut self, proposal: &Proposal) {
        self.present = if proposal.accepted { 0 } else { self.present + 1 };
        self.longest = self.longest.max(self.present);
        let height = proposal.potential - self.reference.value;
        if !height.is_finite() {
            return;
        }
        if self.heights.count > 0 {
            self.squared_changes += (height - self.last_height).powi(2);
        }
        self.heights.push(height);
        self.last_height = height;
        if height > self.reference.far {
            self.far += 1;
            self.far_probabilities += proposal.probability;
        }
    }

    /// Counts a draw, with the gradient and perhaps U there.
    pub(crate) fn draw(&mut self, point: &[f64], gradient: &[f64], value: Option<f64>) {
        let segment = &mut self.segments[self.full];
        let sums = segment.gradients.iter_mut().zip(&mut segment.products);
        let places = point.iter().zip(&self.reference.mode).zip(gradient);
        for ((sum, product), ((z, mode), g)) in sums.zip(places) {
            *sum += g;
            *product += g * (z - mode);
        }
        segment.draws += 1;
        if let Some(value) = value {
            let height = value - self.reference.value;
            segment.heights += height;
            self.highest = self.highest.max(height);
            for (count, bound) in self.above.iter_mut().zip(self.reference.bounds) {
                *count += u64::from(height > bound);
            }
        }
        if segment.draws == self.length {
            self.full += 1;
            if self.full == self.segments.len() {
                self.merge();
            }
        }
    }

    /// Half as many segments, each twice as long.
    fn merge(&mut self) {
        let half = self.segments.len() / 2;
        for k in 0..half {
            self.segments.swap(k, 2 * k);
            let (first, second) = self.segments.split_at_mut(2 * k + 1);
            first[k].add(&second[0]);
        }
        self.segments[half..].iter_mut().for_each(Segment::clear);
        (self.full, self.length) = (half, 2 * self.length);
    }

    /// Whether its lists have the lengths that this dimension needs.
    pub(crate) fn fits(&self, dimension: usize) -> bool {
        let room = self.reference.segments.max(2).next_multiple_of(2);
        self.reference.mode.len() == dimension
            && self.reference.every > 0
            && self.segments.len() == room
            && self.full < room
            && (1..=1 << 53).contains(&self.length)
            && self.segments.iter().all(|segment| {
                segment.gradients.len() == dimension
                    && segment.products.len() == dimension
                    && segment.draws <= self.length
            })
    }
}

#[cfg(test)]
mod tests {
    use super::{Reference, Vitals};
    use crate::acceptance::Proposal;

    fn vitals(dimension: usize) -> Vitals {
        Vitals::new(Reference {
            mode: vec![1.0; dimension],
            value: 10.0,
            far: 3.0,
            bounds: [5.0, 6.0, 7.0],
            segments: 8,
            every: 1,
        })
    }

    #[test]
    fn segments_have_all_draws_in_order_and_equal_lengths() {
        for draws in 1..=300_u32 {
            let mut noted = vitals(1);
            for k in 0..draws {
                noted.draw(&[f64::from(k)], &[f64::from(k)], Some(10.0 + f64::from(k)));
            }
            let all = &noted.segments[..=noted.full];
            assert_eq!(all.iter().map(|s| s.draws).sum::<u64>(), u64::from(draws));
            let mut next = 0_u32;
            for segment in all {
                let range = next..next + u32::try_from(segment.draws).unwrap();
                next = range.end;
                let sum: f64 = range.clone().map(f64::from).sum();
                assert_eq!((segment.heights, segment.gradients[0]), (sum, sum), "{draws}");
                let products: f64 = range.map(|k| f64::from(k) * (f64::from(k) - 1.0)).sum();
                assert_eq!(segment.products[0], products);
            }
            let full = &all[..noted.full];
            assert!(full.iter().all(|s| s.draws == noted.length), "{draws}");
            assert!(draws < 8 || (4..8).contains(&noted.full), "{draws}: {}", noted.full);
            assert!(noted.fits(1) && !noted.fits(2));
        }
    }

    #[test]
    fn trajectories_are_counted_as_by_hand() {
        let mut noted = vitals(2);
        let one = |potential: f64, energy: f64, accepted: bool| {
            let uniform = if accepted { 0.0 } else { 0.99 };
            Proposal::begun(potential, energy).decided(0.5, uniform)
        };
        let list =
            [(11.0, 12.0, true), (14.0, 16.0, false), (14.0, 15.0, false), (12.0, 12.5, true)];
        for (u, h, accepted) in list {
            noted.count(&one(u, h, accepted));
        }
        assert_eq!((noted.longest_rejection(), noted.present), (2, 0));
        assert_eq!(noted.far_out(), (2, 2.0 * (-0.5_f64).exp()));
        assert!((noted.heights().mean - 2.75).abs() < 1e-15);
        // Changes 3, 0, −2 of the heights 1, 4, 4, 2, and two dimensions.
        let variance =
            [1.0, 4.0, 4.0, 2.0].map(|h: f64| (h - 2.75).powi(2)).iter().sum::<f64>() / 3.0;
        let fraction = ((9.0 + 0.0 + 4.0) / 3.0 + 2.0) / (variance + 1.0);
        assert!((noted.energy_fraction() - fraction).abs() < 1e-14);
        noted.draw(&[0.0; 2], &[0.0; 2], Some(16.5));
        assert_eq!(noted.above(), ([1, 1, 0], 6.5));
    }

    #[test]
    fn far_out_is_rare_on_normal_targets_of_any_dimension() {
        // The tail of χ² with an even number 2 k of degrees of freedom: e^−t Σ t^j/j! over j < k.
        for k in [1_u32, 2, 8, 30, 100] {
            let level = Reference::far_out(2 * k as usize, &[f64::from(k); 9]);
            let mut term = (-level).exp();
            let mut tail = 0.0;
            for j in 0..k {
                tail += term;
                term *= level / f64::from(j + 1);
            }
            assert!((0.01..0.04).contains(&tail), "{k}: {tail}");
        }
        // One start far away, and starts that are nowhere.
        assert_eq!(Reference::far_out(2, &[1.0, 1.0, 2261.0]), Reference::far_out(2, &[1.0; 3]));
        assert!(Reference::far_out(3, &[f64::NAN; 3]).is_finite());
    }
}
