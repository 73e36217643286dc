# SPDX-License-Identifier: Apache-2.0
"""What a chase that stays in the last-level cache is slowed by. Where neighbours use that cache too, it does not stay
there: some of its loads come from memory natively and owe a delay, and the longer it takes to come round, the more of its
lines are gone by then. What it should take then is not known."""
import statistics

from acceptance.bounds import SLOW_NS
from acceptance.overhead import Slowdown
from acceptance.runner import figures, last_level_cache_bytes

MOST_BYTES = 4 * 2**20
LOADS = "60000000"


class CachedChase(Slowdown):
    """Its native runs count their misses, by which alone the row is judged or skipped."""

    def __init__(self):
        size = min(last_level_cache_bytes() // 4, MOST_BYTES) // 1024
        super().__init__(f"cached chase, {size} KiB, {SLOW_NS} ns", "cached chase", "nvmemu-chase",
                         ["--size", f"{size}KiB", "--loads", LOADS], "ns_per_load", f"{SLOW_NS}ns")
        self.natively_ns = []
        self.owed = []  # by the misses, per cent of the native time

    def round(self, runner, selected):
        self.base_ns = runner.base_ns()
        super().round(runner, selected)

    def _run(self, runner, emulated):
        if emulated:
            return super()._run(runner, emulated)
        counting = ["--count-misses", f"{self.base_ns:.0f}ns"]
        return figures(runner.native(runner.program(self.program, *self.arguments, *counting)), emulated)

    def _add(self, natives, emulateds):
        super()._add(natives, emulateds)
        owed_ns = sum(run["misses_per_load"] for run in natives) * (SLOW_NS - self.base_ns)
        self.owed.append(100 * owed_ns / sum(run["ns_per_load"] for run in natives))
        self.natively_ns += [run["ns_per_load"] for run in natives]
        self._judge(statistics.median(self.owed))

    def _judge(self, owed):
        self.row.remark = (f"natively {min(self.natively_ns):.1f} to {max(self.natively_ns):.1f} ns; what misses then "
                           f"owes {owed:+.1f} %")
        self.row.skipped = f"does not stay in the cache: {self.row.remark}" if owed > self.row.bound.median else ""


def experiments():
    yield CachedChase()
