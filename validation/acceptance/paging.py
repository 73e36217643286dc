# SPDX-License-Identifier: Apache-2.0
"""What pmbench measures under the emulator: an access in its loop takes what the target's would, while what it times is
still the machine's own, since no delay falls into a timed access."""
import json
import os

from acceptance.bounds import BOUNDS, SYNC_TARGETS_NS
from acceptance.rows import Row
from acceptance.runner import RunError, progress

# Every access goes to memory. Reads alone: write latency is not emulated.
ARGUMENTS = ["--mapsize", "512", "--setsize", "512", "--ratio", "100", "--quiet"]
SECONDS = "3"
PAGES = {"2 MiB pages": ["--thp", "on"], "4 KiB pages": ["--thp", "off"]}


class Accesses:
    """One size of pages, at each target: a native run before and after each emulated one."""

    def __init__(self, title, options):
        self.options = options
        self.by_target = {target: (Row(f"pmbench, {title}, {target} ns, access", "%", BOUNDS["pmbench, access"], signed=True),
                                   Row(f"pmbench, {title}, {target} ns, timed", "%", BOUNDS["pmbench, timed"]))
                          for target in SYNC_TARGETS_NS}
        self.rows = [row for rows in self.by_target.values() for row in rows]

    def round(self, runner, selected):
        for target, (access, timed) in self.by_target.items():
            if access.name not in selected and timed.name not in selected:
                continue
            program = runner.pmbench()
            if program is None:
                access.skipped = timed.skipped = "pmbench was not built"
                continue
            progress(f"  {access.name}")
            try:
                before, _ = self.run(runner, program)
                emulated, base_ns = self.run(runner, program, target)
                after, _ = self.run(runner, program)
            except RunError as error:
                access.failure = timed.failure = str(error)
                continue
            native = [(first + second) / 2 for first, second in zip(before, after)]
            access.samples.append(100 * (emulated[0] / (native[0] + target - base_ns) - 1))
            timed.samples.append(100 * (emulated[1] / native[1] - 1))

    def run(self, runner, program, target=None):
        """ns of an access in the loop, its overhead taken off, and of one between its time stamps; and the base latency."""
        result = os.path.join(runner.folder, "pmbench.json")
        command = [program, *ARGUMENTS, *self.options, "--json", result, SECONDS]
        outcome = runner.emulated(command, ["--read-latency", f"{target}ns"]) if target else runner.native(command)
        if outcome.status != 0:
            raise RunError(f"exit status {outcome.status}: {outcome.stderr.strip()[-300:]}")
        with open(result) as file:
            thread = json.load(file)["threads"][0]
        in_loop_ns = thread["loop_ns"] / thread["accesses"] - thread["overhead_ns"]
        timed_ns = thread["reads"]["sum_ns"] / thread["reads"]["count"]
        return (in_loop_ns, timed_ns), outcome.report["base"]["read_latency_ns"] if target else None


def experiments():
    for title, options in PAGES.items():
        yield Accesses(title, options)
