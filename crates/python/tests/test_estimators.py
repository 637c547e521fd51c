"""The estimators: as scikit-learn wants them, and as `fit` is.

Where draws of two fits are compared, means differ by Monte Carlo errors. A fit of 8000 draws has at
least 2000 effective ones, so that a difference of two means has a standard error of at most 0.032
posterior standard deviations. The limit of 0.16 is five of them: less than one false alarm in a
million comparisons. Seeds are fixed.
"""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ridgewalk as rw

pytest.importorskip("sklearn")

from scipy import stats
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

CLASSIFIERS = [rw.LogisticRegression, rw.OrdinalClassifier]
REGRESSORS = [
    rw.LinearRegression,
    rw.RobustRegressor,
    rw.PoissonRegressor,
    rw.NegativeBinomialRegressor,
    rw.GammaRegressor,
]
ALL = [*CLASSIFIERS, *REGRESSORS]
LIMIT = 0.16

Array = np.ndarray[Any, Any]

# Checks of scikit-learn have data without noise; tests here have short chains and overdispersed
# counts. Where a warning matters, it is looked for.
pytestmark = pytest.mark.filterwarnings("ignore::ridgewalk.FitWarning")


def data(kind: Any, rows: int = 120, seed: int = 1) -> tuple[Array, Array]:
    """Two predictors in different units, and a response for the kind of estimator."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(3, 2, rows), rng.normal(-100, 30, rows)])
    predictor = 0.4 * (X[:, 0] - 3) + 0.01 * (X[:, 1] + 100)
    if kind in CLASSIFIERS:
        return X, np.digitize(predictor + rng.logistic(size=rows), [-0.8, 0.8])
    if kind is rw.LinearRegression:
        return X, 10 + predictor + rng.normal(size=rows)
    if kind is rw.RobustRegressor:
        return X, 10 + predictor + rng.standard_t(3, size=rows)
    if kind is rw.GammaRegressor:
        return X, np.exp(predictor) * rng.gamma(2, 0.5, size=rows)
    return X, rng.poisson(2 * np.exp(predictor) * rng.gamma(3, 1 / 3, size=rows)).astype(float)


def apart(one: Any, other: Any) -> float:
    """How far apart the coefficients of two fits are, in posterior standard deviations."""
    sd = np.where(one.coef_sd_ > 0, one.coef_sd_, 1.0)
    far: float = np.abs((one.coef_ - other.coef_) / sd).max()
    return far


@parametrize_with_checks([kind() for kind in ALL])
def test_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


def test_only_an_order_makes_an_ordinal_model_poor() -> None:
    """`poor_score` is for the unordered classes of the checks: no direction tells them apart."""
    from sklearn.datasets import make_blobs

    X, y = make_blobs(n_samples=300, random_state=0)
    best = 0.0
    for angle in np.linspace(0, 2 * np.pi, 181):
        classes = y[np.argsort(X @ [np.cos(angle), np.sin(angle)])]
        low, mid, high = (np.append(0, np.cumsum(classes == k)) for k in range(3))
        i, j = np.triu_indices(len(y) + 1)
        right = low[i] + mid[j] - mid[i] + high[-1] - high[j]
        best = max(best, right.max() / len(y))
    assert best < 0.83
    ordered = np.digitize(X[:, 0] + X[:, 1], [1.5, 4.5])
    assert rw.OrdinalClassifier().fit(X, ordered).score(X, ordered) > 0.9


def test_logistic_regression_is_a_fit(wells: pd.DataFrame) -> None:
    names = ["dist100", "arsenic"]
    model = rw.LogisticRegression(random_state=1).fit(wells[names], wells["switched"])
    fit = rw.fit("switched ~ dist100 + arsenic", wells, seed=1)
    summary = fit.summary()
    assert model.fit_.names == fit.names and list(model.feature_names_in_) == names
    np.testing.assert_allclose(model.coef_[0], summary.loc[names, "mean"], rtol=1e-6)
    np.testing.assert_allclose(model.coef_sd_[0], summary.loc[names, "sd"], rtol=1e-6)
    np.testing.assert_allclose(model.intercept_[0], summary.loc["(Intercept)", "mean"], rtol=1e-6)
    # In the order in which the estimator has the rows, the draws are the same to the last bit.
    rows = wells.iloc[model.fit_.predict().index]
    same = rw.fit("switched ~ dist100 + arsenic", rows, seed=1)
    np.testing.assert_array_equal(same.draws, model.fit_.draws)
    # Another seed or another prior must be noticed.
    for wrong in ({"random_state": 2}, {"prior": "normal(0, 0.1)"}):
        other = clone(model).set_params(**wrong).fit(wells[names], wells["switched"])
        assert not np.allclose(other.coef_, model.coef_, rtol=1e-4)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_linear_regression_is_a_fit(fit_intercept: bool) -> None:
    X, y = data(rw.LinearRegression)
    options: Any = {"prior": "normal(0, 0.3)", "aux_prior": "half_normal(2)"}
    model = rw.LinearRegression(fit_intercept=fit_intercept, random_state=7, **options).fit(X, y)
    columns = {"x0": X[:, 0], "x1": X[:, 1], "y": y}
    formula = "y ~ x0 + x1" if fit_intercept else "y ~ 0 + x0 + x1"
    fit = rw.fit(formula, columns, family="gaussian", seed=7, **options)
    summary = fit.summary()
    np.testing.assert_allclose(model.coef_, summary.loc[["x0", "x1"], "mean"], rtol=1e-6)
    np.testing.assert_allclose(model.sigma_, summary.loc["sigma", "mean"], rtol=1e-6)
    if fit_intercept:
        np.testing.assert_allclose(model.intercept_, summary.loc["(Intercept)", "mean"], rtol=1e-6)
    else:
        assert model.intercept_ == 0
    np.testing.assert_allclose(model.predict(X), fit.predict()["mean"], rtol=1e-6)


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("weighted", [False, True])
def test_predictions_are_those_of_the_fit(kind: Any, weighted: bool) -> None:
    X, y = data(kind)
    weights = np.random.default_rng(3).uniform(0.5, 1.5, len(y)) if weighted else None
    model = kind().fit(X, y, sample_weight=weights)
    new = X[:9] + 0.5
    table = model._table(new)
    frame = model.fit_.predict(table, interval=0.8)
    lower, upper = model.predict_interval(new, interval=0.8)
    if kind in CLASSIFIERS:
        expected = frame["mean"].to_numpy().reshape(9, 3)
        np.testing.assert_allclose(model.predict_proba(new), expected, rtol=1e-9)
        np.testing.assert_allclose(lower, frame["lower"].to_numpy().reshape(9, 3), rtol=1e-3)
        np.testing.assert_allclose(upper, frame["upper"].to_numpy().reshape(9, 3), rtol=1e-3)
        assert (model.predict(new) == expected.argmax(axis=1)).all()
        return
    np.testing.assert_allclose(model.predict(new), frame["mean"], rtol=1e-9)
    np.testing.assert_array_equal(lower, frame["lower"])
    mean, sd = model.predict(new, return_std=True)
    np.testing.assert_allclose(mean, frame["mean"], rtol=1e-9)
    if kind is not rw.RobustRegressor:
        # 8000 drawn responses: a standard deviation of fat tails is known to a few percent.
        drawn = model.fit_.predict(table, kind="response", draws=True)
        np.testing.assert_allclose(sd, drawn.std(axis=0), rtol=0.15)
        # That of the expected response alone would be far off.
        assert (sd > 2 * frame["sd"].to_numpy()).all()
    low, high = model.predict_interval(new, interval=0.8, kind="response")
    assert (low <= lower).all() and (high >= upper).all() and np.isfinite(high).all()


def test_standard_deviations_of_robust_responses() -> None:
    X, y = data(rw.RobustRegressor)
    model = rw.RobustRegressor(degrees_of_freedom=5).fit(X, y)
    assert model.nu_ == 5
    expected = np.sqrt(model.fit_["sigma"] ** 2 * 5 / 3)
    sd = model.predict(X[:1], return_std=True)[1]
    assert np.isclose(sd[0], expected.mean(), rtol=0.02)
    assert np.isinf(rw.RobustRegressor(degrees_of_freedom=2).fit(X, y).predict(X, True)[1]).all()


@pytest.mark.parametrize("kind", ALL)
def test_weights_count_rows(kind: Any) -> None:
    X, y = data(kind, rows=60)
    rng = np.random.default_rng(5)
    weights = rng.integers(0, 4, len(y))
    repeated = kind().fit(X.repeat(weights, axis=0), y.repeat(weights))
    order = rng.permutation(len(y))
    weighted = kind().fit(X[order], y[order], sample_weight=weights[order])
    # To the last bit, in spite of another order and rows of weight 0.
    np.testing.assert_array_equal(weighted.fit_.draws, repeated.fit_.draws)
    np.testing.assert_array_equal(weighted.predict(X), repeated.predict(X))
    # The same posterior, sampled otherwise: each row as two unequal halves.
    twice = np.append(0.3 * weights, 0.7 * weights)
    halves = kind().fit(np.vstack([X, X]), np.append(y, y), sample_weight=twice)
    # Thresholds have their prior at means without weights, which makes little difference here.
    assert apart(repeated, halves) < LIMIT
    np.testing.assert_allclose(halves.coef_sd_, repeated.coef_sd_, rtol=0.1)
    # Weights without effect must be noticed, and so must those of another size.
    assert apart(repeated, kind().fit(X, y)) > LIMIT
    small = kind().fit(np.vstack([X, X]), np.append(y, y), sample_weight=twice / 4)
    assert (small.coef_sd_[small.coef_sd_ > 0] > 1.2 * halves.coef_sd_[halves.coef_sd_ > 0]).all()


def test_weighted_posterior_in_closed_form() -> None:
    X, y = data(rw.LinearRegression, rows=12)
    w = np.random.default_rng(2).uniform(0.1, 5, len(y))
    model = rw.LinearRegression(noise_scale=1.5, chains=8, draws=4000)
    model.fit(X, y, sample_weight=w)

    def exact(w: Array) -> tuple[Array, Array]:
        """Means and standard deviations of the slopes, with the default priors."""
        total = w.sum()
        centre, location = w @ X / total, w @ y / total
        sd = np.sqrt(w @ (X - centre) ** 2 / (total - 1))
        spread = np.sqrt(w @ (y - location) ** 2 / (total - 1))
        design = np.column_stack([np.ones(len(y)), X - centre])
        scales = 2.5 * spread / np.append(1.0, sd)
        precision = design.T @ (w[:, None] * design) / 1.5**2 + np.diag(scales**-2.0)
        shifted = y - location
        mean = np.linalg.solve(precision, design.T @ (w * shifted) / 1.5**2)
        return mean[1:], np.sqrt(np.diag(np.linalg.inv(precision)))[1:]

    mean, sd = exact(w)
    np.testing.assert_allclose(model.coef_sd_, sd, rtol=0.03)
    # 32000 nearly independent draws: five standard errors are 0.03.
    assert (np.abs(model.coef_ - mean) / sd < 0.03).all()
    wrong, _ = exact(np.ones(len(y)))
    assert (np.abs(model.coef_ - wrong) / sd > 0.06).any()


@pytest.mark.parametrize("kind", [kind for kind in ALL if kind is not rw.OrdinalClassifier])
def test_a_row_of_hardly_any_weight_does_not_matter(kind: Any) -> None:
    """Neither for the likelihood nor for priors in units of the data."""
    X, y = data(kind)
    # On the side where a count has little likelihood, but none that outweighs the weight.
    sign = -1 if kind is rw.PoissonRegressor else 1
    far = np.vstack([X, [[sign * 5000, sign * 9e4]]])
    weights = np.append(np.full(len(y), 0.999), 1e-12)
    outlier = kind().fit(far, np.append(y, y.max()), sample_weight=weights)
    assert apart(kind().fit(X, y), outlier) < LIMIT
    # With some weight it does matter.
    weights[-1] = 0.01
    assert apart(outlier, kind().fit(far, np.append(y, y.max()), sample_weight=weights)) > LIMIT


def test_large_weights_are_not_repeated() -> None:
    X, y = data(rw.LinearRegression)
    model = rw.LinearRegression().fit(X, y, sample_weight=np.full(len(y), 1000))
    assert "120 rows" in repr(model.fit_)
    # The likelihood of 120000 rows.
    alone = rw.LinearRegression().fit(X, y)
    np.testing.assert_allclose(model.coef_sd_ * np.sqrt(1000), alone.coef_sd_, rtol=0.1)


def test_rows_of_weight_0_take_their_class_along() -> None:
    X, y = data(rw.LogisticRegression)
    model = rw.LogisticRegression().fit(X, y, sample_weight=(y != 1).astype(float))
    assert model.classes_.tolist() == [0, 2] and model.coef_.shape == (1, 2)
    with pytest.raises(ValueError, match="found only one class, .*2.*, need at least two classes"):
        rw.LogisticRegression().fit(X, y, sample_weight=(y == 2).astype(float))


@pytest.mark.parametrize("kind", ALL)
def test_the_order_of_rows_makes_no_difference(kind: Any) -> None:
    X, y = data(kind)
    order = np.random.default_rng(4).permutation(len(y))
    one, other = kind().fit(X, y), kind().fit(X[order], y[order])
    np.testing.assert_array_equal(one.fit_.draws, other.fit_.draws)
    # The labels lead back to the rows.
    np.testing.assert_array_equal(
        np.sort(other.fit_.predict().index.get_level_values(0).unique()), np.arange(len(y))
    )


def test_rates_with_exposures_are_counts() -> None:
    rng = np.random.default_rng(6)
    X, exposure = rng.normal(size=(200, 2)), rng.uniform(0.5, 20, 200)
    counts = rng.poisson(exposure * np.exp(0.3 + 0.5 * X[:, 0]))
    options: Any = {"prior": "normal(0, 1)", "intercept_prior": "normal(0, 5)"}
    model = rw.PoissonRegressor(**options).fit(X, counts / exposure, sample_weight=exposure)
    columns = {"a": X[:, 0], "b": X[:, 1], "y": counts, "log_exposure": np.log(exposure)}
    fit = rw.fit("y ~ a + b", columns, family="poisson", offset="log_exposure", **options)
    summary = fit.summary().loc[["a", "b"]]
    assert (np.abs(model.coef_ - summary["mean"]) < LIMIT * summary["sd"]).all()
    np.testing.assert_allclose(model.coef_sd_, summary["sd"], rtol=0.1)
    # Without exposures the uncertainty is another.
    rates = rw.PoissonRegressor(**options).fit(X, counts / exposure)
    assert (rates.coef_sd_ > 2 * model.coef_sd_).all()


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_classes_of_any_kind(kind: Any) -> None:
    X, y = data(kind)
    numbers = kind().fit(X, y)
    for labels in (["a", "b", "c"], [-3, 0, 7], ["", " b ", "c\n"], [False, True, True]):
        named = kind().fit(X, np.array(labels)[y])
        assert named.classes_.tolist() == sorted(set(labels))
        assert set(named.predict(X)) <= set(labels)
        if len(set(labels)) == 3:
            np.testing.assert_array_equal(named.predict_proba(X), numbers.predict_proba(X))
    assert "b:x0" in rw.LogisticRegression().fit(X, np.array(["a", "b", "c"])[y]).fit_.names


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_probabilities(kind: Any) -> None:
    X, y = data(kind)
    for classes in (y, y > 0):
        model = kind().fit(X, classes)
        far = np.vstack([X, [[1e9, 0], [-1e9, 0], [0, 1e12]]])
        probabilities, logs = model.predict_proba(far), model.predict_log_proba(far)
        np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-12)
        decision = model.decision_function(far)
        assert np.isfinite(logs).all() and np.isfinite(decision).all()
        if len(model.classes_) == 2:
            assert model.coef_.shape == (1, 2)
            assert ((decision > 0) == model.predict(far)).all()
            np.testing.assert_allclose(decision[:100], (logs[:, 1] - logs[:, 0])[:100])
        else:
            assert (decision.argmax(axis=1) == model.predict(far)).all()
    if kind is rw.OrdinalClassifier:
        thresholds = kind().fit(X, y).thresholds_
        assert thresholds.shape == (2,) and thresholds[0] < thresholds[1]
    else:
        base = kind().fit(X, y)
        assert base.coef_.shape == (3, 2) and not base.coef_[0].any() and base.intercept_[0] == 0


def test_separated_classes() -> None:
    model = rw.LogisticRegression().fit([[0], [1], [2], [3]], ["a", "a", "b", "b"])
    assert model.predict([[0], [3]]).tolist() == ["a", "b"]
    assert 0.5 < model.predict_proba([[3]])[0, 1] < 1


@pytest.mark.parametrize("kind", ALL)
def test_constant_columns_are_left_out(kind: Any) -> None:
    X, y = data(kind)
    # The last one varies by rounding alone.
    rounding = np.where(np.arange(len(y)) % 2, 0.1 + 0.2, 0.3)
    wide = np.column_stack([np.full(len(y), 5.0), X, rounding])
    plain, model = kind().fit(X, y), kind().fit(wide, y)
    np.testing.assert_array_equal(model.fit_.draws, plain.fit_.draws)
    np.testing.assert_array_equal(model.coef_[..., 1:3], plain.coef_)
    assert not model.coef_[..., [0, 3]].any()
    spread = y.std(ddof=1) if kind in (rw.LinearRegression, rw.RobustRegressor) else 1
    np.testing.assert_allclose(np.atleast_2d(model.coef_sd_)[-1, [0, 3]], 2.5 * spread)
    # Another value of a constant column says nothing.
    other = wide.copy()
    other[:, 0] = 1e6
    np.testing.assert_allclose(model.predict(other), plain.predict(X), rtol=1e-14)
    if kind in CLASSIFIERS:
        np.testing.assert_allclose(model.predict_proba(other), plain.predict_proba(X), rtol=1e-12)
    else:
        np.testing.assert_array_equal(model.predict_interval(other), plain.predict_interval(X))


@pytest.mark.parametrize(
    ("prior", "sd"),
    [
        ("normal(1, 2)", 2.0),
        ("student_t(4, 0, 3)", 3 * np.sqrt(2)),
        ("laplace(0, 2, autoscale)", 2 * np.sqrt(2)),
        ("cauchy(0, 1)", np.inf),
        ("student-t(2, 0, 1)", np.inf),
    ],
)
def test_the_prior_of_a_constant_column(prior: str, sd: float) -> None:
    X, y = data(rw.PoissonRegressor)
    model = rw.PoissonRegressor(prior=prior).fit(np.column_stack([X, np.ones(len(y))]), y)
    assert np.isclose(model.coef_sd_[2], sd) and model.coef_[2] == 0


def test_only_constant_columns() -> None:
    X, y = np.ones((40, 2)), np.arange(40) % 3
    assert (rw.LogisticRegression().fit(X, y).predict_proba(X).round(1) == 0.3).all()
    model = rw.LinearRegression().fit(X, y)
    lower, upper = model.predict_interval(X[:2], kind="response")
    assert (lower < 0.5).all() and (upper > 1.5).all()
    with pytest.raises(ValueError, match="found only constant features"):
        rw.OrdinalClassifier().fit(X, y)


def test_names_that_no_formula_can_have() -> None:
    X, y = data(rw.LinearRegression)
    X = np.column_stack([X, X**2, np.sin(X)])
    plain = rw.LinearRegression().fit(X, y)
    names = ["a b", "log(x) ~ `y`", "sigma", "", "y", "x2"]
    for weights in (None, np.full(len(y), 0.5)):
        frame = pd.DataFrame(X, columns=names)
        model = rw.LinearRegression().fit(frame, y, sample_weight=weights)
        assert list(model.feature_names_in_) == names
        # Those that a fit cannot have are numbered; `x2` is taken.
        inside = ["a b", "log(x) ~ `y`", "x2_", "x3", "y", "x2"]
        assert model.fit_.names[1:-1] == inside and model.fit_.names[-1] == "sigma"
        lower, upper = model.predict_interval(frame)
        assert (lower < upper).all()
        if weights is None:
            np.testing.assert_array_equal(model.coef_, plain.coef_)


def test_data_without_noise() -> None:
    X = np.arange(12.0).reshape(6, 2) ** 2
    y = 3 + X @ [1.0, 0.5]
    for kind in (rw.LinearRegression, rw.RobustRegressor):
        with pytest.warns(rw.FitWarning, match="fixed_noise: the data do not determine the noise"):
            model = kind().fit(X, y)
        np.testing.assert_allclose(model.predict(X), y, rtol=1e-2)
        assert np.isclose(model.sigma_, y.std(ddof=1) / 1000)
        assert np.isfinite(model.predict(X, return_std=True)[1]).all()


def test_more_predictors_than_rows() -> None:
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(10, 25)), rng.normal(size=10)
    for kind in (rw.LinearRegression, rw.RobustRegressor):
        with pytest.warns(rw.FitWarning, match="fixed_noise"):
            model = kind().fit(X, y)
        assert np.isclose(model.sigma_, y.std(ddof=1)) and model.coef_.shape == (25,)
        # What is assumed about the noise is the same for repeated rows.
        with pytest.warns(rw.FitWarning, match="fixed_noise"):
            again = kind().fit(X.repeat(4, axis=0), y.repeat(4))
        assert np.isclose(again.sigma_, y.repeat(4).std(ddof=1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        known = rw.LinearRegression(noise_scale=0.5).fit(X, y)
        assert known.sigma_ == 0.5
        rw.LogisticRegression().fit(X, y > 0)
        rw.PoissonRegressor().fit(X, np.round(np.exp(y)))


def test_warnings_are_not_hidden() -> None:
    X, y = data(rw.LinearRegression)
    with pytest.warns(rw.FitWarning, match="one_chain") as found:
        rw.LinearRegression(chains=1).fit(X, y)
    # At the line of the user.
    assert all(warning.filename == __file__ for warning in found)


def test_what_cannot_be_fitted() -> None:
    X, y = data(rw.LinearRegression)
    with pytest.raises(ValueError, match="NaN"):
        rw.LinearRegression().fit(np.where(X > 3, np.nan, X), y)
    with pytest.raises(ValueError, match="only one class"):
        rw.LogisticRegression().fit(X, np.ones(len(y)))
    with pytest.raises(ValueError, match="Unknown label type"):
        rw.LogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match="found -1 in y, need numbers of at least 0 for Poisson"):
        rw.PoissonRegressor().fit(X, np.arange(len(y)) - 1)
    with pytest.raises(ValueError, match="found 0 in y, need numbers above 0 for GammaRegressor"):
        rw.GammaRegressor().fit(X, np.arange(len(y)))
    with pytest.raises(rw.InputError, match="need normal"):
        rw.LinearRegression(prior="norm(0, 1)").fit(X, y)
    with pytest.raises(TypeError, match="need a text"):
        rw.LinearRegression(prior=1.0).fit(X, y, sample_weight=np.full(len(y), 0.5))
    with pytest.raises(NotFittedError):
        rw.LinearRegression().predict_interval(X)
    model = rw.LinearRegression().fit(X, y)
    with pytest.raises(ValueError, match='found kind="?.linear.*need "mean" or "response"'):
        model.predict_interval(X, kind="linear")
    with pytest.raises(ValueError, match="found interval=90, need a number between 0 and 1"):
        model.predict_interval(X, interval=90)


def test_seeds() -> None:
    X, y = data(rw.LinearRegression)

    def coefficients(state: Any) -> list[float]:
        found: list[float] = rw.LinearRegression(random_state=state).fit(X, y).coef_.tolist()
        return found

    assert coefficients(0) == coefficients(0) == coefficients(np.int64(0)) != coefficients(1)
    assert coefficients(np.random.RandomState(3)) == coefficients(np.random.RandomState(3))
    state = np.random.RandomState(3)
    assert coefficients(state) != coefficients(state)
    assert coefficients(None) != coefficients(None)
    one = rw.LinearRegression(threads=1).fit(X, y)
    np.testing.assert_array_equal(one.coef_, rw.LinearRegression(threads=2).fit(X, y).coef_)


def test_pipelines_and_searches(wells: pd.DataFrame) -> None:
    X, y = wells[["dist100", "arsenic", "dist100_x_arsenic"]], wells["switched"]
    pipeline = make_pipeline(StandardScaler(), rw.LogisticRegression(draws=200, threads=1))
    scores = cross_val_score(pipeline, X, y, cv=3, n_jobs=2, scoring="neg_log_loss")
    # A model that knows the share of each class alone has -0.68.
    assert scores.mean() > -0.67
    priors = ["normal(0, 0.001)", "normal(0, 1)"]
    search = GridSearchCV(
        pipeline, {"logisticregression__prior": priors}, cv=2, scoring="neg_log_loss"
    )
    assert search.fit(X, y).best_params_ == {"logisticregression__prior": priors[1]}
    assert search.best_estimator_[-1].fit_.family == "logistic"


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("weighted", [False, True])
def test_copies(kind: Any, weighted: bool) -> None:
    X, y = data(kind)
    weights = np.linspace(0.5, 1.5, len(y)) if weighted else None
    model = kind(draws=200, random_state=5).fit(X, y, sample_weight=weights)
    assert clone(model).get_params() == model.get_params() and not hasattr(clone(model), "fit_")
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        np.testing.assert_array_equal(other.predict(X), model.predict(X))
        np.testing.assert_array_equal(other.predict_interval(X), model.predict_interval(X))
        np.testing.assert_array_equal(other.fit_.draws, model.fit_.draws)


def test_intervals_cover() -> None:
    """Both false alarms have probabilities below 1e-4 if intervals cover what they say."""
    rng = np.random.default_rng(12)

    def draw(rows: int) -> tuple[Array, Array, Array]:
        X = rng.normal(size=(rows, 2))
        mean = 1 + X @ [2.0, -1.0]
        return X, mean, mean + rng.normal(0, 1.5, rows)

    X, _, y = draw(400)
    model = rw.LinearRegression().fit(X, y)
    new, _, response = draw(1000)

    def covered(kind: str) -> int:
        lower, upper = model.predict_interval(new, interval=0.9, kind=kind)
        return int(((lower <= response) & (response <= upper)).sum())

    # With 400 rows the intervals of the fit itself are right to one percent.
    low, high = stats.binom.ppf([2e-5, 1 - 2e-5], 1000, [0.89, 0.91])
    assert low <= covered("response") <= high
    # Intervals of expected responses do not cover responses.
    assert covered("mean") < low

    inside, fits = 0, 60
    for _ in range(fits):
        X, _, y = draw(25)
        point, mean, _ = draw(1)
        lower, upper = rw.LinearRegression(draws=250).fit(X, y).predict_interval(point)
        inside += int(lower[0] <= mean[0] <= upper[0])
    assert stats.binom.ppf(5e-5, fits, 0.9) <= inside <= fits


def test_lazy_import() -> None:
    """The package does without scikit-learn until an estimator is used."""
    import subprocess
    import sys

    code = (
        "import sys, ridgewalk as rw; assert 'sklearn' not in sys.modules; "
        "rw.LinearRegression; assert 'sklearn' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_ordered_categories_that_would_be_sorted_are_refused() -> None:
    y = pd.Series(pd.Categorical(["none", "mild"] * 10, ["none", "mild"], ordered=True))
    with pytest.raises(ValueError, match="none < mild, which scikit-learn would sort"):
        rw.OrdinalClassifier().fit(np.arange(20.0)[:, None], y)
