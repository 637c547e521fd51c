#!/usr/bin/env python3
"""Executes a notebook; with --write, keeps what its cells show.

    scripts/checks/notebook.py crates/python/examples/quickstart.ipynb [--write]
"""

import pathlib
import sys

import nbformat
from nbclient import NotebookClient

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main() -> None:
    path = ROOT / sys.argv[1]
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": path.parent}}
    )
    client.execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    if sys.argv[2:] == ["--write"]:
        # Times of execution change with every run.
        for cell in cells:
            cell.metadata.pop("execution", None)
        notebook.metadata.pop("language_info", None)
        nbformat.write(notebook, path)
    print(f"{len(cells)} cells of {sys.argv[1]} run")


main()
