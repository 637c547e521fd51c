"""Results that fits and samples share: draws, a table, warnings, plots, and the way to ArviZ."""

from __future__ import annotations

import html
import json
import textwrap
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from . import _warnings
from ._ridgewalk import words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STATISTICS = ("acceptance_rate", "energy", "lp", "diverging")

# Columns of a summary in the order of the program's tables.
_ORDER = (
    "mean", "sd", "mcse_mean", "lower", "q05", "q50", "q95", "upper", "hdi_lower", "hdi_upper",
    "ess_bulk", "ess_tail", "rhat",
)  # fmt: skip


def summary_frame(document: dict[str, Any], hdi: bool = False) -> pd.DataFrame:
    """The parameters of a document, one row each."""
    frame = pd.DataFrame(document["parameters"]).set_index("name")
    frame.index.name = None
    known = [column for column in _ORDER if column in frame.columns]
    if not hdi:
        known = [column for column in known if not column.startswith("hdi")]
    return frame[known].astype("float64")


def before_effects(document: dict[str, Any]) -> int:
    """The number of parameters before the effects of groups, which are the last ones."""
    firsts = [int(group["first"]) for group in document.get("groups", [])]
    return min(firsts, default=len(document["parameters"]))


class Results:
    """What fits and samples have in common."""

    _native: Any

    @cached_property
    def _document(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self._native.document())
        return document

    @property
    def names(self) -> list[str]:
        """The names of the parameters, in the order of the draws."""
        return list(self._native.names)

    @cached_property
    def draws(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """The draws: chain x draw x parameter."""
        draws: np.ndarray[Any, np.dtype[np.float64]] = self._native.draws()
        draws.flags.writeable = False
        return draws

    @cached_property
    def stats(self) -> dict[str, np.ndarray[Any, Any]]:
        """Statistics of each draw, chain x draw: acceptance_rate, energy, lp and diverging."""
        found = self._native.stats()
        if found is None:
            return {}
        stats = {name: found[:, :, at] for at, name in enumerate(STATISTICS)}
        stats["diverging"] = stats["diverging"] != 0
        return stats

    def __getitem__(self, name: str) -> np.ndarray[Any, np.dtype[np.float64]]:
        """The draws of one parameter: chain x draw."""
        try:
            at = self.names.index(name)
        except ValueError:
            names = ", ".join(f"`{each}`" for each in self.names[:12])
            raise KeyError(f"found no parameter `{name}`; available: {names}") from None
        return self.draws[:, :, at]

    @property
    def warnings(self) -> list[tuple[str, str]]:
        """What to be careful of, as (name, text); empty if all is well."""
        return [(each["name"], words(each["text"])) for each in self._document["warnings"]]

    @property
    def status(self) -> str:
        """"ok", or the names of the warnings."""
        return str(self._document["sampler"]["status"])

    @property
    def notes(self) -> list[str]:
        """Notes: base levels, rows left out, and what else was decided about the data."""
        return [words(note) for note in self._document.get("notes", [])]

    @property
    def history(self) -> list[str]:
        """What the warm-up decided, line by line."""
        return [words(line) for line in self._document["history"]]

    @property
    def sampler(self) -> dict[str, Any]:
        """How it was sampled: kernel, chains, draws, gradients, seconds and so on."""
        return dict(self._document["sampler"])

    def _warn(self) -> None:
        _warnings.warn(self.warnings)

    def plot(self, kind: str = "intervals", names: list[str] | None = None) -> Axes | Any:
        """Plots the posterior with matplotlib; returns the axes.

        `kind` is "intervals", "densities" or "traces"; a fit also has "checks".
        """
        from . import _plots

        return _plots.plot(self, kind, names)

    def _title(self) -> str:
        raise NotImplementedError

    def __repr__(self) -> str:
        frame = self._table()
        lines = [textwrap.fill(self._title(), 80), "", frame.to_string(), *self._below()]
        said = [f"warning {name}: {text}" for name, text in self.warnings]
        said += [f"note: {note}" for note in self.notes]
        if said:
            lines += ["", *(textwrap.fill(line, 80, subsequent_indent="  ") for line in said)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        warnings = "".join(
            f"<li>{html.escape(text)} <code>{html.escape(name)}</code></li>"
            for name, text in self.warnings
        )
        status = f"<p><b>Warnings</b></p><ul>{warnings}</ul>" if warnings else ""
        table = self._table().to_html(border=0)
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in self.notes)
        folded = f"<details><summary>Notes</summary><ul>{notes}</ul></details>" if notes else ""
        below = "".join(f"<p>{html.escape(line)}</p>" for line in self._below())
        return f"<p>{html.escape(self._title())}</p>{status}{table}{below}{folded}"

    def _below(self) -> list[str]:
        """Lines below the table."""
        return []

    def _table(self) -> pd.DataFrame:
        """The table that is shown: few columns, sensible digits."""
        frame = summary_frame(self._document).iloc[: before_effects(self._document)]
        low, high = ("lower", "upper") if "lower" in frame.columns else ("q05", "q95")
        share = self._document.get("interval", 0.9)
        ends = [f"{100 * (1 - share) / 2:g}%", f"{100 * (1 + share) / 2:g}%"]
        shown = pd.DataFrame(index=frame.index)
        for name, column in zip(["mean", "sd", *ends], ["mean", "sd", low, high]):
            shown[name] = [
                f"{round(value, decimals) + 0.0:.{decimals}f}"
                for value, decimals in zip(frame[column], map(_decimals, frame["sd"]))
            ]
        shown["ess"] = [f"{value:.0f}" for value in frame[["ess_bulk", "ess_tail"]].min(axis=1)]
        shown["rhat"] = [f"{value:.3f}" for value in frame["rhat"]]
        return shown


def _decimals(sd: float) -> int:
    """Decimals that show two digits of a standard deviation."""
    if not np.isfinite(sd) or sd <= 0:
        return 3
    return int(np.clip(1 - np.floor(np.log10(sd)), 0, 12))
