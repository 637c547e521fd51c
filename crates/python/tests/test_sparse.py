"""Sparse matrices of scipy: as columns of data, in estimators, and as SVMlight files."""

from __future__ import annotations

import pathlib
import pickle
import tracemalloc
from typing import Any

import numpy as np
import pytest
import ridgewalk as rw
from scipy import sparse  # type: ignore[import-untyped]
from sklearn.datasets import (  # type: ignore[import-untyped]
    dump_svmlight_file,
    load_svmlight_file,
)

DRAWS: dict[str, Any] = {"draws": 100, "chains": 4, "seed": 3, "progress": False}


@pytest.fixture(scope="module")
def made() -> dict[str, Any]:
    """Rows with three entries in 300 columns, and a response that follows them."""
    rng = np.random.default_rng(1)
    rows, width = 900, 300
    columns = np.array([rng.choice(width, 3, replace=False) for _ in range(rows)])
    at = np.repeat(np.arange(rows), 3)
    X = sparse.csr_array((rng.normal(size=3 * rows), (at, columns.ravel())), shape=(rows, width))
    y = (X @ rng.normal(size=width) + rng.logistic(size=rows) > 0).astype(float)
    return {"y": y, "X": X, "z": rng.normal(size=rows)}


def test_a_matrix_in_a_dict_is_a_column_of_a_formula(made: dict[str, Any]) -> None:
    fit = rw.fit("y ~ z + X", made, **DRAWS)
    assert fit.names[:4] == ["(Intercept)", "z", "X1", "X2"]
    assert len(fit.names) == 302
    # Every format is the same matrix, and so is one whose entries are in disorder.
    X = made["X"]
    shuffled = sparse.coo_array((X.data[::-1], tuple(k[::-1] for k in X.tocoo().coords)), shape=X.shape)
    for other in (X.tocsc(), sparse.csr_matrix(X), X.tolil(), shuffled):
        again = rw.fit("y ~ z + X", {**made, "X": other}, **DRAWS)
        assert (again.draws == fit.draws).all()
    new = {"X": X[:5], "z": made["z"][:5]}
    assert np.allclose(fit.predict(new), fit.predict().iloc[:5])
    with pytest.raises(rw.InputError, match="found a matrix of 200 columns, need 300 as in the fit"):
        fit.predict({**new, "X": X[:5, :200]})
    kept = pickle.loads(pickle.dumps(fit))
    assert np.allclose(kept.predict(), fit.predict())
    assert rw.describe("y ~ z + X", made)["table"]["columns"][2]["sparse"]["columns"] == 300


def test_the_draws_are_those_of_the_same_columns_as_arrays() -> None:
    rng = np.random.default_rng(2)
    X = sparse.random_array((80, 4), density=0.5, rng=rng, format="csr")
    y = X @ np.ones(4) + rng.normal(size=80)
    arrays = {f"X{k + 1}": X.toarray()[:, k] for k in range(4)}
    dense = rw.fit("y ~ X1 + X2 + X3 + X4", {"y": y, **arrays}, family="gaussian", **DRAWS)
    found = rw.fit("y ~ X", {"y": y, "X": X}, family="gaussian", **DRAWS)
    assert found.names == dense.names
    assert (found.draws == dense.draws).all()


def test_what_is_no_matrix_of_numbers_is_refused(made: dict[str, Any]) -> None:
    y, X = made["y"], made["X"]
    bad = X.copy()
    bad.data[0] = np.nan
    column = bad.indices[0] + 1
    with pytest.raises(rw.InputError, match=f"row 1, column `X{column}`: found NaN"):
        rw.fit("y ~ X", {"y": y, "X": bad}, **DRAWS)
    with pytest.raises(rw.InputError, match="found complex numbers"):
        rw.fit("y ~ X", {"y": y, "X": X * 1j}, **DRAWS)
    with pytest.raises(rw.InputError, match="found 10 values, need 900"):
        rw.fit("y ~ X", {"y": y, "X": X[:10]}, **DRAWS)
    with pytest.raises(rw.InputError, match="column `X` is a sparse matrix"):
        rw.fit("y ~ log(X)", {"y": y, "X": X}, **DRAWS)


def test_svmlight_files_need_no_formula(made: dict[str, Any], tmp_path: pathlib.Path) -> None:
    path = tmp_path / "d.svm"
    X = made["X"]
    narrow = (X.data, X.indices.astype("int32"), X.indptr.astype("int32"))
    X = sparse.csr_array(narrow, shape=X.shape)
    dump_svmlight_file(X, 2 * made["y"] - 1, str(path), zero_based=False)
    fit = rw.fit(None, path, **DRAWS)
    assert fit.response == "label"
    # The file has the entries with 16 digits.
    X, y = load_svmlight_file(str(path), zero_based=False)
    other = rw.fit("y ~ X", {"X": X, "y": (y > 0).astype(float)}, **DRAWS)
    assert (fit.draws == other.draws).all()
    assert np.allclose(fit.predict(path), fit.predict())
    assert np.allclose(fit.predict(X[:3]), fit.predict().iloc[:3])


def test_estimators_take_every_format(made: dict[str, Any]) -> None:
    X, y = made["X"], made["y"]
    model = rw.LogisticRegression(draws=100, chains=4, random_state=1).fit(X, y)
    assert model.coef_.shape == (1, 300)
    assert (model.predict(X) == y).mean() > 0.8
    other = rw.LogisticRegression(draws=100, chains=4, random_state=1).fit(X.tocsc(), y)
    assert (other.coef_ == model.coef_).all()
    order = np.random.default_rng(3).permutation(len(y))
    other = rw.LogisticRegression(draws=100, chains=4, random_state=1).fit(X[order], y[order])
    assert (other.coef_ == model.coef_).all()
    assert np.allclose(model.predict_proba(X[:4]), model.predict_proba(X[:4].toarray()))


def test_estimators_of_few_columns_are_those_of_arrays() -> None:
    rng = np.random.default_rng(4)
    X = sparse.random_array((120, 5), density=0.4, rng=rng, format="csr")
    X = sparse.hstack([X, sparse.csr_array((120, 1))], "csr")
    y = X @ np.arange(6.0) + rng.normal(size=120)
    for weights in (None, rng.integers(0, 3, 120).astype(float)):
        found = rw.LinearRegression(random_state=1).fit(X, y, weights)
        dense = rw.LinearRegression(random_state=1).fit(X.toarray(), y, weights)
        # Rows are in another order, so the draws are others.
        assert np.allclose(found.coef_, dense.coef_, atol=0.1)
        assert found.coef_[5] == 0
        assert np.allclose(found.predict_interval(X)[1], dense.predict_interval(X)[1], atol=0.1)
    fractions = rng.uniform(0.5, 2, 120)
    found = rw.LinearRegression(random_state=1).fit(X, y, fractions)
    dense = rw.LinearRegression(random_state=1).fit(X.toarray(), y, fractions)
    assert np.allclose(found.coef_, dense.coef_, atol=0.15)
    assert abs(found.intercept_ - dense.intercept_) < 0.1


def test_nothing_is_made_dense() -> None:
    """20,000 x 30,000 would be 4.8 GB."""
    rng = np.random.default_rng(5)
    rows, width = 20_000, 30_000
    X = sparse.csr_array(
        (np.ones(2 * rows), rng.integers(0, width, 2 * rows), np.arange(0, 2 * rows + 1, 2)),
        shape=(rows, width),
    )
    tracemalloc.start()
    found = rw.describe(None, {"y": np.arange(rows) % 2.0, "X": X})
    assert tracemalloc.get_traced_memory()[1] < 50e6
    tracemalloc.stop()
    assert found["table"]["columns"][1]["sparse"]["columns"] == width
