"""Bayesian generalized linear models: a formula, a data frame, a posterior.

>>> import ridgewalk as rw
>>> study = {"hours": [0.5, 1, 1.5, 1.75, 2, 2.5, 3, 3.25, 4, 4.25, 4.75, 5.5],
...          "passed": [0, 0, 0, 1, 0, 1, 0, 1, 1, 1, 1, 1]}
>>> fit = rw.fit("passed ~ hours", study, family="logistic", seed=1)
>>> fit.warnings
[]
>>> bool(1.4 < fit.summary().loc["hours", "mean"] < 1.9)
True

`fit` fits a model. `sample` draws from any log density. `certify`, `plan` and `coefficients` are about
the algorithm itself. `LogisticRegression` and its siblings are estimators for scikit-learn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._compare import Comparison, Loo, compare
from ._fit import Fit, describe, fit, load, resume
from ._ridgewalk import InputError, RunError, __version__
from ._samples import Samples, sample
from ._theory import certify, coefficients, plan
from ._warnings import FitWarning

if TYPE_CHECKING:
    from ._estimators import (
        GammaRegressor,
        LinearRegression,
        LogisticRegression,
        NegativeBinomialRegressor,
        OrdinalClassifier,
        PoissonRegressor,
        RobustRegressor,
    )

_ESTIMATORS = (
    "GammaRegressor",
    "LinearRegression",
    "LogisticRegression",
    "NegativeBinomialRegressor",
    "OrdinalClassifier",
    "PoissonRegressor",
    "RobustRegressor",
)

__all__ = [
    "Comparison",
    "Fit",
    "FitWarning",
    "GammaRegressor",
    "InputError",
    "LinearRegression",
    "LogisticRegression",
    "Loo",
    "NegativeBinomialRegressor",
    "OrdinalClassifier",
    "PoissonRegressor",
    "RobustRegressor",
    "RunError",
    "Samples",
    "__version__",
    "certify",
    "coefficients",
    "compare",
    "describe",
    "fit",
    "load",
    "plan",
    "resume",
    "sample",
]


def __getattr__(name: str) -> Any:
    # scikit-learn is needed by the estimators alone, and takes a second to import.
    if name in _ESTIMATORS:
        from . import _estimators

        return getattr(_estimators, name)
    raise AttributeError(f"module 'ridgewalk' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
