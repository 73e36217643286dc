# SPDX-License-Identifier: Apache-2.0
"""Runs programs, natively and under nvmemu, in a folder that is gone afterwards."""
import json
import os
import resource
import sys
from typing import NamedTuple, Optional

from acceptance.runner import Outcome, Runner, RunError
from gallery.judge import digest, status_text
from gallery.process import Process

TIMEOUT_SECONDS = 900
SAID = 500  # characters of what a program that failed has said

_PEAK = ("import resource, subprocess, sys\n"
         "status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode\n"
         "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\nsys.exit(status)")
# PR_SET_THP_DISABLE, which a program inherits.
_WITHOUT_THP = ("import ctypes, os, sys\nif ctypes.CDLL(None, use_errno=True).prctl(41, 1, 0, 0, 0): "
                "sys.exit('prctl: ' + os.strerror(ctypes.get_errno()))\nos.execvp(sys.argv[1], sys.argv[1:])")


class Ran(NamedTuple):
    stdout: bytes
    stderr: str
    seconds: float  # wall time
    cpu_seconds: float  # of it and of its children
    report: Optional[dict]  # of nvmemu run


def without_huge_pages(command):
    """As memory that is paged is."""
    return [sys.executable, "-S", "-c", _WITHOUT_THP, *command]


class Lab:
    def __init__(self, build, folder, arguments, once):
        self.folder = folder
        self.arguments = arguments
        self.once = once  # of the journal
        self.nvmemu = os.path.join(build, "tools", "nvmemu")
        self.pmbench = os.path.join(build, "pmbench", "pmbench")
        self._build = build
        self._runner = Runner(self.nvmemu, None, folder)

    def program(self, name):
        """One of the validation programs of the build."""
        path = os.path.join(self._build, "validation", name)
        if not os.access(path, os.X_OK):
            raise RunError(f"{path} was not built")
        return path

    def path(self, name):
        return os.path.join(self.folder, name)

    def put(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def run(self, command, options=None, statuses=(0,), timeout=TIMEOUT_SECONDS):
        """`options`: of nvmemu run; None: natively. RunError where it ends otherwise than with one of `statuses`."""
        report = self.path("report.json")
        whole = command if options is None else self._runner.emulated_command(command, options, report)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with Process(whole, self.folder) as process:
            status, seconds = process.wait(timeout)
            stdout, stderr = process.stdout(), process.stderr()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if status not in statuses:
            said = (stderr.strip() or stdout.decode(errors="replace").strip())[-SAID:]
            raise RunError(f"{' '.join(' '.join(whole).split())[:SAID]}\nended with {status_text(status)}: {said or 'it said nothing'}")
        told = None
        if options is not None:
            told = self.read_report(report, Outcome(status, stdout, stderr, seconds, None))
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return Ran(stdout, stderr, seconds, cpu, told)

    def read_report(self, path, outcome):
        """RunError where there is none, or nothing was emulated."""
        told = self._runner.read_report(path, outcome, warn=False)
        if not told["processes"]:
            raise RunError("ran natively: " + "; ".join(told["warnings"]))
        return told

    def json(self, command, options=None):
        """What it prints, and its report."""
        ran = self.run(command, options)
        try:
            return json.loads(ran.stdout), ran.report
        except ValueError as error:
            raise RunError(f"{command[0]} printed no JSON: {ran.stdout[-SAID:].decode(errors='replace')}") from error

    def read(self, name):
        """A JSON file of the folder."""
        try:
            with open(self.path(name), encoding="utf-8") as file:
                return json.load(file)
        except (OSError, ValueError) as error:
            raise RunError(f"{name}: {error}") from error

    def peak_mib(self, command):
        """Of the largest of its processes, natively; measured once."""
        find = [sys.executable, "-S", "-c", _PEAK, *command]
        return self.once(f"peak of {' '.join(command)[:200]}", lambda: int(self.run(find).stdout.split()[-1]) / 1024)

    def check_output(self, name, command, ran):
        """It is what the command prints natively, which is found once."""
        expected = self.once(f"output of {name}", lambda: digest(self.run(command).stdout))
        if digest(ran.stdout) != expected:
            raise RunError(f"another output than natively: {ran.stdout[:SAID].decode(errors='replace')!r}")
