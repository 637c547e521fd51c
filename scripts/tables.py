#!/usr/bin/env python3
"""Puts what the files of docs/results say into README.md and the pages of docs: tables, and single figures in running text. Usage:
scripts/tables.py [--check] [TABLE ...]

Tables stand between markers, `<!-- NAME -->` and `<!-- end of NAME -->`, each on a line of its own. Figures stand in a line, but never at its beginning, where
Markdown would end the paragraph: `<!--= NAME -->0.74<!--/-->`. What makes them is in scripts/tables/, a room for each subject, by name in its TABLES and VALUES.

Without names all tables are written; the figures always are. With --check nothing is written, and the exit code is 1 if a page does not say what the files say.
"""
import sys

sys.dont_write_bytecode = True

from tables.pages import main  # noqa: E402

sys.exit(main(sys.argv[1:]))
