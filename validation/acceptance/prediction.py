# SPDX-License-Identifier: Apache-2.0
"""Whether one recorded native run tells what emulated runs take: of a chase, and of real programs."""
import os
import shutil
import statistics
import sys

from acceptance.bounds import BOUNDS, PREDICTION_TARGETS
from acceptance.programs import write_lines
from acceptance.rows import Row
from acceptance.runner import RunError, progress


# As in acceptance/programs.py, but seconds long natively: of a second's samples too few are waits for memory.
ROWS = 1_200_000
SQL = f"""
CREATE TABLE item(id INTEGER PRIMARY KEY, other INTEGER, text TEXT);
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {ROWS - 1})
INSERT INTO item SELECT i, (i * 2654435761) % {ROWS}, 'item ' || i FROM n;
SELECT count(*), sum(length(b.text)) FROM item a JOIN item b ON b.id = a.other;
"""
PYTHON = ("d = {}\nfor i in range(4500000): d[i * 2654435761 % 4294967291] = i\n"
          "print(sum(v * (k & 7) for k, v in d.items()))\n")


def write_more_lines(path):
    write_lines(path, 4_000_000)


class Predicted:
    """An emulated run at each target, between two recorded ones, whose predictions are averaged: a drift of the machine
    falls on both. All have the same base latency: what is compared is the prediction, and not how that latency drifts.
    Before them a run that does not count, because memory that the host of a virtual machine has taken back takes a second
    to be there again. `prepare`: a file and what writes it."""

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
            check(runner.native(command, self.pinned))
            predictions = [self.predictions(runner, command, base, wanted)]
            emulated_seconds = {}
            for target in wanted:
                emulated = runner.emulated(command, ["--read-latency", target, *base], self.pinned)
                check(emulated)
                emulated_seconds[target] = emulated.report["wall_seconds"]
            predictions.append(self.predictions(runner, command, base, wanted))
            for target, row in wanted.items():
                predicted = statistics.mean(each[target]["seconds"] for each in predictions)
                row.samples.append(error_in_percent(predicted, emulated_seconds[target]))
        except RunError as error:
            for row in wanted.values():
                row.failure = str(error)

    def predictions(self, runner, command, base, targets):
        """What a run that is recorded now tells of each target."""
        outcome, record = runner.recorded(command, base, self.pinned)
        check(outcome)
        return runner.predicted(record, list(targets))

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
    lines = ("more-lines", write_more_lines)
    yield Predicted("chase", ["nvmemu-chase", "--size", "512MiB", "--loads", "8000000"])
    yield Predicted("sort", ["env", "LC_ALL=C", "sort", "--parallel=2", "FOLDER/more-lines"], lines, pinned=False, needs="sort")
    yield Predicted("sqlite3", ["sqlite3", ":memory:", SQL], needs="sqlite3")
    yield Predicted("python3", [sys.executable, "-c", PYTHON], needs=sys.executable)
