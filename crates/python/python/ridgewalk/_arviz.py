"""Results as ArviZ has them: an InferenceData, or from ArviZ 1.0 on an xarray DataTree."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ._ridgewalk import InputError

if TYPE_CHECKING:
    from ._fit import Fit
    from ._results import Results

GROUPS = (
    "posterior",
    "sample_stats",
    "log_likelihood",
    "posterior_predictive",
    "observed_data",
    "constant_data",
    "prior",
)


def _import() -> tuple[Any, Any]:
    try:
        arviz, xarray = map(importlib.import_module, ("arviz", "xarray"))
    except ImportError as error:
        raise ImportError("to_arviz() needs ArviZ: pip install 'ridgewalk[arviz]'") from error
    return arviz, xarray


def _finish(groups: dict[str, Any]) -> Any:
    arviz, xarray = _import()
    if int(arviz.__version__.split(".")[0]) < 1:
        return arviz.InferenceData(**groups)
    return xarray.DataTree.from_dict({f"/{name}": group for name, group in groups.items()})


def _counted(dims: dict[str, int]) -> dict[str, Any]:
    return {name: np.arange(size) for name, size in dims.items()}


def _attrs() -> dict[str, str]:
    from . import __version__

    return {"inference_library": "ridgewalk", "inference_library_version": __version__}


def _dataset(results: Results, variable: str, draws: Any, coords: dict[str, Any]) -> Any:
    """Draws of the parameters: one variable of all, but for those of groups, which have their own."""
    _, xarray = _import()
    arrays: list[dict[str, Any]] = getattr(results, "_arrays", [])
    own = min((array["columns"]["start"] for array in arrays), default=len(results.names))
    found: dict[str, Any] = {variable: (("chain", "draw", "coef"), draws[:, :, :own])}
    coords = {**coords, "coef": results.names[:own]}
    for array in arrays:
        part = draws[:, :, array["columns"]["start"] : array["columns"]["end"]]
        dims = dict(array["dims"])
        coords.update(dims)
        shape = (*draws.shape[:2], *map(len, dims.values()))
        attrs = {"description": array["description"]}
        found[array["name"]] = (("chain", "draw", *dims), part.reshape(shape), attrs)
    return xarray.Dataset(found, coords=coords, attrs=_attrs())


def of_results(results: Results, variable: str) -> dict[str, Any]:
    """The groups posterior and sample_stats."""
    _, xarray = _import()
    chains, draws, _ = results.draws.shape
    coords = _counted({"chain": chains, "draw": draws})
    posterior = _dataset(results, variable, results.draws, coords)
    groups = {"posterior": posterior}
    if results.stats:
        stats = {name: (("chain", "draw"), values) for name, values in results.stats.items()}
        groups["sample_stats"] = xarray.Dataset(stats, coords=coords, attrs=_attrs())
    return groups


def _response_name(fit: Fit) -> str:
    """The name of the response: that of its column, or y, as in `ridgewalk export`."""
    name = fit.response
    plain = name.isidentifier() and name.isascii()
    return name if plain and name not in ("chain", "draw", "obs", "coef") else "y"


# Bytes that a group may have in memory.
_MOST_BYTES = 4 * 10**9


def _check_size(group: str, draws: int, rows: int) -> None:
    if 8 * draws * rows > _MOST_BYTES:
        raise InputError(
            f"the group {group} of {draws:,} draws and {rows:,} rows takes "
            f"{8 * draws * rows / 1e9:.0f} GB of memory: name the groups that you need, as in "
            'to_arviz(["posterior", "sample_stats"]), or save the fit and let `ridgewalk export` '
            "write them to a disk"
        )


def of_fit(fit: Fit, groups: Iterable[str]) -> Any:
    """All groups of a fit, with the names and dimensions of `ridgewalk export`."""
    _, xarray = _import()
    wanted = set(groups)
    unknown = wanted - set(GROUPS)
    if unknown:
        raise ValueError(f"found the group `{sorted(unknown)[0]}`, need some of {', '.join(GROUPS)}")
    found = of_results(fit, "beta")
    name = _response_name(fit)
    chains, draws, _ = fit.draws.shape
    native = fit._native
    rows = ("chain", "draw", "obs")
    for group, values in (
        ("log_likelihood", native.log_likelihood),
        ("posterior_predictive", native.replicates),
    ):
        if group in wanted:
            _check_size(group, chains * draws, int(fit._document["problem"]["n"]))
            array = values()
            coords = _counted({"chain": chains, "draw": draws, "obs": array.shape[2]})
            found[group] = xarray.Dataset({name: (rows, array)}, coords=coords, attrs=_attrs())
    if wanted & {"observed_data", "constant_data"}:
        data = native.observed_data()
        coords = _counted({"obs": len(data["response"])})
        if "observed_data" in wanted:
            own = {name: ("obs", data["response"])}
            if "upper" in data:
                own["upper"] = ("obs", data["upper"])
            found["observed_data"] = xarray.Dataset(own, coords=coords, attrs=_attrs())
        if "constant_data" in wanted:
            constant: dict[str, Any] = {"design": (("obs", "column"), data["design"])}
            for key in ("trials", "offset", "weights"):
                if key in data:
                    constant[key] = ("obs", data[key])
            coords = {**coords, "column": data["columns"]}
            found["constant_data"] = xarray.Dataset(constant, coords=coords, attrs=_attrs())
    if "prior" in wanted:
        prior = _prior(fit)
        if prior is not None:
            coords = _counted({"chain": 1, "draw": prior.shape[1]})
            found["prior"] = _dataset(fit, "beta", prior, coords)
    return _finish({name: found[name] for name in GROUPS if name in found})


def _prior(fit: Fit) -> Any:
    """Draws of the prior; None if a prior is flat."""
    try:
        return fit._native.prior()
    except InputError:
        return None


def of_samples(results: Results) -> Any:
    """The draws of any density."""
    return _finish(of_results(results, "x"))
