"""Runs of `ridgewalk fit` that are watched, for the scripts beside this one."""

import os
import subprocess
import sys
import time

# The phases of a run, and the line of its standard error that each begins with. The design is
# written from the moment that its file is open.
LINES = {"finding the mode": "mode", "warming up": "warm-up", "sampling": "sampling",
         "summary and report": "summary"}
PHASES = ["reading", "design file", "mode", "warm-up", "sampling", "summary"]


class Run:
    """A process, and the phase that it is in."""

    def __init__(self, place, words):
        self.place, self.log = place, open(place / "log", "w+b")
        self.process = subprocess.Popen(words, cwd=place, stdout=subprocess.DEVNULL,
                                        stderr=self.log)

    def phase(self):
        if self.process.poll() is not None:
            return "finished"
        for line in reversed((self.place / "log").read_text().splitlines()):
            if line.strip() in LINES:
                return LINES[line.strip()]
        return "design file" if self.has_design() else "reading"

    def has_design(self):
        """Whether a file without a name is open."""
        fds = f"/proc/{self.process.pid}/fd"
        try:
            return any(os.readlink(f"{fds}/{fd}").endswith("(deleted)") for fd in os.listdir(fds))
        except OSError:
            return False

    def reach(self, phase):
        """Waits for a phase, or a later one."""
        far = PHASES.index(phase)
        while (now := self.phase()) != "finished" and PHASES.index(now) < far:
            time.sleep(0.001)

    def times(self):
        """The seconds of each phase of a run that nothing interrupts."""
        began, seconds = time.monotonic(), {}
        for phase, after in zip(PHASES, [*PHASES[1:], None]):
            self.reach(after) if after else self.process.wait()
            now = time.monotonic()
            began, seconds[phase] = now, now - began
        if self.process.wait() != 0:
            sys.exit((self.place / "log").read_text())
        return seconds
