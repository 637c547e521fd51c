"""Puts tables and figures into the pages, or reports where a page differs from the files."""
import re
import sys

from . import distributed, reliability, samplers, speed, tests, theory
from .forms import ROOT

ROOMS = (samplers, speed, reliability, theory, distributed, tests)
# Tables by name: the page, and the function that makes it.
TABLES = {name: entry for room in ROOMS for name, entry in room.TABLES.items()}
# Figures in running text by name: the function that makes it.
VALUES = {name: make for room in ROOMS for name, make in room.VALUES.items()}
VALUE = re.compile(r"<!--= (\S+) -->(.*?)<!--/-->")


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
            problem = f"{page}: the figure `{name}` is {found!r}, but {value!r} in its file"
            problems.append(f"{problem}; run scripts/tables.py")
        return f"<!--= {name} -->{value}<!--/-->"

    new = VALUE.sub(put, text)
    for count, line in enumerate(new.splitlines(), 1):
        place = f"{page}, line {count}"
        rest = VALUE.sub("", line)
        if "<!--=" in rest or "<!--/-->" in rest:
            errors.append(f"{place}: a figure needs `<!--= NAME -->` and `<!--/-->` in one line")
        if re.match(r"\s*(?:[-*]|\d+\.)?\s*<!--=", line):
            errors.append(f"{place}: a figure cannot begin a line, as it would end the paragraph")
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
    errors, problems, used = [], [], set()
    texts = dict(pages)
    for name in names:
        page = TABLES[name][0]
        texts[page] = put_table(page, texts[page], name, errors, problems)
    for page in texts:
        texts[page] = put_values(page, texts[page], used, errors, problems)
    errors += [f"no page uses the figure `{name}`" for name in VALUES if name not in used]
    if not check:
        for page, text in texts.items():
            if text != pages[page]:
                paths[page].write_text(text)
        problems = []
    for problem in errors + problems:
        print(problem, file=sys.stderr)
    return int(bool(errors or problems))
