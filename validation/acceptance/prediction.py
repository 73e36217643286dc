# SPDX-License-Identifier: Apache-2.0
"""Whether one recorded native run tells what emulated runs take: of a chase, and of real programs."""
import os
import shutil
import sys

from acceptance.bounds import BOUNDS, PREDICTION_TARGETS
from acceptance.programs import PYTHON, SQL, write_lines
from acceptance.rows import Row
from acceptance.runner import RunError, progress


class Predicted:
    """A recorded run, and an emulated one at each target, with the same base latency: what is compared is the prediction,
    and not how that latency drifts. `prepare`: a file and what writes it."""

    def __init__(self, name, command, prepare=None, pinned=True, needs=None):
        self.by_target = {target: Row(f"prediction: {name}, {target}", "%", BOUNDS["prediction"], signed=True)
                          for target in PREDICTION_TARGETS}
        self.rows = list(self.by_target.values())
        self.command = command
        self.prepare = prepare
        self.pinned = pinned
        self.needs = needs

    def round(self, runner, selected):
        wanted = {target: row for target, row in self.by_target.items() if row.name in selected}
        if self.needs and shutil.which(self.needs) is None:
            for row in wanted.values():
                row.skipped = f"{self.needs} is not installed"
            return
        try:
            command = self.prepared_command(runner)
            base = ["--base-latency", f"{runner.base_ns():.2f}ns"]
            progress(f"  {', '.join(row.name for row in wanted.values())}")
            native, record = runner.recorded(command, base, self.pinned)
            check(native)
            predictions = runner.predicted(record, list(wanted))
            for target, row in wanted.items():
                emulated = runner.emulated(command, ["--read-latency", target, *base], self.pinned)
                check(emulated)
                row.samples.append(error_in_percent(predictions[target]["seconds"], emulated.report["wall_seconds"]))
        except RunError as error:
            for row in wanted.values():
                row.failure = str(error)

    def prepared_command(self, runner):
        if self.prepare:
            file, write = self.prepare
            path = os.path.join(runner.folder, file)
            if not os.path.exists(path):
                write(path)
        if self.command[0] == "nvmemu-chase":
            return runner.program(*self.command)
        return [word.replace("FOLDER", runner.folder) for word in self.command]


def check(outcome):
    if outcome.status != 0:
        raise RunError(f"exit status {outcome.status}: {outcome.stderr.strip()[-300:]}")


def error_in_percent(predicted_seconds, emulated_seconds):
    return 100 * (predicted_seconds / emulated_seconds - 1)


def experiments():
    lines = ("lines", write_lines)
    yield Predicted("chase", ["nvmemu-chase", "--size", "512MiB", "--loads", "8000000"])
    yield Predicted("sort", ["env", "LC_ALL=C", "sort", "--parallel=2", "FOLDER/lines"], lines, pinned=False, needs="sort")
    yield Predicted("sqlite3", ["sqlite3", ":memory:", SQL], needs="sqlite3")
    yield Predicted("python3", [sys.executable, "-c", PYTHON], needs=sys.executable)
