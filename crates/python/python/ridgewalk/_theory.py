"""What is proved about the algorithm: certificates, plans, and the numbers of one step."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from . import _ridgewalk


def certify(
    kappa: float,
    *,
    gamma: float | None = None,
    xi: float | None = None,
    eta: float | None = None,
    nodes: int | None = None,
    kernel: str | None = None,
) -> dict[str, Any]:
    """A contraction certificate of the diffusion or, with `eta`, of the algorithm.

    It holds for every potential with the condition number `kappa`, in every dimension, and is checked
    in exact arithmetic. Without `gamma` and `xi` they are the best found. `status` is "certified",
    "refuted" (then `witness` says where the step expands) or "unknown".

    >>> import ridgewalk as rw
    >>> found = rw.certify(kappa=10)
    >>> found["status"], bool(found["rate"] > 0)
    ('certified', True)
    >>> rw.certify(kappa=10, eta=3.0)["status"]
    'refuted'
    """
    document: dict[str, Any] = json.loads(
        _ridgewalk.certify(kappa, gamma, xi, eta, nodes, kernel)
    )
    return document


def plan(
    *,
    convexity: float,
    smoothness: float,
    dimension: int,
    accuracy: float,
    nodes: int | None = None,
    lipschitz_hessian: float | None = None,
    higher_smoothness: Sequence[tuple[int, float]] = (),
    start_distance: float = 0.0,
    start_at_rest: bool = False,
) -> dict[str, Any]:
    """Parameters and a number of steps after which W2 is at most `accuracy`, every constant explicit.

    It holds for every potential with this convexity and smoothness. `status` is "certified", or
    "unknown" if no plan was found.

    >>> import ridgewalk as rw
    >>> found = rw.plan(convexity=1, smoothness=10, dimension=5, accuracy=0.1)
    >>> found["status"], found["bound"] <= 0.1
    ('certified', True)
    """
    document: dict[str, Any] = json.loads(
        _ridgewalk.plan(
            convexity,
            smoothness,
            dimension,
            accuracy,
            nodes,
            lipschitz_hessian,
            list(higher_smoothness),
            start_distance,
            start_at_rest,
        )
    )
    return document


def coefficients(
    gamma: float, xi: float, eta: float, smoothness: float = 1.0
) -> dict[str, float]:
    """The numbers of one step of Algorithm 1: every mu, sigma and Cholesky entry by its name.

    >>> import ridgewalk as rw
    >>> sorted(rw.coefficients(gamma=1, xi=2, eta=0.5))[:3]
    ['chol11', 'chol21', 'chol22']
    """
    return dict(_ridgewalk.coefficients(gamma, xi, eta, smoothness))
