//! Maps what is sampled to what is reported: coefficients of centred or standardized predictors to
//! those of the data, and parameters to the scale that users read.

use ridgewalk_frame::Frame;
use ridgewalk_potentials::ParameterScale;
use ridgewalk_sampler::{DrawStats, SavedRun, SavedWarmUp, Sink, SinkError};

use crate::auxiliary::Auxiliary;
use crate::groups::Unfolding;
use crate::observer::Observer;
use crate::prior_text::Kind;
use crate::priors::ModelPriors;
use crate::settings::Settings;

/// From sampled to reported numbers. For predictors with centre c and divisor s the coefficients are
/// β/s, and the intercept is less Σ β c/s; thresholds of an ordinal model are more by it.
#[derive(Debug, Clone)]
pub struct Rescaling {
    /// Centre and divisor of each column; empty if coefficients are reported as they are sampled.
    scaling: Vec<(f64, f64)>,
    intercept: bool,
    /// The number of coefficients, over all linear predictors.
    coefficients: usize,
    /// The number of parameters of the likelihood, after the coefficients.
    auxiliary: usize,
    parameters: ParameterScale,
    /// Coordinates of a model with groups, mapped first.
    unfolding: Option<Unfolding>,
}

impl Rescaling {
    /// The map of a model, if there is anything to map.
    pub(crate) fn new(
        frame: &Frame, settings: &Settings, priors: &ModelPriors, auxiliary: &Auxiliary,
        unfolding: Option<Unfolding>,
    ) -> Option<Self> {
        let wanted = Self::to_original(frame, settings, priors);
        let scaling = frame.scaling.clone().filter(|_| wanted).unwrap_or_default();
        let parameters = match auxiliary.kind() {
            Kind::Real => ParameterScale::Ordered,
            Kind::Positive => ParameterScale::Positive,
        };
        let moved = !scaling.is_empty() || !auxiliary.names().is_empty() || unfolding.is_some();
        moved.then_some(Self {
            scaling,
            intercept: frame.intercept,
            coefficients: frame.columns * auxiliary.predictors(),
            auxiliary: auxiliary.names().len(),
            parameters,
            unfolding,
        })
    }

    /// Whether coefficients of centred or standardized predictors become those of the data.
    pub(crate) fn to_original(frame: &Frame, settings: &Settings, priors: &ModelPriors) -> bool {
        let wanted = settings.original_scale || (priors.centred && !settings.standardize);
        wanted && frame.scaling.is_some()
    }

    /// What a coefficient is divided by to be reported.
    pub(crate) fn divisor(&self, coefficient: usize, scaling: &[(f64, f64)]) -> f64 {
        let columns = self.scaling.len();
        if columns == 0 { 1.0 } else { scaling[coefficient % columns].1 }
    }

    /// Maps a point to what is reported.
    pub fn apply(&self, point: &mut [f64]) {
        if let Some(unfolding) = &self.unfolding {
            unfolding.apply(point);
        }
        self.apply_to_plain(point);
    }

    /// Maps a draw of the prior: coefficients, parameters, and those of groups as they are sampled.
    pub(crate) fn apply_to_prior(&self, point: &mut [f64]) {
        if let Some(unfolding) = &self.unfolding {
            unfolding.report(point);
        }
        self.apply_to_plain(point);
    }

    fn apply_to_plain(&self, point: &mut [f64]) {
        let (coefficients, parameters) = point.split_at_mut(self.coefficients);
        let parameters = &mut parameters[..self.auxiliary];
        self.parameters.to_natural(parameters);
        let columns = self.scaling.len();
        if columns == 0 {
            return;
        }
        let first = usize::from(self.intercept);
        for coefficients in coefficients.chunks_exact_mut(columns) {
            let mut shift = 0.0;
            for (beta, (centre, divisor)) in coefficients.iter_mut().zip(&self.scaling).skip(first)
            {
                *beta /= divisor;
                shift += *beta * centre;
            }
            self.shift(coefficients, parameters, -shift);
        }
    }

    /// The inverse, of a model without groups: a reported point as it was sampled.
    pub fn undo(&self, point: &mut [f64]) {
        let (coefficients, parameters) = point.split_at_mut(self.coefficients);
        let first = usize::from(self.intercept);
        for coefficients in coefficients.chunks_exact_mut(self.scaling.len().max(1)) {
            let mut shift = 0.0;
            for (beta, (centre, divisor)) in coefficients.iter_mut().zip(&self.scaling).skip(first)
            {
                shift += *beta * centre;
                *beta *= divisor;
            }
            self.shift(coefficients, parameters, shift);
        }
        self.parameters.to_unconstrained(parameters);
    }

    /// Adds to the intercept, or subtracts from the thresholds.
    fn shift(&self, coefficients: &mut [f64], thresholds: &mut [f64], by: f64) {
        match coefficients.first_mut() {
            Some(intercept) if self.intercept => *intercept += by,
            _ if self.parameters == ParameterScale::Ordered => {
                thresholds.iter_mut().for_each(|c| *c -= by);
            }
            _ => {}
        }
    }
}

/// Passes draws on to another sink and to the observer, on the reported scale.
pub(crate) struct Reported<'a> {
    rescaling: Option<&'a Rescaling>,
    point: Vec<f64>,
    observer: &'a dyn Observer,
    sink: &'a mut dyn Sink,
}

impl<'a> Reported<'a> {
    pub(crate) fn new(
        rescaling: Option<&'a Rescaling>, observer: &'a dyn Observer, sink: &'a mut dyn Sink,
    ) -> Self {
        Self { rescaling, point: Vec::new(), observer, sink }
    }
}

impl Sink for Reported<'_> {
    fn begin(&mut self, chains: usize, dimension: usize) -> Result<(), SinkError> {
        self.observer.begin(chains, dimension);
        self.sink.begin(chains, dimension)
    }

    fn keep(&mut self, chain: usize, draw: u64, point: &[f64]) -> Result<(), SinkError> {
        self.keep_with(chain, draw, point, None)
    }

    fn keep_with(
        &mut self, chain: usize, draw: u64, point: &[f64], stats: Option<&DrawStats>,
    ) -> Result<(), SinkError> {
        let point = match &self.rescaling {
            Some(rescaling) => {
                self.point.clear();
                self.point.extend_from_slice(point);
                rescaling.apply(&mut self.point);
                &self.point
            }
            None => point,
        };
        self.observer.draw(chain, point);
        self.sink.keep_with(chain, draw, point, stats)
    }

    fn flush(&mut self) -> Result<(), SinkError> {
        self.sink.flush()
    }

    fn checkpoint(&mut self, state: SavedRun) -> Result<(), SinkError> {
        self.sink.checkpoint(state)
    }

    fn restart(&mut self, warm_up: &SavedWarmUp) -> Result<bool, SinkError> {
        let again = self.sink.restart(warm_up)?;
        if let Some(decision) = warm_up.history().last().filter(|_| again) {
            self.observer.restart(decision);
        }
        Ok(again)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_goes_to_the_scale_of_the_data_and_back() {
        let rescaling = Rescaling {
            scaling: vec![(0.0, 1.0), (3.0, 2.0), (-1.0, 0.5)],
            intercept: true,
            coefficients: 3,
            auxiliary: 1,
            parameters: ParameterScale::Positive,
            unfolding: None,
        };
        let mut point = [1.0, 4.0, 0.25, 0.0];
        rescaling.apply(&mut point);
        // 1 + 4 (x − 3)/2 + 0.25 (z + 1)/0.5 = −4.5 + 2 x + 0.5 z, and a parameter e^0.
        assert_eq!(point, [-4.5, 2.0, 0.5, 1.0]);
        rescaling.undo(&mut point);
        assert_eq!(point, [1.0, 4.0, 0.25, 0.0]);
    }

    #[test]
    fn thresholds_move_with_the_predictors() {
        let rescaling = Rescaling {
            scaling: vec![(3.0, 1.0)],
            intercept: false,
            coefficients: 1,
            auxiliary: 2,
            parameters: ParameterScale::Ordered,
            unfolding: None,
        };
        let mut point = [2.0, -1.0, 0.0];
        rescaling.apply(&mut point);
        // c − 2 (x − 3) = (c + 6) − 2 x, and the second threshold is e^0 above the first.
        assert_eq!(point, [2.0, 5.0, 6.0]);
        rescaling.undo(&mut point);
        assert_eq!(point, [2.0, -1.0, 0.0]);
    }
}
