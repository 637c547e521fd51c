"""Warnings about a run, as Python warnings."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from pathlib import Path


class FitWarning(UserWarning):
    """Something that should be known before the results of a run are used."""


def warn(entries: Iterable[tuple[str, str]]) -> None:
    """Warns of each (name, text), at the line of the user's own code."""
    level = 2
    here = str(Path(__file__).parent)
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(here):
        frame = frame.f_back
        level += 1
    for name, text in entries:
        warnings.warn(f"{name}: {text}", FitWarning, stacklevel=level)
