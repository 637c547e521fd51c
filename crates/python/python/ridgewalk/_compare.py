"""Cross-validation, and fits side by side."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Union

import pandas as pd

from . import _ridgewalk, _warnings
from ._ridgewalk import InputError

if TYPE_CHECKING:
    from ._fit import Fit


class Loo:
    """How well a fit predicts rows that it has not seen.

    `elpd` is the expected log density of new responses (larger is better), `se` its standard error,
    `p` the effective number of parameters. `pointwise` has a row per observation, or per group of
    observations.
    """

    def __init__(self, native: _ridgewalk.Loo, index: Any) -> None:
        self._native = native
        self._document: dict[str, Any] = json.loads(native.document())
        groups = self._document.get("groups")
        self._index = index if groups is None else pd.Index(groups["levels"], name=groups["by"])
        _warnings.warn(("loo", text) for text in self.warnings)

    def __getattr__(self, name: str) -> Any:
        document = self.__dict__.get("_document", {})
        if name in document:
            return document[name]
        raise AttributeError(f"'Loo' object has no attribute '{name}'")

    @property
    def elpd(self) -> float:
        """The expected log density of new responses."""
        return float(self._document["elpd_loo"])

    @property
    def se(self) -> float:
        """The standard error of `elpd`."""
        return float(self._document["se"])

    @property
    def p(self) -> float:
        """The effective number of parameters; not a number for folds and groups."""
        found = self._document["p_loo"]
        return float("nan") if found is None else float(found)

    @property
    def warnings(self) -> list[str]:
        """What to be careful of."""
        return [_ridgewalk.words(text) for text in self._document["warnings"]]

    @property
    def pointwise(self) -> pd.DataFrame:
        """The contribution and the Pareto k of each observation.

        For groups of observations, their contribution, its Monte Carlo standard error and the
        number of observations.
        """
        groups = self._document.get("groups")
        if groups is not None:
            of_groups = {
                "elpd_loo": pd.array(self._document["pointwise"], dtype="float64"),
                "mcse": pd.array(groups["mcse"], dtype="float64"),
                "rows": groups["rows"],
            }
            return pd.DataFrame(of_groups, index=self._index)
        found = {"elpd_loo": self._document["pointwise"], "pareto_k": self._document["pareto_k"]}
        return pd.DataFrame(found, index=self._index).astype("float64")

    def to_dict(self) -> dict[str, Any]:
        """The JSON document of `ridgewalk loo`."""
        return dict(self._document)

    def __repr__(self) -> str:
        method, refitted = self._document["method"], self._document["refitted"]
        if isinstance(method, dict):
            how = f"{method['folds']} folds"
        else:
            how = f"p_loo {self.p:.1f}"
        n, groups = self._document["n"], self._document.get("groups")
        what = f"{n} rows"
        if groups is not None:
            what = f"{n} levels of {groups['by']}"
            how = how if isinstance(method, dict) else "a refit for each"
        lines = [f"elpd_loo {self.elpd:.1f} ± {self.se:.1f}, {how}, {what}"]
        if groups is not None:
            pass
        elif method == "exact":
            lines.append("every row was left out and refitted")
        elif refitted:
            lines.append(f"{len(refitted)} rows were refitted, because they are influential")
        return "\n".join([*lines, *(f"warning: {text}" for text in self.warnings)])


class Comparison:
    """Fits side by side, the best first: `table` has a row per fit."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document
        self.table = pd.DataFrame(document["models"]).set_index("name")
        self.table.index.name = None

    @property
    def warnings(self) -> list[str]:
        """What to be careful of."""
        return [_ridgewalk.words(text) for text in self._document["warnings"]]

    def __repr__(self) -> str:
        shown = self.table.to_string(float_format=lambda value: f"{value:.2f}")
        return "\n".join([shown, *(f"note: {text}" for text in self.warnings)])

    def _repr_html_(self) -> str:
        return str(self.table.to_html(border=0, float_format=lambda value: f"{value:.2f}"))


def compare(fits: Mapping[str, Union[Fit, Loo]]) -> Comparison:
    """Compares fits of the same responses by leave-one-out cross-validation.

    Values are fits, or results of `Fit.loo`. `elpd_diff` is the difference from the best, `weight`
    the weight in the mixture that predicts best.

    >>> import ridgewalk as rw
    >>> data = {"x": [1, 2, 3, 4, 5, 6, 7, 8], "y": [1.1, 1.9, 3.2, 3.9, 5.1, 6.2, 6.8, 8.1]}
    >>> line = rw.fit("y ~ x", data, family="gaussian")
    >>> flat = rw.fit("y ~ 1", data, family="gaussian")
    >>> list(rw.compare({"flat": flat, "line": line}).table.index)
    ['line', 'flat']
    """
    if not isinstance(fits, Mapping):
        raise TypeError("compare() needs fits by name, as in compare({'a': fit, 'b': other})")
    if len(fits) < 2:
        raise InputError(f"compare: found {len(fits)} fits, need at least two")
    loos = {name: fit if isinstance(fit, Loo) else fit.loo() for name, fit in fits.items()}
    found = _ridgewalk.compare([(name, loo._native) for name, loo in loos.items()])
    return Comparison(json.loads(found))
