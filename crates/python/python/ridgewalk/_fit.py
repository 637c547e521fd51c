"""Fits: a formula, a data frame, a posterior."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any, Literal, Union, overload

import numpy as np
import pandas as pd

from . import _arviz, _ridgewalk, _warnings
from ._compare import Loo
from ._frames import Data, is_path, is_sparse, table_of
from ._progress import Display
from ._results import Results, before_effects, summary_frame
from ._ridgewalk import InputError

PathLike = Union[str, "os.PathLike[str]"]


class Fit(Results):
    """A fitted model: draws of the posterior, and what follows from them. Made by `fit`."""

    _native: _ridgewalk.Fit

    def __init__(self, native: _ridgewalk.Fit, index: Any = None) -> None:
        self._native = native
        # The labels of the rows of the data, if they had any.
        self._index = index

    @property
    def formula(self) -> str:
        """The model in one line."""
        return str(self._document["title"])

    @property
    def response(self) -> str:
        """The response as it was written."""
        options = self._options
        formula = options.get("formula")
        if formula:
            return str(formula).split("~")[0].strip()
        return str(options.get("response", "y"))

    @property
    def _options(self) -> dict[str, Any]:
        if not hasattr(self, "_options_read"):
            self._options_read: dict[str, Any] = json.loads(self._native.options())
        return self._options_read

    @property
    def family(self) -> str:
        """The family."""
        return str(self._document["problem"]["family"])

    @property
    def config(self) -> str:
        """Everything needed to run it again: the content of `config.toml`."""
        return self._native.config()

    def summary(
        self,
        *,
        interval: float | None = None,
        exp: bool = False,
        hdi: bool = False,
        effects: bool | str = False,
    ) -> pd.DataFrame:
        """Mean, sd, quantiles, effective sample sizes and R-hat of each parameter.

        With `interval=0.95`, `lower` and `upper` are the ends of that interval. With `exp=True` the
        numbers are those of ratios: odds ratios, rate ratios and so on, by the family. With `hdi=True`
        there are highest-density intervals too. The effects of groups have rows with `effects=True`;
        with `effects="herd"` there are only those of that group.
        """
        if exp and effects:
            raise ValueError("exp=True has ratios of coefficients alone: leave effects out")
        document = json.loads(self._native.summary(interval, exp))
        frame = summary_frame(document, hdi)
        if isinstance(effects, str):
            return frame.loc[self._effects_of(effects)[0]]
        return frame if effects else frame.iloc[: before_effects(document)]

    @cached_property
    def _arrays(self) -> list[dict[str, Any]]:
        """The variables that draws of groups make up."""
        arrays: list[dict[str, Any]] = json.loads(self._native.arrays())
        return arrays

    def _effects_of(self, group: str) -> tuple[list[str], pd.Index[Any]]:
        """The names of the effects of a group, and what each is of."""
        groups = self._document.get("groups", [])
        effects = [array for array in self._arrays if array["name"].startswith("r_")]
        own = [array for each, array in zip(groups, effects) if each["name"] == group]
        if not own:
            known = ", ".join(dict.fromkeys(f"`{each['name']}`" for each in groups))
            raise KeyError(f"found no group `{group}`; available: {known or 'none'}")
        names: list[str] = []
        keys: list[tuple[str, ...]] = []
        for array in own:
            columns = array["columns"]
            names += self.names[columns["start"] : columns["end"]]
            keys += list(product(*(labels for _, labels in array["dims"])))
        if max(map(len, keys)) == 1 or len({key[1] for key in keys}) == 1:
            return names, pd.Index([key[0] for key in keys], name="level")
        return names, pd.MultiIndex.from_tuples(keys, names=["level", "coefficient"])

    def effects_of(self, group: str) -> pd.DataFrame:
        """The effects of the levels of a group: mean, sd and the ends of the 90 % interval.

        There is a row for each level; if it has several coefficients, one for each of them.
        """
        names, index = self._effects_of(group)
        frame = summary_frame(self._document).loc[names, ["mean", "sd", "q05", "q95"]]
        frame.index = index
        return frame

    @overload
    def predict(
        self, new: Data | None = None, *, kind: str = "mean", interval: float = 0.9,
        times: Sequence[float] = (), quantiles: Sequence[float] = (), seed: int = 0,
        draws: Literal[False] = False,
    ) -> pd.DataFrame: ...  # fmt: skip

    @overload
    def predict(
        self, new: Data | None = None, *, kind: str = "mean", interval: float = 0.9,
        times: Sequence[float] = (), quantiles: Sequence[float] = (), seed: int = 0,
        draws: Literal[True],
    ) -> np.ndarray[Any, np.dtype[np.float64]]: ...  # fmt: skip

    def predict(
        self,
        new: Data | None = None,
        *,
        kind: str = "mean",
        interval: float = 0.9,
        times: Sequence[float] = (),
        quantiles: Sequence[float] = (),
        seed: int = 0,
        draws: bool = False,
    ) -> pd.DataFrame | np.ndarray[Any, np.dtype[np.float64]]:
        """Predictions of new rows, or of the rows of the fit.

        `kind` is "mean" (the expected response or probability), "linear" (the linear predictor) or
        "response" (a response drawn at random). The result has a row per row of `new`, in its order
        and with its index; for models with several quantities per row, such as levels, a row per row
        and quantity. With `draws=True` it is an array: draw x row, or draw x row x quantity.
        Levels of groups that the fit has not seen get effects drawn from the fitted distribution of
        effects, and a `FitWarning`.
        `times` and `quantiles` are for survival families.
        """
        if new is None:
            table, index = self._own_rows()
        else:
            table = table_of(new, self._native.predictors, "new")
            index = new.index if isinstance(new, pd.DataFrame) else pd.RangeIndex(table.rows)
            self._check_widths(new)
        request = (table, kind, interval, list(times), list(quantiles), seed)
        if new is not None:
            _warnings.warn(("new_levels", text) for text in self._native.unseen(table))
        if draws:
            names, array = self._native.predict_draws(*request)
            return array[:, :, 0] if len(names) == 1 else array
        names, numbers, level = self._native.predict(*request)
        columns = ["mean", "sd", "lower", "median", "upper"]
        rows, count, _ = numbers.shape
        frame = pd.DataFrame(numbers.reshape(rows * count, 5), columns=columns)
        if level is not None:
            frame["level"] = level
        if count == 1:
            frame.index = index
            return frame
        frame.index = pd.MultiIndex.from_product([index, names], names=[index.name, "quantity"])
        return frame

    def _check_widths(self, new: Any) -> None:
        """Refuses a matrix of another width than that of the fit: its columns have no names."""
        given = {"x": new} if is_sparse(new) else new if isinstance(new, Mapping) else {}
        widths = dict(self._native.widths())
        for name, values in given.items():
            need = widths.get(name)
            if is_sparse(values) and need is not None and not hasattr(values, "names"):
                found = values.shape[1]
                if found != need:
                    raise InputError(
                        f"new, column `{name}`: found a matrix of {found} columns, need {need} as in the fit"
                    )

    def _own_rows(self) -> tuple[_ridgewalk.Table, pd.Index[Any]]:
        """The rows that were fitted, and their labels."""
        data = self._native.observed_data()
        rows = data["rows"]
        table = self._native.own_rows()
        labels = pd.Index(rows) if self._index is None else self._index[rows]
        return table, labels

    def effects(
        self,
        by: str,
        *,
        at: Mapping[str, Iterable[Any]] | None = None,
        interval: float = 0.9,
    ) -> pd.DataFrame:
        """How the expected response changes with a column, averaged over the rows of the data.

        A slope for a column of numbers, differences from the first value for others. `at` gives
        other columns values: `at={"age": [30, 60]}`.
        """
        values = [(name, [_shown(v) for v in values]) for name, values in (at or {}).items()]
        document = json.loads(self._native.effects(by, values, interval))
        frame = pd.DataFrame(document["effects"])
        keep = [c for c in ("contrast", "at", "level") if c in frame and (frame[c] != "").any()]
        return frame.set_index(keep) if keep else frame

    def checks(self) -> dict[str, Any] | None:
        """Checks of the model against its data; None if there is too little to check."""
        found = self._native.checks()
        if found is None:
            return None
        checks: dict[str, Any] = json.loads(found)
        return checks

    def loo(
        self,
        *,
        exact: bool = False,
        folds: int | None = None,
        refits: int = 100,
        groups: str | None = None,
        progress: bool | None = None,
    ) -> Loo:
        """How well the fit predicts rows that it has not seen.

        By Pareto-smoothed importance sampling; rows for which that fails are refitted, at most
        `refits` of them. `exact=True` refits every row, `folds=10` in ten groups.

        `groups="g"`, a grouping of the fit or a column of its data, leaves out all rows of a level
        together, by a refit for each level, or in folds of levels. The effects of the level are
        integrated out.
        """
        with Display(progress) as display:
            native = self._native.loo(exact, folds, refits, groups, display.callback)
        if groups is not None:
            return Loo(native, None)
        rows = self._native.observed_data()["rows"]
        index = pd.Index(rows) if self._index is None else self._index[rows]
        return Loo(native, index)

    def to_arviz(self, groups: Iterable[str] = _arviz.GROUPS) -> Any:
        """The fit for ArviZ: an InferenceData, or a DataTree with ArviZ 1.0 or newer.

        It has the groups and names of `ridgewalk export`: `beta` in the group `posterior` has the
        dimensions chain, draw and coef. For `(1 + x | g)` there are `sd_g`, `cor_g` and `r_g` too,
        with the dimensions `g__coefficient` and `g__level`.
        """
        return _arviz.of_fit(self, groups)

    def report(self, path: PathLike) -> Path:
        """Writes the report, one self-contained HTML file."""
        place = Path(path)
        place.write_text(self._native.report(), encoding="utf-8")
        return place

    def save(self, path: PathLike) -> Path:
        """Writes a run directory, as `ridgewalk fit` does: draws, summary, checks and report.

        The data are not written. `load(path, data)` reads it back.
        """
        self._native.save(os.fspath(path))
        return Path(path)

    def _below(self) -> list[str]:
        return [
            f"{group['levels'] * len(group['coefficients'])} effects of {group['name']}: "
            f"effects_of({group['name']!r})"
            for group in self._document.get("groups", [])
        ]

    def _title(self) -> str:
        facts, problem = self.sampler, self._document["problem"]
        return (
            f"{self.formula}: {problem['n']} rows, {facts['chains']} chains of {facts['draws']} "
            f"draws, {facts['seconds']:.2g} s"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        native = self._native
        # Data in a file stay there.
        table, (_, is_file) = native.table, native.source
        columns = None if table is None or is_file else (table.name, table.columns())
        parts = (native.config(), native.document(), native.draws(), native.stats())
        return _restore, (*parts, columns, self._index)


def _restore(
    config: str, document: str, draws: Any, stats: Any, columns: Any, index: Any
) -> Fit:
    table = None if columns is None else _ridgewalk.Table.from_columns(*columns)
    return Fit(_ridgewalk.restore(config, document, draws, stats, table), index)


def _shown(value: Any) -> str:
    return repr(value) if isinstance(value, float) else str(value)


def _labels(data: Data) -> Any:
    """The index of a pandas frame, unless it only counts."""
    if not isinstance(data, pd.DataFrame):
        return None
    plain = isinstance(data.index, pd.RangeIndex) and data.index.start == 0 and data.index.step == 1
    return None if plain else data.index


def _texts(value: Any) -> Any:
    """A list of names, also of one. What is no list is left to be refused."""
    if isinstance(value, str):
        return [value]
    return [str(item) for item in value] if isinstance(value, Iterable) else value


def fit(
    formula: str | None,
    data: Data,
    *,
    family: str = "logistic",
    priors: Mapping[str, str] | PathLike | None = None,
    prior: str | None = None,
    intercept_prior: str | None = None,
    aux_prior: str | None = None,
    group_prior: str | None = None,
    prior_scale: float | None = None,
    intercept_prior_scale: float | None = None,
    response: str | None = None,
    predictors: Iterable[str] | None = None,
    exclude: Iterable[str] | None = None,
    where: str | None = None,
    factor: Iterable[str] | None = None,
    base: Mapping[str, Any] | None = None,
    trials: str | None = None,
    offset: str | None = None,
    weights: str | None = None,
    event: str | None = None,
    upper: str | None = None,
    levels: Iterable[str] | None = None,
    no_intercept: bool = False,
    standardize: bool = False,
    original_scale: bool = False,
    drop_missing: bool = False,
    noise_scale: float | None = None,
    dispersion: float | None = None,
    shape: float | None = None,
    degrees_of_freedom: float | None = None,
    huber_delta: float | None = None,
    prior_only: bool = False,
    chains: int = 8,
    draws: int = 1000,
    thin: int | None = None,
    target_ess: float | None = None,
    max_draws: int | None = None,
    interval: float = 0.9,
    seed: int = 0,
    threads: int | None = None,
    kernel: str = "auto",
    bias_tolerance: float | None = None,
    nodes: int | None = None,
    gamma: float | None = None,
    xi: float | None = None,
    eta: float | None = None,
    mode_search: str = "auto",
    out: PathLike | None = None,
    progress: bool | None = None,
) -> Fit:
    """Fits a model and returns draws of its posterior.

    `formula` is one of R's, such as "y ~ x * z + log(w)"; with None, `response` and `predictors` name
    columns. `data` is a pandas, polars or pyarrow frame, a dict of arrays, or the path of a CSV,
    Parquet or SVMlight file. A categorical column keeps the order of its categories; the first one
    that occurs is the base. In a dict, a matrix of scipy.sparse is a column too: with
    `{"y": y, "X": X}`, "y ~ X" has a coefficient for each of its columns, X1, X2 and so on.

    family
        logistic, probit, poisson, negative-binomial, gaussian, student-t, robust-logistic,
        robust-huber, gamma, weibull, log-logistic, log-normal, exponential, ordinal or multinomial.
    priors
        Priors of single coefficients, factors or parameters: `{"x": "normal(0, 1)"}`; or a TOML file.
        `prior`, `intercept_prior` and `aux_prior` are those of all coefficients, of the intercept at
        the means of the predictors, and of the noise scale, size, shape or thresholds; `group_prior`
        is that of the standard deviations of groups. The defaults are autoscaled as in rstanarm.
    chains, draws, target_ess, seed
        Draws per chain, or a smallest bulk effective sample size to go on to. The same seed gives the
        same draws, whatever `threads` is, and the same as the program `ridgewalk fit`.
    out
        A run directory: the fit is written there as it goes, and can be resumed.

    Other arguments have the names and meanings of the program's options. Nothing needs to be tuned.
    Ctrl-C ends the run with the draws made so far, and a warning. Data and arguments that cannot be
    used raise `InputError`. A run with something to be careful of warns with `FitWarning`.

    >>> import ridgewalk as rw
    >>> data = {"x": [1, 2, 3, 4, 5, 6, 7, 8], "y": [1.1, 1.9, 3.2, 3.9, 5.1, 6.2, 6.8, 8.1]}
    >>> fit = rw.fit("y ~ x", data, family="gaussian", priors={"x": "normal(0, 2)"}, seed=1)
    >>> fit.names
    ['(Intercept)', 'x', 'sigma']
    >>> float(fit.summary().loc["x", "mean"].round(1))
    1.0
    >>> fit.predict({"x": [10]})["mean"].round(0).tolist()
    [10.0]
    """
    options = dict(locals())
    _check_habits(options)
    for name in ("data", "priors", "progress", "base"):
        del options[name]
    for name in ("predictors", "exclude", "factor", "levels"):
        options[name] = _texts(options[name])
    if isinstance(priors, Mapping):
        options["prior_of"] = [f"{name}={value}" for name, value in priors.items()]
    elif priors is not None:
        options["priors"] = os.fspath(priors)
    if base is not None:
        options["base"] = [f"{name}={_shown(level)}" for name, level in base.items()]
    table = _table(data, options)
    with Display(progress) as display:
        native = _ridgewalk.fit(table, options, display.callback)
    found = Fit(native, _labels(data))
    found._warn()
    return found


# What other packages call our families.
_ELSEWHERE = {
    "bernoulli": "logistic", "binomial": "logistic", "categorical": "multinomial",
    "cumulative": "ordinal", "lognormal": "log-normal", "negativebinomial": "negative-binomial",
    "normal": "gaussian", "t": "student-t",
}  # fmt: skip


def _check_habits(options: Mapping[str, Any]) -> None:
    """Refuses what users of other packages try first, with what to write instead."""
    family, prior, priors = (options[name] for name in ("family", "prior", "priors"))
    if isinstance(family, str):
        plain = family.lower().replace("_", "-")
        meant = _ELSEWHERE.get(plain.replace("-", ""), plain)
        if meant != family:
            raise InputError(f"found the family `{family}`, need the name `{meant}`")
    if isinstance(priors, str) and "(" in priors:
        raise InputError(
            f"priors={priors!r}: need a dict such as {{'x': {priors!r}}}, or a TOML file; `prior` is "
            "the prior of all coefficients"
        )
    if isinstance(prior, Mapping):
        raise TypeError("prior: found a dict, need one prior for all coefficients; `priors` takes it")
    for name in ("response", "trials", "offset", "weights", "event", "upper"):
        if options[name] is not None and not isinstance(options[name], str):
            kind = type(options[name]).__name__
            raise TypeError(f"{name}: found a {kind}, need the name of a column of the data")


def _table(data: Data, options: dict[str, Any]) -> _ridgewalk.Table:
    """The table of the data, with the columns that the options use."""
    if is_path(data):
        options["data"] = os.fspath(data)
        return _ridgewalk.Table.read(data)
    return table_of(data, _ridgewalk.columns_of(options))


def describe(formula: str | None, data: Data, **options: Any) -> dict[str, Any]:
    """What is in the data, and what design and priors a model would have: nothing is fitted.

    >>> import ridgewalk as rw
    >>> found = rw.describe("y ~ x", {"x": [1, 2, 3], "y": [0, 1, 1]})
    >>> [column["name"] for column in found["model"]["columns"]]
    ['(Intercept)', 'x']
    """
    given = {"formula": formula, **options}
    priors = given.pop("priors", None)
    if isinstance(priors, Mapping):
        given["prior_of"] = [f"{name}={value}" for name, value in priors.items()]
    table = _table(data, given)
    document: dict[str, Any] = json.loads(_ridgewalk.describe(table, given))
    return document


def load(path: PathLike, data: Data | None = None) -> Fit:
    """Reads a fit from a run directory, made by `Fit.save`, by `fit(out=...)` or by the program.

    `data` are the data of the fit, if they were not in a file. Without them `loo`, `effects` and
    `checks` are not possible.
    """
    place = os.fspath(path)
    found = _ridgewalk.load(place, None)
    if data is None:
        return Fit(found)
    return Fit(_ridgewalk.load(place, table_of(data, found.columns)), _labels(data))


def resume(path: PathLike, data: Data | None = None, *, progress: bool | None = None) -> Fit:
    """Goes on with a run that was interrupted, in its run directory.

    The draws are bit for bit those of a run that was not interrupted. `data` are the data of the fit,
    if they were not in a file.
    """
    place = os.fspath(path)
    table = None if data is None else table_of(data, _ridgewalk.columns_of_run(place))
    with Display(progress) as display:
        found = Fit(_ridgewalk.resume(place, table, display.callback), _labels(data))
    found._warn()
    return found
