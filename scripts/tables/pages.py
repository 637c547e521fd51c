"""Puts tables into the pages, or reports where a page differs from the files."""
import sys

from . import distributed, reliability, samplers, speed, tests, theory
from .forms import ROOT

ROOMS = (samplers, speed, reliability, theory, distributed, tests)
# Tables by name: the page, and the function that makes it.
TABLES = {name: entry for room in ROOMS for name, entry in room.TABLES.items()}


def made(page, what, make, errors):
    """The text; or none, and an error, if a file or a row in it is missing."""
    try:
        return make()
    except (OSError, LookupError, ValueError, StopIteration, ArithmeticError) as problem:
        errors.append(f"{page}: {what} cannot be made: {type(problem).__name__}: {problem}")
        return None


def put_table(page, text, name, errors, problems):
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    before, _, rest = text.partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        errors.append(f"{page}: no markers for the table `{name}`")
        return text
    content = made(page, f"the table `{name}`", TABLES[name][1], errors)
    new = text if content is None else before + begin + content + "\n" + end + after
    if new != text:
        problem = f"{page}: the table `{name}` differs from its file"
        problems.append(f"{problem}; run scripts/tables.py {name}")
    return new


def main(arguments):
    """Returns the exit code; problems go to standard error."""
    check = "--check" in arguments
    names = [name for name in arguments if name != "--check"] or list(TABLES)
    unknown = [name for name in names if name not in TABLES]
    if unknown:
        sys.exit(f"unknown table {unknown[0]!r}: need one of {', '.join(TABLES)}")
    every = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    paths = {path.name: path for path in every}
    pages = {page: path.read_text() for page, path in paths.items()}
    # Only an author can fix errors; writing the pages fixes the other problems.
    errors, problems = [], []
    texts = dict(pages)
    for name in names:
        page = TABLES[name][0]
        texts[page] = put_table(page, texts[page], name, errors, problems)
    if not check:
        for page, text in texts.items():
            if text != pages[page]:
                paths[page].write_text(text)
        problems = []
    for problem in errors + problems:
        print(problem, file=sys.stderr)
    return int(bool(errors or problems))
