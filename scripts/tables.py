#!/usr/bin/env python3
"""Puts the results in docs/results into README.md and the pages of docs. Usage:
scripts/tables.py [--check] [TABLE ...]

A table stands between the markers `<!-- NAME -->` and `<!-- end of NAME -->`, each on a line of
its own. The functions that make the tables are in scripts/tables/, one module for each subject,
listed by name in its TABLES.

Without names all tables are written. With --check nothing is written, and the exit code is 1 if a
page differs from the files.
"""
import sys

sys.dont_write_bytecode = True

from tables.pages import main  # noqa: E402

sys.exit(main(sys.argv[1:]))
