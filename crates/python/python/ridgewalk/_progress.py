"""Progress of a run: one line in a terminal, a bar in a notebook, nothing elsewhere."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

# Runs that are shorter show nothing.
_QUIET_SECONDS = 0.5
_WORDS = {
    "mode": "looking for the mode",
    "warm-up": "choosing coordinates and steps",
    "sampling": "sampling",
    "sampling again": "sampling again, after a check failed",
    "summary": "summarising",
    "stopping": "stopping: keeping the draws so far",
    "stopped": "stopping: keeping the draws so far",
    "rows": "leaving out rows",
    "refits": "refitting",
}


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    if shell is None:
        return False
    found = shell.get_ipython()
    return found is not None and type(found).__name__ == "ZMQInteractiveShell"


class Display:
    """Shows progress where it can be seen. Used as a context, it tidies up at its end."""

    def __init__(self, wanted: bool | None) -> None:
        self._began = time.monotonic()
        self._handle: Any = None
        self._width = 0
        self._notebook = _in_notebook() if wanted is not False else False
        terminal = sys.stderr is not None and sys.stderr.isatty()
        self._on = wanted if wanted is not None else self._notebook or terminal

    @property
    def callback(self) -> Callable[[str, int, int], None] | None:
        """What a run calls; None if nothing is to be shown."""
        return self.show if self._on else None

    def show(self, stage: str, done: int, of: int) -> None:
        """Shows how far a stage is."""
        seconds = time.monotonic() - self._began
        if seconds < _QUIET_SECONDS and stage != "stopping":
            return
        words = _WORDS.get(stage, stage)
        share = f" {100 * done // of} %" if of else ""
        if self._notebook:
            self._in_notebook(words, share, done, of, seconds)
        else:
            self._in_terminal(f"{words}{share}, {seconds:.0f} s")

    def _in_terminal(self, line: str) -> None:
        padding = " " * max(0, self._width - len(line))
        sys.stderr.write(f"\r{line}{padding}")
        sys.stderr.flush()
        self._width = len(line)

    def _in_notebook(self, words: str, share: str, done: int, of: int, seconds: float) -> None:
        shown = importlib.import_module("IPython.display")
        bar = f'<progress value="{done}" max="{of}"></progress> ' if of else ""
        html = shown.HTML(f"<div>{bar}{words}{share}, {seconds:.0f} s</div>")
        if self._handle is None:
            self._handle = shown.display(html, display_id=True)
        else:
            self._handle.update(html)

    def __enter__(self) -> Display:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._handle is not None:
            self._handle.update(importlib.import_module("IPython.display").HTML(""))
        elif self._width:
            sys.stderr.write(f"\r{' ' * self._width}\r")
            sys.stderr.flush()
