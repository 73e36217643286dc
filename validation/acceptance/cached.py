# SPDX-License-Identifier: Apache-2.0
"""What a chase that stays in the last-level cache is slowed by. Where neighbours use that cache too, it does not stay
there: some of its loads come from memory natively and owe a delay, and the longer it takes to come round, the more of its
lines are gone by then. What it should take then is not known."""
import statistics

from acceptance.bounds import BOUNDS, SLOW_NS
from acceptance.rows import Row
from acceptance.runner import RunError, figures, last_level_cache_bytes, progress

MOST_BYTES = 4 * 2**20
LOADS = "60000000"


class CachedChase:
    """The slowdown of two emulated runs between two native ones, which count their misses."""

    def __init__(self):
        size = min(last_level_cache_bytes() // 4, MOST_BYTES) // 1024
        self.row = Row(f"cached chase, {size} KiB, {SLOW_NS} ns", "%", BOUNDS["cached chase"])
        self.rows = [self.row]
        self.arguments = ["--size", f"{size}KiB", "--loads", LOADS]
        self.natively_ns = []
        self.owed = []  # by the misses, per cent of the native time

    def round(self, runner, _selected):
        progress(f"  {self.row.name}")
        try:
            self._sample(runner, runner.base_ns())
        except RunError as error:
            self.row.failure = str(error)
        if self.owed:
            self._judge(statistics.median(self.owed))

    def _sample(self, runner, base_ns):
        runs = [self._run(runner, base_ns, emulated) for emulated in (False, True, True, False)]
        if len({run["checksum"] for run in runs}) != 1:
            raise RunError("the emulated run came to another result than the native one")
        times_ns = [run["ns_per_load"] for run in runs]
        native_ns = times_ns[0] + times_ns[3]
        owed_ns = (runs[0]["misses_per_load"] + runs[3]["misses_per_load"]) * (SLOW_NS - base_ns)
        self.row.samples.append(100 * ((times_ns[1] + times_ns[2]) / native_ns - 1))
        self.natively_ns += [times_ns[0], times_ns[3]]
        self.owed.append(100 * owed_ns / native_ns)

    def _run(self, runner, base_ns, emulated):
        counting = [] if emulated else ["--count-misses", f"{base_ns:.0f}ns"]
        command = runner.program("nvmemu-chase", *self.arguments, *counting)
        options = ["--read-latency", f"{SLOW_NS}ns"]
        return figures(runner.emulated(command, options) if emulated else runner.native(command), emulated)

    def _judge(self, owed):
        """Whether there is anything to be judged: by the native runs alone."""
        self.row.remark = (f"natively {min(self.natively_ns):.1f} to {max(self.natively_ns):.1f} ns; what misses then "
                           f"owes {owed:+.1f} %")
        self.row.skipped = f"does not stay in the cache: {self.row.remark}" if owed > self.row.bound.median else ""


def experiments():
    yield CachedChase()
