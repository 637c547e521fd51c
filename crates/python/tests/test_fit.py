"""A fit and what follows from it, as a user sees it."""

from __future__ import annotations

import json
import math
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import threading
import time
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ridgewalk as rw


@pytest.fixture(scope="module")
def fit(wells: pd.DataFrame) -> rw.Fit:
    return rw.fit("switched ~ dist100 + arsenic", wells, seed=1)


def test_summary(fit: rw.Fit) -> None:
    found = fit.summary()
    assert list(found.index) == fit.names == ["(Intercept)", "dist100", "arsenic"]
    draws = fit["arsenic"]
    assert fit.draws.shape == (8, 1000, 3) and draws.shape == (8, 1000)
    assert math.isclose(found.loc["arsenic", "mean"], draws.mean(), rel_tol=1e-12)
    assert math.isclose(found.loc["arsenic", "sd"], draws.std(ddof=1), rel_tol=1e-9)
    wide = fit.summary(interval=0.5)
    quarter = np.quantile(draws, 0.25)
    assert math.isclose(wide.loc["arsenic", "lower"], quarter, rel_tol=1e-3)
    ratios = fit.summary(exp=True)
    assert math.isclose(ratios.loc["arsenic", "mean"], np.exp(draws).mean(), rel_tol=1e-12)
    with pytest.raises(rw.InputError, match="interval 1.5: need a number between 0 and 1"):
        fit.summary(interval=1.5)
    with pytest.raises(KeyError, match="found no parameter `age`"):
        fit["age"]
    with pytest.raises(ValueError):
        fit.draws[0, 0, 0] = 1.0


def test_a_fit_shows_itself(fit: rw.Fit) -> None:
    text = repr(fit)
    assert text.startswith("switched ~ dist100 + arsenic in data: 3020 rows, 8 chains of 1000 draws")
    assert "arsenic" in text and "rhat" in text and max(map(len, text.splitlines())) <= 100
    page = fit._repr_html_()
    assert "<table" in page and "dist100" in page and "Warnings" not in page
    few = fit_with_warnings()
    assert "Warnings" in few._repr_html_() and "low_ess" in repr(few)


def fit_with_warnings() -> rw.Fit:
    data = {"x": [1, 2, 3, 4], "y": [1.0, 2.5, 2.0, 4.5]}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = rw.fit("y ~ x", data, family="gaussian", draws=10)
    mine = [each for each in caught if issubclass(each.category, rw.FitWarning)]
    assert len(mine) == len(found.warnings) > 0
    assert mine[0].filename == __file__, "the warning is at the user's line"
    return found


def test_html_is_escaped() -> None:
    data = {"<b>x</b>": [1.0, 2, 3, 4, 5, 6], "y": [1.0, 2.5, 2.0, 4.5, 4.0, 6.0]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = rw.fit("y ~ `<b>x</b>`", data, family="gaussian", draws=20)
    assert "<b>x</b>" not in found._repr_html_()


def test_predictions(fit: rw.Fit, wells: pd.DataFrame) -> None:
    new = wells.sample(5, random_state=1)
    found = fit.predict(new)
    assert isinstance(found, pd.DataFrame)
    assert list(found.index) == list(new.index)
    draws = fit.draws.reshape(-1, 3)
    design = np.column_stack([np.ones(5), new[["dist100", "arsenic"]]])
    probability = 1 / (1 + np.exp(-draws @ design.T))
    assert np.allclose(found["mean"], probability.mean(axis=0), rtol=1e-12)
    assert np.allclose(found["lower"], np.quantile(probability, 0.05, axis=0), rtol=1e-6)
    every = fit.predict(new, draws=True)
    assert isinstance(every, np.ndarray)
    assert np.allclose(every, probability, rtol=1e-12)
    linear = fit.predict(new, kind="linear")
    assert np.allclose(linear["mean"], (draws @ design.T).mean(axis=0), rtol=1e-12)
    own = fit.predict()
    assert len(own) == len(wells)
    assert np.allclose(own.loc[new.index, "mean"], found["mean"], rtol=1e-12)
    again = fit.predict(new, kind="response", seed=5)
    assert set(np.unique(fit.predict(new, kind="response", draws=True))) == {0.0, 1.0}
    assert again.equals(fit.predict(new, kind="response", seed=5))
    with pytest.raises(rw.InputError, match="found `men`, need linear, mean or response"):
        fit.predict(new, kind="men")
    with pytest.raises(rw.InputError, match="arsenic"):
        fit.predict(new[["dist100"]])


def test_new_rows_have_the_types_of_the_fit(study: pd.DataFrame) -> None:
    found = rw.fit("passed ~ hours + city", study, draws=100)
    new = pd.DataFrame({"hours": [1.0, 2.0], "city": ["Oslo", "Bergen"]})
    for column, values, message in (
        ("city", [1, 0], "column `city`: found the level `1`"),
        ("city", [True, False], "column `city`: found the level `1`"),
        ("hours", ["a", "b"], "column `hours`: found the text `a`, need a number"),
    ):
        with pytest.raises(rw.InputError, match=message):
            found.predict(new.assign(**{column: values}))


def test_predictions_of_the_rows_of_the_fit_have_their_labels(study: pd.DataFrame) -> None:
    labelled = study.set_index(pd.Index([f"r{k}" for k in range(len(study))]))
    labelled.loc["r3", "hours"] = np.nan
    found = rw.fit("passed ~ hours", labelled, drop_missing=True, draws=100)
    predicted = found.predict()
    assert list(predicted.index) == [f"r{k}" for k in range(12) if k != 3]
    assert list(found.loo().pointwise.index) == list(predicted.index)


def test_cross_validation_and_comparison(fit: rw.Fit, wells: pd.DataFrame) -> None:
    loo = fit.loo()
    likelihood = fit._native.log_likelihood()
    pointwise = loo.pointwise
    assert len(pointwise) == 3020 and pointwise["pareto_k"].max() < loo.k_limit
    assert math.isclose(loo.elpd, pointwise["elpd_loo"].sum(), rel_tol=1e-12)
    # Leaving a row out makes its density smaller, by little for so many rows.
    inside = np.log(np.exp(likelihood.reshape(-1, 3020)).mean(axis=0))
    assert (pointwise["elpd_loo"].to_numpy() < inside + 1e-12).all()
    flat = rw.fit("switched ~ 1", wells, seed=1)
    table = rw.compare({"flat": flat, "both": loo}).table
    assert list(table.index) == ["both", "flat"] and table.loc["flat", "elpd_diff"] < -50
    other = rw.fit("switched ~ 1", wells.head(100), seed=1)
    with pytest.raises(rw.InputError, match="different responses"):
        rw.compare({"all": loo, "some": other})
    with pytest.raises(rw.InputError, match="need one of them"):
        fit.loo(exact=True, folds=5)
    assert "5 folds" in repr(other.loo(folds=5))
    with pytest.raises(TypeError, match="needs fits by name"):
        rw.compare([fit, flat])  # type: ignore[arg-type]
    with pytest.raises(rw.InputError, match="found 1 fits"):
        rw.compare({"one": fit})


def test_groups_are_left_out() -> None:
    rng = np.random.default_rng(1)
    g = np.repeat(["a", "b", "c", "d", "e"], 6)
    x = rng.normal(size=30)
    effects = dict(zip("abcde", [-2.0, -1.0, 0.0, 1.0, 2.0]))
    y = 0.5 * x + np.array([effects[k] for k in g]) + rng.normal(size=30)
    data = pd.DataFrame({"y": y, "x": x, "g": g})
    found = rw.fit("y ~ x + (1 | g)", data, family="gaussian", seed=1)
    loo = found.loo(groups="g")
    assert list(loo.pointwise.index) == list("abcde") and loo.pointwise.index.name == "g"
    assert math.isclose(loo.elpd, loo.pointwise["elpd_loo"].sum(), rel_tol=1e-12)
    assert (loo.pointwise["rows"] == 6).all() and (loo.pointwise["mcse"] < 0.1).all()
    assert "5 levels of g" in repr(loo) and math.isnan(loo.p)
    less = rw.fit("y ~ (1 | g)", data, family="gaussian", seed=1)
    table = rw.compare({"less": less.loo(groups="g"), "mixed": loo}).table
    assert set(table.index) == {"less", "mixed"}
    with pytest.raises(rw.InputError, match="same groups"):
        rw.compare({"less": less.loo(), "mixed": loo})
    with pytest.raises(rw.InputError, match="grouping of the fit"):
        found.loo(groups="h")


def test_effects(fit: rw.Fit, wells: pd.DataFrame) -> None:
    found = fit.effects("arsenic")
    draws = fit.draws.reshape(-1, 3)[::20]
    design = np.column_stack([np.ones(len(wells)), wells[["dist100", "arsenic"]]])
    p = 1 / (1 + np.exp(-draws @ design.T))
    slope = (p * (1 - p)).mean(axis=1) * draws[:, 2]
    assert abs(found["mean"].iloc[0] - slope.mean()) < 4 * slope.std() / math.sqrt(len(slope))
    at = fit.effects("arsenic", at={"dist100": [0.1, 2.0]})
    assert len(at) == 2
    with pytest.raises(rw.InputError, match="by age: need a predictor of the model"):
        fit.effects("age")


def test_report_and_plots(fit: rw.Fit, tmp_path: pathlib.Path) -> None:
    page = fit.report(tmp_path / "out.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") and "Does the model fit the data?" in page
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    labels = [label.get_text() for label in fit.plot().get_yticklabels()]
    assert labels == ["dist100", "arsenic"]
    for kind in ("densities", "traces", "checks"):
        assert fit.plot(kind) is not None
    with pytest.raises(ValueError, match="need one of intervals, densities, traces, checks"):
        fit.plot("pie")


def test_saved_and_loaded(fit: rw.Fit, wells: pd.DataFrame, tmp_path: pathlib.Path) -> None:
    path = fit.save(tmp_path / "run")
    assert {"config.toml", "summary.json", "draws.zarr", "report.html", "checks.json"} == {
        each.name for each in path.iterdir()
    }
    with pytest.raises(rw.InputError, match="already exists"):
        fit.save(path)
    bare = rw.load(path)
    assert np.array_equal(bare.draws, fit.draws) and bare.summary().equals(fit.summary())
    assert np.allclose(bare.predict(wells.head(2))["mean"], fit.predict(wells.head(2))["mean"], rtol=0)
    with pytest.raises(rw.InputError, match="were in memory"):
        bare.loo()
    whole = rw.load(path, wells)
    assert whole.loo().elpd == fit.loo().elpd and whole.checks() == fit.checks()
    changed = wells.assign(arsenic=wells["arsenic"] + 1)
    with pytest.raises(rw.InputError, match="SHA-256 differs"):
        rw.load(path, changed)
    assert whole.predict().equals(fit.predict())


def test_a_run_directory_can_be_resumed(wells: pd.DataFrame, tmp_path: pathlib.Path) -> None:
    straight = rw.fit("switched ~ dist100", wells, draws=30_000, seed=2)
    out = tmp_path / "run"
    with interrupted_after(0.4):
        with pytest.warns(rw.FitWarning, match="stopped"):
            some = rw.fit("switched ~ dist100", wells, draws=30_000, seed=2, out=out)
    assert 0 < some.draws.shape[1] < 30_000 and "stopped" in some.status
    assert np.array_equal(some.draws, straight.draws[:, : some.draws.shape[1]])
    with pytest.raises(rw.InputError, match="were in memory"):
        rw.resume(out)
    assert np.array_equal(rw.resume(out, wells).draws, straight.draws)
    # Nothing is left to do.
    assert np.array_equal(rw.resume(out, wells).draws, straight.draws)


class interrupted_after:
    """Sends this process Ctrl-C after some seconds."""

    def __init__(self, seconds: float) -> None:
        self._timer = threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT))

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(self, *_: Any) -> None:
        self._timer.cancel()


def test_ctrl_c_keeps_the_draws_so_far(wells: pd.DataFrame) -> None:
    began = time.monotonic()
    with interrupted_after(0.6), pytest.warns(rw.FitWarning, match="stopped"):
        some = rw.fit("switched ~ dist100 + arsenic", wells, draws=10_000_000, seed=1)
    assert time.monotonic() - began < 20
    assert some.draws.shape[1] > 100
    start = rw.fit("switched ~ dist100 + arsenic", wells, draws=100, seed=1)
    assert np.array_equal(some.draws[:, :100], start.draws), "the same draws as without Ctrl-C"


def test_pickles(fit: rw.Fit, wells_path: pathlib.Path) -> None:
    again = pickle.loads(pickle.dumps(fit))
    assert np.array_equal(again.draws, fit.draws) and again.summary().equals(fit.summary())
    assert again.loo().elpd == fit.loo().elpd and again.checks() == fit.checks()
    assert repr(again) == repr(fit)
    of_file = rw.fit("switched ~ dist100", wells_path, draws=100)
    small = pickle.dumps(of_file)
    assert len(small) < 200_000, "the data stay in their file"
    assert pickle.loads(small).loo().elpd == of_file.loo().elpd


def test_arviz(fit: rw.Fit) -> None:
    arviz = pytest.importorskip("arviz")
    with warnings.catch_warnings():
        warnings.simplefilter("error", FutureWarning)
        data = fit.to_arviz()
    assert np.array_equal(data["posterior"]["beta"].values, fit.draws)
    assert list(data["posterior"]["coef"].values) == fit.names
    assert data["log_likelihood"]["switched"].shape == (8, 1000, 3020)
    assert set(np.unique(data["posterior_predictive"]["switched"])) == {0.0, 1.0}
    assert data["constant_data"]["design"].shape == (3020, 3)
    assert data["prior"]["beta"].shape == (1, 1000, 3)
    assert "diverging" in data["sample_stats"]
    theirs = arviz.summary(data, var_names=["beta"], round_to=None)
    found = theirs["mean"].astype(float).to_numpy()
    assert np.allclose(found, fit.summary()["mean"], atol=6e-3)
    if hasattr(arviz, "loo"):
        found = arviz.loo(data)
        elpd = found.elpd if hasattr(found, "elpd") else found.elpd_loo
        assert abs(float(elpd) - fit.loo().elpd) < 0.1
    from ridgewalk import _arviz

    _arviz._check_size("log_likelihood", 8000, 50_000)
    with pytest.raises(rw.InputError, match="takes 64 GB of memory: name the groups"):
        _arviz._check_size("log_likelihood", 8000, 1_000_000)
    with pytest.raises(ValueError, match="found the group `posteriors`"):
        fit.to_arviz(["posteriors"])


def test_arguments_are_checked(wells: pd.DataFrame) -> None:
    def refused(error: type[Exception], message: str, **arguments: Any) -> None:
        with pytest.raises(error) as found:
            rw.fit("switched ~ dist100", wells, **arguments)
        assert message in str(found.value), found.value

    refused(rw.InputError, "chains 0: need at least 1", chains=0)
    refused(rw.InputError, "draws -1: need a whole number of at least 0", draws=-1)
    refused(TypeError, "draws=1.5 (float): need a whole number", draws=1.5)
    refused(TypeError, "chains='8' (str): need a whole number", chains="8")
    refused(TypeError, "standardize='yes' (str): need True or False", standardize="yes")
    refused(TypeError, "prior=3 (int): need a text", prior=3)
    refused(TypeError, "prior_scale=True (bool): need a number", prior_scale=True)
    refused(TypeError, "levels=3", levels=3)
    refused(rw.InputError, "logistc", family="logistc")
    refused(rw.InputError, "kernel", kernel="nuts")
    refused(rw.InputError, "prior 'normal(0)'", prior="normal(0)")
    refused(rw.InputError, "priors: found a prior for `dist`", priors={"dist": "normal(0, 1)"})
    refused(rw.InputError, "priors: found `prior = \"normal(0)\"`", priors={"dist100": "normal(0)"})
    refused(rw.InputError, "prior with prior_scale", prior="normal(0, 1)", prior_scale=1.0)
    refused(TypeError, "prior_sd", prior_sd=1)
    refused(rw.InputError, "found the family `bernoulli`, need the name `logistic`", family="bernoulli")
    refused(rw.InputError, "need the name `negative-binomial`", family="NegativeBinomial")
    refused(rw.InputError, "need the name `student-t`", family="Student_t")
    refused(rw.InputError, "need a dict such as {'x': 'normal(0, 1)'}", priors="normal(0, 1)")
    refused(TypeError, "`priors` takes it", prior={"dist100": "normal(0, 1)"})
    refused(TypeError, "offset: found a Series, need the name of a column", offset=wells["arsenic"])
    with pytest.raises(rw.InputError, match="found the end of the formula"):
        rw.fit("switched ~", wells)
    with pytest.raises(rw.InputError, match="no response column given: pass response NAME"):
        rw.fit(None, wells)
    both = rw.fit(None, wells, response="switched", predictors=["arsenic"], draws=100)
    assert both.names == ["(Intercept)", "arsenic"]
    assert rw.fit("switched ~ arsenic", wells, draws=np.int64(100), seed=np.uint64(0)).draws.shape[1] == 100


def test_every_family_is_known_by_its_name() -> None:
    data = {"x": [1, 2, 3, 4, 5, 6, 7, 8], "y": [1, 0, 1, 0, 1, 1, 0, 1], "t": [1.5, 2, 3, 2, 5, 4, 6, 7]}
    for family in (
        "logistic", "probit", "poisson", "negative-binomial", "gaussian", "student-t",
        "robust-logistic", "robust-huber", "gamma", "weibull", "log-logistic", "log-normal",
        "exponential", "ordinal", "multinomial",
    ):  # fmt: skip
        of_times = family in ("gamma", "weibull", "log-logistic", "log-normal", "exponential")
        formula = f"{'t' if of_times else 'y'} ~ x"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert rw.fit(formula, data, family=family, draws=20).family == family


def test_priors(wells: pd.DataFrame, tmp_path: pathlib.Path) -> None:
    tight = rw.fit("switched ~ dist100", wells, priors={"dist100": "normal(0, 0.001)"})
    assert abs(tight.summary().loc["dist100", "mean"]) < 0.01
    toml = tmp_path / "priors.toml"
    toml.write_text('[dist100]\nprior = "normal(0, 0.001)"\n')
    assert np.array_equal(rw.fit("switched ~ dist100", wells, priors=toml).draws, tight.draws)
    prior = rw.fit("switched ~ dist100", wells, prior="normal(1, 2)", prior_only=True)
    assert abs(prior["dist100"].mean() - 1) < 0.1 and abs(prior["dist100"].std() - 2) < 0.1
    described = rw.describe("switched ~ dist100", wells, priors={"dist100": "laplace(0, 1)"})
    assert "laplace(0, 1)" in json.dumps(described["model"])


def test_progress_is_shown_where_it_can_be_seen(wells_path: pathlib.Path) -> None:
    code = (
        "import sys, ridgewalk as rw\n"
        f"fit = rw.fit('switched ~ dist100 * arsenic', {str(wells_path)!r}, draws=40_000, "
        "progress=eval(sys.argv[1]))\n"
    )

    def shown(wanted: str) -> str:
        command = [sys.executable, "-c", code, wanted]
        return subprocess.run(command, capture_output=True, check=True).stderr.decode()

    assert shown("None") == "", "nothing in a pipe"
    line = shown("True")
    assert "\rsampling" in line and " %" in line and line.endswith("\r")


def test_theory(program: str) -> None:
    options = ["--kappa", "10", "--eta", "0.3", "--json"]
    found = subprocess.run([program, "certify", *options], capture_output=True, text=True)
    assert rw.certify(10, eta=0.3) == json.loads(found.stdout)
    numbers = {"convexity": 1, "smoothness": 10, "dimension": 5, "accuracy": 0.1}
    words = [word for name, value in numbers.items() for word in (f"--{name}", str(value))]
    found = subprocess.run([program, "plan", *words, "--json"], capture_output=True, text=True)
    assert rw.plan(**numbers) == json.loads(found.stdout)  # type: ignore[arg-type]
    words = ["--gamma", "1", "--xi", "2", "--eta", "0.5", "--json"]
    found = subprocess.run([program, "coefficients", *words], capture_output=True, text=True)
    theirs = json.loads(found.stdout)
    assert all(theirs[name] == value for name, value in rw.coefficients(1, 2, 0.5).items())
    with pytest.raises(rw.InputError, match="nodes 3 is about the algorithm: need eta too"):
        rw.certify(10, nodes=3)
    with pytest.raises(rw.InputError, match="kappa = 0.5"):
        rw.certify(0.5)


@pytest.fixture(scope="module")
def growth(wells_path: pathlib.Path) -> pd.DataFrame:
    return pd.read_csv(wells_path.with_name("children.csv"))


@pytest.fixture(scope="module")
def lines(growth: pd.DataFrame) -> rw.Fit:
    formula = "weight ~ week + sex + (week | child)"
    return rw.fit(formula, growth, family="gaussian", draws=200, group_prior="exponential(1)")


def test_effects_of_groups(lines: rw.Fit) -> None:
    assert "half_normal" not in lines.config and "exponential(1)" in lines.config
    own = [name for name in lines.names if not name.startswith("r_child[")]
    assert len(own) == 7 and len(lines.names) == 7 + 40
    assert list(lines.summary().index) == own
    assert list(lines.summary(effects=True).index) == lines.names
    effects = lines.summary(effects="child")
    assert list(effects.index) == lines.names[7:]
    table = lines.effects_of("child")
    assert list(table.columns) == ["mean", "sd", "q05", "q95"]
    assert table.loc[("Ben", "week"), "mean"] == effects.loc["r_child[Ben,week]", "mean"]
    with pytest.raises(KeyError, match="found no group `school`; available: `child`"):
        lines.effects_of("school")
    with pytest.raises(ValueError, match="leave effects out"):
        lines.summary(exp=True, effects=True)
    # A warning may name the worst of them.
    assert "r_child[Ada,week]" not in repr(lines) and "40 effects of child" in repr(lines)
    assert "40 effects of child" in lines._repr_html_()
    assert "groups" in lines._document


def test_one_effect_for_each_level(growth: pd.DataFrame) -> None:
    fit = rw.fit("weight ~ week + (1|child)", growth, family="gaussian", draws=50)
    table = fit.effects_of("child")
    assert table.index.name == "level" and table.shape == (20, 4)
    assert table.index[0] == "Ada"


def test_new_levels_are_told(lines: rw.Fit, growth: pd.DataFrame) -> None:
    new = growth.head(2).assign(child=["Ada", "Zoe"])
    with pytest.warns(rw.FitWarning, match="1 row has a level of `child` that the fit has not seen"):
        found = lines.predict(new)
    assert found["sd"].iloc[1] > found["sd"].iloc[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lines.predict(growth.head(2))


def test_groups_in_arviz(lines: rw.Fit) -> None:
    arviz = pytest.importorskip("arviz")
    data = lines.to_arviz(["posterior", "prior"])
    for group in ("posterior", "prior"):
        found = data[group]
        assert list(found["beta"]["coef"].values) == lines.names[:4]
        assert found["sd_child"].dims == ("chain", "draw", "child__coefficient")
        assert found["cor_child"].dims == ("chain", "draw", "child__pair")
        assert found["r_child"].dims == ("chain", "draw", "child__level", "child__coefficient")
    one = data["posterior"]["r_child"].sel(child__level="Eva", child__coefficient="week")
    assert np.array_equal(one.values, lines["r_child[Eva,week]"])
    assert len(arviz.summary(data, var_names=["r_child"])) == 40
    assert arviz.plot_forest(data, var_names=["r_child"]) is not None
