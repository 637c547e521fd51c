#!/usr/bin/env python3
"""Opens the draws of a run with ArviZ and with xarray, and compares what they say with
summary.json.

    scripts/env/python 0 && target/python/bin/python scripts/checks/draws.py DIR

DIR is a run directory with draws.zarr and summary.json. Means, standard deviations and quantiles
must agree to 1e-12 of the posterior's scale, ESS, R-hat and the standard error of the mean to 1e-8.
The draws must also survive a way through netCDF.
Any warning while opening counts as a failure. Works with ArviZ 0.23 and 1.x. Exit codes: 0 all
agree; 1 something does not, and what; 2 the files are not there.
"""
import json
import math
import pathlib
import sys
import tempfile
import warnings

import arviz
import numpy
import xarray

NEW = int(arviz.__version__.split(".")[0]) >= 1


def opened(path):
    """The draws by both ways, which must be the same."""
    if NEW:
        data = arviz.from_zarr(path)
    else:
        data = arviz.InferenceData.from_datatree(xarray.open_datatree(path, engine="zarr"))
    plain = xarray.open_dataset(path, engine="zarr", group="posterior")
    return data, plain


def diagnostics(beta):
    """ESS, R-hat and so on of every coefficient: one array each."""
    dataset = beta.to_dataset(name="beta")

    def ask(function, **options):
        return numpy.asarray(function(dataset, **options)["beta"]).reshape(-1)

    return {
        "ess_bulk": ask(arviz.ess, method="bulk"),
        # The probabilities that ArviZ 0.23 takes by itself; 1.x takes others.
        "ess_tail": ask(arviz.ess, method="tail", prob=(0.05, 0.95)),
        "rhat": ask(arviz.rhat, method="rank"),
        "mcse_mean": ask(arviz.mcse, method="mean"),
    }


class Check:
    def __init__(self):
        self.failures = []
        self.worst = {}

    def that(self, holds, message):
        if not holds:
            self.failures.append(message)

    def near(self, key, name, got, need, scale, tolerance):
        if got is None:
            # Not finite is null; the diagnostics of both say so, or ours are stricter: see
            # docs/diagnostics.md.
            self.that(not math.isfinite(need), f"{name}: {key} is null, ArviZ has {need}")
            return
        error = abs(got - need) / scale
        self.worst[key] = max(self.worst.get(key, 0.0), error)
        self.that(error <= tolerance, f"{name}: {key} is {got}, ArviZ has {need} ({error:.1e} apart, allowed {tolerance:.0e})")


def structure(check, data, plain, summary):
    beta = data["posterior"]["beta"]
    stats = data["sample_stats"]
    names = [parameter["name"] for parameter in summary["parameters"]]
    shape = (summary["sampler"]["chains"], summary["sampler"]["draws"], len(names))
    check.that(beta.dims == ("chain", "draw", "coef"), f"dims are {beta.dims}")
    check.that(beta.shape == shape, f"shape is {beta.shape}, summary.json says {shape}")
    check.that(beta.dtype == numpy.float64, f"beta is {beta.dtype}")
    check.that([str(name) for name in beta["coef"].values] == names, "the names of the coefficients differ")
    check.that(list(beta["chain"].values) == list(range(shape[0])), "chains are not numbered from 0")
    check.that(list(beta["draw"].values) == list(range(shape[1])), "draws are not numbered from 0")
    check.that(bool(numpy.isfinite(beta.values).all()), "a draw is not finite")
    check.that(stats["diverging"].dtype == bool, f"diverging is {stats['diverging'].dtype}")
    if "lp" in stats:
        statistics(check, stats, shape[:2])
    else:
        check.that(not stats["diverging"].values.any(), "diverging is not false")
    check.that(stats["diverging"].shape == shape[:2] and stats["n_steps"].shape == shape[:2], "sample_stats has another shape")
    check.that(numpy.issubdtype(stats["n_steps"].dtype, numpy.integer), f"n_steps is {stats['n_steps'].dtype}")
    check.that(bool((stats["n_steps"].values == summary["sampler"]["thin"]).all()), "n_steps is not the thinning")
    check.that(plain["beta"].equals(beta), "xarray's draws are not ArviZ's")
    check.that(data["posterior"].attrs.get("inference_library") == "ridgewalk", "the posterior does not name its library")


def statistics(check, stats, shape):
    """Of kernels that accept or reject."""
    for name in ("acceptance_rate", "energy", "lp"):
        values = stats[name]
        check.that(values.dtype == numpy.float64 and values.shape == shape, f"{name} is {values.dtype} of the shape {values.shape}")
        check.that(bool(numpy.isfinite(values.values).all()), f"{name} is not finite")
    rate = stats["acceptance_rate"].values
    check.that(bool(((rate >= 0) & (rate <= 1)).all()), "acceptance_rate is not between 0 and 1")
    check.that(bool((stats["energy"].values >= -stats["lp"].values).all()), "the kinetic energy is negative")
    # The fraction of missing information: the change of energy from draw to draw over its variance.
    energy = stats["energy"].values
    bfmi = (numpy.diff(energy, axis=1) ** 2).mean(axis=1) / energy.var(axis=1)
    check.that(bool((bfmi > 0.3).all()), f"the energy hardly changes from draw to draw: {bfmi}")


def through_netcdf(check, data):
    """Attributes that are no numbers or texts cannot be written."""
    with tempfile.TemporaryDirectory() as place:
        path = str(pathlib.Path(place) / "draws.nc")
        data.to_netcdf(path, engine="h5netcdf")
        for group in ("posterior", "sample_stats"):
            back = xarray.open_dataset(path, engine="h5netcdf", group=group)
            for name, values in data[group].data_vars.items():
                check.that(bool((back[name].values == values.values).all()), f"{group}/{name} comes back from netCDF changed")
            back.close()


def numbers(check, data, summary):
    beta = data["posterior"]["beta"]
    pooled = beta.values.reshape(-1, beta.shape[2])
    theirs = diagnostics(beta)
    for i, parameter in enumerate(summary["parameters"]):
        draws, name = pooled[:, i], parameter["name"]
        mean, sd = math.fsum(draws) / len(draws), numpy.std(draws, ddof=1)
        scale = max(abs(mean), sd) or 1.0
        check.near("mean", name, parameter["mean"], mean, scale, 1e-12)
        check.near("sd", name, parameter["sd"], sd, sd or 1.0, 1e-12)
        for key, p in (("q05", 0.05), ("q50", 0.5), ("q95", 0.95)):
            check.near(key, name, parameter[key], numpy.quantile(draws, p), scale, 1e-12)
        for key, values in theirs.items():
            check.near(key, name, parameter[key], values[i], abs(values[i]) or 1.0, 1e-8)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    directory = pathlib.Path(sys.argv[1])
    try:
        summary = json.loads((directory / "summary.json").read_text(encoding="utf-8"))
    except OSError as error:
        print(f"draws: {error}", file=sys.stderr)
        sys.exit(2)
    check = Check()
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        data, plain = opened(str(directory / "draws.zarr"))
    for warning in heard:
        # What a library says of itself or of its own dependencies is not about our files.
        if not issubclass(warning.category, (DeprecationWarning, PendingDeprecationWarning, FutureWarning)):
            check.that(False, f"a warning on opening: {warning.message}")
    structure(check, data, plain, summary)
    if not check.failures:
        numbers(check, data, summary)
        through_netcdf(check, data)
    for failure in check.failures[:20]:
        print(f"draws: {failure}", file=sys.stderr)
    if check.failures:
        print(f"draws: {len(check.failures)} failures", file=sys.stderr)
        sys.exit(1)
    worst = ", ".join(f"{key} {error:.0e}" for key, error in check.worst.items())
    print(f"ArviZ {arviz.__version__}, xarray {xarray.__version__}: {len(summary['parameters'])} coefficients agree ({worst})")


if __name__ == "__main__":
    main()
