#!/usr/bin/env python3
"""Opens report.html of a run in headless Chromium: the plots must be there, and nothing may be
logged as an error.

    python3 scripts/checks/report.py DIR [--screenshots INTO]

DIR is a run directory, or an HTML file. With --screenshots, pictures of light and dark, wide and
narrow pages are written as INTO-light-1300.png and so on. Needs Python 3 alone, and chromium
(Debian: apt-get install -y chromium); CHROMIUM names another. Exit codes: 0 good; 1 something is
wrong, and what; 2 no such file; 77 no Chromium here.
"""
import argparse
import html.parser
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

FLAGS = """--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update
--disable-sync --disable-dev-shm-usage --hide-scrollbars""".split()
DARK = "--blink-settings=preferredColorScheme=0"
LIGHT = "--blink-settings=preferredColorScheme=1"


def browse(chromium, page, *flags):
    """Runs Chromium on the page with an empty profile."""
    with tempfile.TemporaryDirectory() as profile:
        command = [chromium, *FLAGS, f"--user-data-dir={profile}", *flags, page.resolve().as_uri()]
        return subprocess.run(command, capture_output=True, text=True, timeout=180)


class Page(html.parser.HTMLParser):
    """Counts what matters."""

    def __init__(self):
        super().__init__()
        self.svgs = 0
        self.paths_in_svg = []
        self.promised = None
        self.outside = []
        self.ids = set()
        self.links = []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "svg":
            self.svgs += 1
            self.paths_in_svg.append(0)
        if tag == "path" and self.paths_in_svg:
            self.paths_in_svg[-1] += bool(attributes.get("d"))
        if tag == "main":
            self.promised = int(attributes.get("data-plots", -1))
        if "id" in attributes:
            self.ids.add(attributes["id"])
        for key in ("src", "href", "xlink:href", "action", "data", "srcset"):
            value = attributes.get(key)
            if value is not None and tag != "path":
                (self.links if value.startswith("#") else self.outside).append(value)


def check(chromium, page):
    failures = []
    done = browse(chromium, page, "--enable-logging=stderr", "--v=0", "--dump-dom", "--virtual-time-budget=5000")
    if done.returncode != 0:
        return [f"chromium ended with {done.returncode}: {done.stderr[-500:]}"], 0
    seen = Page()
    seen.feed(done.stdout)
    if seen.promised is None or seen.svgs != seen.promised or seen.svgs == 0:
        failures.append(f"{seen.svgs} plots, the page promises {seen.promised}")
    empty = sum(count == 0 for count in seen.paths_in_svg)
    if empty:
        failures.append(f"{empty} plots have no line")
    for link in seen.outside:
        failures.append(f"a link out of the page: {link[:80]}")
    for link in seen.links:
        if link[1:] not in seen.ids:
            failures.append(f"a link to nowhere: {link}")
    if "<button" not in done.stdout and len(re.findall(r'<tr id="r', done.stdout)) > 1:
        failures.append("the script that sorts the table did not run")
    failures += [f"logged: {line}" for line in done.stderr.splitlines() if "CONSOLE" in line]
    return failures, seen.svgs


def screenshots(chromium, page, into, height):
    for name, scheme in (("light", LIGHT), ("dark", DARK)):
        for width in (1300, 420):
            # Chromium has no window narrower than 500: a frame is as narrow as one likes.
            target = pathlib.Path(f"{into}-{name}-{width}.png").resolve()
            if width >= 500:
                browse(chromium, page, scheme, f"--window-size={width},{height}", f"--screenshot={target}")
                continue
            with tempfile.NamedTemporaryFile("w", suffix=".html") as frame:
                frame.write(f'<!doctype html><meta name="color-scheme" content="light dark"><body style="margin:0"><iframe '
                            f'src="{page.resolve().as_uri()}" style="border:0;width:{width}px;height:{height}px"></iframe>')
                frame.flush()
                browse(chromium, pathlib.Path(frame.name), scheme, "--allow-file-access-from-files", f"--window-size=500,{height}",
                       f"--screenshot={target}")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("directory", type=pathlib.Path)
    options.add_argument("--screenshots", metavar="INTO")
    options.add_argument("--height", type=int, default=3000, help="of the screenshots, in pixels")
    options = options.parse_args()
    page = options.directory / "report.html" if options.directory.is_dir() else options.directory
    if not page.is_file():
        print(f"report: there is no {page}", file=sys.stderr)
        sys.exit(2)
    chromium = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        print("report: there is no chromium here (Debian: apt-get install -y chromium)", file=sys.stderr)
        sys.exit(77)
    failures, plots = check(chromium, page)
    if options.screenshots:
        screenshots(chromium, page, options.screenshots, options.height)
    for failure in failures[:20]:
        print(f"report: {failure}", file=sys.stderr)
    if failures:
        sys.exit(1)
    print(f"{page.name}: {plots} plots, {page.stat().st_size} bytes, nothing logged")


if __name__ == "__main__":
    main()
