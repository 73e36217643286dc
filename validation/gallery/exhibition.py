# SPDX-License-Identifier: Apache-2.0
"""Runs a program natively and emulated, and fills its row."""
import glob
import os
import re
import shlex
import shutil
import subprocess

from acceptance.runner import Outcome, RunError, progress
from gallery.judge import Row, status_text
from gallery.limits import FACTOR, NATIVE_RUNS
from gallery.process import Process, native, unprivileged
from gallery.program import no_wrapper

REFUSED = 125  # by nvmemu run, which then has started nothing


def version_of(program, folder):
    try:
        done = subprocess.run([word.replace("FOLDER", folder) for word in program.version], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = re.search(rb"\d+(\.\d+)+", done.stdout)
    return found.group().decode() if found else ""


class Emulation:
    """Makes a command an emulated one, and reads the reports of its runs."""

    def __init__(self, runner, folder, run_options):
        self._runner = runner
        self._folder = folder
        self._options = ["--read-latency", f"{FACTOR}x", *run_options]

    def make_ready(self, program):
        if program.as_unprivileged:  # else each of its runs would measure the machine again
            native(unprivileged([self._runner.nvmemu, "calibrate"]), self._folder)

    def wrap(self, command):
        return self._runner.emulated_command(command, self._options, f"{self._folder}/report.json")

    def wrap_each(self, command):
        """For a command that is started several times at once: each process writes a report of its own."""
        words = shlex.join(self._runner.emulated_command(command, self._options, "REPORT"))
        return ["sh", "-c", "exec " + words.replace("REPORT", f"{self._folder}/report-$$.json", 1)]

    def reports(self, status):
        outcome = Outcome(status, b"", "", 0, None)
        return [self._runner.read_report(path, outcome, warn=False)
                for path in sorted(glob.glob(f"{self._folder}/report*.json"))]


def exhibit(program, runner, runs, run_options):
    row = Row(program.name, remark=program.remark, timed=program.timed)
    row.skipped = program.missing()
    if row.skipped:
        return row
    progress(f"  {program.name}")
    folder = os.path.join(runner.folder, re.sub(r"\W+", "-", program.name))
    os.mkdir(folder, 0o755)
    row.version = version_of(program, folder)
    emulation = Emulation(runner, folder, run_options)
    try:
        program.make_ready(folder)
        emulation.make_ready(program)
        if program.refused:
            refuse(program, emulation, folder, row)
        else:
            compare(program, emulation, folder, row, runs)
    except RunError as error:
        row.failures.append(f"natively: {error}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return row


def compare(program, emulation, folder, row, runs):
    # A first run that does not count: files come into the page cache.
    program.start(no_wrapper, no_wrapper, folder)
    emulated = []
    for number in range(max(runs, NATIVE_RUNS)):
        if number < NATIVE_RUNS:  # in between, so that what else the machine does meets both
            row.natives.append(program.start(no_wrapper, no_wrapper, folder))
            if row.natives[-1].status != 0:
                raise RunError(f"{status_text(row.natives[-1].status)}: {row.natives[-1].stderr[-300:]}")
        if number < runs:
            try:
                run = program.start(emulation.wrap, emulation.wrap_each, folder)
                emulated.append(program.with_reports(run, emulation.reports(run.status)))
            except RunError as error:
                row.failures.append(str(error))
    for run in emulated:
        row.add(run)


def refuse(program, emulation, folder, row):
    """nvmemu run is to say why it does not start it, rather than run it natively."""
    row.natives.append(program.start(no_wrapper, no_wrapper, folder))
    with Process(emulation.wrap(program.command_of(program.command, folder)), folder) as process:
        status, _ = process.wait()
        if status != REFUSED or process.stdout() or not process.stderr():
            row.failures.append(f"not refused: {status_text(status)}; {process.stderr()[-300:]}")
        else:
            row.remark = f"refused with exit status {REFUSED}, as it should be: " + (
                process.stderr().splitlines()[0].replace(f"{folder}/", ""))
