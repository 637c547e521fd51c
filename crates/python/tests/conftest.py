"""What tests share: the repository's data, and the program that the package must agree with."""

from __future__ import annotations

import os
import pathlib

import pandas as pd
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]


def read_csv(path: pathlib.Path) -> pd.DataFrame:
    """Reads numbers to the last bit, which pandas does by itself from 3.1 on."""
    exact = tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1)
    return pd.read_csv(path) if exact else pd.read_csv(path, float_precision="round_trip")


@pytest.fixture(scope="session")
def program() -> str:
    """The program `ridgewalk`: RIDGEWALK names it."""
    found = os.environ.get("RIDGEWALK", str(ROOT / "target/checks/ridgewalk"))
    if not os.access(found, os.X_OK):
        if os.environ.get("CI") == "true":
            pytest.fail(f"no program {found}: set RIDGEWALK")
        pytest.skip(f"no program {found}: set RIDGEWALK")
    return found


@pytest.fixture(scope="session")
def wells_path() -> pathlib.Path:
    return ROOT / "crates/cli/tests/data/wells.csv"


@pytest.fixture(scope="session")
def wells(wells_path: pathlib.Path) -> pd.DataFrame:
    return read_csv(wells_path)


@pytest.fixture(scope="session")
def study() -> pd.DataFrame:
    """Small data with a factor, for quick fits."""
    return pd.DataFrame(
        {
            "hours": [0.5, 1.0, 1.5, 1.75, 2.0, 2.5, 3.0, 3.25, 4.0, 4.25, 4.75, 5.5],
            "passed": [0, 0, 0, 1, 0, 1, 0, 1, 1, 1, 1, 1],
            "city": ["Oslo", "Bergen", "Oslo", "Bergen"] * 3,
        }
    )
