# SPDX-License-Identifier: Apache-2.0
"""What emulation must not slow down: programs that need no memory, and any program where the target is the base."""
from acceptance.bounds import BOUNDS, SLOW_NS
from acceptance.rows import Row
from acceptance.runner import RunError, figures, last_level_cache_bytes, progress


class Slowdown:
    """The slowdown of two emulated runs between two native ones: a drift of the machine falls on both alike.
    `blocks` of four such runs make one figure, where the program's own times scatter. `tells_native`: the row has a
    remark of what the figure was natively, where the bound rests on what that should be."""

    def __init__(self, name, bound, program, arguments, figure, latency, blocks=1, tells_native=False):
        self.row = Row(name, "%", BOUNDS[bound])
        self.rows = [self.row]
        self.program = program
        self.arguments = arguments
        self.figure = figure
        self.latency = latency
        self.blocks = blocks
        self.tells_native = tells_native
        self.natively = []

    def round(self, runner, _selected):
        progress(f"  {self.row.name}")
        command = runner.program(self.program, *self.arguments)
        try:
            runs = {False: [], True: []}
            for emulated in (False, True, True, False) * self.blocks:
                runs[emulated].append(self._run(runner, command, emulated))
            if len({run["checksum"] for run in runs[False] + runs[True]}) != 1:
                raise RunError("the emulated run came to another result than the native one")
            native, emulated = (sum(run[self.figure] for run in runs[how]) for how in (False, True))
            self.row.samples.append(100 * (emulated / native - 1))
            self.natively += [run[self.figure] for run in runs[False]]
        except RunError as error:
            self.row.failure = str(error)
        if self.tells_native and self.natively:
            self.row.remark = f"natively {self.figure} {min(self.natively):.1f} to {max(self.natively):.1f}"

    def _run(self, runner, command, emulated):
        options = ["--read-latency", self.latency]
        return figures(runner.emulated(command, options) if emulated else runner.native(command), emulated)


def experiments():
    chase = ("nvmemu-chase", ["--size", "512MiB", "--loads", "8000000"], "ns_per_load")
    total = ("nvmemu-sum", ["--repeat", "48"], "ns_per_element")
    compute = ("nvmemu-compute", ["--rounds", "600000000"], "seconds")
    cached_kibibytes = min(last_level_cache_bytes() // 4, 4 * 2**20) // 1024
    cached_chase = ("nvmemu-chase", ["--size", f"{cached_kibibytes}KiB", "--loads", "60000000"], "ns_per_load")

    yield Slowdown(f"cached chase, {cached_kibibytes} KiB, {SLOW_NS} ns", "cached chase", *cached_chase,
                   f"{SLOW_NS}ns", tells_native=True)
    yield Slowdown(f"sum, {SLOW_NS} ns", "cached sum", *total, f"{SLOW_NS}ns")
    yield Slowdown("target = base, chase", "target = base", *chase, "1x")
    yield Slowdown("target = base, sum", "target = base", *total, "1x", blocks=4)
    yield Slowdown("target = base, compute", "target = base", *compute, "1x")
