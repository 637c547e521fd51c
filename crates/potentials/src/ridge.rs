//! Ridge-separable potentials: U(θ) = Σ w_i u(a_i·θ + o_i; y_i) + prior, with line integrals in
//! closed form.

use std::sync::{Arc, OnceLock};

use crate::batch::Whole;
use crate::coordinates::{Factored, Wide};
use crate::design::Design;
use crate::error::{Error, PriorValue, RowValue, length};
use crate::families::{Family, Objection, Observation};
use crate::pass::{Law, Terms};
use crate::prior::Prior;
use crate::quadratic::Quadratic;
use crate::rows::Rows;
use crate::stiff::Stiff;
use crate::thinning::Thin;

/// The potential of a generalized linear model.
///
/// ```
/// use ridgewalk_potentials::families::Logistic;
/// use ridgewalk_potentials::{Dense, LineIntegral, Prior, Ridge, Scratch};
///
/// let design = Dense::new(4, 1, vec![-1.0, 0.2, 0.7, 2.0])?.with_intercept();
/// let model = Ridge::new(design, Logistic, &[0.0, 0.0, 1.0, 1.0], Prior::centred(2, 2.5)?)?;
/// let mut integral = [0.0; 2];
/// model.integrate(0.1, &[0.0, 0.0], &[1.0, -1.0], &mut integral, &mut Scratch::default())?;
/// assert!(integral[1] < 0.0, "the slope is too small to explain the data");
/// # Ok::<(), ridgewalk_potentials::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Ridge<'a, F> {
    design: Arc<Design<'a>>,
    family: F,
    observations: Arc<[Observation]>,
    /// Empty where all are 1.
    weights: Vec<f64>,
    /// Empty where all are 0.
    offsets: Vec<f64>,
    quadratic: Quadratic,
    /// Who has the rows.
    rows: Rows,
    /// The number of rows in all processes.
    all_rows: usize,
    /// Found when it is first needed.
    stiff: OnceLock<Stiff>,
    /// The same.
    thin: OnceLock<Result<Thin, Error>>,
    /// The model taken apart, if it is wide; made when it is first needed.
    wide: OnceLock<Option<Arc<Wide<F>>>>,
    /// The coordinates of a model with many sparse columns; likewise.
    factored: OnceLock<Option<Arc<Factored>>>,
}

impl<'a, F: Family> Ridge<'a, F> {
    /// A model of responses, one for each row of the design.
    ///
    /// # Errors
    /// Lengths that do not match, or a response that the family cannot have, with its row.
    pub fn new(
        design: impl Into<Design<'a>>, family: F, responses: &[f64], prior: Prior,
    ) -> Result<Self, Error> {
        let trials = vec![1.0; responses.len()];
        Self::with_trials(design, family, responses, &trials, prior)
    }

    /// A model of counts of successes out of trials.
    ///
    /// # Errors
    /// As [`Ridge::new`], and for trials fewer than successes.
    pub fn with_trials(
        design: impl Into<Design<'a>>, family: F, responses: &[f64], trials: &[f64], prior: Prior,
    ) -> Result<Self, Error> {
        length("the list of trials", trials.len(), responses.len())?;
        let pairs = responses.iter().zip(trials);
        let observations =
            pairs.map(|(&response, &trials)| Observation { response, trials }).collect();
        Self::of_observations(design, family, observations, prior)
    }

    /// A model of observations that are more than one number: counts out of trials, or times
    /// within an interval.
    ///
    /// # Errors
    /// As [`Ridge::new`].
    pub fn of_observations(
        design: impl Into<Design<'a>>, family: F, observations: Vec<Observation>, prior: Prior,
    ) -> Result<Self, Error> {
        let design = design.into();
        length("the list of responses", observations.len(), design.rows())?;
        length("the prior", prior.dimension(), design.columns())?;
        for (row, &y) in observations.iter().enumerate() {
            let (what, value, need) = match family.objection(y) {
                None => continue,
                Some(Objection::Response(need)) => (RowValue::Response, y.response, need),
                Some(Objection::Trials(need)) => (RowValue::Trials, y.trials, need),
            };
            return Err(Error::Row { what, row, value, need });
        }
        let quadratic = Quadratic::Diagonal(prior);
        let all_rows = observations.len();
        Ok(Self {
            design: Arc::new(design),
            family,
            observations: observations.into(),
            weights: Vec::new(),
            offsets: Vec::new(),
            quadratic,
            rows: Rows::default(),
            all_rows,
            stiff: OnceLock::new(),
            thin: OnceLock::new(),
            wide: OnceLock::new(),
            factored: OnceLock::new(),
        })
    }

    /// The same model with a weight for each row: how many times it counts.
    ///
    /// # Errors
    /// Unless there is a positive, finite weight for each row.
    pub fn with_weights(mut self, weights: Vec<f64>) -> Result<Self, Error> {
        self.weights = valid_weights(weights, self.design.rows())?;
        Ok(self.afresh())
    }

    /// The same model with a known number added to each linear predictor.
    ///
    /// # Errors
    /// Unless there is a finite offset for each row.
    pub fn with_offsets(mut self, offsets: Vec<f64>) -> Result<Self, Error> {
        self.offsets = valid_offsets(offsets, self.design.rows())?;
        Ok(self.afresh())
    }

    /// The model whose rows are spread over several processes; this process has these rows. Every
    /// sum over rows is then over the rows of all processes and the same, to the last bit, in each.
    /// All processes have the same family, columns and prior, and make the same calls in the same
    /// order.
    #[must_use]
    pub fn with_rows(self, rows: &Rows) -> Self {
        let all_rows = rows.count(self.observations.len());
        Self { rows: rows.clone(), all_rows, ..self.afresh() }
    }

    /// The same observations and weights with a design, quadratic part and offsets in other
    /// coordinates.
    pub(crate) fn with_coordinates<'b>(
        &self, design: Design<'b>, quadratic: Quadratic, offsets: Vec<f64>,
    ) -> Result<Ridge<'b, F>, Error>
    where
        F: Clone,
    {
        let model = Ridge {
            design: Arc::new(design),
            family: self.family.clone(),
            observations: self.observations.clone(),
            weights: self.weights.clone(),
            offsets: Vec::new(),
            quadratic,
            rows: self.rows.clone(),
            all_rows: self.all_rows,
            stiff: OnceLock::new(),
            thin: OnceLock::new(),
            wide: OnceLock::new(),
            factored: OnceLock::new(),
        };
        model.with_offsets(offsets)
    }

    /// The same model under another prior.
    ///
    /// # Errors
    /// A prior of another dimension.
    pub fn with_prior(mut self, prior: Prior) -> Result<Self, Error> {
        length("the prior", prior.dimension(), self.design.columns())?;
        self.quadratic = Quadratic::Diagonal(prior);
        Ok(self.afresh())
    }

    /// The same model where the prior of the first coefficient, an intercept, is that of the linear
    /// predictor at these values of all columns. The first of them does not matter.
    ///
    /// # Errors
    /// Unless there is a finite number for each column.
    pub fn with_intercept_at(mut self, mut means: Vec<f64>) -> Result<Self, Error> {
        length("the list of means", means.len(), self.design.columns())?;
        if let Some(column) = means.iter().position(|mean| !mean.is_finite()) {
            return Err(Error::Entry { row: 0, column, value: means[column] });
        }
        let Quadratic::Diagonal(prior) = &self.quadratic else {
            let need = "a model with priors of its coefficients, one by one";
            let (what, value) = (PriorValue::Mean, f64::NAN);
            return Err(Error::Prior { what, coefficient: 0, value, need });
        };
        if prior.precision()[0] == 0.0 {
            return Ok(self);
        }
        means.iter_mut().take(1).for_each(|mean| *mean = 1.0);
        let (mut means_of, mut precisions) = (prior.mean().to_vec(), prior.precision().to_vec());
        let [mean, precision] =
            [&mut means_of, &mut precisions].map(|list| std::mem::take(&mut list[0]));
        let prior = Prior::from_precision(means_of, precisions);
        self.quadratic = Quadratic::At { prior, at: means, precision, mean };
        if !self.is_sparse() {
            self.quadratic = self.quadratic.general();
        }
        Ok(self.afresh())
    }

    /// With nothing found yet.
    fn afresh(self) -> Self {
        let (stiff, thin) = (OnceLock::new(), OnceLock::new());
        let (wide, factored) = (OnceLock::new(), OnceLock::new());
        Self { stiff, thin, wide, factored, ..self }
    }

    /// The linear predictors of the rows of this process, offsets included.
    ///
    /// # Errors
    /// Unless the point has the model's dimension.
    pub fn linear_predictors(&self, point: &[f64]) -> Result<Vec<f64>, Error> {
        length("the point", point.len(), self.design.columns())?;
        let predictors = self.predictors(point);
        self.design.intact()?;
        Ok(predictors)
    }

    /// The number of coefficients.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.design.columns()
    }

    /// The family.
    #[must_use]
    pub fn family(&self) -> &F {
        &self.family
    }

    pub(crate) fn design(&self) -> &Design<'a> {
        &self.design
    }

    pub(crate) fn observations(&self) -> &[Observation] {
        &self.observations
    }

    /// Who has the rows.
    pub(crate) fn rows(&self) -> &Rows {
        &self.rows
    }

    /// Numbers that count once in a sum over all processes: unchanged in the first, 0 in the
    /// others.
    pub(crate) fn once(&self, mut numbers: Vec<f64>) -> Vec<f64> {
        if !self.rows.is_first() {
            numbers.fill(0.0);
        }
        numbers
    }

    /// The number of rows in all processes.
    pub(crate) fn all_rows(&self) -> usize {
        self.all_rows
    }

    pub(crate) fn quadratic(&self) -> &Quadratic {
        &self.quadratic
    }

    /// U at a point, up to a constant of the prior.
    ///
    /// # Errors
    /// Unless the point has the model's dimension.
    pub fn value(&self, point: &[f64]) -> Result<f64, Error> {
        length("the point", point.len(), self.design.columns())?;
        let sum: f64 = (0..self.design.rows())
            .map(|row| {
                self.weight(row)
                    * self.family.value(self.predictor(row, point), self.observations[row])
            })
            .sum();
        let mut sum = [sum];
        self.rows.sum(&mut sum);
        self.design.intact()?;
        Ok(sum[0] + self.quadratic.value(point))
    }

    pub(crate) fn predictor(&self, row: usize, point: &[f64]) -> f64 {
        let product: f64 = match &*self.design {
            Design::Dense(dense) => {
                let d = point.len();
                dense.values()[row * d..(row + 1) * d].iter().zip(point).map(|(a, x)| a * x).sum()
            }
            Design::Sparse(sparse) => sparse.entries(row).map(|(k, a)| a * point[k]).sum(),
            Design::Stored(stored) => {
                stored.row(row, |row| row.iter().zip(point).map(|(a, x)| a * x).sum())
            }
        };
        product + self.offset(row)
    }

    pub(crate) fn weight(&self, row: usize) -> f64 {
        self.weights.get(row).copied().unwrap_or(1.0)
    }

    pub(crate) fn offset(&self, row: usize) -> f64 {
        self.offsets.get(row).copied().unwrap_or(0.0)
    }

    /// The rows whose curvature changes most, in whitened coordinates.
    pub(crate) fn stiff_rows(&self) -> &Stiff {
        self.stiff.get_or_init(|| Stiff::of(self))
    }

    /// What moves are accepted by, in whitened coordinates.
    pub(crate) fn thin(&self) -> Result<&Thin, Error> {
        self.thin.get_or_init(|| Thin::of(self)).as_ref().map_err(Error::clone)
    }

    pub(crate) fn wide_cell(&self) -> &OnceLock<Option<Arc<Wide<F>>>> {
        &self.wide
    }

    pub(crate) fn factored_cell(&self) -> &OnceLock<Option<Arc<Factored>>> {
        &self.factored
    }

    /// The rows with their terms.
    pub(crate) fn whole(&self) -> Whole<'_> {
        let terms = Terms {
            law: Law::Family(&self.family),
            observations: &self.observations,
            weights: &self.weights,
            offsets: &self.offsets,
        };
        Whole { design: &self.design, terms, rows: &self.rows }
    }
}

/// A positive, finite weight for each row, or an error.
pub(crate) fn valid_weights(weights: Vec<f64>, rows: usize) -> Result<Vec<f64>, Error> {
    length("the list of weights", weights.len(), rows)?;
    let need = "a positive, finite number";
    match weights.iter().position(|w| !(*w > 0.0 && w.is_finite())) {
        Some(row) => Err(Error::Row { what: RowValue::Weight, row, value: weights[row], need }),
        None => Ok(weights),
    }
}

/// A finite offset for each row, or an error.
pub(crate) fn valid_offsets(offsets: Vec<f64>, rows: usize) -> Result<Vec<f64>, Error> {
    length("the list of offsets", offsets.len(), rows)?;
    let need = "a finite number";
    match offsets.iter().position(|o| !o.is_finite()) {
        Some(row) => Err(Error::Row { what: RowValue::Offset, row, value: offsets[row], need }),
        None => Ok(offsets),
    }
}
