# SPDX-License-Identifier: Apache-2.0
"""Persists that the program tells of: a round takes what the emulated memory takes for it, or what it takes here."""
import os

from acceptance.windows import AllFromMemory, Windowed

FIRST_NS, BANDWIDTH_BPS = 1000, 2.4e9
LINE_NS = 64e9 / BANDWIDTH_BPS
PROFILE = f'write_latency = "{FIRST_NS}ns"\npersist_bandwidth = "{BANDWIDTH_BPS / 1e9}GB/s"\n'


class AtLeast(AllFromMemory):
    """A round waits until the memory has taken the one before, and meanwhile does what it does here."""

    def __init__(self, lines):
        self.round_ns = FIRST_NS + (lines - 1) * LINE_NS

    def added_ns(self, off_ns, _target_ns, _base_ns):
        return max(0, self.round_ns - off_ns)


class Persists(Windowed):
    def __init__(self, name, arguments, lines):
        super().__init__(f"persists: {name}", "windows: persists", f"{FIRST_NS} ns", "nvmemu-persist", arguments,
                         AtLeast(lines))

    def round(self, runner, selected):
        path = os.path.join(runner.folder, "persists.toml")
        with open(path, "w") as file:
            file.write(PROFILE)
        self.memory = ["--profile", path, "--epoch", "20ms"]
        super().round(runner, selected)

    def target_ns(self, report):
        return report["target"]["write_latency_ns"]


def experiments():
    for lines in (1, 4, 16, 64):
        yield Persists(f"{lines} line{'s' if lines > 1 else ''}", ["--lines", str(lines)], lines)
    for work in (200, 400, 4000):
        yield Persists(f"1 line, {work} multiplications beside", ["--work", str(work)], 1)
