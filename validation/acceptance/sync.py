# SPDX-License-Identifier: Apache-2.0
"""Whether delays cross synchronisation: programs whose critical path is known, at several targets."""
import os

from acceptance.bounds import BOUNDS, SYNC_TARGETS_NS
from acceptance.rows import Row
from acceptance.runner import RunError, figures, progress


def expected_seconds(native_seconds, critical_loads, target_ns, base_ns):
    """The closed form: each load on the critical path takes what the target is beyond the base."""
    return native_seconds + critical_loads * (target_ns - base_ns) * 1e-9


def error_in_percent(native, emulated, target_ns, bases_ns):
    """Of the mean of the emulated runs, against the mean of the native ones and of the bases of the emulated ones."""
    native_seconds, emulated_seconds = (sum(run["seconds"] for run in runs) / len(runs) for runs in (native, emulated))
    base_ns = sum(bases_ns) / len(bases_ns)
    return 100 * (emulated_seconds / expected_seconds(native_seconds, native[0]["critical_loads"], target_ns, base_ns) - 1)


class Synchronised:
    """One program at every target: two emulated runs between two native ones, so that a drift of the machine falls on both
    alike. `cpus`: the processors without which the closed form does not hold."""

    def __init__(self, title, bound, program, arguments, cpus=2):
        self.title = title
        self.program = program
        self.arguments = arguments
        self.cpus = cpus
        self.by_target = {target: Row(f"{title}, {target} ns", "%", BOUNDS[bound], signed=True, repeated=True)
                          for target in SYNC_TARGETS_NS}
        self.rows = list(self.by_target.values())

    def round(self, runner, selected):
        command = runner.program(self.program, *self.arguments)
        for target, row in self.by_target.items():
            if row.name not in selected:
                continue
            row.skipped = self.why_not(command[0], len(os.sched_getaffinity(0)), runner.base_ns(), target)
            if row.skipped:
                continue
            progress(f"  {row.name}")
            try:
                row.samples.append(self.measure(runner, command, target))
            except RunError as error:
                row.failure = str(error)

    def why_not(self, program, cpus, base_ns, target):
        if not os.path.exists(program):
            return f"{self.program} is not built"
        if cpus < self.cpus:
            return f"needs {self.cpus} processors"
        if target < base_ns:
            return f"this machine's memory takes {base_ns:.0f} ns"
        return ""

    @staticmethod
    def measure(runner, command, target):
        runs, bases_ns = {False: [], True: []}, []
        for emulated in (False, True, True, False):
            if emulated:
                outcome = runner.emulated(command, ["--read-latency", f"{target}ns"], pinned=False)
            else:
                outcome = runner.native(command, pinned=False)
            runs[emulated].append(figures(outcome, emulated))
            if emulated:
                bases_ns.append(outcome.report["base"]["read_latency_ns"])
        if len({(run["checksum"], run["critical_loads"]) for run in runs[False] + runs[True]}) != 1:
            raise RunError("the emulated run came to another result than the native one")
        return error_in_percent(runs[False], runs[True], target, bases_ns)


def experiments():
    for pattern in ("lock", "condition", "pipe", "barrier", "barrier-both", "rwlock", "pipeline"):
        yield Synchronised(f"sync: {pattern}", "synchronised", "nvmemu-sync", ["--pattern", pattern])
    yield Synchronised("sync: fork", "synchronised", "nvmemu-sync", ["--pattern", "fork"], cpus=1)
    yield Synchronised("sync: errands", "errands", "nvmemu-sync", ["--pattern", "errands"], cpus=1)
    yield Synchronised("sync: oversubscribed", "oversubscribed", "nvmemu-sync", ["--pattern", "oversubscribed"], cpus=1)
    for construct in ("barrier", "parallel", "for"):
        for balance in ("even", "uneven"):
            yield Synchronised(f"sync: openmp {construct}, {balance}", "synchronised", "nvmemu-openmp",
                               ["--construct", construct, "--balance", balance])
