# SPDX-License-Identifier: Apache-2.0
"""Whether an emulated run did what the native ones did."""
import hashlib
import re
import signal
import statistics
from dataclasses import dataclass, field
from typing import List, NamedTuple

from gallery.limits import HIGHEST_SLOWDOWN, LOWEST_SLOWDOWN, NOISE_SECONDS

PASS, FAIL, SKIPPED = "PASS", "FAIL", "SKIPPED"

# Times, process ids, ports and addresses differ from run to run.
_NUMBER = re.compile(r"0x[0-9a-fA-F]+|[0-9]+(?:[.:,][0-9]+)*")


class Run(NamedTuple):
    status: int  # below 0: the signal that ended it
    result: bytes  # what must be the same
    stderr: str
    seconds: float
    reports: list = []  # of an emulated run: one, unless the command starts nvmemu itself


def messages(stderr):
    """The lines without what differs from run to run."""
    return {_NUMBER.sub("#", line).strip() for line in stderr.splitlines()} - {""}


def status_text(status):
    """A shell, and nvmemu run, tell of a signal by 128 + its number."""
    number = -status if status < 0 else status - 128
    try:
        return f"exit status {status} ({signal.Signals(number).name})" if number > 0 else f"exit status {status}"
    except ValueError:
        return f"exit status {status}"


def differences(natives, emulated):
    """What is wrong with an emulated run, in words; nothing where it is right."""
    found = []
    native = natives[0]
    if emulated.status != native.status:
        found.append(f"{status_text(emulated.status)}, natively {native.status}")
    if emulated.result not in [run.result for run in natives]:
        found.append("another result: " + _first_difference(native.result, emulated.result))
    known = set().union(*(messages(run.stderr) for run in natives))
    new = [line for line in emulated.stderr.splitlines() if not messages(line) <= known]
    if new:
        found.append(f"stderr: {new[0].strip()[:200]}" + (f" (and {len(new) - 1} lines more)" if len(new) > 1 else ""))
    if not emulated.reports:
        found.append("no run report")
    elif not any(report["processes"] for report in emulated.reports):
        found.append("ran natively: no process in the report")
    return found


def _first_difference(native, emulated):
    lines = zip(native.splitlines() + [b"(end)"], emulated.splitlines() + [b"(end)"])
    for ours, theirs in lines:
        if ours != theirs:
            return f"{_short(theirs)}, natively {_short(ours)}"
    return f"{len(emulated)} bytes, natively {len(native)}"


def _short(line):
    return repr(line[:60].decode(errors="replace"))


def digest(data):
    return hashlib.sha256(data).hexdigest()


@dataclass
class Row:
    name: str
    version: str = ""
    natives: List[Run] = field(default_factory=list)
    emulated: List[Run] = field(default_factory=list)
    failures: List[str] = field(default_factory=list)  # one a run that failed
    skipped: str = ""
    remark: str = ""  # what is to be known of a row that passes
    timed: bool = True  # False: how long it takes says nothing

    @property
    def native_seconds(self):
        return statistics.median(run.seconds for run in self.natives)

    @property
    def emulated_seconds(self):
        return statistics.median(run.seconds for run in self.emulated)

    @property
    def slowdown(self):
        return self.emulated_seconds / self.native_seconds

    def of_reports(self, figure):
        """The median over the runs of a figure that is summed over the reports of each."""
        return statistics.median(sum(map(figure, run.reports)) for run in self.emulated)

    def add(self, run):
        found = differences(self.natives, run)
        if found:
            self.failures.append("; ".join(found))
        self.emulated.append(run)

    def implausible(self):
        if not self.timed or not self.emulated or LOWEST_SLOWDOWN <= self.slowdown <= HIGHEST_SLOWDOWN:
            return ""
        if abs(self.emulated_seconds - self.native_seconds) < NOISE_SECONDS:
            return ""
        return f"slowdown {self.slowdown:.2f} is not within {LOWEST_SLOWDOWN:g} to {HIGHEST_SLOWDOWN:g}"

    def verdict(self):
        if self.skipped:
            return SKIPPED
        return FAIL if self.failures or self.implausible() else PASS

    def note(self):
        if self.skipped:
            return self.skipped
        texts = []
        if self.failures:
            runs = f"{len(self.failures)} of {max(len(self.emulated), len(self.failures))} runs: "
            texts.append(runs + self.failures[0])
        texts += filter(None, [self.implausible(), self.remark])
        return "; ".join(texts)
