//! The rows that checks are made of: all of a small data set, some of a large one.

use ridgewalk_frame::Frame;

use crate::loo::Observed;

/// The most rows.
pub(crate) const SAMPLED: usize = 2000;

/// Some rows of a fit, in the units of its reported coefficients.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    pub(crate) observed: Observed,
    /// The number of all rows.
    pub(crate) of: usize,
}

impl Sample {
    /// Every so-many-th row of a frame. `original` if coefficients are reported in the units of
    /// the data although the frame is centred or standardized.
    pub(crate) fn new(frame: &Frame, original: bool) -> Self {
        let every = frame.rows.div_ceil(SAMPLED).max(1);
        let rows: Vec<usize> = (0..frame.rows).step_by(every).collect();
        let mut some = frame.select(&rows);
        if let Some(scaling) = frame.scaling.as_ref().filter(|_| original) {
            some.design.map(|column, x| x * scaling[column].1 + scaling[column].0);
        }
        Self { observed: Observed::of_frame(some), of: frame.rows }
    }

    /// The same of some rows of a frame of so many.
    pub(crate) fn of_some(frame: &Frame, original: bool, of: usize) -> Self {
        Self { of, ..Self::new(frame, original) }
    }
}
