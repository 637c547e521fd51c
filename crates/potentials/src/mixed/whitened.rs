//! A mixed model as a function of (ζ, t).

use std::sync::Arc;

use super::Mixed;
use super::chart::Chart;
use crate::error::{Error, length};
use crate::line_integral::{LineIntegral, Scratch, no_line_integrals, whole_chains};
use crate::whitening::Whitening;

/// The step of differences by t. A force need not be an exact gradient for trajectories that are
/// accepted or rejected; this one is good to about six digits.
const STEP: f64 = 1e-6;

impl Mixed {
    /// −log density of (ζ, t), and its gradient, at points stored one after the other. Where t is so
    /// far out that it has no coordinates, the value is +∞ and the gradient 0.
    pub(super) fn evaluate(
        &self, chart: &Chart, points: &[f64], values: &mut [f64], gradients: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<(), Error> {
        let (d, head, inner) = (self.dimension(), self.head, self.joint.dimension());
        whole_chains(d, points, points, gradients)?;
        length("the list of values", values.len(), points.len() / d)?;
        let chains = values.len();
        let zetas: Vec<&[f64]> = points.chunks_exact(d).map(|point| &point[..head]).collect();
        let mut places = self.take_places(chains + 1);
        let Some(mut other) = places.pop() else { return Ok(()) };
        // t as the model has it, and the logarithms of its derivatives.
        let (mut unbent, mut log_slopes, mut t) = (Vec::new(), Vec::new(), Vec::new());
        for (point, here) in points.chunks_exact(d).zip(&mut places) {
            log_slopes.push(chart.knees.unbend(&point[head..], &mut t));
            here.inside = chart.at(self, &t, here);
            unbent.extend_from_slice(&t);
        }
        chart.prepare(self, &mut places, &zetas);
        let mut plain = vec![0.0; chains * inner];
        let lists = places.iter_mut().zip(plain.chunks_exact_mut(inner));
        let tails = d - head;
        for (chain, ((here, plain), zeta)) in lists.zip(&zetas).enumerate() {
            let t = &unbent[chain * tails..(chain + 1) * tails];
            if here.inside {
                chart.moved(self, None, here, zeta, &mut plain[..head]);
                plain[head..].copy_from_slice(&t[..inner - head]);
            } else {
                plain[head..].copy_from_slice(&chart.typical[..inner - head]);
            }
        }
        let mut by_plain = vec![0.0; plain.len()];
        self.joint.values_and_gradients(&plain, values, &mut by_plain, scratch)?;
        let (mut moved, mut at) = (vec![0.0; head], vec![0.0; d - head]);
        for (chain, here) in places.iter_mut().enumerate() {
            let (zeta, v) = points[chain * d..(chain + 1) * d].split_at(head);
            let t = &unbent[chain * tails..(chain + 1) * tails];
            let by_t = &mut gradients[chain * d + head..(chain + 1) * d];
            let within = chain * inner..(chain + 1) * inner;
            let (x, by_x) = (&plain[within.clone()], &mut by_plain[within]);
            let (by_psi, by_phi) = by_t.split_at_mut(inner - head);
            let groups = self.add_groups(x, &t[inner - head..], by_x, by_phi);
            by_psi.copy_from_slice(&by_x[head..]);
            values[chain] += groups + here.log_det - log_slopes[chain];
            at.copy_from_slice(t);
            for (k, by) in by_t.iter_mut().enumerate() {
                let step = STEP * t[k].abs().max(1.0);
                at[k] = t[k] + step;
                here.inside = here.inside && chart.at(self, &at, &mut other);
                if here.inside {
                    chart.moved(self, Some(here), &mut other, zeta, &mut moved);
                    let change = moved.iter().zip(&x[..head]).zip(&by_x[..head]);
                    let along: f64 = change.map(|((to, from), g)| (to - from) * g).sum();
                    *by += (along + other.log_det - here.log_det) / (at[k] - t[k]);
                }
                at[k] = t[k];
            }
            chart.knees.bend_gradient(v, by_t);
        }
        let by_x: Vec<&[f64]> = by_plain.chunks_exact(inner).map(|by| &by[..head]).collect();
        let by_zeta = gradients.chunks_exact_mut(d).map(|gradient| &mut gradient[..head]);
        chart.pull(self, &mut places, &by_x, by_zeta.collect());
        let lists = values.iter_mut().zip(gradients.chunks_exact_mut(d)).zip(&places);
        for ((value, gradient), _) in lists.filter(|(_, here)| !here.inside) {
            *value = f64::INFINITY;
            gradient.fill(0.0);
        }
        places.push(other);
        self.return_places(places);
        Ok(())
    }
}

/// A mixed model as a function of z, where (ζ, t) = centre + W z.
#[derive(Debug, Clone)]
pub struct WhitenedMixed {
    model: Arc<Mixed>,
    chart: Arc<Chart>,
    whitening: Whitening,
}

impl WhitenedMixed {
    /// The posterior in these coordinates.
    ///
    /// # Errors
    /// A whitening of another dimension; as [`Mixed::chart`].
    pub fn new(model: Arc<Mixed>, whitening: Whitening) -> Result<Self, Error> {
        length("the whitening", whitening.dimension(), model.dimension())?;
        let chart = Arc::clone(model.chart()?);
        Ok(Self { model, chart, whitening })
    }
}

impl LineIntegral for WhitenedMixed {
    fn dimension(&self) -> usize {
        self.whitening.dimension()
    }

    no_line_integrals!();

    fn values_and_gradients(
        &self, positions: &[f64], values: &mut [f64], gradients: &mut [f64], scratch: &mut Scratch,
    ) -> Result<(), Error> {
        let d = self.dimension();
        whole_chains(d, positions, positions, gradients)?;
        let mut points = vec![0.0; positions.len()];
        for (z, point) in positions.chunks_exact(d).zip(points.chunks_exact_mut(d)) {
            self.whitening.to_original(z, point)?;
        }
        let mut found = vec![0.0; positions.len()];
        self.model.evaluate(&self.chart, &points, values, &mut found, scratch)?;
        for (found, gradient) in found.chunks_exact(d).zip(gradients.chunks_exact_mut(d)) {
            self.whitening.gradient_to_whitened(found, gradient)?;
        }
        Ok(())
    }

    fn shares_out(&self, chains: usize) -> bool {
        self.model.joint().shares_out(chains)
    }

    fn collective(&self) -> bool {
        self.model.joint().collective()
    }
}
