# SPDX-License-Identifier: Apache-2.0
"""What emulation must not slow down: programs that need no memory, and any program where the target is the base."""
from acceptance.bounds import BOUNDS, SLOW_NS
from acceptance.rows import Row
from acceptance.runner import RunError, figures, progress


class Slowdown:
    """The slowdown of two emulated runs between two native ones: a drift of the machine falls on both alike.
    `blocks` of four such runs make one figure, where the program's own times scatter; `of_many`: which one."""

    def __init__(self, name, bound, program, arguments, figure, latency, blocks=1, of_many=sum):
        self.row = Row(name, "%", BOUNDS[bound])
        self.rows = [self.row]
        self.program = program
        self.arguments = arguments
        self.figure = figure
        self.latency = latency
        self.blocks = blocks
        self.of_many = of_many

    def round(self, runner, _selected):
        progress(f"  {self.row.name}")
        try:
            runs = {False: [], True: []}
            for emulated in (False, True, True, False) * self.blocks:
                runs[emulated].append(self._run(runner, emulated))
            if len({run["checksum"] for run in runs[False] + runs[True]}) != 1:
                raise RunError("the emulated run came to another result than the native one")
            self._add(runs[False], runs[True])
        except RunError as error:
            self.row.failure = str(error)

    def _run(self, runner, emulated):
        command = runner.program(self.program, *self.arguments)
        options = ["--read-latency", self.latency]
        return figures(runner.emulated(command, options) if emulated else runner.native(command), emulated)

    def _add(self, natives, emulateds):
        native, emulated = (self.of_many(run[self.figure] for run in runs) for runs in (natives, emulateds))
        self.row.samples.append(100 * (emulated / native - 1))


def experiments():
    chase = ("nvmemu-chase", ["--size", "512MiB", "--loads", "8000000"], "ns_per_load")
    total = ("nvmemu-sum", ["--repeat", "48"], "ns_per_element")
    compute = ("nvmemu-compute", ["--rounds", "600000000"], "seconds")

    yield Slowdown(f"sum, {SLOW_NS} ns", "cached sum", *total, f"{SLOW_NS}ns")
    yield Slowdown("target = base, chase", "target = base", *chase, "1x")
    yield Slowdown("target = base, sum", "target = base", *total, "1x", blocks=4)
    yield Slowdown("target = base, compute", "target = base", *compute, "1x")
