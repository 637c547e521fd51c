#!/usr/bin/env python3
"""Average slopes and differences by the Python package marginaleffects, draw by draw.

    python3 -m venv venv && venv/bin/pip install marginaleffects==0.6.0 statsmodels==0.15.0 "polars<2"
    venv/bin/python scripts/oracles/effects.py draws target/checks/ridgewalk crates/fit/tests/data
    venv/bin/python scripts/oracles/effects.py effects crates/fit/tests/data

Made with Python 3.11. The first step makes the input: DIRECTORY/effects/NAME.csv, draws of
ridgewalk of each model, rounded to 7 digits; both sides of the test use them. The second step uses
no code of ridgewalk: it fits each model by statsmodels, gives it the coefficients of one draw after
another, and asks marginaleffects for avg_slopes or avg_comparisons over the rows of the data. It
writes DIRECTORY/effects/effects.json: mean, standard deviation and 5, 50 and 95 % quantiles over
the draws. Takes a minute.
"""
import csv
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings

CHAINS, DRAWS = 4, 25
# name, data, family, formula, columns
CASES = [
    ("logistic", "votes.csv", "logistic", "voted ~ region * age + income", ["age", "region"]),
    ("poisson", "visits.csv", "poisson", "visits ~ plan * income + year", ["income", "plan"]),
]


def make_draws(program, folder):
    """Input of both sides: draws, rounded."""
    (folder / "effects").mkdir(exist_ok=True)
    for name, file, family, formula, _ in CASES:
        with tempfile.TemporaryDirectory() as out:
            command = [program, "fit", folder / "families" / file, formula, "--family", family,
                       "--chains", CHAINS, "--draws", DRAWS, "--seed", 1, "--csv", "--out",
                       f"{out}/run"]
            subprocess.run([str(part) for part in command], check=False, capture_output=True)
            with open(f"{out}/run/draws.csv", newline="") as source:
                rows = list(csv.reader(source))
        with open(folder / "effects" / f"{name}.csv", "w", newline="") as target:
            writer = csv.writer(target, lineterminator="\n")
            writer.writerow(rows[0][2:])
            writer.writerows([f"{float(x):.7g}" for x in row[2:]] for row in rows[1:])


def reference(case, folder):
    import marginaleffects
    import numpy
    import pandas
    import statsmodels.api
    import statsmodels.formula.api

    name, file, family, formula, columns = case
    data = pandas.read_csv(folder / "families" / file)
    for column in data.columns:
        if data[column].dtype.kind not in "if":
            data[column] = data[column].astype("category")
    law = {"logistic": statsmodels.api.families.Binomial(),
           "poisson": statsmodels.api.families.Poisson()}[family]
    fit = statsmodels.formula.api.glm(formula, data, family=law).fit()
    draws = pandas.read_csv(folder / "effects" / f"{name}.csv")
    own = {"(Intercept)": "Intercept"}
    theirs = lambda text: own.get(text, re.sub(r"\[([^\]]*)\]", r"[T.\1]", text))
    draws.columns = [theirs(text) for text in draws.columns]
    assert set(draws.columns) == set(fit.params.index), (draws.columns, fit.params.index)
    params = draws[list(fit.params.index)].to_numpy()
    effects = []
    for column in columns:
        slopes = data[column].dtype.kind in "if"
        of = marginaleffects.avg_slopes if slopes else marginaleffects.avg_comparisons
        found = {}
        for draw in params:
            fit._results.params = draw
            fit.params = pandas.Series(draw, index=fit.model.exog_names)
            table = of(fit, variables=column, vcov=False)
            for row in getattr(table, "data", table).to_dicts():
                found.setdefault(row["contrast"], []).append(row["estimate"])
        for contrast, values in found.items():
            assert len(values) == len(params)
            contrast = "slope" if slopes else contrast
            low, mid, high = numpy.quantile(values, [0.05, 0.5, 0.95])
            effects.append({"by": column, "contrast": contrast, "mean": float(numpy.mean(values)),
                            "sd": float(numpy.std(values, ddof=1)), "lower": float(low),
                            "median": float(mid), "upper": float(high)})
            print(name, effects[-1])
    return {"name": name, "file": file, "family": family, "formula": formula, "effects": effects}


def main():
    if len(sys.argv) == 4 and sys.argv[1] == "draws":
        return make_draws(sys.argv[2], pathlib.Path(sys.argv[3]))
    if len(sys.argv) != 3 or sys.argv[1] != "effects":
        sys.exit(__doc__)
    from importlib.metadata import version

    warnings.simplefilter("ignore")
    folder = pathlib.Path(sys.argv[2])
    versions = {name: version(name) for name in ("marginaleffects", "statsmodels", "numpy")}
    cases = [reference(case, folder) for case in CASES]
    text = json.dumps({"versions": versions, "cases": cases}, indent=1, allow_nan=False)
    (folder / "effects" / "effects.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
