"""Puts tables and figures into the pages, or tells where a page says something else."""
import re
import sys

from . import distributed, reliability, samplers, speed, tests, theory
from .forms import ROOT

ROOMS = (samplers, speed, reliability, theory, distributed, tests)
# Name of a table: its page, and what makes it.
TABLES = {name: entry for room in ROOMS for name, entry in room.TABLES.items()}
# Name of a figure: what makes it.
VALUES = {name: make for room in ROOMS for name, make in room.VALUES.items()}
VALUE = re.compile(r"<!--= (\S+) -->(.*?)<!--/-->")


def made(page, what, make, errors):
    """The text, or none and an error if its file is not there or lacks a row that is needed."""
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
        problems.append(f"{page}: the table `{name}` is not what its file says; scripts/tables.py {name} writes it")
    return new


def put_values(page, text, used, errors, problems):
    def put(match):
        name, found = match.groups()
        if name not in VALUES:
            errors.append(f"{page}: no figure is called `{name}`")
            return match[0]
        used.add(name)
        value = made(page, f"the figure `{name}`", VALUES[name], errors)
        if value is None:
            return match[0]
        if found != value:
            problems.append(f"{page}: the figure `{name}` is {found!r}, and its file says {value!r}; scripts/tables.py writes it")
        return f"<!--= {name} -->{value}<!--/-->"

    new = VALUE.sub(put, text)
    for count, line in enumerate(new.splitlines(), 1):
        rest = VALUE.sub("", line)
        if "<!--=" in rest or "<!--/-->" in rest:
            errors.append(f"{page}, line {count}: a figure needs `<!--= NAME -->` and `<!--/-->` in one line")
        if re.match(r"\s*(?:[-*]|\d+\.)?\s*<!--=", line):
            errors.append(f"{page}, line {count}: a figure at the beginning of a line ends the paragraph; need a word before it")
    return new


def main(arguments):
    """The exit code; what is wrong goes to standard error."""
    check = "--check" in arguments
    names = [name for name in arguments if name != "--check"] or list(TABLES)
    unknown = [name for name in names if name not in TABLES]
    if unknown:
        sys.exit(f"unknown table {unknown[0]!r}: need one of {', '.join(TABLES)}")
    paths = {path.name: path for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]}
    pages = {page: path.read_text() for page, path in paths.items()}
    # Errors nobody but an author can mend; other problems are mended by writing.
    errors, problems, used = [], [], set()
    texts = dict(pages)
    for name in names:
        page = TABLES[name][0]
        texts[page] = put_table(page, texts[page], name, errors, problems)
    for page in texts:
        texts[page] = put_values(page, texts[page], used, errors, problems)
    errors += [f"no page has the figure `{name}`" for name in VALUES if name not in used]
    if not check:
        for page, text in texts.items():
            if text != pages[page]:
                paths[page].write_text(text)
        problems = []
    for problem in errors + problems:
        print(problem, file=sys.stderr)
    return int(bool(errors or problems))
