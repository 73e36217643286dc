# SPDX-License-Identifier: Apache-2.0
"""What emulation costs a program that does nothing: time to start, memory for each thread."""
from acceptance.bounds import BOUNDS, START_UPS, THREADS
from acceptance.rows import Row
from acceptance.runner import RunError, figures, progress

OPTIONS = ["--read-latency", "2x"]


class StartUp:
    def __init__(self, rounds):
        self.row = Row("start-up", "ms", BOUNDS["start-up"])
        self.rows = [self.row]
        self.pairs = -(-START_UPS // rounds)

    def round(self, runner, _selected):
        progress(f"  {self.row.name}")
        try:
            runner.base_ns()  # where there is no calibration yet, that makes one
            for _ in range(self.pairs):
                native = runner.native(["true"])
                emulated = runner.emulated(["true"], OPTIONS, warn=False)
                if emulated.status != 0:
                    raise RunError(f"exit status {emulated.status}")
                self.row.samples.append(1e3 * (emulated.seconds - native.seconds))
        except RunError as error:
            self.row.failure = str(error)


class ThreadMemory:
    def __init__(self):
        self.row = Row(f"memory of a thread, of {THREADS}", "KiB", BOUNDS["thread memory"])
        self.rows = [self.row]

    def round(self, runner, _selected):
        progress(f"  {self.row.name}")
        command = runner.program("nvmemu-threads", "--threads", str(THREADS))
        try:
            native = figures(runner.native(command, pinned=False), emulated=False)
            emulated = figures(runner.emulated(command, OPTIONS, pinned=False, warn=False), emulated=True)
            self.row.samples.append((emulated["bytes_per_thread"] - native["bytes_per_thread"]) / 1024)
        except RunError as error:
            self.row.failure = str(error)


def experiments(rounds):
    yield StartUp(rounds)
    yield ThreadMemory()
