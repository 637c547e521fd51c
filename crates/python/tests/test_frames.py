"""Every kind of frame, good and bad: what is done with it, in a table.

RIDGEWALK_WRITE_DOCS=1 writes the table into docs/python.md; without it the page is compared.
"""

from __future__ import annotations

import datetime
import decimal
import os
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ridgewalk as rw

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs/python.md"
MARKS = ("<!-- bad frames -->", "<!-- end of bad frames -->")

Y = [1.0, 2.5, 2.0, 4.5, 4.0, 6.5, 6.0, 8.0]
X = [1, 2, 3, 4, 5, 6, 7, 8]


def frame(**columns: Any) -> pd.DataFrame:
    return pd.DataFrame({"y": Y, **columns})


def twice() -> pd.DataFrame:
    found = frame(x=X, z=X)
    found.columns = pd.Index(["y", "x", "x"])
    return found


class Odd:
    """An object that is no value."""


days = pd.date_range("2024-03-01", periods=8)
# What is special about the frame, the frame, its formula, and the message.
REFUSED: list[tuple[str, Callable[[], Any], str, str]] = [
    (
        "an object column with numbers and texts",
        lambda: frame(x=[1, 2, "three", 4, 5, 6, 7, 8]),
        "y ~ x",
        "data, column `x`: found values of type int (`1` in row 1) and str (`three` in row 3), need "
        "numbers or text; convert it, or leave the column out with exclude",
    ),
    (
        "an object column of lists",
        lambda: frame(x=[[1]] * 8),
        "y ~ x",
        "data, column `x`: found values of type list (`[1]` in row 1), need numbers or text; convert "
        "it, or leave the column out with exclude",
    ),
    (
        "NaN in a column of numbers",
        lambda: frame(x=[1, 2, np.nan, 4, 5, 6, 7, 8]),
        "y ~ x",
        "data: found missing values in column `x` (1, first in row 3); pass drop_missing to leave out "
        "these rows (1 of 8)",
    ),
    (
        "None in a column of texts",
        lambda: frame(x=["a", "b", None, "b", "a", "b", "a", "b"]),
        "y ~ x",
        "data: found missing values in column `x` (1, first in row 3); pass drop_missing to leave out "
        "these rows (1 of 8)",
    ),
    (
        "an infinite number",
        lambda: frame(x=[1, 2, np.inf, 4, 5, 6, 7, 8]),
        "y ~ x",
        "data, row 3, column `x`: found `inf`, need a finite number of at most 1e100 in magnitude; "
        "correct it, or leave the field empty and pass drop_missing",
    ),
    ("no rows", lambda: frame(x=X).head(0), "y ~ x", "data: found column names but no rows, need at least two rows"),
    ("no columns", lambda: pd.DataFrame(), "y ~ x", "data: found no columns, need a response and predictors"),
    (
        "a name that occurs twice",
        twice,
        "y ~ x",
        "data: found the name `x` in columns 2 and 3, need distinct names",
    ),
    (
        "names of several levels",
        lambda: pd.DataFrame({("a", "y"): Y, ("a", "x"): X}),
        "y ~ x",
        "data: found columns with several levels of names, need one name each",
    ),
    (
        "times with a time zone",
        lambda: frame(t=days.tz_localize("Europe/Berlin")),
        "y ~ days(t)",
        "column `t` has values of type time with the zone Europe/Berlin (`.dt.tz_localize(None)` drops "
        "it and keeps the hours shown), need dates such as 2024-03-09",
    ),
    (
        "durations",
        lambda: frame(t=pd.to_timedelta(X, unit="h")),
        "y ~ t",
        "data, column `t`: found values of type timedelta (`.dt.total_seconds()` makes numbers of "
        "them), need numbers or text; convert it, or leave the column out with exclude",
    ),
    (
        "whole numbers beyond 2^53",
        lambda: frame(x=[2**60 + k for k in X]),
        "y ~ x",
        f"data, column `x`: found values of type integer beyond 2^53 ({2**60 + 8}), which floating "
        "point cannot tell apart, need numbers or text; convert it, or leave the column out with "
        "exclude",
    ),
    (
        "complex numbers",
        lambda: frame(x=[1j * x for x in X]),
        "y ~ x",
        "data, column `x`: found values of type complex, need numbers or text; convert it, or leave "
        "the column out with exclude",
    ),
    (
        "columns of different lengths in a dict",
        lambda: {"y": Y, "x": X[:7]},
        "y ~ x",
        "data, column `x`: found 7 values, need 8, as many as in `y`",
    ),
    (
        "an array of two dimensions in a dict",
        lambda: {"y": Y, "x": np.ones((8, 2))},
        "y ~ x",
        "data, column `x`: found an array of shape (8, 2), need one dimension",
    ),
    (
        "a column that is not there",
        lambda: frame(height=X),
        "y ~ hieght",
        "data has no column `hieght`; did you mean `height`?",
    ),
]

# What is special about the frame, the frame, its formula, and a plain frame and formula with the
# same draws; a word on what is done.
ACCEPTED: list[tuple[str, Callable[[], Any], str, Callable[[], Any], str, str]] = [
    ("int8", lambda: frame(x=np.array(X, dtype="int8")), "y ~ x", lambda: frame(x=X), "y ~ x", "numbers"),
    ("float32", lambda: frame(x=np.array(X, "float32")), "y ~ x", lambda: frame(x=X), "y ~ x", "numbers"),
    ("uint64", lambda: frame(x=np.array(X, "uint64")), "y ~ x", lambda: frame(x=X), "y ~ x", "numbers"),
    (
        "booleans", lambda: frame(x=[x > 4 for x in X]), "y ~ x",
        lambda: frame(x=[float(x > 4) for x in X]), "y ~ x", "0 and 1",
    ),
    ("pandas' Int64", lambda: frame(x=pd.array(X, dtype="Int64")), "y ~ x", lambda: frame(x=X), "y ~ x", "numbers"),
    (
        "Decimal", lambda: frame(x=[decimal.Decimal(x) / 4 for x in X]), "y ~ x",
        lambda: frame(x=[x / 4 for x in X]), "y ~ x", "the nearest floating-point numbers",
    ),
    (
        "numbers as objects", lambda: frame(x=pd.Series(X, dtype=object)), "y ~ x",
        lambda: frame(x=X), "y ~ x", "numbers",
    ),
    (
        "columns that are not contiguous in memory",
        lambda: pd.DataFrame(np.column_stack([Y, X, X])[:, ::-1][:, [2, 0]], columns=["y", "x"]),
        "y ~ x", lambda: frame(x=X), "y ~ x", "read where they are",
    ),
    (
        "a categorical", lambda: frame(x=pd.Categorical(["b", "a"] * 4)), "y ~ x",
        lambda: frame(x=["b", "a"] * 4), "y ~ x", "a factor; its categories keep their order",
    ),
    (
        "a categorical with categories that do not occur",
        lambda: frame(x=pd.Categorical(["b", "a"] * 4, categories=["a", "b", "c"])), "y ~ x",
        lambda: frame(x=["b", "a"] * 4), "y ~ x", "those are left out, and a note names them",
    ),
    (
        "a categorical of numbers", lambda: frame(x=pd.Categorical([1.0, 2.0] * 4)), "y ~ x",
        lambda: frame(x=["1", "2"] * 4), "y ~ x", "a factor",
    ),
    (
        "dates", lambda: frame(t=days), "y ~ days(t)",
        lambda: frame(x=[19783 + k for k in range(8)]), "y ~ x", "dates, for `days(t)`, `year(t)` and so on",
    ),
    (
        "Python dates as objects", lambda: frame(t=pd.Series([d.date() for d in days], dtype=object)), "y ~ days(t)",
        lambda: frame(x=[19783 + k for k in range(8)]), "y ~ x", "dates",
    ),
    (
        "times without a zone", lambda: frame(t=days + pd.Timedelta(hours=6)), "y ~ days(t)",
        lambda: frame(x=[19783.25 + k for k in range(8)]), "y ~ x", "dates with a part of a day",
    ),
    (
        "the index", lambda: frame(x=X).set_index(pd.Index(list("hgfedcba"))), "y ~ x",
        lambda: frame(x=X), "y ~ x", "not data; predictions have it",
    ),
    (
        "columns that the formula does not name", lambda: frame(x=X, odd=[Odd()] * 8), "y ~ x",
        lambda: frame(x=X), "y ~ x", "not looked at",
    ),
    (
        "missing values with `drop_missing`", lambda: frame(x=[np.nan, *X[1:]]), "y ~ x",
        lambda: frame(x=X).iloc[1:], "y ~ x",
        "rows are left out, and a note counts them",
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case[0])
def test_refused(case: tuple[str, Callable[[], Any], str, str]) -> None:
    _, make, formula, message = case
    with pytest.raises(rw.InputError) as found:
        rw.fit(formula, make(), family="gaussian", draws=10)
    assert str(found.value).splitlines()[0] == message


@pytest.mark.parametrize("case", ACCEPTED, ids=lambda case: case[0])
def test_accepted(case: tuple[str, Callable[[], Any], str, Callable[[], Any], str, str]) -> None:
    _, make, formula, plain, plain_formula, _ = case
    odd = rw.fit(formula, make(), family="gaussian", draws=50, drop_missing=True)
    same = rw.fit(plain_formula, plain(), family="gaussian", draws=50)
    assert np.array_equal(odd.draws, same.draws)


def test_the_table_of_the_page() -> None:
    rows = ["| what is special | what happens |", "| --- | --- |"]
    rows += [f"| {name} | {what} |" for name, *_, what in ACCEPTED]
    rows += [f"| {name} | refused: {message} |" for name, _, _, message in REFUSED]
    table = "\n".join(rows)
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(MARKS[0])
    found, after = rest.split(MARKS[1])
    if os.environ.get("RIDGEWALK_WRITE_DOCS") == "1":
        page = f"{before}{MARKS[0]}\n{table}\n{MARKS[1]}{after}"
        PAGE.write_text(page, encoding="utf-8")
    else:
        assert found.strip() == table, "run the tests with RIDGEWALK_WRITE_DOCS=1"


def test_unused_categories_are_noted() -> None:
    data = frame(x=pd.Categorical(["b", "a"] * 4, categories=["z", "b", "a"]))
    fit = rw.fit("y ~ x", data, family="gaussian", draws=50)
    assert fit.names == ["(Intercept)", "x[a]", "sigma"], "the first category that occurs is the base"
    assert any("`z`" in note for note in fit.notes), fit.notes
    assert "note: no row has these levels" in repr(fit) and "Notes" in fit._repr_html_()


def test_an_ordered_categorical_is_an_ordinal_response() -> None:
    levels = ["poor", "fair", "good"]
    y = pd.Categorical([levels[k % 3] for k in (0, 0, 1, 0, 1, 2, 1, 2, 2, 1, 2, 2)], levels, ordered=True)
    fit = rw.fit("y ~ x", pd.DataFrame({"y": y, "x": range(12)}), family="ordinal", draws=100)
    assert "poor < fair < good" in " ".join(fit.notes)
    assert list(fit.predict({"x": [0]}).index.get_level_values("quantity")) == [
        "probability[poor]", "probability[fair]", "probability[good]",
    ]  # fmt: skip


def test_all_kinds_of_frames_give_the_same_draws() -> None:
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    g = ["a", "b", "b", "a", "c", "c", "a", "b"]
    plain = frame(x=X, g=g)
    need = rw.fit("y ~ x + g", plain, family="gaussian", draws=50).draws
    categorical = polars.DataFrame({"y": Y, "x": X, "g": g}).with_columns(
        polars.col("g").cast(polars.Enum(["a", "b", "c"]))
    )
    frames = {
        "dict of lists": {"y": Y, "x": X, "g": g},
        "dict of arrays": {"y": np.array(Y), "x": np.array(X), "g": np.array(g)},
        "polars": polars.DataFrame({"y": Y, "x": X, "g": g}),
        "polars, enum": categorical,
        "polars, in parts": polars.concat(
            [polars.DataFrame({"y": Y[:3], "x": X[:3], "g": g[:3]}),
             polars.DataFrame({"y": Y[3:], "x": X[3:], "g": g[3:]})], rechunk=False),
        "pyarrow": pyarrow.table({"y": Y, "x": X, "g": g}),
        "pyarrow, int8 and dictionary": pyarrow.table(
            {"y": Y, "x": pyarrow.array(X, pyarrow.int8()), "g": pyarrow.array(g).dictionary_encode()}),
        "pyarrow, decimal": pyarrow.table(
            {"y": Y, "x": pyarrow.array([decimal.Decimal(x) for x in X]), "g": g}),
        "pandas with arrow types": plain.convert_dtypes(dtype_backend="pyarrow"),
        "pandas with its own": plain.convert_dtypes(),
    }  # fmt: skip
    for name, data in frames.items():
        found = rw.fit("y ~ x + g", data, family="gaussian", draws=50).draws
        assert np.array_equal(found, need), name


def test_dates_and_odd_types_of_arrow() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    need = rw.fit("y ~ x", frame(x=[19783 + k for k in range(8)]), family="gaussian", draws=50).draws
    dates = [d.date() for d in days]
    for values in (
        pyarrow.array(dates, pyarrow.date32()),
        pyarrow.array(dates, pyarrow.date64()),
        pyarrow.array([datetime.datetime.combine(d, datetime.time()) for d in dates], pyarrow.timestamp("ns")),
    ):  # fmt: skip
        table = pyarrow.table({"y": Y, "t": values})
        assert np.array_equal(rw.fit("y ~ days(t)", table, family="gaussian", draws=50).draws, need)
    zoned = pyarrow.array([d.to_pydatetime() for d in days], pyarrow.timestamp("us", "Asia/Tokyo"))
    bad = {
        "time with the zone Asia/Tokyo": zoned,
        "List": pyarrow.array([[1]] * 8),
        "integer beyond 2^53": pyarrow.array([2**60] * 8),
    }
    for words, values in bad.items():
        with pytest.raises(rw.InputError, match=words.replace("^", r"\^")):
            rw.fit("y ~ t", pyarrow.table({"y": Y, "t": values}), family="gaussian", draws=50)
    with pytest.raises(rw.InputError, match="did you mean `height`"):
        rw.fit("y ~ hieght", pyarrow.table({"y": Y, "height": X}), family="gaussian")


def test_other_data_are_refused() -> None:
    with pytest.raises(TypeError, match="found data of type int: need a pandas, polars or pyarrow"):
        rw.fit("y ~ x", 3)
    with pytest.raises(rw.InputError, match="absent.csv"):
        rw.fit("y ~ x", "absent.csv")
