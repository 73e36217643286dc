# SPDX-License-Identifier: Apache-2.0
"""Whether a load takes what it should: a chase over memory, at several targets."""
from acceptance.bounds import BOUNDS, TARGETS_NS
from acceptance.rows import Row
from acceptance.runner import RunError, figures, progress

AGAINST = ("vs target", "vs native + (target - base)")


def errors_in_percent(measured_ns, native_ns, target_ns, base_ns):
    """Of one run: against the target, and against the closed form, which has in it what the program's loads took natively
    beyond (or below) the base latency."""
    expected = {AGAINST[0]: target_ns, AGAINST[1]: native_ns + target_ns - base_ns}
    return {against: 100 * (measured_ns / ns - 1) for against, ns in expected.items()}


def wall_ns_by_thread(run):
    return run["ns_per_load_by_thread"]


def cpu_ns_of_all(run):
    """Of more threads than processors: whose turn it is does not count."""
    return [run["cpu_ns_per_load"]]


class Chase:
    """One kind of chase at every target: a native run before and after each emulated one. `times`: of a load, in such a run."""

    def __init__(self, title, bound, arguments, options=(), pinned=True, times=wall_ns_by_thread):
        self.title = title
        self.arguments = arguments
        self.options = list(options)
        self.pinned = pinned
        self.times = times
        self.by_target = {target: {against: Row(f"{title}, {target} ns, {against}", "%", BOUNDS[bound], signed=True)
                                   for against in AGAINST} for target in TARGETS_NS}
        self.rows = [row for rows in self.by_target.values() for row in rows.values()]

    def round(self, runner, selected):
        before = None
        for target, rows in self.by_target.items():
            wanted = [row for row in rows.values() if row.name in selected]
            if not wanted:
                continue
            base_ns = runner.base_ns()
            if target < base_ns:
                for row in wanted:
                    row.skipped = f"this machine's memory takes {base_ns:.0f} ns"
                continue
            progress(f"  {self.title}, {target} ns")
            try:
                before = before or self.run_native(runner)
                emulated, base_ns = self.run_emulated(runner, target)
                after = self.run_native(runner)
                self.add(rows, target, base_ns, emulated, before, after)
                before = after
            except RunError as error:
                before = None
                for row in wanted:
                    row.failure = str(error)

    def run_native(self, runner):
        return figures(runner.native(runner.program("nvmemu-chase", *self.arguments), self.pinned), emulated=False)

    def run_emulated(self, runner, target):
        outcome = runner.emulated(runner.program("nvmemu-chase", *self.arguments),
                                  ["--read-latency", f"{target}ns", *self.options], self.pinned)
        found = figures(outcome, emulated=True)
        return found, outcome.report["base"]["read_latency_ns"]

    def add(self, rows, target, base_ns, emulated, before, after):
        """A sample for each row: the error of the thread that is furthest off."""
        if not emulated["checksum"] == before["checksum"] == after["checksum"]:
            raise RunError("the emulated run came to another result than the native ones")
        by_thread = [errors_in_percent(measured, (first + second) / 2, target, base_ns)
                     for measured, first, second in zip(*map(self.times, (emulated, before, after)))]
        for against, row in rows.items():
            row.samples.append(max((errors[against] for errors in by_thread), key=abs))


def experiments():
    loads = ["--size", "256MiB", "--loads", "8000000"]
    for chains in (1, 4):
        name = f"chase, {chains} chain{'s' if chains > 1 else ''}"
        arguments = [*loads, "--chains", str(chains)]
        yield Chase(name, "chase", arguments)
        yield Chase(f"{name}, timer", "chase, timer", arguments, ["--ticker", "timer"])
    for threads, times in ((2, wall_ns_by_thread), (4, cpu_ns_of_all)):
        yield Chase(f"chase, {threads} threads", "chase, threads", [*loads, "--threads", str(threads)], pinned=False, times=times)
