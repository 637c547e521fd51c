"""Effective draws of some runs, and how far their results are from those of the first one. Usage:
compare.py SAME RUN..., with ArviZ 1.x

RUN is what run.py calls OUT. SAME is a JSON object with the names in the first run of parameters
that have other names in the others. Prints a JSON array with an object for each run:

- ess: the smallest effective sample size over all coordinates of theta and of (theta - mean)^2, by
  ArviZ's method "mean" for all runs;
- mean_difference_mcse: the largest difference of two means in its Monte Carlo standard errors;
- sd_difference_mcse: the same for standard deviations;
- sd_ratio_low, sd_ratio_high: the range of the standard deviation / that of the first run.
"""
import json
import sys

import arviz
import numpy


def read(run):
    with open(run + ".json") as file:
        return json.load(file)["names"], numpy.load(run + ".npy")


def smallest(draws):
    squares = (draws - draws.mean((0, 1))) ** 2
    columns = [kind[..., k] for kind in (draws, squares) for k in range(draws.shape[2])]
    return min(float(arviz.ess(column, method="mean")) for column in columns)


def moment(draws, what):
    """Means or standard deviations, and their Monte Carlo standard errors."""
    value = getattr(draws, {"mean": "mean", "sd": "std"}[what])((0, 1))
    columns = numpy.moveaxis(draws, 2, 0)
    return value, numpy.array([float(arviz.mcse(column, method=what)) for column in columns])


same = json.loads(sys.argv[1])
runs = [read(run) for run in sys.argv[2:]]
first, reference = runs[0]
results = []
for names, draws in runs:
    names = [name if names is first else same.get(name, name) for name in names]
    if sorted(names) != sorted(first):
        sys.exit(f"other parameters: {sorted(names)} instead of {sorted(first)}")
    draws = draws[..., [names.index(name) for name in first]]
    result = {"chains": draws.shape[0], "draws": draws.shape[1], "parameters": draws.shape[2]}
    result["ess"] = smallest(draws)
    for what in ("mean", "sd"):
        (value, error), (other, its) = moment(draws, what), moment(reference, what)
        difference = abs(value - other) / numpy.hypot(error, its)
        result[f"{what}_difference_mcse"] = float(difference.max())
    ratio = draws.std((0, 1)) / reference.std((0, 1))
    result |= {"sd_ratio_low": float(ratio.min()), "sd_ratio_high": float(ratio.max())}
    results.append(result)
print(json.dumps(results))
