"""Data frames as columns: pandas, polars, pyarrow, dicts of arrays, and files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard, Union

import numpy as np
import pandas as pd

from . import _ridgewalk
from ._ridgewalk import InputError

# Whole numbers beyond this are not all floating-point numbers.
_EXACT = 2**53

Data = Union[str, "os.PathLike[str]", Mapping[str, Any], Any]
"""A pandas, polars or pyarrow frame, a dict of arrays, which may be sparse matrices, or the path of a
CSV, Parquet or SVMlight file. A sparse matrix alone is the column `x`."""

Column = tuple[Any, ...]


def is_path(data: Data) -> TypeGuard[str | os.PathLike[str]]:
    """Whether the data are in a file."""
    return isinstance(data, (str, os.PathLike))


def table_of(data: Data, wanted: Iterable[str] | None, name: str = "data") -> _ridgewalk.Table:
    """The columns of a frame that are wanted, in its order; all if `wanted` is None."""
    if isinstance(data, _ridgewalk.Table):
        return data
    if is_path(data):
        return _ridgewalk.Table.read(data)
    if isinstance(data, pd.Series):
        data = data.to_frame()
    if is_sparse(data):
        data = {"x": data}
    chosen = None if wanted is None else list(wanted)
    if isinstance(data, Mapping):
        if any(is_sparse(values) for values in data.values()):
            return _ridgewalk.Table.from_columns(name, _with_matrices(data, chosen))
        data = _of_mapping(data)
    if isinstance(data, pd.DataFrame):
        return _ridgewalk.Table.from_columns(name, _of_pandas(data, chosen))
    if hasattr(data, "__arrow_c_stream__"):
        return _ridgewalk.Table.from_arrow(name, data, chosen)
    kind = type(data).__name__
    raise TypeError(
        f"found data of type {kind}: need a pandas, polars or pyarrow frame, a dict of arrays, or "
        "the path of a CSV, Parquet or SVMlight file"
    )


def is_sparse(data: Any) -> bool:
    """Whether it is a matrix or an array of scipy.sparse."""
    return hasattr(data, "tocsr") and hasattr(data, "nnz")


@dataclass(frozen=True)
class Matrix:
    """A sparse matrix with names for its columns."""

    values: Any
    names: list[str]

    # What `is_sparse` looks for.
    @property
    def nnz(self) -> int:
        return int(self.values.nnz)

    def tocsr(self) -> Any:
        return self.values.tocsr()


def _with_matrices(data: Mapping[str, Any], wanted: list[str] | None) -> list[Column]:
    """The columns of a dict, some of whose values are sparse matrices."""
    others = {name: values for name, values in data.items() if not is_sparse(values)}
    plain = None if wanted is None else [name for name in wanted if name not in data or name in others]
    columns = _of_pandas(_of_mapping(others), plain) if others else []
    for name, values in data.items():
        if is_sparse(values) and (wanted is None or name in wanted):
            columns.append(_matrix(str(name), values))
    return columns


def _matrix(name: str, values: Any) -> Column:
    """A sparse matrix in compressed rows. Nothing is made dense, and what is given is not changed."""
    csr = values.tocsr()
    if csr.ndim != 2:
        raise InputError(
            f"data, column `{name}`: found a sparse array of shape {csr.shape}, need two dimensions"
        )
    if np.iscomplexobj(csr.data):
        raise InputError(f"data, column `{name}`: found complex numbers, need real ones")
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    names = getattr(values, "names", None) or [f"{name}{k}" for k in range(1, csr.shape[1] + 1)]
    starts, indices = csr.indptr.astype("int64"), csr.indices.astype("uint32")
    return ("sparse", name, names, starts, indices, csr.data.astype("float64", copy=False))


def _of_mapping(data: Mapping[str, Any]) -> pd.DataFrame:
    """A frame of a dict of arrays, which must have one dimension and the same length."""
    columns: dict[str, pd.Series[Any]] = {}
    for name, values in data.items():
        if not isinstance(values, (pd.Series, pd.Categorical, np.ndarray)):
            values = list(values) if isinstance(values, Iterable) else values
        if isinstance(values, np.ndarray) and values.ndim != 1:
            raise InputError(
                f"data, column `{name}`: found an array of shape {values.shape}, need one dimension"
            )
        if np.isscalar(values) or values is None:
            raise InputError(f"data, column `{name}`: found one value, need a list or an array")
        columns[name] = pd.Series(values).reset_index(drop=True)
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        first, *rest = lengths
        other = next(name for name in rest if lengths[name] != lengths[first])
        raise InputError(
            f"data, column `{other}`: found {lengths[other]} values, need {lengths[first]}, as many "
            f"as in `{first}`"
        )
    return pd.DataFrame(columns)


def _of_pandas(frame: pd.DataFrame, wanted: list[str] | None) -> list[Column]:
    if isinstance(frame.columns, pd.MultiIndex):
        raise InputError("data: found columns with several levels of names, need one name each")
    names = [str(name) for name in frame.columns]
    if not names:
        raise InputError("data: found no columns, need a response and predictors")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        places = [at + 1 for at, name in enumerate(names) if name == twice]
        raise InputError(
            f"data: found the name `{twice}` in columns {places[0]} and {places[1]}, need distinct "
            "names"
        )
    # If one is missing, the others come along without values, so that the message can name them.
    missing = wanted is not None and not set(wanted) <= set(names)
    columns: list[Column] = []
    for at, name in enumerate(names):
        if wanted is None or name in wanted:
            columns.append(_column(name, frame.iloc[:, at]))
        elif missing:
            columns.append(("unusable", name, "a column that was not read"))
    return columns


def _column(name: str, series: pd.Series[Any]) -> Column:
    """One column of a frame, by its type."""
    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return _categories(name, series)
    if isinstance(dtype, pd.DatetimeTZDtype):
        return _with_zone(name, str(dtype.tz))
    if pd.api.types.is_datetime64_any_dtype(dtype):
        return _texts(name, _dates(series))
    if pd.api.types.is_timedelta64_dtype(dtype):
        return ("unusable", name, "timedelta (`.dt.total_seconds()` makes numbers of them)")
    if pd.api.types.is_complex_dtype(dtype):
        return ("unusable", name, "complex")
    if pd.api.types.is_bool_dtype(dtype) or pd.api.types.is_numeric_dtype(dtype):
        return _numbers(name, series)
    if pd.api.types.is_object_dtype(dtype):
        return _objects(name, series)
    if isinstance(dtype, pd.StringDtype) or pd.api.types.is_string_dtype(dtype):
        return _texts(name, series)
    return _other(name, series)


def _numbers(name: str, series: pd.Series[Any]) -> Column:
    if pd.api.types.is_integer_dtype(series.dtype):
        present = series.dropna()
        if len(present) and (present.max() > _EXACT or present.min() < -_EXACT):
            worst = present.max() if present.max() > _EXACT else present.min()
            return ("unusable", name, _beyond(int(worst)))
    # No copy is made of an array of 64-bit numbers, also if it has gaps.
    values = series.to_numpy(dtype="float64", na_value=np.nan)
    return ("numbers", name, values)


def _beyond(worst: int) -> str:
    return f"integer beyond 2^53 ({worst}), which floating point cannot tell apart"


def _with_zone(name: str, zone: str) -> Column:
    found = f"time with the zone {zone} (`.dt.tz_localize(None)` drops it and keeps the hours shown)"
    return ("unusable", name, found)


def _codes(codes: Any) -> np.ndarray[Any, np.dtype[np.uint32]]:
    """Codes with -1 for missing, as pandas has them."""
    wide = np.asarray(codes, dtype="int64")
    return np.where(wide < 0, np.iinfo("uint32").max, wide).astype("uint32")


def _texts(name: str, series: pd.Series[Any]) -> Column:
    codes, levels = pd.factorize(series, use_na_sentinel=True)
    return ("texts", name, _codes(codes), [str(level) for level in levels])


def _categories(name: str, series: pd.Series[Any]) -> Column:
    """Categories keep their order: the first that occurs is the base."""
    levels = [_level(level) for level in series.cat.categories]
    return ("levels", name, _codes(series.cat.codes.to_numpy()), levels)


def _level(value: Any) -> str:
    """The name of a category: 2.0 is called 2, as in a CSV file."""
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def _dates(series: pd.Series[Any]) -> pd.Series[Any]:
    """Dates as text, with a time where one is not midnight."""
    present = series.dropna()
    midnight = (present == present.dt.normalize()).all()
    shown = series.dt.strftime("%Y-%m-%d" if midnight else "%Y-%m-%dT%H:%M:%S.%f")
    found: pd.Series[Any] = shown.where(series.notna(), None)
    return found


def _objects(name: str, series: pd.Series[Any]) -> Column:
    """Python objects: whatever they all are."""
    kind = pd.api.types.infer_dtype(series, skipna=True)
    if kind in ("string", "empty"):
        return _texts(name, series)
    if kind in ("boolean", "floating", "integer", "mixed-integer-float", "decimal"):
        present = series.dropna()
        if kind == "integer" and len(present) and max(map(abs, present)) > _EXACT:
            return ("unusable", name, _beyond(int(max(present, key=abs))))
        values = np.fromiter(
            (np.nan if pd.isna(value) else float(value) for value in series),
            dtype="float64",
            count=len(series),
        )
        return ("numbers", name, values)
    if kind in ("date", "datetime", "datetime64"):
        zones = {getattr(value, "tzinfo", None) for value in series.dropna()}
        if zones != {None}:
            return _with_zone(name, str(next(zone for zone in zones if zone is not None)))
        return _texts(name, _dates(pd.to_datetime(series)))
    return _other(name, series)


def _other(name: str, series: pd.Series[Any]) -> Column:
    """Values that are neither numbers nor text: says what the first odd one is."""
    present = series.dropna()
    if len(present) and all(isinstance(value, (pd.Period, pd.Interval)) for value in present):
        return _texts(name, present.astype(str).reindex(series.index))
    kinds: dict[str, tuple[int, Any]] = {}
    for row, value in enumerate(series):
        if value is not None and value is not pd.NA and value == value:
            kinds.setdefault(type(value).__name__, (row + 1, value))
    shown = [f"{kind} (`{str(value)[:30]}` in row {row})" for kind, (row, value) in kinds.items()]
    return ("unusable", name, " and ".join(shown[:3]))
