#!/usr/bin/env python3
"""Steps of QUICSORT, ShOULD and ALIGN by the library diffrax, from given increments and areas of the
path, on a potential that is not quadratic.

    python3 -m venv venv && venv/bin/pip install diffrax==0.7.2
    venv/bin/python scripts/oracles/diffrax_steps.py > crates/sampler/tests/golden/diffrax_steps.json

W is the increment of the path over the step, H and K its areas against a straight line and a
parabola, with variances h, h/12 and h/720. The gradient of the potential over its smoothness is
g(x) = 0.4 x + 0.6 tanh(x - 0.3).
"""
import json
from types import SimpleNamespace

import diffrax
import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)


def gradient(x, _=None):
    return 0.4 * x + 0.6 * jnp.tanh(x - 0.3)


def steps(solver, gamma, h, path, x, v):
    """The states after each step."""
    ones = jnp.ones_like(x)
    c = gamma * ones
    coeffs = solver._directly_compute_coeffs_leaf(h, c)
    rho = jnp.sqrt(2 * c)
    before, states = gradient(x), []
    for w, area, second in path:
        levy = SimpleNamespace(W=w, H=area, K=second)
        given = (c, ones, gradient)
        x, v, after, _ = solver._compute_step(h, levy, x, v, given, coeffs, rho, before, None)
        before = after
        states.append({"x": x.tolist(), "v": v.tolist()})
    return states


rng = np.random.default_rng(1)
cases = []
for name, solver in [("quicsort", diffrax.QUICSORT()), ("should", diffrax.ShOULD()), ("align", diffrax.ALIGN())]:
    for gamma, h in [(2.0, 0.3), (0.7, 1.1), (3.0, 0.8)]:
        normals = rng.standard_normal((2, 3, 4))
        scale = np.sqrt(h * np.array([1, 1 / 12, 1 / 720]))
        path = normals * scale[None, :, None]
        x, v = rng.standard_normal((2, 4))
        states = steps(solver, gamma, h, [tuple(map(jnp.asarray, step)) for step in path], jnp.asarray(x), jnp.asarray(v))
        case = {"kernel": name, "xi": gamma, "eta": h, "x": x.tolist(), "v": v.tolist()}
        cases.append({**case, "path": path.tolist(), "states": states})
made = f"scripts/oracles/diffrax_steps.py, diffrax {diffrax.__version__}, jax {jax.__version__}"
print(json.dumps({"made by": made, "cases": cases}, indent=1))
