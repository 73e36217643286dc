# SPDX-License-Identifier: Apache-2.0
"""Whether programs move what they should: STREAM and a sum at shares of what they move natively; a chase that needs no
bandwidth; latency and bandwidth together; two processes under one limit."""
import json
import os

from acceptance.bounds import BANDWIDTH_SHARES, BOUNDS
from acceptance.rows import Row
from acceptance.runner import RunError, figures, progress

KERNELS = ("copy", "scale", "add", "triad", "sum")
STREAM = ["--size", "256MiB", "--repeat", "5"]


def moved(found, direction, kernels=KERNELS):
    """MB/s over the bus, by kernel that moves anything in that direction."""
    rates = {kernel: found[kernel][f"{direction}_mbps"] for kernel in kernels}
    return {kernel: rate for kernel, rate in rates.items() if rate > 0}


class Stream:
    """Every kernel under one target: a share of what the slowest of them moves natively."""

    def __init__(self, direction, threads):
        self.direction = direction
        self.threads = threads
        self.by_share = {share: {kernel: self.row(share, kernel) for kernel in KERNELS
                                 if direction == "read" or kernel != "sum"} for share in BANDWIDTH_SHARES}
        self.rows = [row for rows in self.by_share.values() for row in rows.values()]

    def row(self, share, kernel):
        threads = "1 thread" if self.threads == 1 else f"{self.threads} threads"
        return Row(f"bandwidth: {kernel}, {self.direction}, {share} %, {threads}", "%", BOUNDS["bandwidth"], signed=True)

    def round(self, runner, selected):
        command = runner.program("nvmemu-stream", *STREAM, "--threads", str(self.threads))
        for share, rows in self.by_share.items():
            if not any(row.name in selected for row in rows.values()):
                continue
            progress(f"  stream, {self.direction}, {share} %, {self.threads} thread(s)")
            try:
                native = figures(runner.native(command, pinned=False), emulated=False)
                target = share / 100 * min(moved(native, self.direction).values())
                options = [f"--{self.direction}-bandwidth", f"{target:.0f}MB/s"]
                reached = moved(figures(runner.emulated(command, options, pinned=False), emulated=True), self.direction)
                for kernel, row in rows.items():
                    row.samples.append(100 * (reached[kernel] / target - 1))
            except RunError as error:
                for row in rows.values():
                    row.failure = str(error)


class Chase:
    """A target that a chase does not reach. From one process to the next its loads take up to a fifth longer on a busy
    machine, so the native one runs beside it, and what counts is CPU time."""

    def __init__(self):
        self.row = Row("bandwidth: chase below its target", "%", BOUNDS["unreached bandwidth"])
        self.rows = [self.row]

    def round(self, runner, _selected):
        progress(f"  {self.row.name}")
        command = runner.program("nvmemu-chase", "--size", "512MiB", "--loads", "8000000")
        try:
            ns = {False: 0, True: 0}
            for _ in range(4):
                for emulated, outcome in zip((False, True), runner.side_by_side(command, ["--read-bandwidth", "4GB/s"])):
                    ns[emulated] += figures(outcome, emulated)["cpu_ns_per_load"]
            self.row.samples.append(100 * (ns[True] / ns[False] - 1))
        except RunError as error:
            self.row.failure = str(error)


class Both:
    """Latency and bandwidth together: a chase is as slow as latency makes it, a stream as bandwidth does."""

    def __init__(self):
        self.chase = Row("bandwidth and latency: chase", "%", BOUNDS["bandwidth"], signed=True)
        self.stream = Row("bandwidth and latency: stream", "%", BOUNDS["bandwidth"], signed=True)
        self.rows = [self.chase, self.stream]

    def round(self, runner, _selected):
        progress("  bandwidth and latency")
        try:
            options = ["--read-latency", "3x", "--read-bandwidth", "3GB/s"]
            chase = runner.program("nvmemu-chase", "--size", "512MiB", "--loads", "8000000")
            native = figures(runner.native(chase), emulated=False)["ns_per_load"]
            outcome = runner.emulated(chase, options)
            base_ns = outcome.report["base"]["read_latency_ns"]
            expected = native + 2 * base_ns
            self.chase.samples.append(100 * (figures(outcome, emulated=True)["ns_per_load"] / expected - 1))
            stream = figures(runner.emulated(runner.program("nvmemu-stream", *STREAM), options), emulated=True)
            self.stream.samples.append(max((100 * (rate / 3000 - 1) for rate in moved(stream, "read").values()), key=abs))
        except RunError as error:
            self.chase.failure = self.stream.failure = str(error)


class OfATier:
    """A tier's own limit: all memory is its, or every other page; then half of the bytes are."""

    def __init__(self):
        self.rules = {",rest": 1, ",interleave=1:1,granularity=2MiB": 2}
        self.row_of = {rule: Row(f"bandwidth: of a tier, {'all' if parts == 1 else 'half'} of the memory", "%", BOUNDS["bandwidth"],
                                 signed=True) for rule, parts in self.rules.items()}
        self.rows = list(self.row_of.values())

    def round(self, runner, selected):
        command = runner.program("nvmemu-stream", *STREAM)
        for rule, row in self.row_of.items():
            if row.name not in selected:
                continue
            progress(f"  {row.name}")
            try:
                options = ["--tier", f"far=1x,read-bandwidth=4GB/s{rule}"]
                found = moved(figures(runner.emulated(command, options), emulated=True), "read")
                target = 4000 * self.rules[rule]
                row.samples.append(max((100 * (rate / target - 1) for rate in found.values()), key=abs))
            except RunError as error:
                row.failure = str(error)


class TwoProcesses:
    """What two processes of one run move together."""

    def __init__(self):
        self.row = Row("bandwidth: two processes, one limit", "%", BOUNDS["shared bandwidth"], signed=True)
        self.rows = [self.row]

    def round(self, runner, _selected):
        progress(f"  {self.row.name}")
        program = " ".join(runner.program("nvmemu-stream", *STREAM))
        script = f"{program} > {runner.folder}/one & {program} > {runner.folder}/two; wait"
        try:
            runner.emulated(["sh", "-c", script], ["--read-bandwidth", "4GB/s"], pinned=False)
            found = []
            for name in ("one", "two"):
                with open(os.path.join(runner.folder, name)) as file:
                    found.append(json.load(file))
            together = sum(sum(moved(one, "read").values()) / len(KERNELS) for one in found)
            self.row.samples.append(100 * (together / 4000 - 1))
        except (RunError, OSError, ValueError) as error:
            self.row.failure = str(error)


def experiments():
    for threads in (1, 2):
        for direction in ("read", "write"):
            yield Stream(direction, threads)
    yield Chase()
    yield Both()
    yield OfATier()
    yield TwoProcesses()
