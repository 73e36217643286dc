# SPDX-License-Identifier: Apache-2.0
"""The rows of the result: samples, and what is to be said of them."""
import math
import statistics
from dataclasses import dataclass, field
from typing import List, Optional

from acceptance.bounds import Bound

PASS, FAIL, SKIP, UNSURE = "PASS", "FAIL", "SKIP", "UNSURE"
CONFIDENCE = 0.9


def interval_of_median(samples):
    """Which holds, with so much confidence, the median of all that could be measured: by order statistics, which ask nothing of
    how they are spread. None: there are too few."""
    ordered = sorted(samples)
    interval = None
    outside = 0
    for number in range(len(ordered) // 2):
        outside += 2 * math.comb(len(ordered), number) / 2 ** len(ordered)
        if outside > 1 - CONFIDENCE:
            break
        interval = ordered[number], ordered[-1 - number]
    return interval


@dataclass
class Row:
    name: str
    unit: str
    bound: Optional[Bound] = None  # None: what counts is that nothing failed
    signed: bool = False  # an error, which may be too high or too low; else a cost, which may only be too high
    repeated: bool = False  # the samples are of one figure, and their scatter tells how sure its median is
    samples: List[float] = field(default_factory=list)
    failure: str = ""  # why it fails whatever the samples are
    skipped: str = ""  # why nothing was measured, or what was says nothing
    remark: str = ""  # what else to know of the samples

    @property
    def median(self):
        return statistics.median(self.samples)

    @property
    def worst(self):
        return max(self.samples, key=abs if self.signed else None)

    @property
    def spread(self):
        return max(self.samples) - min(self.samples)

    def verdict(self):
        if self.failure:
            return FAIL
        if self.skipped or not self.samples:
            return SKIP
        if self.repeated and self._may_be_either():
            return UNSURE
        return PASS if self._within_bound() else FAIL

    def _may_be_either(self):
        """The bound, or the one below zero, lies within the interval of the median."""
        interval = interval_of_median(self.samples)
        if interval is None:
            return False
        bounds = (self.bound.median, -self.bound.median) if self.signed else (self.bound.median,)
        return any(interval[0] <= bound < interval[1] for bound in bounds)

    def _within_bound(self):
        if self.bound is None:
            return True
        size = abs if self.signed else float
        return size(self.median) <= self.bound.median and (
            self.bound.worst is None or size(self.worst) <= self.bound.worst)

    def note(self):
        return self.failure or self.skipped or self.remark

    def is_further_off(self, before):
        """Than the row of its name in `before` was, from nothing, by more than the samples of either are apart."""
        was = before.get(self.name)
        if was is None or not self.samples:
            return False
        size = abs if self.signed else float
        return size(self.median) - size(was["median"]) > max(self.spread, was["spread"])

    def as_json(self):
        measured = {"median": self.median, "interval": interval_of_median(self.samples) if self.repeated else None,
                    "worst": self.worst, "spread": self.spread} if self.samples else {}
        return {"name": self.name, "unit": self.unit, "verdict": self.verdict(), **measured, "samples": self.samples,
                "bound": self.bound._asdict() if self.bound else None, "note": self.note()}


def _bound_text(row):
    if row.bound is None:
        return "same output"
    worst = f" / {row.bound.worst:g}" if row.bound.worst is not None else ""
    return f"{row.bound.median:g}{worst} {row.unit}"


def _note(row, before):
    was = before.get(row.name)
    told = f"was {was['median']:+.1f}{', nearer than now' if row.is_further_off(before) else ''}" if was else ""
    return "; ".join(text for text in (told, row.note()) if text)


def _cells(row, before):
    number = "{:+.1f}" if row.unit == "%" else "{:.1f}"
    figures = [number.format(figure) for figure in (row.median, row.worst)] if row.samples else ["-", "-"]
    spread = f"{row.spread:.1f}" if row.samples else "-"
    return [row.name, *figures, spread, _bound_text(row), row.verdict(), _note(row, before)]


def table(rows, before=None):
    """The rows as text: each figure in its row's unit, and the bound of the median and of the worst run. `before`: rows of an
    earlier result, by name."""
    cells = [["", "median", "worst", "spread", "bound", "", ""], *(_cells(row, before or {}) for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(6)]
    lines = []
    for line in cells:
        texts = [line[0].ljust(widths[0])]
        texts += [line[column].rjust(widths[column]) for column in (1, 2, 3)]
        texts += [line[column].ljust(widths[column]) for column in (4, 5)]
        lines.append("  ".join([*texts, line[6]]).rstrip())
    return "\n".join(lines)
