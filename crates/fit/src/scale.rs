//! Maps coefficients sampled for standardized predictors to the scale of the data.

use ridgewalk_frame::Frame;
use ridgewalk_sampler::{SavedRun, SavedWarmUp, Sink, SinkError};

use crate::observer::Observer;

/// From coefficients of standardized predictors to those of the data: β_k/s_k, and the intercept
/// less Σ β_k c_k/s_k.
#[derive(Debug, Clone)]
pub struct Rescaling {
    scaling: Vec<(f64, f64)>,
}

impl Rescaling {
    /// The scale of a frame, if it was standardized.
    pub(crate) fn for_frame(frame: &Frame) -> Option<Self> {
        frame.scaling.clone().map(|scaling| Self { scaling })
    }

    /// Maps a point to the scale of the data.
    pub fn apply(&self, point: &mut [f64]) {
        let mut shift = 0.0;
        for (beta, (centre, divisor)) in point.iter_mut().zip(&self.scaling).skip(1) {
            *beta /= divisor;
            shift += *beta * centre;
        }
        if let Some(intercept) = point.first_mut() {
            *intercept -= shift;
        }
    }

    /// The inverse: a point on the scale of the data as coefficients of standardized predictors.
    pub fn undo(&self, point: &mut [f64]) {
        let mut shift = 0.0;
        for (beta, (centre, divisor)) in point.iter_mut().zip(&self.scaling).skip(1) {
            shift += *beta * centre;
            *beta *= divisor;
        }
        if let Some(intercept) = point.first_mut() {
            *intercept += shift;
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
        self.sink.keep(chain, draw, point)
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
    use super::Rescaling;

    #[test]
    fn a_point_goes_to_the_scale_of_the_data_and_back() {
        let rescaling = Rescaling { scaling: vec![(0.0, 1.0), (3.0, 2.0), (-1.0, 0.5)] };
        let mut point = [1.0, 4.0, 0.25];
        rescaling.apply(&mut point);
        // 1 + 4 (x − 3)/2 + 0.25 (z + 1)/0.5 = −4.5 + 2 x + 0.5 z.
        assert_eq!(point, [-4.5, 2.0, 0.5]);
        rescaling.undo(&mut point);
        assert_eq!(point, [1.0, 4.0, 0.25]);
    }
}
