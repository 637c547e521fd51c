"""Plots of a posterior, by matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._results import before_effects

if TYPE_CHECKING:
    from ._results import Results

# More parameters than these need a choice.
_MOST = 40


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as pyplot
    except ImportError as error:
        raise ImportError("plot() needs matplotlib: pip install 'ridgewalk[plot]'") from error
    return pyplot


def plot(results: Results, kind: str, names: list[str] | None) -> Any:
    """Plots some parameters."""
    kinds = {"intervals": _intervals, "densities": _densities, "traces": _traces}
    if kind == "checks" and hasattr(results, "checks"):
        return _checks(results)
    if kind not in kinds:
        also = ", checks" if hasattr(results, "checks") else ""
        raise ValueError(f"found kind={kind!r}, need one of {', '.join(kinds)}{also}")
    if names is None:
        # The intercept has another scale than the slopes.
        own = results.names[: before_effects(results._document)]
        names = [name for name in own if name != "(Intercept)"] or own
        names = names[:_MOST]
    return kinds[kind](results, names)


def _intervals(results: Results, names: list[str]) -> Any:
    pyplot = _pyplot()
    _, axes = pyplot.subplots(figsize=(7, 1 + 0.3 * len(names)))
    for at, name in enumerate(names):
        values = results[name].ravel()
        outer, inner = np.quantile(values, [0.05, 0.95]), np.quantile(values, [0.25, 0.75])
        axes.plot(outer, [at, at], color="C0", linewidth=1.2)
        axes.plot(inner, [at, at], color="C0", linewidth=3.5)
        axes.plot(np.median(values), at, "o", color="white", markeredgecolor="C0", markersize=5)
    axes.axvline(0, color="0.7", linewidth=0.8, zorder=0)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlabel("posterior: median, 50 % and 90 % intervals")
    axes.figure.tight_layout()
    return axes


def _grid(count: int) -> Any:
    columns = min(3, count)
    rows = -(-count // columns)
    pyplot = _pyplot()
    figure, axes = pyplot.subplots(
        rows, columns, figsize=(3.2 * columns, 2.1 * rows), squeeze=False
    )
    for unused in axes.ravel()[count:]:
        unused.set_axis_off()
    return figure, axes.ravel()[:count]


def _densities(results: Results, names: list[str]) -> Any:
    figure, axes = _grid(len(names))
    for axis, name in zip(axes, names):
        for chain in results[name]:
            heights, edges = np.histogram(chain, bins=40, density=True)
            axis.stairs(heights, edges, alpha=0.5)
        axis.set_title(name, fontsize=9)
        axis.set_yticks([])
    figure.tight_layout()
    return axes


def _traces(results: Results, names: list[str]) -> Any:
    figure, axes = _grid(len(names))
    for axis, name in zip(axes, names):
        for chain in results[name]:
            axis.plot(chain, linewidth=0.5, alpha=0.7)
        axis.set_title(name, fontsize=9)
    figure.tight_layout()
    return axes


def _checks(results: Any) -> Any:
    """Observed responses beside those that the model would give."""
    pyplot = _pyplot()
    checks = results.checks()
    if checks is None:
        raise ValueError("there is too little data to check the model")
    _, axes = pyplot.subplots(figsize=(6, 3.6))
    densities, frequencies = checks.get("densities"), checks.get("frequencies")
    calibration, survival = checks.get("calibration"), checks.get("survival")
    if densities:
        x = np.array(densities["x"], dtype=float)
        x = np.exp(x) if densities["logarithm"] else x
        for replicate in densities["replicated"]:
            axes.plot(x, replicate, color="C0", alpha=0.2, linewidth=0.7)
        axes.plot(x, densities["observed"], color="k", linewidth=1.6, label="observed")
        axes.plot([], [], color="C0", label="model")
        if densities["logarithm"]:
            axes.set_xscale("log")
        axes.set_yticks([])
    elif calibration:
        ends = np.array([group["range"] for group in calibration], dtype=float)
        predicted = [group["predicted"] for group in calibration]
        axes.fill_between(predicted, ends[:, 0], ends[:, 1], color="C0", alpha=0.2, label="90 %")
        observed = [group["observed"] for group in calibration]
        axes.plot(predicted, observed, "o", color="k", label="observed share")
        axes.plot([0, 1], [0, 1], color="0.6", linewidth=0.8)
        axes.set_xlabel("predicted probability")
    elif frequencies:
        at = np.arange(len(frequencies["names"]))
        ends = np.array(frequencies["ranges"], dtype=float)
        axes.bar(at, frequencies["observed"], color="0.8", label="observed")
        expected = np.array(frequencies["expected"], dtype=float)
        errors = np.abs(ends.T - expected)
        axes.errorbar(at, expected, yerr=errors, fmt="o", color="C0", label="model, 90 %")
        axes.set_xticks(at, frequencies["names"])
    elif survival:
        ends = np.array(survival["ranges"], dtype=float)
        axes.fill_between(survival["times"], ends[:, 0], ends[:, 1], color="C0", alpha=0.2)
        axes.plot(survival["times"], survival["expected"], color="C0", label="model, 90 %")
        axes.step(survival["times"], survival["observed"], color="k", where="post", label="observed")
        axes.set_xlabel("time")
    axes.legend(frameon=False)
    axes.figure.tight_layout()
    return axes
