# SPDX-License-Identifier: Apache-2.0
"""Whether real programs get the same delay each time, and whether reports say how far to trust it: ten runs of the same
work. What the delay should be is not known; their median stands for it."""
import os
import shutil
import statistics
import sys

from acceptance.bounds import BOUNDS, PROGRAMS_TARGET, REPEATS
from acceptance.prediction import PYTHON, SQL
from acceptance.rows import Row
from acceptance.runner import RunError, progress

# A dictionary that is filled in some two seconds: what walks know of it they must know soon.
SHORT_PYTHON = ("d = {}\nfor i in range(3000000): d[i * 2654435761 % 4294967291] = i\n"
                "print(len(d))\n")
SHORT_TARGET = "500ns"


def deviations_in_percent(figures):
    median = statistics.median(figures)
    if median <= 0:
        raise RunError("most of the runs gave nothing, or less")
    return [100 * (each / median - 1) for each in figures]


def misses_of_intervals(injected_ns, relative_95):
    """How many reports' error intervals do not hold the median. A report that does not know its error holds nothing."""
    median = statistics.median(injected_ns)
    return sum(relative is None or abs(each - median) > relative * each
               for each, relative in zip(injected_ns, relative_95))


class Repeats:
    """All in the first round: ten runs are enough."""

    def __init__(self, name, command, needs, target=PROGRAMS_TARGET, bound="repeats"):
        self.spread = Row(f"repeats: {name}, delay against the median", "%", BOUNDS[bound], signed=True)
        self.outside = Row(f"repeats: {name}, of {REPEATS} outside their own interval", "runs", BOUNDS["repeats outside"])
        self.rows = [self.spread, self.outside]
        self.command = command
        self.needs = needs
        self.target = target

    def round(self, runner, _selected):
        if self.spread.samples or self.spread.failure:
            return
        if shutil.which(self.needs) is None:
            self.spread.skipped = self.outside.skipped = f"{self.needs} is not installed"
            return
        progress(f"  repeats: {os.path.basename(self.command[0])}, {REPEATS} times")
        try:
            reports = [self.report(runner) for _ in range(REPEATS)]
            injected_ns = [report["totals"]["injected_ns"] for report in reports]
            relative_95 = [report["error"]["relative_95"] for report in reports]
            self.spread.samples = deviations_in_percent(injected_ns)
            of_time = deviations_in_percent([report["totals"]["cpu_ns"] for report in reports])
            self.spread.remark = f"their own CPU time {max(of_time, key=abs):+.0f} % at most"
            self.outside.samples = [misses_of_intervals(injected_ns, relative_95)]
            told = [100 * relative for relative in relative_95 if relative is not None]
            self.outside.remark = f"+-{min(told):.0f} to {max(told):.0f} %" if told else "no report tells its error"
        except RunError as error:
            self.spread.failure = self.outside.failure = str(error)

    def report(self, runner):
        outcome = runner.emulated(self.command, ["--read-latency", self.target])
        if outcome.status != 0:
            raise RunError(f"exit status {outcome.status}: {outcome.stderr.strip()[-300:]}")
        return outcome.report


def experiments():
    yield Repeats("sqlite3", ["sqlite3", ":memory:", SQL], "sqlite3")
    yield Repeats("python3", [sys.executable, "-c", PYTHON], sys.executable)
    yield Repeats(f"python3, {SHORT_TARGET}", [sys.executable, "-c", SHORT_PYTHON], sys.executable, SHORT_TARGET, "repeats, short")
