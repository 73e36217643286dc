# SPDX-License-Identifier: Apache-2.0
"""What an experiment is: which programs, in which settings, what is measured of each, and what is said of it."""
import shutil
import statistics
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence


class LeftOut(Exception):
    """What measure() raises where a run shows that the machine, or the build, lacks something: says what."""


@dataclass(frozen=True)
class Choice:
    """A program, or a setting. `value` is for the experiment; `x` where it lies on a plot's axis."""
    name: str
    value: Any = None
    needs: Sequence[str] = ()  # executables
    lacking: Callable[[], str] = lambda: ""  # what else the machine is without, in words
    x: Optional[float] = None

    def missing(self):
        absent = [name for name in self.needs if shutil.which(name) is None]
        return f"not installed: {', '.join(absent)}" if absent else self.lacking()


@dataclass(frozen=True)
class Figure:
    name: str  # the key of what measure() returns
    title: str
    unit: str = ""


@dataclass(frozen=True)
class Finding:
    """What somebody says, what was found here, and whether that agrees (None: it cannot be told)."""
    says: str
    here: str
    agrees: Optional[bool] = None
    bound: bool = False  # nvmemu's own promise: the experiment fails where it does not hold


@dataclass(frozen=True)
class Plot:
    """Bars: a group each program, a bar each setting; of one `program`, a group each of several figures, by their titles. Lines: a
    curve each program, over the settings' `x`."""
    figure: str  # the first of them
    title: str
    lines: bool = False
    x_title: str = ""
    log: str = ""  # which axes: "x", "y", "xy"
    program: str = ""
    figures: Mapping[str, str] = field(default_factory=dict)  # title by name


@dataclass
class Experiment:
    name: str
    title: str
    programs: Sequence[Choice]
    settings: Sequence[Choice]
    figures: Sequence[Figure]
    measure: Callable  # (lab, program, setting): figures by name, None where one is not known; RunError
    findings: Callable = lambda results: []
    not_claimed: Sequence[str] = ()  # what emulation does not show
    prepare: Callable = lambda lab, program: None  # before a program's first run
    add_options: Callable = lambda parser: None
    plots: Sequence[Plot] = ()
    pairs: Callable = lambda program, setting: True  # which settings a program has

    def rows(self):
        return [(program, setting) for program in self.programs for setting in self.settings
                if self.pairs(program, setting)]


def row_name(program, setting):
    return f"{program.name}: {setting.name}"


def order(rows, rounds):
    """Of all runs: one of each row a round, every other round backwards, so that what drifts meets the rows alike."""
    for number in range(rounds):
        for row in rows if number % 2 == 0 else reversed(rows):
            yield number, row


@dataclass
class Results:
    """Of each row, by its name, the figures of its runs; and why there are none."""
    samples: Dict[str, List[dict]] = field(default_factory=dict)
    failures: Dict[str, str] = field(default_factory=dict)
    left_out: Dict[str, str] = field(default_factory=dict)

    def add(self, row, figures):
        self.samples.setdefault(row, []).append(figures)

    def of(self, row, figure):
        """Those that are known."""
        values = (figures.get(figure) for figures in self.samples.get(row, []))
        return [value for value in values if value is not None]

    def median(self, program, setting, figure):
        """None: it was not measured."""
        values = self.of(f"{program}: {setting}", figure)
        return statistics.median(values) if values else None

    def ratio(self, figure, first, second):
        """Of the medians of two rows, each (program, setting). None: one of them was not measured, or is 0."""
        above, below = self.median(*first, figure), self.median(*second, figure)
        return above / below if above is not None and below else None
