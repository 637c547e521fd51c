"""Which households switch to a safe well? A whole analysis, in the types of a strict checker."""

from __future__ import annotations

import pathlib

import pandas as pd

import ridgewalk as rw

DATA = pathlib.Path(__file__).resolve().parents[2] / "cli/tests/data/wells.csv"


def odds_ratios(fit: rw.Fit) -> pd.DataFrame:
    """Odds ratios with 95 % intervals."""
    return fit.summary(exp=True, interval=0.95)[["mean", "lower", "upper"]]


def main() -> None:
    wells = pd.read_csv(DATA)
    fit = rw.fit("switched ~ dist100 + arsenic", wells, family="logistic", seed=1)
    for name, text in fit.warnings:
        print(f"{name}: {text}")
    print(odds_ratios(fit))
    crossed: rw.Fit = rw.fit("switched ~ dist100 * log(arsenic)", wells, seed=1)
    comparison: rw.Comparison = rw.compare({"plain": fit, "crossed": crossed})
    print(comparison.table[["elpd_diff", "se_diff", "weight"]])
    near = pd.DataFrame({"dist100": [0.1, 0.1], "arsenic": [0.5, 3.0]})
    predicted = crossed.predict(near)
    print(predicted)
    certificate = rw.certify(kappa=10.0, eta=0.2)
    print(certificate["status"])


if __name__ == "__main__":
    main()
