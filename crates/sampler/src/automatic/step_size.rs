//! The step size that has a wanted acceptance.

/// Dual averaging (Nesterov 2009; Hoffman and Gelman 2014): how strongly the step follows the
/// acceptance, how many trajectories the start counts for, and how fast old steps are forgotten in
/// their mean.
const FOLLOWING: f64 = 0.1;
const START: f64 = 10.0;
const FORGETTING: f64 = 0.75;

/// The step size by dual averaging of the acceptance.
#[derive(Debug)]
pub(super) struct Averaging {
    wanted: f64,
    /// Logarithms: of the longest step, of the first, of the present one and of the mean.
    longest: f64,
    first: f64,
    now: f64,
    mean: f64,
    lack: f64,
    heard: f64,
    shortened: bool,
}

impl Averaging {
    /// From the longest step on, towards this acceptance.
    pub(super) fn new(longest: f64, wanted: f64) -> Self {
        Self::beginning_at(longest, longest, wanted)
    }

    /// From another step on, but to none longer than the longest.
    pub(super) fn beginning_at(first: f64, longest: f64, wanted: f64) -> Self {
        let (first, longest) = (first.min(longest).ln(), longest.ln());
        let (now, mean) = (first, first);
        Self { wanted, longest, first, now, mean, lack: 0.0, heard: 0.0, shortened: false }
    }

    /// Adds an acceptance that was seen at the present step.
    pub(super) fn hear(&mut self, acceptance: f64) {
        self.heard += 1.0;
        let weight = (self.heard + START).recip();
        self.lack += weight * (self.wanted - acceptance - self.lack);
        self.now = (self.first - self.heard.sqrt() / FOLLOWING * self.lack).min(self.longest);
        self.shortened |= self.mean < self.longest - 0.05;
        let weight = self.heard.powf(-FORGETTING);
        self.mean += weight * (self.now - self.mean);
    }

    pub(super) fn eta(&self) -> f64 {
        self.now.exp()
    }

    /// What is taken in the end.
    pub(super) fn mean(&self) -> f64 {
        self.mean.exp()
    }

    pub(super) fn at_longest(&self) -> bool {
        !self.shortened && self.mean > self.longest - 0.05
    }
}
