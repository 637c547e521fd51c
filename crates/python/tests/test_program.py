"""The package and the program give the same draws, bit for bit."""

from __future__ import annotations

import importlib.util
import json
import pathlib
import subprocess
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ridgewalk as rw
from conftest import read_csv

ROOT = pathlib.Path(__file__).resolve().parents[3]
DATA = ROOT / "crates/cli/tests/data"
FAMILIES = ROOT / "crates/fit/tests/data/families"

# Data, formula, arguments of Python, and the options of the program that they stand for.
CASES: list[tuple[pathlib.Path, str, dict[str, Any], list[str]]] = [
    (DATA / "wells.csv", "switched ~ dist100 * log(arsenic)", {}, []),
    (
        DATA / "wells.csv",
        "switched ~ dist100 + arsenic",
        {"family": "probit", "where": "arsenic > 0.6", "standardize": True, "chains": 3},
        ["--family", "probit", "--where", "arsenic > 0.6", "--standardize", "--chains", "3"],
    ),
    (
        DATA / "patients.csv",
        "bmi ~ city * age + band + days(admitted)",
        {
            "family": "gaussian",
            "drop_missing": True,
            "priors": {"city": "normal(0, 5)", "sigma": "exponential(0.1)"},
            "base": {"city": "Oslo"},
        },
        [
            "--family", "gaussian", "--drop-missing",
            "--prior-of", "city=normal(0, 5)", "--prior-of", "sigma=exponential(0.1)",
            "--base", "city=Oslo",
        ],
    ),
    (
        FAMILIES / "germination.csv",
        "cbind(germinated, seeds - germinated) ~ warmth + soil",
        {},
        [],
    ),
    (
        FAMILIES / "relapse.csv",
        "Surv(time, event) ~ age + therapy",
        {"family": "weibull"},
        ["--family", "weibull"],
    ),
    (
        FAMILIES / "opinions.csv",
        "opinion ~ income + region",
        {"family": "ordinal", "levels": ["bad", "fair", "good", "superb"]},
        ["--family", "ordinal", "--levels", "bad,fair,good,superb"],
    ),
]  # fmt: skip


def draws_of(directory: pathlib.Path) -> np.ndarray[Any, Any]:
    """The draws of a run directory, through its CSV file: digits enough for every bit."""
    table = read_csv(directory / "draws.csv")
    chains = table["chain"].nunique()
    values = table.drop(columns=["chain", "draw"]).to_numpy()
    order = np.lexsort((table["draw"], table["chain"]))
    return values[order].reshape(chains, -1, values.shape[1])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[1])
def test_same_draws(
    case: tuple[pathlib.Path, str, dict[str, Any], list[str]], program: str, tmp_path: pathlib.Path
) -> None:
    path, formula, arguments, options = case
    out = tmp_path / "run"
    command = [program, "fit", str(path), formula, "--seed", "7", "--draws", "200", "--csv"]
    found = subprocess.run(
        [*command, *options, "--out", str(out), "--json"], capture_output=True, text=True, check=True
    )
    theirs = draws_of(out)
    frame = read_csv(path)
    fits = {
        "pandas": rw.fit(formula, frame, seed=7, draws=200, **arguments),
        "file": rw.fit(formula, path, seed=7, draws=200, threads=1, **arguments),
    }
    if importlib.util.find_spec("polars") is not None:
        read = importlib.import_module("polars").read_csv(path, null_values=["NA", ""])
        fits["polars"] = rw.fit(formula, read, seed=7, draws=200, **arguments)
    for name, fit in fits.items():
        assert np.array_equal(fit.draws, theirs), name
    ours = fits["pandas"]
    summary = {entry["name"]: entry for entry in json.loads(found.stdout)["parameters"]}
    for name, row in ours.summary().iterrows():
        assert row["mean"] == summary[str(name)]["mean"]
    # Another seed has other draws: the comparison can fail.
    other = rw.fit(formula, frame, seed=8, draws=200, **arguments)
    assert not np.array_equal(other.draws, theirs)


def test_run_directories_go_both_ways(
    program: str, wells_path: pathlib.Path, wells: pd.DataFrame, tmp_path: pathlib.Path
) -> None:
    fit = rw.fit("switched ~ dist100", wells, draws=100, seed=3)
    saved = fit.save(tmp_path / "saved")
    shown = subprocess.run(
        [program, "summary", str(saved), "--json"], capture_output=True, text=True, check=True
    )
    assert json.loads(shown.stdout)["parameters"][1]["mean"] == fit.summary()["mean"].iloc[1]
    new = tmp_path / "new.csv"
    wells.head(3).to_csv(new, index=False)
    predicted = subprocess.run(
        [program, "predict", str(saved), str(new), "--json"], capture_output=True, text=True
    )
    assert predicted.returncode == 0, predicted.stderr
    # One that the program made.
    made = tmp_path / "made"
    command = [program, "fit", str(wells_path), "switched ~ dist100", "--draws", "100", "--seed", "3"]
    subprocess.run([*command, "--out", str(made), "--quiet"], check=True, capture_output=True)
    loaded = rw.load(made)
    assert np.array_equal(loaded.draws, fit.draws)
    assert loaded.loo().elpd == fit.loo().elpd
    assert loaded.checks() == fit.checks()
    assert set(loaded.stats) == {"acceptance_rate", "energy", "lp", "diverging"}
    for name, values in loaded.stats.items():
        assert np.array_equal(values, fit.stats[name]), name


def test_a_run_that_the_program_began_is_resumed(
    program: str, wells_path: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    out = tmp_path / "run"
    options = ["--draws", "60000", "--seed", "3", "--out", str(out), "--quiet"]
    running = subprocess.Popen([program, "fit", str(wells_path), "switched ~ dist100", *options])
    try:
        running.wait(timeout=0.4)
    except subprocess.TimeoutExpired:
        pass
    running.kill()
    running.wait()
    resumed = rw.resume(out)
    whole = rw.fit("switched ~ dist100", wells_path, draws=60000, seed=3)
    assert np.array_equal(resumed.draws, whole.draws)
