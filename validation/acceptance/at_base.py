# SPDX-License-Identifier: Apache-2.0
"""What emulation costs real programs where the target is the base: CPU time, of the program and of what it starts, in which
neither the start of nvmemu is nor what else the machine runs; and by the report's own account, which the machine's drift
does not touch: what sampling and walks took, as they were timed."""
import hashlib
import os
import shutil
import sys

from acceptance.bounds import BOUNDS
from acceptance.overhead import Slowdown
from acceptance.prediction import PYTHON, SQL
from acceptance.programs import write_c
from acceptance.redis import cpu_seconds_of_load, missing_program, server_command
from acceptance.rows import Row
from acceptance.runner import Outcome, RunError

# The shell tells the CPU time in its last line.
TIMED = ["bash", "-c", "TIMEFORMAT='%U %S'; time \"$@\"", "timed"]


# What neighbours do can only add to a program's CPU time, by more than the bound: of runs in turns, the fastest count.
IN_TURNS = {"blocks": 3, "of_many": min}


class AtBase(Slowdown):
    def __init__(self, name, command):
        bound = "target = base, programs"
        super().__init__(f"target = base: {name}", bound, None, command, "cpu_seconds", "1x", **IN_TURNS)
        self.account = Row(f"target = base: {name}, by its own account", "%", BOUNDS["target = base, account"])
        self.rows = [self.row, self.account]

    def skip(self, why):
        self.row.skipped = self.account.skipped = why

    def round(self, runner, selected):
        super().round(runner, selected)
        self.account.failure = self.row.failure

    def note(self, report):
        totals = report["totals"]
        self.account.samples.append(100 * totals["overhead_ns"] / totals["cpu_ns"])


class ProgramAtBase(AtBase):
    def __init__(self, name, command, needs, prepare=None):
        super().__init__(name, command)
        self.needs = needs
        self.prepare = prepare

    def round(self, runner, selected):
        if shutil.which(self.needs) is None:
            self.skip(f"{self.needs} is not installed")
            return
        if self.prepare:
            self.prepare(runner.folder)
        super().round(runner, selected)

    def _run(self, runner, emulated):
        command = [*TIMED, *(word.replace("FOLDER", runner.folder) for word in self.arguments)]
        outcome = runner.emulated(command, ["--read-latency", self.latency]) if emulated else runner.native(command)
        if outcome.status != 0:
            raise RunError(f"exit status {outcome.status}: {outcome.stderr.strip()[-300:]}")
        if emulated:
            self.note(outcome.report)
        return {"cpu_seconds": cpu_seconds(outcome.stderr), "checksum": hashlib.sha256(outcome.stdout).hexdigest()}


def cpu_seconds(stderr):
    lines = stderr.strip().splitlines()
    try:
        user, system = lines[-1].split()
        return float(user) + float(system)
    except (IndexError, ValueError) as error:
        raise RunError(f"the shell tells no CPU time: {stderr[-300:]}") from error


class RedisAtBase(AtBase):
    """The server's CPU time for a fixed load."""

    def __init__(self):
        super().__init__("redis", None)

    def round(self, runner, selected):
        missing = missing_program()
        if missing:
            self.skip(f"{missing} is not installed")
            return
        super().round(runner, selected)

    def _run(self, runner, emulated):
        socket = os.path.join(runner.folder, "redis.sock")
        command = server_command(runner.folder, socket)
        report = os.path.join(runner.folder, "redis.json")
        if emulated:
            command = runner.emulated_command(command, ["--read-latency", self.latency], report)
        result = {"cpu_seconds": cpu_seconds_of_load(command, socket), "checksum": None}
        if emulated:
            self.note(runner.read_report(report, Outcome(0, b"", "", 0, None)))
        return result


def write_functions(folder):
    path = os.path.join(folder, "functions.c")
    if not os.path.exists(path):
        write_c(path)


def experiments():
    yield ProgramAtBase("sqlite3", ["sqlite3", ":memory:", SQL], "sqlite3")
    yield RedisAtBase()
    yield ProgramAtBase("python3", [sys.executable, "-c", PYTHON], sys.executable)
    yield ProgramAtBase("gcc", ["gcc", "-O2", "-c", "-o", "FOLDER/base.o", "FOLDER/functions.c"], "gcc", write_functions)
