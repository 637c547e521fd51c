"""Draws of any log density."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from . import _arviz, _ridgewalk, _warnings
from ._progress import Display
from ._results import Results, summary_frame
from ._ridgewalk import InputError

_SIGNATURE = "float64(CPointer(float64), CPointer(float64), intp)"


class Samples(Results):
    """Draws of a density, with their diagnostics. Made by `sample`."""

    def __init__(self, native: _ridgewalk.Samples) -> None:
        self._native = native

    def summary(self) -> pd.DataFrame:
        """Mean, sd, quantiles, effective sample sizes and R-hat of each coordinate."""
        return summary_frame(self._document)

    def to_arviz(self) -> Any:
        """The draws for ArviZ: an InferenceData, or a DataTree with ArviZ 1.0 or newer."""
        return _arviz.of_samples(self)

    def _title(self) -> str:
        facts = self.sampler
        return (
            f"{len(self.names)} coordinates, {facts['chains']} chains of {facts['draws']} draws, "
            f"{facts['gradients'] + facts['warmup_gradients']:,} gradients in {facts['seconds']:.1f} s"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        native = self._native
        return _restore, (native.names, native.document(), native.draws(), native.stats())


def _restore(names: list[str], document: str, draws: Any, stats: Any) -> Samples:
    return Samples(_ridgewalk.restore_samples(names, document, draws, stats))


def _address(function: Any) -> int | None:
    """The address of a function that numba compiled with `cfunc`; None for other functions."""
    address = getattr(function, "address", None)
    if not isinstance(address, int) or not hasattr(function, "native_name"):
        return None
    found = str(getattr(function, "_sig", ""))
    if found != "(float64*, float64*, int64) -> float64":
        raise InputError(
            f"found a compiled function with the signature {found}, need {_SIGNATURE}: it is given "
            "a point, room for the gradient and their length, and returns the log density"
        )
    return address


def _check_whole(name: str, number: Any, least: int) -> None:
    if number is None and name == "threads":
        return
    if isinstance(number, bool) or not isinstance(number, (int, np.integer)):
        raise TypeError(f"{name}={number!r} ({type(number).__name__}): need a whole number")
    if number < least:
        raise InputError(f"{name} {number}: need at least {least}")


def _check_precision(function: Any, start: Any, vectorized: bool) -> None:
    """Warns of a function that computes with 32 bits."""
    point = start[np.newaxis, :].copy() if vectorized else start.copy()
    try:
        found = function(point)
    except BaseException as error:
        _attach(error, None)
        raise
    if not isinstance(found, (tuple, list)):
        return
    if any(str(getattr(part, "dtype", "")) in ("float32", "float16", "bfloat16") for part in found):
        text = (
            "the function computes with 32 bits or fewer: differences of log densities below about "
            "1e-7 of their size are rounding, and trajectories are accepted by them. For jax, call "
            'jax.config.update("jax_enable_x64", True) first'
        )
        _warnings.warn([("low_precision", text)])


def sample(
    value_and_grad: Callable[[Any], tuple[Any, Any]] | Any,
    start: Sequence[float] | np.ndarray[Any, Any],
    *,
    names: Sequence[str] | None = None,
    vectorized: bool = False,
    chains: int = 8,
    draws: int = 1000,
    target_ess: float | None = None,
    max_draws: int = 100_000,
    seed: int = 0,
    threads: int | None = None,
    progress: bool | None = None,
) -> Samples:
    """Draws from any log density, exactly: trajectories are accepted or rejected.

    `value_and_grad(x)` returns the log density, up to a constant, and its gradient at the point `x`,
    an array of d numbers. `start` is a point from which the mode is searched for. Nothing needs to be
    tuned.

    - With `vectorized=True` the function gets an array of shape (n, d) and returns arrays of shape
      (n,) and (n, d): all chains in one call, which is much faster for jax.
    - A function compiled by `numba.cfunc` with the signature
      `float64(CPointer(float64), CPointer(float64), intp)` is called without Python, on all threads.
    - Where the density is 0, return -inf.

    Chains start around one mode. A second mode far away is not found; a density that is strongly bent
    is sampled slowly, with a warning.

    An exception of the function ends the run and comes out as itself; the draws so far are in its
    attribute `samples`. Ctrl-C ends the run with the draws made so far.

    >>> import numpy as np, ridgewalk as rw
    >>> def normal(x):
    ...     return -0.5 * x @ x, -x
    >>> samples = rw.sample(normal, np.zeros(3), seed=1)
    >>> samples.draws.shape, samples.status
    ((8, 1000, 3), 'ok')
    >>> bool(abs(samples.summary()["sd"] - 1).max() < 0.05)
    True
    """
    at = np.asarray(start, dtype="float64")
    if at.ndim != 1 or not len(at):
        raise InputError(f"start: found an array of shape {at.shape}, need one point: (d,)")
    if isinstance(names, str):
        raise TypeError("names: found a text, need a list of them")
    if not np.isfinite(at).all():
        raise InputError("start: found a number that is not finite, need a point of the density")
    labels = [f"x[{k}]" for k in range(len(at))] if names is None else [str(n) for n in names]
    if len(labels) != len(at) or len(set(labels)) < len(labels):
        raise InputError(f"names: found {len(labels)}, need {len(at)} that differ")
    if vectorized and threads not in (None, 1):
        raise InputError("threads with vectorized: need one of them, because all chains are one call")
    for name, number, least in (
        ("chains", chains, 1), ("draws", draws, 1), ("max_draws", max_draws, 1), ("seed", seed, 0),
        ("threads", threads, 1),
    ):  # fmt: skip
        _check_whole(name, number, least)
    address = _address(value_and_grad)
    if address is not None and vectorized:
        raise InputError("vectorized with a compiled function: need one of them")
    if address is None and not callable(value_and_grad):
        kind = type(value_and_grad).__name__
        raise TypeError(f"found {kind}, need a function that returns the log density and its gradient")
    if address is None:
        _check_precision(value_and_grad, at, vectorized)
    with Display(progress) as display:
        native, raised = _ridgewalk.sample(
            None if address is not None else value_and_grad, address, vectorized, list(at), labels,
            chains, draws, target_ess, max_draws, seed, threads, display.callback,
        )  # fmt: skip
    samples = None if native is None else Samples(native)
    if raised is not None:
        _attach(raised, samples)
        raise raised
    assert samples is not None
    samples._warn()
    return samples


def _attach(error: BaseException, samples: Samples | None) -> None:
    """Gives an exception the draws so far."""
    try:
        error.samples = samples  # type: ignore[attr-defined]
    except AttributeError:
        return
    if samples is not None and hasattr(error, "add_note"):
        count = samples.draws.shape[1]
        error.add_note(f"the {count} draws of each chain made before are in its attribute `samples`")
