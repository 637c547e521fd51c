"""Estimators for scikit-learn: `fit`, with arrays instead of a formula.

They are fits with the same priors and the same draws. These things differ from `ridgewalk.fit`:

- Rows are fitted in an order that only depends on their values. So the order in which they come
  makes no difference, not even in the last digits.
- A sample weight counts a row that many times, for the likelihood and for the priors, which follow
  the units of the data. Whole numbers are fitted as repeated rows, up to ten times as many as there
  were; other weights as weights. Rows of weight 0 are left out, and classes that only they have.
- A column that is constant says nothing about its coefficient. It is left out of the model and of
  predictions: `coef_` is 0 and `coef_sd_` is that of the prior.
- X may be a matrix or an array of scipy.sparse. It is not made dense. With sample weights that are no
  whole numbers, its columns are not centred: the prior of the intercept is that where all are 0.
- Where no noise scale can be sampled, because the model fits every response exactly, it is fixed,
  with a warning. `ridgewalk.fit` refuses such data.
"""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Optional, TypeVar, Union

import numpy as np
import pandas as pd
from scipy import sparse  # type: ignore[import-untyped]
from scipy.sparse.linalg import lsqr  # type: ignore[import-untyped]
from scipy.special import expit  # type: ignore[import-untyped]
from sklearn.base import (  # type: ignore[import-untyped]
    BaseEstimator,
    ClassifierMixin,
    RegressorMixin,
)
from sklearn.utils import check_random_state  # type: ignore[import-untyped]
from sklearn.utils.multiclass import check_classification_targets  # type: ignore[import-untyped]
from sklearn.utils.validation import (  # type: ignore[import-untyped]
    _check_sample_weight,
    check_is_fitted,
    validate_data,
)

from . import _ridgewalk, _warnings
from ._fit import Fit, fit
from ._frames import Matrix, table_of
from ._ridgewalk import InputError

Array = np.ndarray[Any, np.dtype[np.float64]]
Seed = Union[int, np.random.RandomState, None]
Self = TypeVar("Self", bound="_Estimator")

__all__ = [
    "GammaRegressor",
    "LinearRegression",
    "LogisticRegression",
    "NegativeBinomialRegressor",
    "OrdinalClassifier",
    "PoissonRegressor",
    "RobustRegressor",
]

# The default prior of a coefficient, as `fit` has it.
_PRIOR = "normal(0, 2.5, autoscale)"
# Whole weights are repeated rows as long as these are at most this many times the rows.
_REPEATED = 10
# Numbers that predictions hold at a time: small enough for the cache of a processor.
_AT_ONCE = 1_000_000
# Linear predictors are cut off here, so that no probability is 0 and every logarithm is finite.
_FAR = 700.0
# What a fit says if there is no noise to be sampled.
_NO_NOISE = "the noise cannot be told from the fit"
# Names that are not free for columns: those of parameters, and of what a fit adds.
_TAKEN = ("(Intercept)", "*", "intercept", "sigma", "nu", "size", "shape")


@dataclass(frozen=True)
class _Rows:
    """The rows of a fit: predictors, response, weights, and where each row is in the input."""

    # An array, or sparse rows.
    X: Any
    y: Array
    weights: Array | None
    at: np.ndarray[Any, np.dtype[np.intp]]

    def take(self, rows: Any) -> _Rows:
        weights = None if self.weights is None else self.weights[rows]
        return _Rows(self.X[rows], self.y[rows], weights, self.at[rows])

    def without_weight_0(self) -> _Rows:
        if self.weights is None:
            return self
        kept = self.take(self.weights > 0)
        if not len(kept.y):
            raise ValueError("Sample weights must contain at least one non-zero number.")
        return kept

    def repeated(self) -> _Rows:
        """Whole weights as repeated rows.

        The posterior is that of the weights. But chains of some families amplify rounding errors
        until the draws are others, and only the same rows give the same draws.
        """
        weights = self.weights
        if weights is None:
            return self
        # First the size: a sum of large weights is no number of rows.
        if weights.sum() > _REPEATED * len(weights) or (weights != np.round(weights)).any():
            return self
        times = np.repeat(np.arange(len(weights)), weights.astype(np.intp))
        return replace(self.take(times), weights=None)

    def sorted(self) -> _Rows:
        """In an order that depends on the values alone."""
        if sparse.issparse(self.X):
            return self.take(self._sparse_order())
        columns = [self.X, self.y] if self.weights is None else [self.X, self.y, self.weights]
        # Adding 0 makes 0 of -0. Rows are compared as bytes: any order will do.
        table = np.ascontiguousarray(np.column_stack(columns)) + 0.0
        keys = table.view(f"V{table.itemsize * table.shape[1]}").ravel()
        return self.take(np.argsort(keys, kind="stable"))

    def _sparse_order(self) -> list[int]:
        columns = [self.y] if self.weights is None else [self.y, self.weights]
        rest = np.column_stack(columns) + 0.0
        starts, indices, values = self.X.indptr, self.X.indices.astype(np.int64), self.X.data
        keys = [
            indices[a:b].tobytes() + values[a:b].tobytes() + own.tobytes()
            for a, b, own in zip(starts[:-1], starts[1:], rest)
        ]
        return sorted(range(len(keys)), key=keys.__getitem__)

    def mean_and_sd(self, values: Any) -> tuple[Array, Array]:
        """Mean and standard deviation over the rows; with weights, those of repeated rows."""
        weights = np.ones(values.shape[0]) if self.weights is None else self.weights
        total = weights.sum()
        if sparse.issparse(values):
            return _sparse_mean_and_sd(values, weights)
        mean = weights @ values / total
        # The second pass removes the rounding error of the first sum.
        mean = mean + weights @ (values - mean) / total
        # Weights need not count anything: their sum may be below 2, where total - 1 makes no sense.
        divisor = max(total - 1, total / 2)
        return mean, np.sqrt(weights @ (values - mean) ** 2 / divisor)


@dataclass(frozen=True)
class _Layout:
    """How the draws of a fit belong to the columns of X."""

    # The columns in the model, and what they are called there.
    used: np.ndarray[Any, np.dtype[np.intp]]
    names: list[str]
    # Whether each linear predictor begins with an intercept.
    intercept: bool
    # If the intercept is a column of the table: what was subtracted from the others.
    centre: Array | None
    # The number of linear predictors.
    predictors: int
    # The seed of the draws.
    seed: int


class _Estimator(BaseEstimator):  # type: ignore[misc]
    """What all estimators share."""

    _family: str
    # Whether responses have a unit, which priors follow.
    _with_unit = False
    # Whether linear predictors have an intercept at all.
    _with_intercept = True

    prior: str | None
    intercept_prior: str | None
    aux_prior: str | None
    fit_intercept: bool
    chains: int
    draws: int
    random_state: Seed
    threads: int | None

    fit_: Fit
    coef_sd_: Array
    n_features_in_: int
    _layout: _Layout

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _options(self) -> dict[str, Any]:
        """The options of the family."""
        return {}

    def _response(self, y: Array) -> Any:
        """The column of the response."""
        return y

    def _fit_rows(self, rows: _Rows, predictors: int = 1) -> tuple[Array, Array, Array]:
        """Fits the model; returns means and standard deviations of slopes, and means of intercepts.

        Their first dimension is that of the linear predictors.
        """
        rows = rows.sorted()
        if len(rows.y) < 2:
            raise ValueError("found 1 sample with a weight above 0, need at least 2 samples")
        intercept = self._with_intercept and self.fit_intercept
        centre, sd = rows.mean_and_sd(rows.X)
        used = np.flatnonzero(_vary(rows.X, sd, intercept or not self._with_intercept))
        names = _names(getattr(self, "feature_names_in_", None), self.n_features_in_)
        names = [names[at] for at in used]
        location, spread = 0.0, 1.0
        if self._with_unit:
            mean_and_sd = rows.mean_and_sd(rows.y)
            location, spread = float(mean_and_sd[0]), float(mean_and_sd[1]) or 1.0

        response, weight = _free("y", names), _free("weight", names)
        matrix = _free("X", [*names, response, weight])
        is_sparse = sparse.issparse(rows.X)
        columns: dict[str, Any]
        if is_sparse:
            columns = {matrix: Matrix(rows.X[:, used], names)} if names else {}
        else:
            columns = {name: rows.X[:, at] for name, at in zip(names, used)}
        options = {"family": self._family, **self._options(), "response": response}
        own = False
        if self._with_intercept:
            options |= {"no_intercept": not intercept, "intercept_prior": self.intercept_prior}
        if rows.weights is None:
            options["prior"] = self.prior
        else:
            # `fit` centres and scales without the weights. So the intercept is a column here, the
            # others are centred, and priors are in absolute units.
            priors = {
                name: _absolute(self.prior or _PRIOR, spread / sd[at])
                for name, at in zip(names, used)
            }
            if intercept:
                own = True
                if not is_sparse:
                    for name, at in zip(names, used):
                        columns[name] = rows.X[:, at] - centre[at]
                columns = {"intercept": np.ones(len(rows.y)), **columns}
                default = f"normal({location!r}, 2.5, autoscale)"
                priors["intercept"] = _absolute(self.intercept_prior or default, spread)
                options |= {"no_intercept": True, "intercept_prior": None}
            aux_prior = options.get("aux_prior")
            if self._with_unit:
                aux_prior = aux_prior or "exponential(1, autoscale)"
            if aux_prior is not None:
                options["aux_prior"] = _absolute(aux_prior, spread)
            columns[weight] = rows.weights
            options |= {"priors": priors, "weights": weight}
        options["predictors"] = [name for name in columns if name != weight]
        columns[response] = self._response(rows.y)

        seed = _seed(self.random_state)
        options |= {"chains": self.chains, "draws": self.draws, "threads": self.threads}
        # The labels say where the rows came from.
        labels = pd.Index(rows.at)
        frame = columns if is_sparse else pd.DataFrame(columns, index=labels)
        found = self._run(frame, {**options, "seed": seed, "progress": False}, spread)
        if any(name == "stopped" for name, _ in found.warnings):
            # A search over many fits must end too.
            raise KeyboardInterrupt
        found._index = labels
        self.fit_ = found
        subtracted = centre[used] if own and not is_sparse else None
        self._layout = _Layout(used, names, intercept, subtracted, predictors, seed)
        return self._moments(spread)

    def _run(self, frame: Any, options: dict[str, Any], spread: float) -> Fit:
        return fit(None, frame, **options)

    def _moments(self, spread: float) -> tuple[Array, Array, Array]:
        """Means and standard deviations of slopes, and means of intercepts."""
        intercepts, slopes = self._linear()
        shape = (self._layout.predictors, self.n_features_in_)
        means, sds = np.zeros(shape), np.full(shape, _prior_sd(self.prior or _PRIOR, spread))
        means[:, self._layout.used] = slopes.mean(axis=0)
        sds[:, self._layout.used] = slopes.std(axis=0, ddof=1)
        return means, sds, intercepts.mean(axis=0)

    def _linear(self) -> tuple[Array, Array]:
        """Intercepts, draw x linear predictor, and slopes, draw x linear predictor x column."""
        layout, flat = self._layout, self._flat()
        width = len(layout.used) + layout.intercept
        count = layout.predictors * width
        blocks = flat[:, :count].reshape(len(flat), layout.predictors, width)
        slopes = blocks[:, :, width - len(layout.used) :]
        intercepts = blocks[:, :, 0] if layout.intercept else np.zeros(blocks.shape[:2])
        if layout.centre is not None:
            intercepts = intercepts - slopes @ layout.centre
        return intercepts, slopes

    def _parameters(self) -> Array:
        """The parameters beside the coefficients: draw x parameter."""
        layout = self._layout
        return self._flat()[:, layout.predictors * (len(layout.used) + layout.intercept) :]

    def _flat(self) -> Array:
        return self.fit_.draws.reshape(-1, self.fit_.draws.shape[2])

    def _input(self, X: Any) -> Any:
        """The new rows, checked."""
        check_is_fitted(self)
        checked = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return _canonical(checked)

    def _predictors(self, X: Any, values: int) -> Iterator[tuple[slice, Array]]:
        """Linear predictors, row x draw x predictor, for some rows at a time.

        Of each linear predictor, `values` numbers are to be held.
        """
        intercepts, slopes = self._linear()
        draws, count, width = slopes.shape
        step = max(1, _AT_ONCE // (draws * values))
        matrix = slopes.reshape(draws * count, width).T
        for start in range(0, X.shape[0], step):
            rows = slice(start, start + step)
            part = (X[rows][:, self._layout.used] @ matrix).reshape(-1, draws, count)
            part += intercepts
            yield rows, part

    def _table(self, X: Any) -> _ridgewalk.Table:
        """New rows as the fit has them."""
        layout = self._layout
        matrices = [name for name, _ in self.fit_._native.widths()]
        if matrices:
            inside = sparse.csr_array(X)[:, layout.used]
            block = {matrices[0]: Matrix(inside, layout.names), "intercept": np.ones(X.shape[0])}
            return table_of(block, None, "X")
        if sparse.issparse(X):
            # The fit was of an array.
            X = X.toarray()
        inside = X[:, layout.used]
        if layout.centre is not None:
            inside = inside - layout.centre
        columns = dict(zip(layout.names, inside.T))
        # Also a model without predictors needs a column, to know how many rows there are.
        columns["intercept"] = np.ones(len(X))
        return table_of(columns, None, "X")


class _Classifier(ClassifierMixin, _Estimator):  # type: ignore[misc]
    """What the classifiers share."""

    classes_: np.ndarray[Any, Any]

    def _classes(self, X: Any, y: Any, sample_weight: Any) -> _Rows:
        """The rows, with the numbers of their classes as the response."""
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=np.float64, ensure_min_samples=2
        )
        X = _canonical(X)
        check_classification_targets(y)
        weights = _weights(sample_weight, X)
        rows = _Rows(X, np.arange(len(y), dtype=np.float64), weights, np.arange(len(y)))
        rows = rows.without_weight_0()
        self.classes_, codes = np.unique(y[rows.at], return_inverse=True)
        if len(self.classes_) < 2:
            only = self.classes_[0]
            raise ValueError(f"found only one class, {only!r}, need at least two classes")
        return replace(rows, y=codes.astype(np.float64)).repeated()

    def _levels(self, y: Array) -> Any:
        """Classes as a column of levels, in their order."""
        labels = [str(label) for label in self.classes_]
        usable = all(label.isprintable() and label == label.strip() != "" for label in labels)
        if not usable or len(set(labels)) < len(labels):
            labels = [str(at) for at in range(len(labels))]
        return pd.Categorical.from_codes(y.astype(np.intp), categories=pd.Index(labels))

    def _probabilities(self, predictors: Array) -> Array:
        """Probabilities: row x draw x class."""
        raise NotImplementedError

    def _mean_probabilities(self, X: Any) -> Array:
        X = self._input(X)
        means = np.empty((X.shape[0], len(self.classes_)))
        for rows, predictors in self._predictors(X, len(self.classes_)):
            means[rows] = self._probabilities(predictors).mean(axis=1)
        return means

    def predict_proba(self, X: Any) -> Array:
        """The probability of each class, averaged over the posterior: row x class."""
        means = self._mean_probabilities(X)
        shares: Array = means / means.sum(axis=1, keepdims=True)
        return shares

    def predict_log_proba(self, X: Any) -> Array:
        """The logarithms of `predict_proba`, which are always finite."""
        return np.log(self.predict_proba(X))

    def decision_function(self, X: Any) -> Array:
        """The log odds of the second of two classes; with more classes, log probabilities.

        They belong to the probabilities of `predict_proba`, so the order is the same.
        """
        # Before they are divided by their sum, which may round a small one off.
        logs = np.log(self._mean_probabilities(X))
        return logs[:, 1] - logs[:, 0] if logs.shape[1] == 2 else logs

    def predict(self, X: Any) -> np.ndarray[Any, Any]:
        """The most probable class of each row."""
        best = self._mean_probabilities(X).argmax(axis=1)
        return self.classes_[best]

    def predict_interval(self, X: Any, interval: float = 0.9) -> tuple[Array, Array]:
        """The lower and upper ends of intervals of the probabilities, each row x class."""
        X = self._input(X)
        shares = _ends(interval)
        lower, upper = (np.empty((X.shape[0], len(self.classes_))) for _ in range(2))
        for rows, predictors in self._predictors(X, len(self.classes_)):
            draws = self._probabilities(predictors)
            lower[rows], upper[rows] = np.quantile(draws, shares, axis=1)
        return lower, upper


class LogisticRegression(_Classifier):
    """Logistic regression; multinomial with more than two classes.

    prior, intercept_prior
        The prior of each coefficient, such as "normal(0, 1)" or "student_t(4, 0, 2.5, autoscale)",
        and that of the intercept at the means of the predictors. The defaults are those of
        `ridgewalk.fit`.
    fit_intercept
        Whether there is an intercept.
    chains, draws, threads
        Chains, draws of each chain, and threads: by default one per processor. The number of
        threads does not change the draws. With `n_jobs` in scikit-learn, `threads=1` is best.
    random_state
        The seed: with the same one, the draws are the same. None or a RandomState give other draws
        each time.

    After `fit`: `coef_`, `coef_sd_` and `intercept_` are posterior means and standard deviations.
    They have one row for two classes, and a row per class for more. The first class is then the
    base: its row is 0, and the others are log odds against it. `fit_` is the `ridgewalk.Fit`, with
    draws, summary, warnings and checks. With sample weights that are no whole numbers, its
    predictors are centred, and its intercept is a column. `classes_`, `n_features_in_` and
    `feature_names_in_` are as usual.

    >>> from ridgewalk import LogisticRegression
    >>> X = [[0.5], [1], [1.5], [1.75], [2], [2.5], [3], [3.25], [4], [4.25], [4.75], [5.5]]
    >>> y = ["no", "no", "no", "yes", "no", "yes", "no", "yes", "yes", "yes", "yes", "yes"]
    >>> model = LogisticRegression().fit(X, y)
    >>> model.predict([[1], [5]]).tolist()
    ['no', 'yes']
    >>> bool(0.9 < model.predict_proba([[5]])[0, 1] < 1)
    True
    """

    coef_: Array
    intercept_: Array

    def __init__(
        self,
        *,
        prior: str | None = None,
        intercept_prior: str | None = None,
        fit_intercept: bool = True,
        chains: int = 8,
        draws: int = 1000,
        random_state: Seed = 0,
        threads: int | None = None,
    ) -> None:
        self.prior = prior
        self.intercept_prior = intercept_prior
        self.fit_intercept = fit_intercept
        self.chains = chains
        self.draws = draws
        self.random_state = random_state
        self.threads = threads

    @property
    def _family(self) -> str:  # type: ignore[override]
        return "logistic" if len(self.classes_) == 2 else "multinomial"

    def _response(self, y: Array) -> Any:
        return y if len(self.classes_) == 2 else self._levels(y)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LogisticRegression:
        """Draws from the posterior."""
        rows = self._classes(X, y, sample_weight)
        slopes, sds, intercepts = self._fit_rows(rows, len(self.classes_) - 1)
        if len(self.classes_) > 2:
            base = np.zeros((1, self.n_features_in_))
            slopes, sds = np.vstack([base, slopes]), np.vstack([base, sds])
            intercepts = np.append(0.0, intercepts)
        self.coef_, self.coef_sd_, self.intercept_ = slopes, sds, intercepts
        return self

    def _probabilities(self, predictors: Array) -> Array:
        if len(self.classes_) == 2:
            logit = np.clip(predictors[:, :, 0], -_FAR, _FAR)
            return np.stack([expit(-logit), expit(logit)], axis=2)
        base = np.zeros((*predictors.shape[:2], 1))
        logits = np.concatenate([base, predictors], axis=2)
        shares = np.exp(np.maximum(logits - logits.max(axis=2, keepdims=True), -_FAR))
        probabilities: Array = shares / shares.sum(axis=2, keepdims=True)
        return probabilities


def _check_order(y: Any) -> None:
    """Refuses ordered categories that scikit-learn would sort into another order."""
    dtype = getattr(y, "dtype", None)
    if isinstance(dtype, pd.CategoricalDtype) and dtype.ordered:
        order = list(dtype.categories)
        if order != sorted(order):
            shown = " < ".join(map(str, order))
            raise ValueError(
                f"found the ordered categories {shown}, which scikit-learn would sort: need numbers, "
                "such as y.cat.codes"
            )


class OrdinalClassifier(_Classifier):
    """Ordinal regression with proportional odds: classes with an order.

    The order is that of `np.unique`: numbers from low to high, texts by the alphabet. The log odds
    of a class of at most k are `thresholds_[k]` minus the sum of coefficients times predictors.

    prior, aux_prior
        The prior of each coefficient, and of each threshold at the means of the predictors. The
        defaults are those of `ridgewalk.fit`.
    chains, draws, random_state, threads
        As for `LogisticRegression`.

    After `fit`: `coef_` and `coef_sd_` have one row. `thresholds_` has one number less than there
    are classes, and takes the place of an intercept. `fit_`, `classes_`, `n_features_in_` and
    `feature_names_in_` are as for `LogisticRegression`. Sample weights that are no whole numbers do
    not count for the means of the predictors, and the predictors in `fit_` are as they were.

    >>> from ridgewalk import OrdinalClassifier
    >>> X = [[1], [2], [3], [4], [5], [6], [7], [8], [9], [10], [11], [12]]
    >>> y = [1, 1, 2, 1, 2, 1, 2, 3, 2, 3, 3, 3]
    >>> model = OrdinalClassifier().fit(X, y)
    >>> model.predict([[0], [6], [13]]).tolist()
    [1, 2, 3]
    >>> bool(model.coef_[0, 0] > 0)
    True
    """

    _family = "ordinal"
    _with_intercept = False

    coef_: Array
    thresholds_: Array

    def __init__(
        self,
        *,
        prior: str | None = None,
        aux_prior: str | None = None,
        chains: int = 8,
        draws: int = 1000,
        random_state: Seed = 0,
        threads: int | None = None,
    ) -> None:
        self.prior = prior
        self.aux_prior = aux_prior
        self.chains = chains
        self.draws = draws
        self.random_state = random_state
        self.threads = threads

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Checks of scikit-learn have classes without an order, which thresholds along one direction
        # cannot tell apart.
        tags.classifier_tags.poor_score = True
        return tags

    def _options(self) -> dict[str, Any]:
        return {"aux_prior": self.aux_prior}

    def _response(self, y: Array) -> Any:
        return self._levels(y)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> OrdinalClassifier:
        """Draws from the posterior."""
        _check_order(y)
        rows = self._classes(X, y, sample_weight)
        if not np.any(_sizes(rows.X, rows.X[:1])):
            raise ValueError("found only constant features in X, need one that varies")
        self.coef_, self.coef_sd_, _ = self._fit_rows(rows)
        self.thresholds_ = self._parameters().mean(axis=0)
        return self

    def _probabilities(self, predictors: Array) -> Array:
        thresholds = self._parameters()
        logits = np.clip(thresholds - predictors, -_FAR, _FAR)
        below, above = expit(logits), expit(-logits)
        # Of the classes between two thresholds; a difference of `below` would be rounded off.
        gaps = -np.expm1(-np.diff(thresholds, axis=1))
        between = below[:, :, 1:] * above[:, :, :-1] * gaps
        return np.concatenate([below[:, :, :1], between, above[:, :, -1:]], axis=2)


class _Regressor(RegressorMixin, _Estimator):  # type: ignore[misc]
    """What the regressors share."""

    coef_: Array
    intercept_: float
    # The smallest response that there can be, and whether it is one itself.
    _least: float | None = None
    _above = False
    # Whether the expected response is the linear predictor.
    _is_linear = False

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self._least is not None
        return tags

    def fit(self: Self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Draws from the posterior."""
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=np.float64, y_numeric=True, ensure_min_samples=2
        )
        X = _canonical(X)
        y = np.asarray(y, dtype=np.float64)
        rows = _Rows(X, y, _weights(sample_weight, X), np.arange(len(y))).without_weight_0()
        self._check(rows.y)
        slopes, sds, intercepts = self._fit_rows(self._split(rows.repeated()))
        self.coef_, self.coef_sd_, self.intercept_ = slopes[0], sds[0], float(intercepts[0])
        self._set_parameters()
        return self

    def _check(self, y: Array) -> None:
        least = self._least
        if least is None or (y.min() >= least and not (self._above and y.min() == least)):
            return
        need = f"numbers above {least:g}" if self._above else f"numbers of at least {least:g}"
        raise ValueError(f"found {y.min() + 0.0:g} in y, need {need} for {type(self).__name__}")

    def _split(self, rows: _Rows) -> _Rows:
        return rows

    def _set_parameters(self) -> None:
        """Sets posterior means of the parameters beside the coefficients."""

    def _expected(self, predictors: Array) -> Array:
        """Expected responses of linear predictors."""
        return predictors

    def _variance(self, expected: Array) -> Array:
        """Variances of responses: row x draw."""
        raise NotImplementedError

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Expected responses, averaged over the posterior.

        With `return_std=True` also the standard deviations of the responses. They include the noise
        and what is not known about the expected response.
        """
        X = self._input(X)
        if self._is_linear and not return_std:
            # The average of linear predictors is the linear predictor of the averages.
            return X @ self.coef_ + self.intercept_
        means, sds = np.empty(X.shape[0]), np.empty(X.shape[0])
        for rows, predictors in self._predictors(X, 1):
            expected = self._expected(predictors[:, :, 0])
            means[rows] = expected.mean(axis=1)
            if return_std:
                noise = self._variance(expected).mean(axis=1)
                sds[rows] = np.sqrt(expected.var(axis=1) + noise)
        return (means, sds) if return_std else means

    def predict_interval(
        self, X: Any, interval: float = 0.9, kind: str = "mean"
    ) -> tuple[Array, Array]:
        """The lower and upper ends of intervals, one of each for a row.

        With `kind="mean"` they are for expected responses, with `kind="response"` for single ones.
        """
        X = self._input(X)
        if kind not in ("mean", "response"):
            raise ValueError(f'found kind={kind!r}, need "mean" or "response"')
        _ends(interval)
        seed = self._layout.seed
        found = self.fit_.predict(self._table(X), kind=kind, interval=interval, seed=seed)
        assert isinstance(found, pd.DataFrame)
        return found["lower"].to_numpy(), found["upper"].to_numpy()


class _NoisyRegressor(_Regressor):
    """Responses with a noise scale."""

    _with_unit = True
    _is_linear = True

    sigma_: float

    # The noise scale, if it was fixed.
    _fixed: float | None

    def _run(self, frame: Any, options: dict[str, Any], spread: float) -> Fit:
        self._fixed = options.get("noise_scale")
        try:
            return fit(None, frame, **options)
        except InputError as error:
            if _NO_NOISE not in str(error):
                raise
        response, intercept = frame[options["response"]], not options["no_intercept"]
        if isinstance(frame, pd.DataFrame):
            noise = _noise(frame[options["predictors"]], response, intercept, spread)
        else:
            noise = _sparse_noise(frame, response, intercept, spread)
        text = (
            "the data do not determine the noise, because the model fits every response exactly or "
            f"has as many coefficients as there are rows: normal noise of the scale {noise:.3g} is "
            "assumed. Use fewer predictors, or LinearRegression with a noise_scale"
        )
        _warnings.warn([("fixed_noise", text)])
        self._fixed = noise
        for name in ("aux_prior", "degrees_of_freedom"):
            options.pop(name, None)
        return fit(None, frame, **options | {"family": "gaussian", "noise_scale": noise})

    def _set_parameters(self) -> None:
        self.sigma_ = float(self._sigma().mean())

    def _sigma(self) -> Array:
        """Draws of the noise scale."""
        return self._parameters()[:, 0] if self._fixed is None else np.array([float(self._fixed)])

    def _variance(self, expected: Array) -> Array:
        return np.broadcast_to(self._sigma() ** 2, expected.shape)


class LinearRegression(_NoisyRegressor):
    """Linear regression with normal noise.

    prior, intercept_prior, aux_prior
        The prior of each coefficient, such as "normal(0, 1)" or "student_t(4, 0, 2.5, autoscale)",
        of the intercept at the means of the predictors, and of the noise scale, such as
        "exponential(1)". The defaults are those of `ridgewalk.fit`.
    noise_scale
        The standard deviation of the noise, if it is known. Otherwise it is sampled.
    fit_intercept
        Whether there is an intercept.
    chains, draws, threads
        Chains, draws of each chain, and threads: by default one per processor. The number of
        threads does not change the draws. With `n_jobs` in scikit-learn, `threads=1` is best.
    random_state
        The seed: with the same one, the draws are the same. None or a RandomState give other draws
        each time.

    After `fit`: `coef_`, `coef_sd_`, `intercept_` and `sigma_` are posterior means and standard
    deviations. `fit_` is the `ridgewalk.Fit`, with draws, summary, warnings and checks. With sample
    weights that are no whole numbers, its predictors are centred, and its intercept is a column.

    If the model fits every response exactly, the data do not determine the noise. Its scale is then
    fixed, with a warning: at the standard deviation of y if there are as many coefficients as
    different rows, and otherwise at a thousandth of it.

    >>> from ridgewalk import LinearRegression
    >>> X, y = [[1], [2], [3], [4], [5], [6], [7]], [1.1, 1.9, 3.2, 3.9, 5.1, 6.2, 6.8]
    >>> model = LinearRegression().fit(X, y)
    >>> model.predict([[10]]).round(0).tolist()
    [10.0]
    >>> lower, upper = model.predict_interval([[10]], interval=0.95, kind="response")
    >>> bool(lower[0] < 10 < upper[0])
    True
    """

    _family = "gaussian"

    def __init__(
        self,
        *,
        prior: str | None = None,
        intercept_prior: str | None = None,
        aux_prior: str | None = None,
        noise_scale: float | None = None,
        fit_intercept: bool = True,
        chains: int = 8,
        draws: int = 1000,
        random_state: Seed = 0,
        threads: int | None = None,
    ) -> None:
        self.prior = prior
        self.intercept_prior = intercept_prior
        self.aux_prior = aux_prior
        self.noise_scale = noise_scale
        self.fit_intercept = fit_intercept
        self.chains = chains
        self.draws = draws
        self.random_state = random_state
        self.threads = threads

    def _options(self) -> dict[str, Any]:
        return {"aux_prior": self.aux_prior, "noise_scale": self.noise_scale}


class RobustRegressor(_NoisyRegressor):
    """Linear regression with Student's t as the law of the noise: outliers count for little.

    prior, intercept_prior, aux_prior
        Priors of the coefficients, of the intercept at the means of the predictors, and of the
        noise scale. The defaults are those of `ridgewalk.fit`.
    degrees_of_freedom
        Those of Student's t, if they are known. Otherwise they are sampled.
    fit_intercept, chains, draws, random_state, threads
        As for `LinearRegression`.

    After `fit`: the attributes of `LinearRegression`, and `nu_`, the posterior mean of the degrees
    of freedom. Where two or fewer are possible, responses have no finite standard deviation, and
    that of `predict` is infinite; `predict_interval` is finite.

    If the model fits every response exactly, there are no outliers to tell from the others. It is
    then fitted as by `LinearRegression`, with a fixed scale of the noise, and a warning.

    >>> from ridgewalk import RobustRegressor
    >>> X = [[1], [2], [3], [4], [5], [6], [7], [8], [9]]
    >>> y = [1.1, 1.9, 3.2, 3.9, 50, 6.2, 6.8, 8.1, 8.9]
    >>> model = RobustRegressor().fit(X, y)
    >>> model.predict([[5]]).round(0).tolist()
    [5.0]
    """

    _family = "student-t"

    nu_: float

    def __init__(
        self,
        *,
        prior: str | None = None,
        intercept_prior: str | None = None,
        aux_prior: str | None = None,
        degrees_of_freedom: float | None = None,
        fit_intercept: bool = True,
        chains: int = 8,
        draws: int = 1000,
        random_state: Seed = 0,
        threads: int | None = None,
    ) -> None:
        self.prior = prior
        self.intercept_prior = intercept_prior
        self.aux_prior = aux_prior
        self.degrees_of_freedom = degrees_of_freedom
        self.fit_intercept = fit_intercept
        self.chains = chains
        self.draws = draws
        self.random_state = random_state
        self.threads = threads

    def _options(self) -> dict[str, Any]:
        return {"aux_prior": self.aux_prior, "degrees_of_freedom": self.degrees_of_freedom}

    def _set_parameters(self) -> None:
        super()._set_parameters()
        self.nu_ = float(self._nu().mean())

    def _nu(self) -> Array:
        """Draws of the degrees of freedom; infinite ones for normal noise."""
        if self._fixed is not None:
            return np.array([np.inf])
        parameters = self._parameters()
        if parameters.shape[1] == 1:
            return np.array([float(self.degrees_of_freedom or np.nan)])
        return parameters[:, 1]

    def _variance(self, expected: Array) -> Array:
        nu = self._nu()
        with np.errstate(divide="ignore"):
            ratio = np.where(nu > 2, 1 / (1 - 2 / nu), np.inf)
        return np.broadcast_to(self._sigma() ** 2 * ratio, expected.shape)


class _LogRegressor(_Regressor):
    """Regressors whose linear predictor is the logarithm of the expected response."""

    _least = 0.0

    def _expected(self, predictors: Array) -> Array:
        return np.exp(predictors)


class _CountRegressor(_LogRegressor):
    """Counts. A response between two whole numbers counts as both, in proportion."""

    def _split(self, rows: _Rows) -> _Rows:
        floor = np.floor(rows.y)
        if (floor == rows.y).all():
            return rows
        weights = np.ones(len(rows.y)) if rows.weights is None else rows.weights
        above = rows.y - floor
        low = replace(rows, y=floor, weights=weights * (1 - above))
        high = replace(rows, y=floor + 1, weights=weights * above).take(above > 0)
        assert low.weights is not None and high.weights is not None
        return _Rows(
            sparse.vstack([low.X, high.X], "csr") if sparse.issparse(low.X) else np.vstack([low.X, high.X]),
            np.append(low.y, high.y),
            np.append(low.weights, high.weights),
            np.append(low.at, high.at),
        )


class PoissonRegressor(_CountRegressor):
    """Poisson regression of counts; the linear predictor is the logarithm of the expected count.

    y may be rates, with their exposures as sample weights: the likelihood is that of the counts.

    prior, intercept_prior
        Priors of the coefficients, and of the intercept at the means of the predictors. The
        defaults are those of `ridgewalk.fit`.
    fit_intercept, chains, draws, random_state, threads
        As for `LinearRegression`.

    After `fit`: `coef_`, `coef_sd_`, `intercept_` and `fit_`, as for `LinearRegression`. In `fit_`,
    a response between two whole numbers is two rows, with weights that have its mean. The
    likelihood is that of the response, but `loo` and `checks` of `fit_` are about the two rows.

    >>> from ridgewalk import PoissonRegressor
    >>> X, y = [[0], [1], [2], [3], [4], [5]], [1, 1, 4, 8, 13, 33]
    >>> model = PoissonRegressor().fit(X, y)
    >>> bool(0.5 < model.coef_[0] < 1)
    True
    """

    _family = "poisson"

    def __init__(
        self,
        *,
        prior: str | None = None,
        intercept_prior: str | None = None,
        fit_intercept: bool = True,
        chains: int = 8,
        draws: int = 1000,
        random_state: Seed = 0,
        threads: int | None = None,
    ) -> None:
        self.prior = prior
        self.intercept_prior = intercept_prior
        self.fit_intercept = fit_intercept
        self.chains = chains
        self.draws = draws
        self.random_state = random_state
        self.threads = threads

    def _variance(self, expected: Array) -> Array:
        return expected


class NegativeBinomialRegressor(_CountRegressor):
    """Negative binomial regression: counts that vary more than those of Poisson.

    The linear predictor is the logarithm of the expected count m; the variance is m + m²/`size_`.

    prior, intercept_prior, aux_prior
        Priors of the coefficients, of the intercept at the means of the predictors, and of the
        size. The defaults are those of `ridgewalk.fit`.
    fit_intercept, chains, draws, random_state, threads
        As for `LinearRegression`.

    After `fit`: `coef_`, `coef_sd_`, `intercept_`, `size_` and `fit_`, as for `LinearRegression`. A
    response between two whole numbers counts as both, with weights that have its mean.

    >>> from ridgewalk import NegativeBinomialRegressor
    >>> X, y = [[0], [1], [2], [3], [4], [5], [6], [7]], [0, 3, 1, 12, 4, 41, 30, 150]
    >>> model = NegativeBinomialRegressor().fit(X, y)
    >>> bool(0.3 < model.coef_[0] < 1.2)
    True
    """

    _family = "negative-binomial"

    size_: float

    def __init__(
        self,
        *,
        prior: str | None = None,
        intercept_prior: str | None = None,
        aux_prior: str | None = None,
        fit_intercept: bool = True,
        chains: int = 8,
        draws: int = 1000,
        random_state: Seed = 0,
        threads: int | None = None,
    ) -> None:
        self.prior = prior
        self.intercept_prior = intercept_prior
        self.aux_prior = aux_prior
        self.fit_intercept = fit_intercept
        self.chains = chains
        self.draws = draws
        self.random_state = random_state
        self.threads = threads

    def _options(self) -> dict[str, Any]:
        return {"aux_prior": self.aux_prior}

    def _set_parameters(self) -> None:
        self.size_ = float(self._parameters()[:, 0].mean())

    def _variance(self, expected: Array) -> Array:
        return expected + expected**2 / self._parameters()[:, 0]


class GammaRegressor(_LogRegressor):
    """Gamma regression: positive responses whose spread grows with them, such as costs.

    The linear predictor is the logarithm of the expected response; the standard deviation is the
    expected response divided by the square root of `shape_`.

    prior, intercept_prior, aux_prior
        Priors of the coefficients, of the intercept at the means of the predictors, and of the
        shape. The defaults are those of `ridgewalk.fit`.
    fit_intercept, chains, draws, random_state, threads
        As for `LinearRegression`.

    After `fit`: `coef_`, `coef_sd_`, `intercept_`, `shape_` and `fit_`, as for `LinearRegression`.

    >>> from ridgewalk import GammaRegressor
    >>> X, y = [[0], [1], [2], [3], [4], [5], [6], [7]], [1.2, 1.4, 3.1, 4.0, 9.9, 10.2, 25, 31]
    >>> model = GammaRegressor().fit(X, y)
    >>> bool(0.3 < model.coef_[0] < 0.7)
    True
    """

    _family = "gamma"
    _above = True

    shape_: float

    def __init__(
        self,
        *,
        prior: str | None = None,
        intercept_prior: str | None = None,
        aux_prior: str | None = None,
        fit_intercept: bool = True,
        chains: int = 8,
        draws: int = 1000,
        random_state: Seed = 0,
        threads: int | None = None,
    ) -> None:
        self.prior = prior
        self.intercept_prior = intercept_prior
        self.aux_prior = aux_prior
        self.fit_intercept = fit_intercept
        self.chains = chains
        self.draws = draws
        self.random_state = random_state
        self.threads = threads

    def _options(self) -> dict[str, Any]:
        return {"aux_prior": self.aux_prior}

    def _set_parameters(self) -> None:
        self.shape_ = float(self._parameters()[:, 0].mean())

    def _variance(self, expected: Array) -> Array:
        variance: Array = expected**2 / self._parameters()[:, 0]
        return variance


def _weights(sample_weight: Any, X: Array) -> Optional[Array]:
    """Weights, checked."""
    if sample_weight is None:
        return None
    checked: Array = _check_sample_weight(
        sample_weight, X, dtype=np.float64, ensure_non_negative=True
    )
    return checked


def _seed(state: Seed) -> int:
    if isinstance(state, numbers.Integral):
        return int(state)
    return int(check_random_state(state).randint(np.iinfo(np.int32).max))


def _canonical(X: Any) -> Any:
    """Sparse rows whose columns rise and whose entries are not 0; arrays as they are."""
    if not sparse.issparse(X):
        return X
    if not X.has_canonical_format or (X.data == 0).any():
        X = X.copy()
        X.sum_duplicates()
        X.eliminate_zeros()
    return X


def _sparse_mean_and_sd(X: Any, weights: Array) -> tuple[Array, Array]:
    """As `_Rows.mean_and_sd`, from the entries that are stored."""
    rows, width = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr)), X.shape[1]
    own, total = weights[rows], weights.sum()

    def sums(values: Array) -> Array:
        found: Array = np.bincount(X.indices, values, minlength=width)
        return found

    full = sums(np.ones(len(rows))) == X.shape[0]
    zeros = np.where(full, 0.0, total - sums(own))
    mean = sums(own * X.data) / total
    mean = mean + (sums(own * (X.data - mean[X.indices])) - zeros * mean) / total
    squares = sums(own * (X.data - mean[X.indices]) ** 2) + zeros * mean**2
    return mean, np.sqrt(squares / max(total - 1, total / 2))


def _sizes(X: Any, less: Any = 0.0) -> Array:
    """The largest number of each column, without its sign, after `less` was subtracted."""
    if not sparse.issparse(X):
        size: Array = np.abs(X - less).max(axis=0)
        return size
    if sparse.issparse(less):
        # Zeros beside stored entries differ where the first row has an entry.
        high, low = (np.asarray(each.todense()).ravel() for each in (X.max(axis=0), X.min(axis=0)))
        spread: Array = high - low
        return spread
    largest = np.asarray(abs(X).max(axis=0).todense()).ravel()
    return largest


def _vary(X: Any, sd: Array, intercept: bool) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """The columns with a coefficient that the data say something about."""
    size = _sizes(X)
    if not intercept:
        return size > 0
    # Columns that vary only by rounding would have coefficients of any size.
    return sd > 16 * np.finfo(np.float64).eps * size


def _names(given: Optional[Iterable[str]], count: int) -> list[str]:
    """Names of columns that a fit can have: those given, or x0, x1 and so on."""
    names = [f"x{at}" for at in range(count)] if given is None else list(given)
    usable = [_usable(name) for name in names]
    kept = {name for name, ok in zip(names, usable) if ok}
    for at, ok in enumerate(usable):
        if not ok:
            names[at] = _free(f"x{at}", kept)
            kept.add(names[at])
    return names


def _usable(name: str) -> bool:
    return name.isprintable() and name == name.strip() != "" and name not in _TAKEN


def _free(name: str, taken: Iterable[str]) -> str:
    taken = set(taken)
    while name in taken:
        name += "_"
    return name


def _ends(interval: float) -> list[float]:
    """The probabilities of the ends of an interval."""
    if not 0 < interval < 1:
        raise ValueError(f"found interval={interval}, need a number between 0 and 1")
    return [(1 - interval) / 2, (1 + interval) / 2]


def _parsed(prior: str) -> Optional[tuple[str, list[float], bool]]:
    """The name of a prior, its numbers, and whether they follow the units of the data."""
    if not isinstance(prior, str):
        raise TypeError(f"prior={prior!r} ({type(prior).__name__}): need a text")
    found = re.fullmatch(r"\s*([\w-]+)\s*(?:\((.*)\))?\s*", prior)
    if found is None:
        return None
    words = [word.strip() for word in (found[2] or "").split(",") if word.strip()]
    autoscale = words[-1:] == ["autoscale"]
    try:
        numbers = [float(word) for word in words[: len(words) - autoscale]]
    except ValueError:
        return None
    return found[1].replace("-", "_"), numbers, autoscale


def _absolute(prior: str, unit: float) -> str:
    """A prior in absolute units, `unit` being that of the data."""
    parsed = _parsed(prior)
    # What cannot be read is for the fit to refuse.
    if parsed is None or not parsed[2] or not parsed[1]:
        return prior
    name, numbers, _ = parsed
    numbers[-1] = numbers[-1] / unit if name in ("exponential", "gamma") else numbers[-1] * unit
    return f"{name}({', '.join(repr(float(number)) for number in numbers)})"


def _prior_sd(prior: str, unit: float) -> float:
    """The standard deviation of the prior of a coefficient; infinite if it has none."""
    parsed = _parsed(_absolute(prior, unit))
    name, numbers = (parsed[0], parsed[1]) if parsed is not None else ("", [])
    if name == "student_t" and numbers[0] > 2:
        return numbers[2] * math.sqrt(numbers[0] / (numbers[0] - 2))
    factor = {"normal": 1.0, "laplace": math.sqrt(2), "logistic": math.pi / math.sqrt(3)}
    return numbers[-1] * factor[name] if name in factor else math.inf


def _noise(
    predictors: pd.DataFrame, response: pd.Series[Any], intercept: bool, spread: float
) -> float:
    """A noise scale for data that do not determine it.

    With as many coefficients as different rows, any noise is possible: the largest is that of the
    response alone. Otherwise it is what least squares leave, or next to nothing.
    """
    design = predictors.to_numpy()
    if intercept:
        design = np.column_stack([np.ones(len(design)), design])
    sizes = np.abs(design).max(axis=0)
    design, at = np.unique(design / sizes, axis=0, return_index=True)
    y = response.to_numpy()[at]
    solution, _, rank, _ = np.linalg.lstsq(design, y, rcond=None)
    if rank >= len(design):
        return spread
    left = float(np.sqrt(np.sum((y - design @ solution) ** 2) / (len(design) - rank)))
    return max(left, spread / 1000)


def _sparse_noise(
    columns: dict[str, Any], y: Array, intercept: bool, spread: float
) -> float:
    """The same for sparse rows, whose rank is not known."""
    blocks = [each.values for each in columns.values() if isinstance(each, Matrix)]
    if intercept or "intercept" in columns:
        blocks.append(sparse.csr_array(np.ones((len(y), 1))))
    design = sparse.hstack(blocks, "csr")
    freedom = len(y) - design.shape[1]
    if freedom <= 0:
        return spread
    left = float(lsqr(design, y)[3]) / math.sqrt(freedom)
    return max(left, spread / 1000)
