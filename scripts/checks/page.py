#!/usr/bin/env python3
"""Runs the Python programs of a page, one after the other in one namespace.

    scripts/checks/page.py docs/python.md [--write]

Blocks marked `python` run; what a following block marked `text` shows must be what they print. With
--write the page is made to show it.
"""

import contextlib
import io
import os
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def main() -> None:
    page = ROOT / sys.argv[1]
    text = page.read_text(encoding="utf-8")
    names: dict[str, object] = {"__name__": "page"}
    write = sys.argv[2:] == ["--write"]
    shown: list[tuple[tuple[int, int], str]] = []
    printed, count = "", 0
    with tempfile.TemporaryDirectory() as place:
        # The data that the page reads; what it writes goes away.
        for data in (ROOT / "crates/cli/tests/data").glob("*.csv"):
            (pathlib.Path(place) / data.name).symlink_to(data)
        os.chdir(place)
        for found in BLOCK.finditer(text):
            kind, block = found.groups()
            line = text.count("\n", 0, found.start()) + 1
            if kind == "python":
                out = io.StringIO()
                code = compile("\n" * line + block, str(page), "exec")
                with contextlib.redirect_stdout(out):
                    exec(code, names)  # noqa: S102
                printed, count = out.getvalue(), count + 1
            elif write:
                shown.append((found.span(2), printed.rstrip() + "\n"))
            elif printed.strip() != block.strip():
                sys.exit(f"{page}:{line}: the page shows\n{block}\nthe program prints\n{printed}")
        os.chdir(ROOT)
    if not count:
        sys.exit(f"{page}: no programs")
    for (start, end), block in reversed(shown):
        text = text[:start] + block + text[end:]
    if write:
        page.write_text(text, encoding="utf-8")
    print(f"{count} programs of {sys.argv[1]} run")


main()
