"""Puts tables into the pages, or reports where a page differs from the files."""
import re
import sys

from . import distributed, mixed, peers, rates, reliability, samplers, speed, tests, theory
from .forms import ROOT

ROOMS = (mixed, samplers, speed, reliability, theory, rates, distributed, peers, tests)
# Tables by name: the page, and the function that makes it.
TABLES = {name: entry for room in ROOMS for name, entry in room.TABLES.items()}


def strangers(pages):
    """Names of tables that two modules have, and markers in a page for which no table is made."""
    names = [name for room in ROOMS for name in room.TABLES]
    twice = sorted({name for name in names if names.count(name) > 1})
    found = [f"the table `{name}` is made by two modules" for name in twice]
    for page, text in pages.items():
        for name in re.findall(r"^<!-- end of (\S+) -->$", text, re.MULTILINE):
            if TABLES.get(name, (None,))[0] != page:
                found.append(f"{page}: no table `{name}` is made for this page")
    return found


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
    errors, problems = strangers(pages), []
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
