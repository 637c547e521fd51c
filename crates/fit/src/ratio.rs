//! Other views of a finished run, computed from its draws: intervals of another width, and
//! coefficients as ratios.

use ridgewalk_frame::FamilyName;

use crate::document::{Parameter, SummaryDocument};
use crate::draws::{DrawReader, intervals_of, summaries_of_exponentials};
use crate::error::Error;
use crate::settings::validate_interval;

/// What e^β is for a coefficient β.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ratio {
    /// Of odds: logistic, ordinal and multinomial models.
    Odds,
    /// Of rates: models of counts.
    Rate,
    /// Of times: survival models.
    Time,
    /// Of means: the gamma model.
    Means,
}

impl Ratio {
    /// The ratio of a family.
    ///
    /// # Errors
    /// [`Error::Setting`] for a family whose coefficients are not logarithms of ratios.
    pub fn of(family: FamilyName) -> Result<Self, Error> {
        match family {
            FamilyName::Logistic | FamilyName::Ordinal | FamilyName::Multinomial => Ok(Self::Odds),
            FamilyName::Poisson | FamilyName::NegativeBinomial => Ok(Self::Rate),
            FamilyName::Weibull
            | FamilyName::LogLogistic
            | FamilyName::LogNormal
            | FamilyName::Exponential => Ok(Self::Time),
            FamilyName::Gamma => Ok(Self::Means),
            FamilyName::Probit => Err(refused(
                family,
                "a model whose coefficients are logarithms of ratios; those of a probit model are \
                 shifts of a normal curve. Leave --exp out, or fit with --family logistic for odds \
                 ratios",
            )),
            FamilyName::Gaussian
            | FamilyName::StudentT
            | FamilyName::RobustLogistic
            | FamilyName::RobustHuber => Err(refused(
                family,
                "a model whose coefficients are logarithms of ratios; here they are differences in \
                 the unit of the response. Leave --exp out, or fit a positive response with \
                 --family gamma for ratios of means",
            )),
        }
    }

    /// Its name, as in `summary.json`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Odds => "odds ratio",
            Self::Rate => "rate ratio",
            Self::Time => "time ratio",
            Self::Means => "ratio of means",
        }
    }

    /// Several of them.
    #[must_use]
    pub fn plural(self) -> &'static str {
        match self {
            Self::Odds => "odds ratios",
            Self::Rate => "rate ratios",
            Self::Time => "time ratios",
            Self::Means => "ratios of means",
        }
    }
}

fn refused(family: FamilyName, need: &str) -> Error {
    Error::setting("--exp", format!("with the family {family}"), need)
}

impl SummaryDocument {
    /// The same results with intervals that hold the share `interval`. Draws are read only if the
    /// document has other intervals.
    ///
    /// # Errors
    /// A share that is not between 0 and 1; draws that cannot be read.
    pub fn at_interval(self, draws: &dyn DrawReader, interval: f64) -> Result<Self, Error> {
        validate_interval(interval)?;
        if self.interval == interval && self.parameters.iter().all(|p| p.hdi().is_some()) {
            return Ok(self);
        }
        let intervals = intervals_of(draws, interval)?;
        Ok(self.with_intervals(&intervals, interval))
    }

    /// The first `coefficients` parameters as ratios: every number is that of e^β, draw by draw.
    /// Parameters beside the coefficients are left out.
    ///
    /// # Errors
    /// A share that is not between 0 and 1; draws that cannot be read.
    pub fn as_ratios(
        self, draws: &dyn DrawReader, ratio: Ratio, coefficients: usize, interval: f64,
    ) -> Result<Self, Error> {
        validate_interval(interval)?;
        let (summaries, intervals): (Vec<_>, Vec<_>) =
            summaries_of_exponentials(draws, interval, coefficients)?.into_iter().unzip();
        let parameters = self.parameters.iter().zip(&summaries);
        let parameters = parameters.map(|(p, summary)| Parameter::new(&p.name, summary)).collect();
        let scale = Some(ratio.name().to_owned());
        let document = Self { parameters, scale, groups: Vec::new(), ..self };
        Ok(document.with_intervals(&intervals, interval))
    }
}
