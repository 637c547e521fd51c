#!/usr/bin/env python3
"""Opens the export of a model with groups in ArviZ: every draw has its place, and tables, forest plots
and netCDF work.

    target/python/bin/python scripts/checks/groups.py RUN EXPORT.zarr GROUP

RUN is the run directory, whose draws are one array with a name for each column. Works with ArviZ 0.23
and 1.x. Exit codes: 0 all is well; 1 something is not, and what.
"""
import pathlib
import sys
import tempfile
import warnings

import matplotlib

matplotlib.use("Agg")

import arviz  # noqa: E402
import xarray  # noqa: E402

NEW = int(arviz.__version__.split(".")[0]) >= 1


def main():
    run, export, group = sys.argv[1:]
    flat = xarray.open_datatree(f"{run}/draws.zarr", engine="zarr")["posterior"]["beta"]
    if NEW:
        data = arviz.from_zarr(export)
        posterior = data["posterior"].to_dataset()
    else:
        data = arviz.InferenceData.from_datatree(xarray.open_datatree(export, engine="zarr"))
        posterior = data.posterior
    own = posterior["beta"]
    assert own.equals(flat.sel(coef=own["coef"])), "beta"
    levels, coefficients = f"{group}__level", f"{group}__coefficient"
    compared = own.sizes["coef"]
    for name in posterior[coefficients].values:
        sd = posterior[f"sd_{group}"].sel({coefficients: name}).values
        assert (sd == flat.sel(coef=f"sd_{group}__{name}").values).all(), name
        for level in posterior[levels].values:
            effect = posterior[f"r_{group}"].sel({levels: level, coefficients: name}).values
            assert (effect == flat.sel(coef=f"r_{group}[{level},{name}]").values).all(), level
            compared += 1
        compared += 1
    for pair in posterior[f"{group}__pair"].values:
        found = posterior[f"cor_{group}"].sel({f"{group}__pair": pair}).values
        assert (found == flat.sel(coef=f"cor_{group}__{pair}").values).all(), pair
        compared += 1
    assert compared == flat.sizes["coef"], (compared, flat.sizes)
    with warnings.catch_warnings():
        # What a library says of itself or of its own dependencies is not about our files.
        for category in (DeprecationWarning, PendingDeprecationWarning, FutureWarning):
            warnings.simplefilter("ignore", category)
        table = arviz.summary(data, var_names=[f"sd_{group}", f"r_{group}"])
        count = posterior.sizes[coefficients] * (1 + posterior.sizes[levels])
        assert len(table) == count, table
        arviz.plot_forest(data, var_names=[f"r_{group}"])
        with tempfile.TemporaryDirectory() as place:
            data.to_netcdf(str(pathlib.Path(place) / "all.nc"), engine="h5netcdf")
    print(f"ArviZ {arviz.__version__}: {compared} columns of a model with groups have their places")


main()
