# SPDX-License-Identifier: Apache-2.0
"""What a program of the gallery is: a job that ends by itself, or a server with a load."""
import os
import shutil
import signal
import time
from dataclasses import dataclass
from typing import Callable, List, Optional, Sequence

from acceptance.runner import RunError
from gallery.judge import Run, digest
from gallery.process import Process, give_away, unprivileged

READY_SECONDS = 60
SOURCES = os.path.join(os.path.dirname(os.path.realpath(__file__)), "sources")


EACH = "EACH"  # in a command: what follows is run emulated, rather than the whole


def no_wrapper(command):
    return command


def wrapped(command, wrap, wrap_each):
    if EACH not in command:
        return wrap(command)
    at = command.index(EACH)
    return [*command[:at], *wrap_each(command[at + 1:])]


@dataclass
class Program:
    """FOLDER in commands: its own folder. `start` runs it once; its wrappers make a command an emulated one."""
    name: str
    needs: Sequence[str]  # executables
    version: Sequence[str]  # a command that prints it
    lacking: Callable[[], str] = lambda: ""  # what else the machine is without, in words
    prepare: Optional[Callable[[str], None]] = None  # once, natively, given its folder
    before: Optional[Callable[[str], None]] = None  # each run
    remark: str = ""
    timed: bool = True
    refused: bool = False  # nvmemu run is to refuse it
    as_unprivileged: bool = False

    def missing(self):
        absent = [name for name in self.needs if shutil.which(name) is None]
        return f"not installed: {', '.join(absent)}" if absent else self.lacking()

    def make_ready(self, folder):
        if self.as_unprivileged:
            give_away(folder)
        if self.prepare:
            self.prepare(folder)

    def with_reports(self, run, reports):
        return run._replace(reports=reports)

    def command_of(self, command, folder):
        return [word.replace("FOLDER", folder) for word in command]

    def process(self, wrap, wrap_each, folder):
        # nvmemu is run as that user too: what it shares with the program is nobody else's to open.
        command = wrapped(self.command_of(self.command, folder), wrap, wrap_each)
        return Process(unprivileged(command) if self.as_unprivileged else command, folder)


@dataclass
class Job(Program):
    command: Sequence[str] = ()
    makes: Callable[[str], List[str]] = lambda folder: []  # the files that count beside stdout
    stdout_counts: bool = True

    def start(self, wrap, wrap_each, folder):
        if self.before:
            self.before(folder)
        with self.process(wrap, wrap_each, folder) as process:
            status, seconds = process.wait()
            result = process.stdout() if self.stdout_counts else b""
            for path in sorted(self.makes(folder)):
                with open(path, "rb") as file:
                    result += f"\n{os.path.basename(path)} {digest(file.read())}".encode()
            return Run(status, result, process.stderr(), seconds)

    def with_reports(self, run, reports):
        # The command's own time: nvmemu run may measure the machine's latency first.
        whole = len(reports) == 1 and EACH not in self.command
        return run._replace(reports=reports, seconds=reports[0]["wall_seconds"] if whole else run.seconds)


@dataclass
class Server(Program):
    """Timed is the load alone. `ask` gets the answers that are compared."""
    command: Sequence[str] = ()
    ready: Callable[[str], bool] = lambda folder: True
    load: Callable[[str], None] = lambda folder: None
    ask: Callable[[str], bytes] = lambda folder: b""
    stop: int = signal.SIGTERM
    stop_by: Optional[Callable[[str], None]] = None  # asks it to end, where that is not a signal

    def start(self, wrap, wrap_each, folder):
        if self.before:
            self.before(folder)
        with self.process(wrap, wrap_each, folder) as server:
            try:
                self._wait(server, folder)
                start = time.monotonic()
                self.load(folder)
                seconds = time.monotonic() - start
                answers = self.ask(folder)
            except (OSError, RunError) as error:
                state = "runs" if server.status is None else f"ended with status {server.status}"
                raise RunError(f"{error}; the server {state}: {server.stderr().strip()[-300:]}") from error
            if self.stop_by:
                self.stop_by(folder)
            else:
                server.signal(self.stop)
            status, _ = server.wait()
            # Servers write their log to the one or the other.
            return Run(status, answers, server.stdout().decode(errors="replace") + server.stderr(), seconds)

    def _wait(self, server, folder):
        deadline = time.monotonic() + READY_SECONDS
        while time.monotonic() < deadline:
            if server.status is not None:
                raise RunError("did not start")
            try:
                if self.ready(folder):
                    return
            except (OSError, RunError):
                pass
            time.sleep(0.05)
        raise RunError(f"does not answer after {READY_SECONDS} s")
