"""Draws of any log density: are they right, and what happens where the function is not?"""

from __future__ import annotations

import copy
import json
import math
import pickle
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ridgewalk as rw

MEAN = np.array([1.0, -2.0, 0.5])
COVARIANCE = np.array([[1.0, 0.8, 0.0], [0.8, 2.0, 0.3], [0.0, 0.3, 0.5]])
PRECISION = np.linalg.inv(COVARIANCE)
START = np.zeros(3)
# Two-sided quantiles of Student's t with 31 degrees of freedom: the largest of k statistics of 32
# chains is above its quantile with a probability of at most 1e-4.
BOUND_OF = {2: 4.7046, 9: 5.2299}
CHAINS = 32
SIGNATURE = "float64(CPointer(float64), CPointer(float64), intp)"
# Longer than any run here takes.
SECONDS = 60.0

Function = Callable[[Any], Any]


def normal(x: Any) -> tuple[float, Any]:
    """The log density of a correlated normal law, and its gradient."""
    away = PRECISION @ (x - MEAN)
    return -0.5 * float((x - MEAN) @ away), -away


def rows_of(function: Function) -> Function:
    """The function of many points with the same arithmetic."""

    def each(points: Any) -> tuple[Any, Any]:
        pairs = [function(point) for point in points]
        return np.array([value for value, _ in pairs]), np.array([slope for _, slope in pairs])

    return each


def largest(statistics: Any) -> float:
    """The largest |t| of statistics, chain x draw x statistic, whose expectation must be 0.

    Chains are independent, so that no effective sample size is needed.
    """
    means = statistics.mean(1)
    error = means.std(0, ddof=1) / math.sqrt(len(means))
    return float(abs(means.mean(0) / error).max())


def distance(draws: Any) -> float:
    """How far draws are from the normal law above, in its three means and six second moments."""
    away = draws - MEAN
    first, second = np.triu_indices(3)
    products = away[..., first] * away[..., second] - COVARIANCE[first, second]
    return largest(np.concatenate([away, products], axis=2))


# Right and wrong densities.


def test_moments_of_a_normal_law() -> None:
    samples = rw.sample(normal, START, chains=CHAINS, draws=250, seed=1)
    assert samples.status == "ok"
    assert samples.draws.shape == (CHAINS, 250, 3)
    assert distance(samples.draws) < BOUND_OF[9]
    found = samples.summary()
    flat = samples.draws.reshape(-1, 3)
    np.testing.assert_allclose(found["mean"], flat.mean(0), rtol=1e-9)
    np.testing.assert_allclose(found["sd"], flat.std(0, ddof=1), rtol=1e-4)
    values = [normal(point)[0] for point in samples.draws[3]]
    np.testing.assert_allclose(samples.stats["lp"][3], values, atol=1e-9)
    assert not samples.stats["diverging"].any()


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param(lambda slope: 0.8 * slope, id="too short"),
        pytest.param(lambda slope: 1.3 * slope, id="too long"),
        pytest.param(lambda slope: slope + 0.5, id="shifted"),
    ],
)
def test_a_wrong_gradient_is_warned_of(wrong: Function) -> None:
    def planted(x: Any) -> tuple[float, Any]:
        value, slope = normal(x)
        return value, wrong(slope)

    with pytest.warns(rw.FitWarning, match="wrong_moments"):
        samples = rw.sample(planted, START, chains=CHAINS, draws=250, seed=1)
    assert "wrong_moments" in samples.status
    # Values decide what is accepted: the draws are right all the same.
    assert distance(samples.draws) < BOUND_OF[9]


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param(lambda value, x: 0.7 * value, id="too flat"),
        pytest.param(lambda value, x: value + 0.2 * (x[0] - 1) ** 2, id="without a term"),
        pytest.param(lambda value, x: value + 0.5 * x[1], id="tilted"),
    ],
)
def test_a_wrong_value_is_warned_of(wrong: Callable[[Any, Any], float]) -> None:
    def planted(x: Any) -> tuple[float, Any]:
        value, slope = normal(x)
        return wrong(value, x), slope

    with pytest.warns(rw.FitWarning, match="wrong_moments"):
        samples = rw.sample(planted, START, chains=CHAINS, draws=250, seed=1)
    assert "wrong_moments" in samples.status
    assert distance(samples.draws) > BOUND_OF[9]


@pytest.mark.parametrize("factor", [0.8, 1.25])
def test_another_density_is_seen_by_its_moments(factor: float) -> None:
    """Value and gradient agree, so that no warning can tell: this shows that the test above can."""

    def planted(x: Any) -> tuple[float, Any]:
        value, slope = normal(x)
        return factor * value, factor * slope

    samples = rw.sample(planted, START, chains=CHAINS, draws=250, seed=1)
    assert samples.status == "ok"
    assert distance(samples.draws) > BOUND_OF[9]


# The ways to give a function.


def test_vectorized_equals_pointwise_bit_for_bit() -> None:
    single = rw.sample(normal, START, draws=200, seed=3)
    many = rw.sample(rows_of(normal), START, vectorized=True, draws=200, seed=3)
    assert np.array_equal(single.draws, many.draws)
    for name, values in single.stats.items():
        assert np.array_equal(values, many.stats[name]), name
    assert single.history == many.history
    for name in ("gradients", "warmup_gradients", "acceptance", "thin"):
        assert single.sampler[name] == many.sampler[name], name
    other = rw.sample(normal, START, draws=200, seed=4)
    assert not np.array_equal(single.draws, other.draws)


def test_vectorized_gets_all_chains_in_one_call() -> None:
    shapes: list[tuple[int, ...]] = []

    def counted(points: Any) -> Any:
        shapes.append(points.shape)
        return rows_of(normal)(points)

    samples = rw.sample(counted, START, vectorized=True, chains=12, draws=100, seed=1)
    facts = samples.sampler
    assert {len(shape) for shape in shapes} == {2}
    assert {shape[1] for shape in shapes} == {3}
    assert shapes.count((12, 3)) >= facts["gradients"] // 12
    # The search for the mode looks at one point at a time.
    assert len(shapes) < 1.5 * facts["gradients"] / 12 + 50
    # A few are not counted: those that look at the precision, and where the run begins.
    points = sum(shape[0] for shape in shapes)
    assert 0 <= points - facts["gradients"] - facts["warmup_gradients"] <= 3


def test_the_function_may_write_into_its_argument() -> None:
    def rude(x: Any) -> tuple[float, Any]:
        found = normal(x)
        x[:] = np.nan
        return found

    expected = rw.sample(normal, START, draws=50, seed=3)
    assert np.array_equal(rw.sample(rude, START, draws=50, seed=3).draws, expected.draws)


@pytest.mark.parametrize(
    "form",
    [
        pytest.param(lambda value, slope: [value, list(slope)], id="lists"),
        pytest.param(lambda value, slope: (np.array([value]), slope), id="array of one"),
        pytest.param(lambda value, slope: (np.float64(value), slope), id="numpy number"),
        pytest.param(lambda value, slope: (value, np.repeat(slope, 2)[::2]), id="strided"),
        pytest.param(lambda value, slope: iter((value, slope)), id="iterator"),
    ],
)
def test_other_forms_of_a_result(form: Callable[[Any, Any], Any]) -> None:
    expected = rw.sample(normal, START, draws=50, seed=3)
    found = rw.sample(lambda x: form(*normal(x)), START, draws=50, seed=3)
    assert np.array_equal(found.draws, expected.draws)


def test_a_compiled_function_gives_the_same_draws() -> None:
    numba = pytest.importorskip("numba")

    @numba.cfunc(SIGNATURE)  # type: ignore[untyped-decorator]
    def compiled(x: Any, slope: Any, n: int) -> float:
        value = 0.0
        for k in range(n):
            slope[k] = -(k + 1.0) * x[k]
            value -= 0.5 * (k + 1.0) * x[k] * x[k]
        return value

    def plain(x: Any) -> tuple[float, Any]:
        value, slope = 0.0, np.empty(3)
        for k in range(3):
            slope[k] = -(k + 1.0) * x[k]
            value -= 0.5 * (k + 1.0) * x[k] * x[k]
        return value, slope

    expected = rw.sample(plain, START, draws=200, seed=2)
    for threads in (None, 1, 2):
        found = rw.sample(compiled, START, draws=200, seed=2, threads=threads)
        assert np.array_equal(found.draws, expected.draws)
        assert found.status == expected.status


@pytest.mark.parametrize(
    "signature",
    [
        "float64(CPointer(float64), intp)",
        "float64(CPointer(float64), CPointer(float64), int32)",
        "float32(CPointer(float32), CPointer(float32), intp)",
        "void(CPointer(float64), CPointer(float64), intp)",
        "float64(float64, float64, intp)",
    ],
)
def test_a_compiled_function_of_another_signature(signature: str) -> None:
    numba = pytest.importorskip("numba")
    two = signature.count(",") == 1

    def one_less(x: Any, n: Any) -> float:
        return 0.0

    def nothing(x: Any, slope: Any, n: Any) -> None:
        pass

    def usual(x: Any, slope: Any, n: Any) -> float:
        return 0.0

    function = one_less if two else nothing if signature.startswith("void") else usual
    with pytest.raises(rw.InputError, match="signature .* need float64"):
        rw.sample(numba.cfunc(signature)(function), START)


def test_jax() -> None:
    jax = pytest.importorskip("jax")
    before = jax.config.jax_enable_x64

    def logp(x: Any) -> Any:
        return -0.5 * (x - MEAN) @ PRECISION @ (x - MEAN)

    try:
        jax.config.update("jax_enable_x64", True)
        function = jax.jit(jax.vmap(jax.value_and_grad(logp)))
        samples = rw.sample(function, START, vectorized=True, chains=CHAINS, draws=250, seed=1)
        assert samples.status == "ok"
        assert distance(samples.draws) < BOUND_OF[9]
        jax.config.update("jax_enable_x64", False)
        with pytest.warns(rw.FitWarning, match="low_precision.*jax_enable_x64"):
            rw.sample(jax.jit(jax.value_and_grad(lambda x: -0.5 * x @ x)), START, draws=50)
    finally:
        jax.config.update("jax_enable_x64", before)


@pytest.mark.parametrize("part", [0, 1])
@pytest.mark.parametrize("vectorized", [False, True])
def test_low_precision_is_warned_of(part: int, vectorized: bool) -> None:
    whole = rows_of(normal) if vectorized else normal

    def rough(x: Any) -> Any:
        found = list(whole(x))
        found[part] = np.float32(found[part])
        return tuple(found)

    with pytest.warns(rw.FitWarning, match="low_precision"):
        rw.sample(rough, START, vectorized=vectorized, draws=50)


# What comes back.


def test_names() -> None:
    names = ["mean", "log scale", "é"]
    samples = rw.sample(normal, START, names=names, draws=50, seed=1)
    assert samples.names == names
    assert list(samples.summary().index) == names
    assert np.array_equal(samples["log scale"], samples.draws[:, :, 1])
    with pytest.raises(KeyError, match="`scale`; available: `mean`, `log scale`"):
        samples["scale"]
    assert rw.sample(normal, START, draws=50, seed=1).names == ["x[0]", "x[1]", "x[2]"]


def test_target_ess() -> None:
    samples = rw.sample(normal, START, target_ess=2500, seed=1)
    assert samples.status == "ok"
    assert samples.summary()["ess_bulk"].min() >= 2500
    assert samples.draws.shape[1] < 2500
    with pytest.warns(rw.FitWarning, match="target_ess_not_reached"):
        short = rw.sample(normal, START, target_ess=2500, max_draws=60, seed=1)
    assert short.draws.shape[1] == 60


def test_the_same_seed_gives_the_same_draws() -> None:
    one, two = (rw.sample(normal, START, draws=50, seed=2**63 + 1) for _ in range(2))
    assert np.array_equal(one.draws, two.draws)


@pytest.mark.parametrize("way", [lambda one: pickle.loads(pickle.dumps(one)), copy.deepcopy])
def test_pickling(way: Callable[[rw.Samples], rw.Samples]) -> None:
    samples = rw.sample(normal, START, names=["a", "b", "c"], draws=50, seed=1)
    again = way(samples)
    assert type(again) is rw.Samples
    assert np.array_equal(again.draws, samples.draws)
    for name, values in samples.stats.items():
        assert np.array_equal(again.stats[name], values), name
    assert again.summary().equals(samples.summary())
    for fact in ("names", "warnings", "status", "history", "sampler"):
        assert getattr(again, fact) == getattr(samples, fact), fact
    assert repr(again) == repr(samples)


def test_to_arviz() -> None:
    arviz = pytest.importorskip("arviz")
    samples = rw.sample(normal, START, names=["a", "b", "c"], draws=200, seed=1)
    data = samples.to_arviz()
    found = data["posterior"]["x"]
    assert found.dims == ("chain", "draw", "coef")
    assert list(found["coef"].values) == ["a", "b", "c"]
    assert np.array_equal(found.values, samples.draws)
    for name, values in samples.stats.items():
        assert np.array_equal(data["sample_stats"][name].values, values), name
    ours = samples.summary()["ess_bulk"]
    theirs = [float(arviz.ess(samples[name], method="bulk")) for name in samples.names]
    np.testing.assert_allclose(ours, theirs, rtol=0.02)


def test_draws_cannot_be_changed() -> None:
    samples = rw.sample(normal, START, draws=50)
    with pytest.raises(ValueError, match="read-only"):
        samples.draws[0, 0, 0] = 0.0


# Functions that raise.


class Planted(Exception):
    """An exception of the user's own."""


def within(seconds: float, work: Callable[[], Any]) -> BaseException | None:
    """What `work` raises. Work that takes longer fails the test, and does not hang it."""
    found: list[BaseException | None] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:
            found.append(error)
        else:
            found.append(None)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    assert found, f"still running after {seconds} s"
    return found[0]


def raising(at: int, error: BaseException, vectorized: bool = False) -> Function:
    """A function that raises at this call, and at none after it."""
    calls = 0

    def density(x: Any) -> Any:
        nonlocal calls
        calls += 1
        assert calls <= at, "called after it raised"
        if calls == at:
            raise error
        return rows_of(normal)(x) if vectorized else normal(x)

    return density


EARLY = (1, 2, 3, 4, 7, 8, 9, 10, 15, 30, 60)


@pytest.mark.parametrize(
    ("at", "vectorized"),
    [(at, False) for at in (*EARLY, 100, 200, 500, 1000)] + [(at, True) for at in EARLY],
)
def test_an_exception_before_the_first_draw(at: int, vectorized: bool) -> None:
    planted = Planted("a message, and\nits second line")
    function = raising(at, planted, vectorized)
    error = within(
        SECONDS, lambda: rw.sample(function, START, vectorized=vectorized, chains=24, seed=1)
    )
    assert error is planted
    assert str(error) == "a message, and\nits second line"
    assert traceback.extract_tb(error.__traceback__)[-1].name == "density"
    assert planted.samples is None  # type: ignore[attr-defined]


@pytest.mark.parametrize("vectorized", [False, True])
@pytest.mark.parametrize("share", [0.4, 0.7, 0.99])
def test_a_late_exception_has_the_draws_so_far(share: float, vectorized: bool) -> None:
    calls = 0
    plain = rows_of(normal) if vectorized else normal

    def counted(x: Any) -> Any:
        nonlocal calls
        calls += 1
        return plain(x)

    options: dict[str, Any] = {"vectorized": vectorized, "draws": 400, "seed": 3}
    whole = rw.sample(counted, START, **options)
    planted = Planted("late")
    function = raising(int(share * calls), planted, vectorized)
    error = within(SECONDS, lambda: rw.sample(function, START, **options))
    assert error is planted
    assert traceback.extract_tb(error.__traceback__)[-1].name == "density"
    samples = planted.samples  # type: ignore[attr-defined]
    assert isinstance(samples, rw.Samples)
    made = samples.draws.shape[1]
    assert 0.2 * 400 * share < made < 400
    assert np.array_equal(samples.draws, whole.draws[:, :made])
    assert samples.status != "ok"
    if sys.version_info >= (3, 11):
        assert f"the {made} draws of each chain" in planted.__notes__[0]
    assert len(pickle.dumps(samples)) > samples.draws.nbytes


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, StopIteration, GeneratorExit])
def test_exceptions_of_other_kinds(kind: type[BaseException]) -> None:
    planted = kind("from the function")
    error = within(SECONDS, lambda: rw.sample(raising(900, planted), START, seed=3))
    assert error is planted
    assert planted.samples.draws.shape[1] > 0  # type: ignore[attr-defined]


def test_an_exception_without_room_for_draws() -> None:
    class Closed(Exception):
        def __setattr__(self, name: str, value: Any) -> None:
            raise AttributeError(name)

    planted = Closed("no attributes")
    assert within(SECONDS, lambda: rw.sample(raising(900, planted), START, seed=3)) is planted


def test_a_run_after_an_exception() -> None:
    expected = rw.sample(normal, START, draws=50, seed=3)
    within(SECONDS, lambda: rw.sample(raising(600, Planted()), START, seed=3))
    assert np.array_equal(rw.sample(normal, START, draws=50, seed=3).draws, expected.draws)


# Ctrl-C, in a process of its own: a signal that comes too early would end the tests.

INTERRUPTED = """
import json, os, signal, sys, threading, time, warnings
import numpy as np
import ridgewalk as rw

warnings.simplefilter("ignore")
calls, at = 0, int(sys.argv[1])

def normal(x):
    return -0.5 * x @ x, -x

def slow(x):
    global calls
    calls += 1
    if calls == at:
        threading.Timer(0.05, os.kill, [os.getpid(), signal.SIGINT]).start()
    time.sleep(1e-4 if at > 500 else 5e-3)
    return normal(x)

found = {}
began = time.monotonic()
try:
    samples = rw.sample(slow, np.zeros(3), draws=1_000_000, seed=3)
    found["warnings"] = [name for name, _ in samples.warnings]
    found["draws"] = samples.draws.tolist()
except KeyboardInterrupt as error:
    found["interrupted"] = str(error)
found["seconds"] = time.monotonic() - began
again = rw.sample(normal, np.zeros(3), draws=1000, seed=3)
found["again"] = again.status
found["same"] = again.draws[:, : len(found.get("draws", [[]])[0])].tolist() == found.get("draws")
print(json.dumps(found))
"""


def interrupted(at: int) -> dict[str, Any]:
    words = [sys.executable, "-c", INTERRUPTED, str(at)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_ctrl_c_keeps_the_draws_so_far() -> None:
    found = interrupted(at=1500)
    assert "stopped" in found["warnings"]
    assert len(found["draws"]) == 8
    assert 20 < len(found["draws"][0]) < 1000
    assert found["seconds"] < 10
    # Those of an undisturbed run, as far as they go; nothing is left of the signal.
    assert found["same"]
    assert found["again"] == "ok"


def test_ctrl_c_before_the_first_draw() -> None:
    found = interrupted(at=20)
    assert found["interrupted"] == "stopped before the first draw"
    assert found["again"] == "ok"


# Results that cannot be used.


@pytest.mark.parametrize(
    ("result", "message"),
    [
        pytest.param(lambda value, slope: value, "type float: .*value_and_grad", id="value alone"),
        pytest.param(lambda value, slope: None, "type NoneType", id="nothing"),
        pytest.param(lambda value, slope: (value, slope, slope), "found 3 results", id="three"),
        pytest.param(lambda value, slope: (value,), "found 1 results", id="one"),
        pytest.param(lambda value, slope: (value, slope[:2]), r"\(2,\): need \(3,\)", id="short"),
        pytest.param(lambda value, slope: (value, slope[None]), r"\(1, 3\): need", id="row"),
        pytest.param(lambda value, slope: (value, 1.0), r"\(\): need \(3,\)", id="number"),
        pytest.param(lambda value, slope: (value, None), "found None", id="no gradient"),
        pytest.param(lambda value, slope: (slope, slope), "must be one number", id="values"),
        pytest.param(lambda value, slope: (slope, value), "number|shape", id="swapped"),
        pytest.param(lambda value, slope: ("a", slope), "could not convert", id="text"),
        pytest.param(lambda value, slope: (value, ["a"] * 3), "could not convert", id="texts"),
        pytest.param(lambda value, slope: (None, slope), "found None", id="no value"),
    ],
)
def test_wrong_results(result: Callable[[Any, Any], Any], message: str) -> None:
    error = within(SECONDS, lambda: rw.sample(lambda x: result(*normal(x)), START))
    assert isinstance(error, (TypeError, ValueError)), repr(error)
    with pytest.raises(type(error), match=message):
        raise error


@pytest.mark.parametrize(
    ("result", "message"),
    [
        pytest.param(lambda v, s: (v[:, None], s), r"\(1, 1\): need \(1,\)", id="column"),
        pytest.param(lambda v, s: (v.sum(), s), r"\(\): need \(1,\)", id="sum"),
        pytest.param(lambda v, s: (v, s.T), r"\(3, 1\): need \(1, 3\)", id="transposed"),
        pytest.param(lambda v, s: (v, s.ravel()), r"\(3,\): need \(1, 3\)", id="flat"),
        pytest.param(lambda v, s: (np.append(v, 0), s), r"\(2,\): need \(1,\)", id="one more"),
        # These are right for one point.
        pytest.param(lambda v, s: (v[:1], s), r"\(1,\): need \(8,\)", id="first value"),
        pytest.param(lambda v, s: (v, s[:1]), r"\(1, 3\): need \(8, 3\)", id="first gradient"),
    ],
)
def test_wrong_results_of_many_points(result: Callable[[Any, Any], Any], message: str) -> None:
    def wrong(points: Any) -> Any:
        return result(*rows_of(normal)(points))

    error = within(SECONDS, lambda: rw.sample(wrong, START, vectorized=True))
    assert isinstance(error, ValueError), repr(error)
    with pytest.raises(ValueError, match=message):
        raise error


@pytest.mark.parametrize("wrong", [None, 3, "normal", (1.0, START)])
def test_what_is_no_function(wrong: Any) -> None:
    with pytest.raises(TypeError, match="need a function"):
        rw.sample(wrong, START)


# Densities that are 0 somewhere.


def truncated(edge: float, value: float, slope: float) -> Function:
    """A standard normal law beyond an edge in its first coordinate; elsewhere what is given."""

    def density(x: Any) -> tuple[float, Any]:
        if x[0] < edge:
            return value, np.full(2, slope)
        return -0.5 * float(x @ x), -x

    return density


def tail_moments(edge: float) -> tuple[float, float]:
    """Mean and second moment of a standard normal number above an edge."""
    density = math.exp(-0.5 * edge**2) / math.sqrt(2 * math.pi)
    ratio = density / (0.5 * math.erfc(edge / math.sqrt(2)))
    return ratio, 1 + edge * ratio


@pytest.mark.parametrize("start", [1.0, 0.01, 0.0])
@pytest.mark.parametrize("edge", [-0.5, 0.0])
def test_truncated_densities(edge: float, start: float) -> None:
    """With the edge at 0 a half-normal law, whose mode is on the edge: right, or refused."""
    function = truncated(edge, -np.inf, 0.0)
    try:
        samples = rw.sample(function, [start, 0.0], chains=CHAINS, draws=500, seed=1)
    except rw.RunError as error:
        assert edge == 0.0 and "sample a transformed coordinate" in str(error)
        return
    x = samples.draws[..., 0]
    assert x.min() >= edge
    mean, square = tail_moments(edge)
    assert largest(np.stack([x - mean, x**2 - square], axis=2)) < BOUND_OF[2]
    # The bound is close enough to tell the law from one whose edge is a little lower.
    mean, square = tail_moments(edge - 0.2)
    assert largest(np.stack([x - mean, x**2 - square], axis=2)) > BOUND_OF[2]


@pytest.mark.parametrize(("value", "slope"), [(np.nan, 0.0), (-np.inf, np.nan), (-1.0, np.nan)])
@pytest.mark.parametrize("vectorized", [False, True])
def test_not_a_number_is_as_minus_infinity(value: float, slope: float, vectorized: bool) -> None:
    expected = rw.sample(truncated(-0.5, -np.inf, 0.0), [0.3, 0.0], draws=100, seed=1)
    function = truncated(-0.5, value, slope)
    function = rows_of(function) if vectorized else function
    found = rw.sample(function, [0.3, 0.0], vectorized=vectorized, draws=100, seed=1)
    assert np.array_equal(found.draws, expected.draws)


@pytest.mark.parametrize("value", [np.nan, -np.inf])
@pytest.mark.parametrize("vectorized", [False, True])
def test_a_start_where_the_density_is_0(value: float, vectorized: bool) -> None:
    function = truncated(0.0, value, 0.0)
    function = rows_of(function) if vectorized else function
    with pytest.raises(rw.RunError, match=r"the density is 0 at \[-1.0, 0.0\]"):
        rw.sample(function, [-1.0, 0.0], vectorized=vectorized)


# Arguments.


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (np.zeros((1, 3)), r"start: found an array of shape \(1, 3\), need one point"),
        ([], r"start: found an array of shape \(0,\)"),
        (0.0, r"start: found an array of shape \(\)"),
        ([0.0, np.nan, 0.0], "start: found a number that is not finite"),
        ([0.0, np.inf, 0.0], "start: found a number that is not finite"),
    ],
)
def test_bad_starts(start: Any, message: str) -> None:
    with pytest.raises(rw.InputError, match=message):
        rw.sample(normal, start)


@pytest.mark.parametrize("names", [[], ["a", "b"], ["a", "b", "c", "d"], ["a", "b", "a"]])
def test_bad_names(names: list[str]) -> None:
    with pytest.raises(rw.InputError, match=f"names: found {len(names)}, need 3 that differ"):
        rw.sample(normal, START, names=names)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"chains": 0}, "chains 0: need at least 1"),
        ({"draws": 0}, "draws 0: need at least 1"),
        ({"target_ess": 0.0}, "target_ess 0: need a positive"),
        ({"target_ess": 100.0, "max_draws": 0}, "max_draws 0: need at least 1"),
        ({"vectorized": True, "threads": 2}, "threads with vectorized"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    calls = 0

    def counted(x: Any) -> Any:
        nonlocal calls
        calls += 1
        return rows_of(normal)(x) if options.get("vectorized") else normal(x)

    with pytest.raises(rw.InputError, match=message):
        rw.sample(counted, START, **options)
    assert calls <= 1


def test_arguments_are_named_in_messages() -> None:
    for error, message, arguments in (
        (rw.InputError, "seed -1: need at least 0", {"seed": -1}),
        (TypeError, "draws=2.5 (float): need a whole number", {"draws": 2.5}),
        (TypeError, "chains=True (bool): need a whole number", {"chains": True}),
        (rw.InputError, "threads 0: need at least 1", {"threads": 0}),
        (TypeError, "names: found a text", {"names": "abc"}),
    ):
        with pytest.raises(error) as found:
            rw.sample(normal, START, **arguments)  # type: ignore[arg-type]
        assert message in str(found.value)
    with pytest.raises(ValueError, match=r"the log density is \+inf"):
        rw.sample(lambda x: (np.inf, -x), START)


def test_thread_locals_of_the_function_stay() -> None:
    local, threads = threading.local(), set()

    def counted(x: Any) -> Any:
        local.calls = getattr(local, "calls", 0) + 1
        threads.add(threading.get_ident())
        counted.most = max(getattr(counted, "most", 0), local.calls)  # type: ignore[attr-defined]
        return normal(x)

    rw.sample(counted, START, draws=50)
    assert counted.most > 100 and len(threads) <= 2  # type: ignore[attr-defined]


def test_a_posterior_much_wider_than_its_mode_is_not_refused() -> None:
    """Student-t noise, 80 rows, 50 unknowns: in different directions wider by ten or so."""
    rng = np.random.default_rng(2)
    d, rows = 49, 80
    size = 10.0 ** np.linspace(-1.5, 1.5, d)
    z = rng.standard_normal((rows, d))
    for k in range(1, d):
        z[:, k] = 0.95 * z[:, k - 1] + (1 - 0.95**2) ** 0.5 * z[:, k]
    x = z * size
    y = x @ (rng.standard_normal(d) / size) + rng.standard_t(2, rows)

    def student(u: Any, scale: Any) -> tuple[Any, Any]:
        u = u / scale
        return -2.5 * np.log1p(u * u / 4), -5 * u / (4 + u * u) / scale

    def density(theta: Any) -> tuple[float, Any]:
        beta, log_scale = theta[:-1], theta[-1]
        scale = np.exp(log_scale)
        residual = (y - x @ beta) / scale
        weight = 4 * residual / (3 + residual**2)
        prior, pull = student(beta, 2.5 / size)
        last, last_pull = student(log_scale, 2.5)
        value = -2 * np.log1p(residual**2 / 3).sum() - rows * log_scale + prior.sum() + last
        of_scale = (weight * residual).sum() - rows + last_pull
        return value, np.append(weight @ x / scale + pull, of_scale)

    samples = rw.sample(density, np.zeros(d + 1), seed=1, draws=200)
    assert "divergence" not in samples.status
