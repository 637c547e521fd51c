#!/usr/bin/env python3
"""Opens exports in ArviZ and uses them as a user would: netCDF and back, leave-one-out
cross-validation, posterior predictive plots, comparison of models.

    scripts/env/python 0 && target/python/bin/python scripts/checks/export.py A.zarr B.zarr

A.zarr and B.zarr are exports of two models of the same data. If A.json, the output of `ridgewalk loo
--refits 0 --json`, is beside A.zarr, ArviZ 0.23 must agree with it to 1e-8. Any warning about the files
counts as a failure. Works with ArviZ 0.23 and 1.x. Exit codes: 0 all is well; 1 something is not, and what;
2 a store is not there.
"""
import json
import pathlib
import sys
import tempfile
import warnings

import matplotlib

matplotlib.use("Agg")

import arviz  # noqa: E402
import numpy  # noqa: E402
import xarray  # noqa: E402

NEW = int(arviz.__version__.split(".")[0]) >= 1
GROUPS = ("posterior", "sample_stats", "log_likelihood", "posterior_predictive", "observed_data")
STATISTICS = ("acceptance_rate", "energy", "lp", "diverging", "n_steps")
failures = []


def need(holds, message):
    if not holds:
        failures.append(message)


def heard(action, what):
    """The result of an action, which must not warn about our files."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        result = action()
    for warning in said:
        # What a library says of itself or of its own dependencies is not about our files.
        own = (DeprecationWarning, PendingDeprecationWarning, FutureWarning)
        # Advice on plots of 0/1 responses is not about the files either.
        if not issubclass(warning.category, own) and "look binary" not in str(warning.message):
            need(False, f"a warning on {what}: {warning.message}")
    return result


def opened(path):
    if NEW:
        return arviz.from_zarr(path)
    return arviz.InferenceData.from_datatree(xarray.open_datatree(path, engine="zarr"))


def dataset(data, group):
    """A group as an xarray dataset, in both versions."""
    found = data[group]
    return found.to_dataset() if hasattr(found, "to_dataset") else found


def groups(data):
    return list(data.children) if NEW else list(data.groups())


def shapes(name, data):
    for group in GROUPS:
        need(group in groups(data), f"{name}: no group {group}")
    if failures:
        return
    posterior, stats = dataset(data, "posterior"), dataset(data, "sample_stats")
    chains, draws = posterior.sizes["chain"], posterior.sizes["draw"]
    rows = dataset(data, "observed_data").sizes["obs"]
    for statistic in STATISTICS:
        if statistic in stats:
            need(stats[statistic].shape == (chains, draws), f"{name}: {statistic} has the shape {stats[statistic].shape}")
    need("diverging" in stats and stats["diverging"].dtype == bool, f"{name}: diverging is not a flag")
    for group in ("log_likelihood", "posterior_predictive"):
        for variable, values in dataset(data, group).data_vars.items():
            need(values.dims[:3] == ("chain", "draw", "obs"), f"{name}: {group}/{variable} has the dimensions {values.dims}")
            need(values.shape[:3] == (chains, draws, rows), f"{name}: {group}/{variable} has the shape {values.shape}")
            need(bool(numpy.isfinite(values.values).all()), f"{name}: {group}/{variable} is not finite")


def same(name, data, back):
    for group in groups(data):
        old, new = dataset(data, group), dataset(back, group)
        need(old.equals(new), f"{name}: {group} comes back from netCDF changed")


def to_netcdf(name, data, into):
    path = str(into / f"{name}.nc")
    # netCDF has no flags: h5netcdf stores them as numbers with a note, and xarray restores them.
    heard(lambda: data.to_netcdf(path, engine="h5netcdf"), f"{name}: to_netcdf")
    back = xarray.open_datatree(path, engine="h5netcdf") if NEW else arviz.from_netcdf(path, engine="h5netcdf")
    same(name, data, back)


def agrees(name, loo, likelihood, path):
    """Our leave-one-out result is ArviZ's, row by row.

    Where a rejected trajectory repeats the draw at the cutoff of the tail, ArviZ leaves the repeated
    draws out of it, and loo and we do not: such rows are not compared.
    """
    ours = json.loads(path.read_text(encoding="utf-8"))
    # Log ratios of each row, the largest first.
    ratios = -numpy.sort(likelihood.values.reshape(-1, ours["n"]), axis=0)
    draws = ratios.shape[0]
    tail = int(numpy.ceil(min(draws / 5, 3 * (draws / ours["r_eff"]) ** 0.5)))
    clear = ratios[tail - 1] > ratios[tail]
    need(clear.mean() > 0.5, f"{name}: only {clear.mean():.0%} of the rows can be compared")
    theirs = {
        "pareto_k": numpy.asarray(loo.pareto_k).ravel(),
        "pointwise": numpy.asarray(loo.elpd_i if NEW else loo.loo_i).ravel(),
    }
    # ArviZ 1.x finds the tail in another way than loo 2.5 and ArviZ 0.23: its k differ by some
    # hundredths, and its densities by as little as that moves them.
    allowed = {"pareto_k": 0.2, "pointwise": 1e-4} if NEW else {"pareto_k": 1e-8, "pointwise": 1e-8}
    for key, values in theirs.items():
        error = float(abs(values - numpy.array(ours[key]))[clear].max())
        need(error < allowed[key], f"{name}: {key} differs by up to {error:.1e}")


def leave_one_out(name, data, ours):
    # In 1.x pointwise results are asked for.
    loo = heard(lambda: arviz.loo(data, pointwise=True), f"{name}: loo")
    if ours.is_file():
        agrees(name, loo, next(iter(dataset(data, "log_likelihood").data_vars.values())), ours)
    elpd = float(loo.elpd if NEW else loo.elpd_loo)
    need(numpy.isfinite(elpd), f"{name}: the expected log predictive density is {elpd}")
    # The in-sample density is an upper bound, up to Monte Carlo error.
    likelihood = next(iter(dataset(data, "log_likelihood").data_vars.values()))
    inside = float(numpy.logaddexp.reduce(likelihood.values, axis=(0, 1)).sum())
    inside -= likelihood.sizes["obs"] * numpy.log(likelihood.sizes["chain"] * likelihood.sizes["draw"])
    need(elpd <= inside + 0.1, f"{name}: loo {elpd} is above the density of the data used, {inside}")
    return elpd


def predictive(name, data, into):
    path = into / f"{name}.png"
    if NEW:
        import arviz_plots

        shown = heard(lambda: arviz_plots.plot_ppc_dist(data, num_samples=20, backend="matplotlib"), f"{name}: plot_ppc_dist")
        shown.savefig(path)
    else:
        axes = heard(lambda: arviz.plot_ppc(data, num_pp_samples=20, random_seed=1), f"{name}: plot_ppc")
        numpy.ravel(axes)[0].figure.savefig(path)
    matplotlib.pyplot.close("all")
    need(path.stat().st_size > 5000, f"{name}: the plot is empty")


def compared(data, elpds):
    table = heard(lambda: arviz.compare(data), "compare")
    best = max(elpds, key=elpds.get)
    need(table.index[0] == best, f"compare prefers {table.index[0]}, loo {best}")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    data, elpds = {}, {}
    import matplotlib.pyplot  # noqa: F401

    with tempfile.TemporaryDirectory() as directory:
        into = pathlib.Path(directory)
        for path in map(pathlib.Path, sys.argv[1:]):
            if not (path / "zarr.json").is_file():
                print(f"export: {path} is not a Zarr store", file=sys.stderr)
                sys.exit(2)
            name = path.stem
            data[name] = heard(lambda: opened(str(path)), f"opening {name}")
            shapes(name, data[name])
            if failures:
                break
            to_netcdf(name, data[name], into)
            elpds[name] = leave_one_out(name, data[name], path.with_suffix(".json"))
            predictive(name, data[name], into)
        if not failures:
            compared(data, elpds)
    for failure in failures[:20]:
        print(f"export: {failure}", file=sys.stderr)
    if failures:
        print(f"export: {len(failures)} failures", file=sys.stderr)
        sys.exit(1)
    found = ", ".join(f"{name} {elpd:.1f}" for name, elpd in elpds.items())
    print(f"ArviZ {arviz.__version__}: netCDF, loo, predictive plots and compare work (elpd {found})")


if __name__ == "__main__":
    main()
