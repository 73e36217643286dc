# SPDX-License-Identifier: Apache-2.0
"""Runs a program natively, and with what compares its walks with single steps; counts what that tells."""
import json
import os
import re
import shutil
from collections import Counter
from dataclasses import dataclass, field
from typing import List, Set

from acceptance.runner import RunError, progress
from gallery.judge import FAIL, PASS, SKIPPED, differences
from gallery.program import no_wrapper

HEADER = ["program", "walks", "instructions", "kinds", "differ", "astray", "faults", "verdict", "ended by"]


@dataclass
class Stepped:
    """What came of one program: the counts of all of its processes."""
    name: str
    skipped: str = ""
    failures: List[str] = field(default_factory=list)
    totals: Counter = field(default_factory=Counter)
    ends: Counter = field(default_factory=Counter)
    kinds: Set[str] = field(default_factory=set)  # of instructions, by their mnemonics

    def add(self, counts):
        for name in ("walks", "walked", "compared", "differences", "astray", "astray_faults"):
            self.totals[name] += counts[name]
        self.ends.update(counts["stops"])
        self.kinds.update(counts["kinds"])
        if counts["differences"]:
            self.failures.append(f"{counts['program']}, {counts['differences']} walks: {counts['first']}")

    def verdict(self):
        if self.skipped:
            return SKIPPED
        return FAIL if self.failures else PASS

    def cells(self):
        ends = ", ".join(f"{name} {count}" for name, count in self.ends.most_common() if count)
        walks, compared, *others = (str(self.totals[name]) for name in
                                    ("walks", "compared", "differences", "astray", "astray_faults"))
        figures = [walks, compared, str(len(self.kinds)), *others]
        return [self.name, *figures, self.verdict(), "; ".join(filter(None, [self.skipped, *self.failures, ends]))]


def total(rows):
    whole = Stepped("all")
    for row in rows:
        whole.totals.update(row.totals)
        whole.ends.update(row.ends)
        whole.kinds |= row.kinds
    return whole


def text(rows):
    lines = [HEADER, *(row.cells() for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADER))]
    return "\n".join("  ".join(cell.rjust(width) if 0 < column < 7 else cell.ljust(width)
                               for column, (cell, width) in enumerate(zip(line, widths))).rstrip() for line in lines)


def read_counts(path):
    if not os.path.exists(path):
        return []
    with open(path) as file:
        return [json.loads(line) for line in file]


def step(program, library, each_us, parent):
    row = Stepped(program.name, program.missing())
    if row.skipped:
        return row
    progress(f"  {program.name}")
    folder = os.path.join(parent, re.sub(r"\W+", "-", program.name))
    counts = f"{folder}/counts"
    os.mkdir(folder)

    def stepped(command):
        return ["env", f"LD_PRELOAD={library}", f"NVMEMU_TEST_STEPS_TO={counts}", f"NVMEMU_TEST_STEPS_EACH_US={each_us}",
                *command]

    try:
        program.make_ready(folder)
        native = program.start(no_wrapper, no_wrapper, folder)
        run = program.start(stepped, stepped, folder)
        processes = read_counts(counts)
        row.failures += differences([native], run._replace(reports=[{"processes": processes}]))
        for process in processes:
            row.add(process)
        if processes and row.totals["compared"] == 0:
            row.failures.append("nothing was compared")
        if processes and row.totals["walks"] > 100 and row.totals["astray_faults"] == 0:
            row.failures.append("no walk with wrong registers went wrong")
    except RunError as error:
        row.failures.append(str(error))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return row
