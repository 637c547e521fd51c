"""Fits in threads and in processes, forked or spawned: the same draws, and nothing hangs."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import sys
import threading
import time
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ridgewalk as rw

# A hang is a failure, not an endless test.
PATIENCE = 120


def work(seed: int) -> Any:
    """Everything that uses threads: a fit, predictions, cross-validation, checks, a report."""
    x = np.linspace(-2, 2, 60)
    data = pd.DataFrame({"x": x, "y": (np.sin(3 * x + seed) > 0).astype(int)})
    fit = rw.fit("y ~ x + I(x^2)", data, seed=seed, draws=200)
    elpd = fit.loo().elpd
    assert fit.checks() is not None and fit.predict().shape == (60, 5)
    assert fit._native.report().startswith("<!doctype html>")
    samples = rw.sample(lambda at: (-0.5 * at @ at, -at), np.zeros(2), seed=seed, draws=100)
    return fit.draws, elpd, samples.draws


def same(found: Any, need: Any) -> bool:
    return np.array_equal(found[0], need[0]) and found[1] == need[1] and np.array_equal(found[2], need[2])


@pytest.fixture(scope="module")
def expected() -> list[Any]:
    """In this process, before any other: its threads are gone when others are forked."""
    return [work(seed) for seed in range(4)]


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_processes(method: str, expected: list[Any]) -> None:
    context = multiprocessing.get_context(method)
    with context.Pool(2) as pool:
        found = pool.map_async(work, range(4)).get(timeout=PATIENCE)
    assert all(same(each, need) for each, need in zip(found, expected))


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_joblib(backend: str, expected: list[Any]) -> None:
    joblib = pytest.importorskip("joblib")
    tasks = (joblib.delayed(work)(seed) for seed in range(4))
    found = joblib.Parallel(n_jobs=2, backend=backend, timeout=PATIENCE)(tasks)
    assert all(same(each, need) for each, need in zip(found, expected))


def test_threads(expected: list[Any]) -> None:
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        tasks = [pool.submit(work, seed % 4) for seed in range(12)]
        found = [task.result(timeout=PATIENCE) for task in tasks]
    assert all(same(each, expected[at % 4]) for at, each in enumerate(found))


def test_one_fit_is_used_by_many_threads(wells: pd.DataFrame) -> None:
    fit = rw.fit("switched ~ dist100", wells, draws=200)
    need = fit.predict(wells.head(50))
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        tasks = [pool.submit(fit.predict, wells.head(50)) for _ in range(20)]
        assert all(task.result(timeout=PATIENCE).equals(need) for task in tasks)


def test_python_goes_on_while_a_fit_runs(wells: pd.DataFrame) -> None:
    """The interpreter lock is released: another thread counts on."""
    count, done = 0, threading.Event()

    def counting() -> None:
        nonlocal count
        while not done.is_set():
            count += 1
            time.sleep(0.001)

    thread = threading.Thread(target=counting)
    thread.start()
    began = time.monotonic()
    rw.fit("switched ~ dist100 * arsenic", wells, draws=20_000, threads=1)
    seconds = time.monotonic() - began
    done.set()
    thread.join()
    # With the lock held it would count about once: threads take turns every 5 ms at most.
    assert count > 20 * seconds, (count, seconds)


def test_the_lock_is_not_switched_on() -> None:
    """On a free-threaded interpreter the package leaves it so."""
    enabled = getattr(sys, "_is_gil_enabled", None)
    if enabled is None or "free-threading" not in sys.version:
        pytest.skip("not a free-threaded interpreter")
    assert not enabled()
