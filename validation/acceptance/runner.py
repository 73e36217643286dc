# SPDX-License-Identifier: Apache-2.0
"""Runs commands, natively and emulated."""
import concurrent.futures
import json
import os
import subprocess
import sys
import time
from typing import NamedTuple, Optional

TIMEOUT_SECONDS = 900


class RunError(Exception):
    """A run that gave no figures; says which and why."""


class Outcome(NamedTuple):
    status: int
    stdout: bytes
    stderr: str
    seconds: float
    report: Optional[dict]  # of an emulated run


def progress(text):
    print(text, file=sys.stderr, flush=True)


def last_level_cache_bytes(root="/sys/devices/system/cpu/cpu0/cache"):
    """Of the outermost level; 32 MiB where the machine does not say."""
    sizes = {}
    for entry in os.listdir(root) if os.path.isdir(root) else []:
        try:
            with open(f"{root}/{entry}/level") as level, open(f"{root}/{entry}/size") as size:
                text = size.read().strip()
                sizes[int(level.read())] = int(text.rstrip("KMG")) * {"K": 2**10, "M": 2**20, "G": 2**30}[text[-1]]
        except (OSError, ValueError, KeyError):
            continue
    return sizes[max(sizes)] if sizes else 32 * 2**20


class Runner:
    def __init__(self, nvmemu, programs, folder):
        self.nvmemu = nvmemu
        self.folder = folder
        self.warnings = set()  # of the reports
        self._programs = programs
        self._cpu = max(os.sched_getaffinity(0))
        self._base_ns = None

    def program(self, name, *arguments):
        return [os.path.join(self._programs, name), "--json", *arguments]

    def pmbench(self):
        """The one of the same build; None where it was left out."""
        path = os.path.join(os.path.dirname(os.path.normpath(self._programs)), "pmbench", "pmbench")
        return path if os.access(path, os.X_OK) else None

    def emulated_command(self, command, options, report):
        return [self.nvmemu, "run", "--quiet", "--report", report, *options, "--", *command]

    def pin(self, command):
        return ["taskset", "-c", str(self._cpu), *command]

    def native(self, command, pinned=True):
        return self._run(self.pin(command) if pinned else command)

    def emulated(self, command, options, pinned=True, warn=True):
        """`warn`: what its report warns of is told at the end. Not of a command that is over before it can be sampled."""
        report = os.path.join(self.folder, "report.json")
        wrapped = self.emulated_command(command, options, report)
        outcome = self._run(self.pin(wrapped) if pinned else wrapped)
        return outcome._replace(report=self.read_report(report, outcome, warn))

    def side_by_side(self, command, options):
        """The command natively and emulated, at the same time on one processor, which gives them turns of milliseconds:
        what the machine does to the one it does to the other."""
        report = os.path.join(self.folder, "report.json")
        with concurrent.futures.ThreadPoolExecutor(2) as both:
            native = both.submit(self.native, command)
            emulated = both.submit(self._run, self.pin(self.emulated_command(command, options, report)))
        return native.result(), emulated.result()._replace(report=self.read_report(report, emulated.result()))

    def recorded(self, command, options=(), pinned=True):
        """A native run that is recorded, and the path of the record."""
        record = os.path.join(self.folder, "record.nvr")
        wrapped = [self.nvmemu, "record", "--quiet", "-o", record, *options, "--", *command]
        return self._run(self.pin(wrapped) if pinned else wrapped), record

    def predicted(self, record, targets):
        """What is predicted for each target."""
        outcome = self._run([self.nvmemu, "predict", "--json", "--read-latency", ",".join(targets), record])
        try:
            return dict(zip(targets, json.loads(outcome.stdout)["targets"]))
        except (ValueError, KeyError) as error:
            raise RunError(f"no prediction, exit status {outcome.status}: {outcome.stderr[-300:]}") from error

    def read_report(self, path, outcome, warn=True):
        try:
            with open(path) as file:
                report = json.load(file)
            os.unlink(path)
            if warn:
                self.warnings.update(report["warnings"])
            return report
        except (OSError, ValueError, KeyError) as error:
            raise RunError(f"no run report, exit status {outcome.status}: {error}; {outcome.stderr[-300:]}") from error

    def base_ns(self):
        """This machine's latency as the emulator has it now."""
        if self._base_ns is None:
            probe = self.emulated(["true"], ["--read-latency", "1x"], warn=False)
            self._base_ns = probe.report["base"]["read_latency_ns"]
        return self._base_ns

    def _run(self, command):
        start = time.monotonic()
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  timeout=TIMEOUT_SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise RunError(str(error)) from error
        return Outcome(done.returncode, done.stdout, done.stderr.decode(errors="replace"), time.monotonic() - start,
                       None)


def figures(outcome, emulated):
    """What a validation program printed, after checks that it ran as it should have."""
    if outcome.status != 0:
        raise RunError(f"exit status {outcome.status}: {outcome.stderr.strip()[-300:]}")
    found = json.loads(outcome.stdout)
    if found["emulated"] != emulated:
        raise RunError("ran natively, not emulated" if emulated else "is emulated without nvmemu run")
    return found

