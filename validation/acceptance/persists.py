# SPDX-License-Identifier: Apache-2.0
"""Persists that the program tells of, and such that nobody tells of: a round takes what the emulated memory takes for it, or
what it takes here. And what is no persist beside: stores that fetch lines, fences behind them, locks behind persists."""
import os

from acceptance.windowed_programs import SET, TARGET
from acceptance.windows import AllFromMemory, AsManyAtOnce, Nothing, Windowed

FIRST_NS, BANDWIDTH_BPS = 1000, 2.4e9
LINE_NS = 64e9 / BANDWIDTH_BPS
PROFILE = f'write_latency = "{FIRST_NS}ns"\npersist_bandwidth = "{BANDWIDTH_BPS / 1e9}GB/s"\n'


class AtLeast(AllFromMemory):
    """A round waits until the memory has taken the one before, and meanwhile does what it does here. In the long run it
    is no faster than a medium that writes `written_bytes` for each line."""

    def __init__(self, lines, written_bytes=0):
        self.round_ns = max(FIRST_NS + (lines - 1) * LINE_NS, lines * written_bytes * 1e9 / BANDWIDTH_BPS)

    def added_ns(self, off_ns, _target_ns, _base_ns):
        return max(0, self.round_ns - off_ns)


class Persists(Windowed):
    def __init__(self, name, arguments, lines, bound="windows: persists", written_bytes=0):
        super().__init__(f"persists: {name}", bound, f"{FIRST_NS} ns", "nvmemu-persist", arguments,
                         AtLeast(lines, written_bytes))
        self.profile = PROFILE + ('write_granularity = "256B"\n' if written_bytes else "")

    def round(self, runner, selected):
        path = os.path.join(runner.folder, "persists.toml")
        with open(path, "w") as file:
            file.write(self.profile)
        self.memory = ["--profile", path, "--epoch", "20ms"]
        super().round(runner, selected)

    def target_ns(self, report):
        return report["target"]["write_latency_ns"]


def told():
    for lines in (1, 4, 16, 64):
        yield Persists(f"{lines} line{'s' if lines > 1 else ''}", ["--lines", str(lines)], lines)
    for work in (200, 400, 4000):
        yield Persists(f"1 line, {work} multiplications beside", ["--work", str(work)], 1)


def inline():
    for lines in (1, 4, 64):
        yield Persists(f"inline, {lines} line{'s' if lines > 1 else ''}", ["--untold", "--lines", str(lines)], lines,
                       "windows: inline persists")
    # One line by movnti is not among these: docs/persists.md, Limits.
    for by, lines in (("clflushopt", 1), ("clflushopt", 4), ("clflush", 1), ("clflush", 4), ("movnti", 4)):
        yield Persists(f"inline, {by}, {lines} line{'s' if lines > 1 else ''}",
                       ["--untold", "--by", by, "--lines", str(lines)], lines, "windows: inline persists")
    for apart in (64, 256):
        yield Persists(f"inline, 64 lines, each {apart} bytes on, in blocks of 256 bytes",
                       ["--untold", "--lines", "64", "--apart", str(apart)], 64, "windows: inline persists", apart)
    for work in (100, 400, 1600):
        yield Persists(f"inline, 1 line, {work} multiplications beside", ["--untold", "--work", str(work)], 1,
                       "windows: inline persists")


def stores():
    yield Windowed("stores that miss", "windows: stores", TARGET, "nvmemu-gather", [*SET, "--stores"], AsManyAtOnce(SET))
    yield Windowed("stores that miss, each with a fence", "windows: stores", TARGET, "nvmemu-workload", ["stores", *SET],
                   AllFromMemory())
    for how, options in (("told", []), ("inline", ["--untold"])):
        yield Windowed(f"lock behind a persist, {how}", "windows: lock behind a persist", TARGET, "nvmemu-persist",
                       ["--lock", *options], Nothing(), cost=True)


def experiments():
    yield from told()
    yield from inline()
    yield from stores()
