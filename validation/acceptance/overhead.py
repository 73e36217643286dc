# SPDX-License-Identifier: Apache-2.0
"""What emulation must not slow down: programs that need no memory, and any program where the target is the base."""
from acceptance.bounds import BOUNDS, SLOW_NS
from acceptance.rows import Row
from acceptance.runner import RunError, figures, last_level_cache_bytes, progress


class Slowdown:
    """A native and an emulated run, one after the other; the slowdown of the second."""

    def __init__(self, name, bound, program, arguments, figure, latency):
        self.row = Row(name, "%", BOUNDS[bound])
        self.rows = [self.row]
        self.program = program
        self.arguments = arguments
        self.figure = figure
        self.latency = latency

    def round(self, runner, _selected):
        progress(f"  {self.row.name}")
        command = runner.program(self.program, *self.arguments)
        try:
            native = figures(runner.native(command), emulated=False)
            emulated = figures(runner.emulated(command, ["--read-latency", self.latency]), emulated=True)
            if native["checksum"] != emulated["checksum"]:
                raise RunError("the emulated run came to another result than the native one")
            self.row.samples.append(100 * (emulated[self.figure] / native[self.figure] - 1))
        except RunError as error:
            self.row.failure = str(error)


def experiments():
    chase = ("nvmemu-chase", ["--size", "512MiB", "--loads", "8000000"], "ns_per_load")
    total = ("nvmemu-sum", ["--repeat", "48"], "ns_per_element")
    compute = ("nvmemu-compute", ["--rounds", "600000000"], "seconds")
    cached_kibibytes = min(last_level_cache_bytes() // 4, 4 * 2**20) // 1024
    cached_chase = ("nvmemu-chase", ["--size", f"{cached_kibibytes}KiB", "--loads", "60000000"], "ns_per_load")

    yield Slowdown(f"cached chase, {cached_kibibytes} KiB, {SLOW_NS} ns", "cached chase", *cached_chase,
                   f"{SLOW_NS}ns")
    yield Slowdown(f"sum, {SLOW_NS} ns", "cached sum", *total, f"{SLOW_NS}ns")
    yield Slowdown("target = base, chase", "target = base", *chase, "1x")
    yield Slowdown("target = base, sum", "target = base", *total, "1x")
    yield Slowdown("target = base, compute", "target = base", *compute, "1x")
