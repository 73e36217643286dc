# SPDX-License-Identifier: Apache-2.0
"""How rows are judged by windows: delays go off and on in one run, and each window with delays is compared with the two
beside it, so that a machine that drifts cannot tell one for the other (docs/alternation.md)."""
import statistics
from typing import NamedTuple

from acceptance.bounds import BOUNDS
from acceptance.rows import UNSURE, Row
from acceptance.runner import RunError, figures, progress

WINDOW = "500ms"
FEWEST_PAIRS = 7
SECONDS = 13  # for so many: with delays a window goes on until the end of an epoch, at 4x for 0.8 s
TELLING = 5  # per cent of the processor's time


class Pair(NamedTuple):
    """ns of CPU time, delays included, that a unit of the program's progress takes: with delays, and without in the windows
    beside it. Of wall time, as much as others had of the processor would be in both by a factor, where what is expected is a
    sum."""
    on_ns: float
    off_ns: float


def ns_per_unit(window):
    """In one without delays, less what measuring took; in one with delays these make up for it."""
    own = 1 if window["delays"] else 1 - window["measuring"]
    return 1e9 * window["cpu_seconds"] * own / window["progress"]


def whole_ones(windows):
    """The first and the last window in which anything was done are left out: they hold what the program does before it,
    or after."""
    told = [number for number, window in enumerate(windows) if window["progress"] > 0]
    return windows[told[0] + 1:told[-1]] if told else []


def pairs_of(windows):
    whole = whole_ones(windows)
    pairs = []
    for before, window, after in zip(whole, whole[1:], whole[2:]):
        if window["delays"] and all(each["progress"] > 0 for each in (before, window, after)):
            pairs.append(Pair(ns_per_unit(window), (ns_per_unit(before) + ns_per_unit(after)) / 2))
    return pairs


def first_pair_of(windows):
    """Of the window with delays that comes soonest: with the one behind it, as the one before holds what the program does before
    its work."""
    whole = whole_ones(windows)
    for window, after in zip(whole, whole[1:]):
        if window["delays"] and window["progress"] > 0 and after["progress"] > 0:
            return [Pair(ns_per_unit(window), ns_per_unit(after))]
    return []


def share_of_processor(report):
    """Of a program with one thread, how much of the time it had its processor, delays included."""
    return (report["totals"]["cpu_ns"] + report["totals"]["injected_ns"]) / (1e9 * report["wall_seconds"])


class AllFromMemory:
    """Each unit waits for one load, or one group that overlaps: a closed form."""

    def measure(self, runner):
        """What has to be known of the program, natively."""

    def measure_again(self, runner):
        """Behind its run: what neighbours change meanwhile."""

    def added_ns(self, _off_ns, target_ns, base_ns):
        return target_ns - base_ns


class Nothing(AllFromMemory):
    def added_ns(self, _off_ns, _target_ns, _base_ns):
        return 0


class FromMemory(AllFromMemory):
    """So many loads of a unit, one after another, as the program counts them: `count` gives that of its figures. Before a run and
    behind it: how many of them caches answer depends on what neighbours leave of these."""

    def __init__(self, program, arguments, count):
        self.command = (program, *arguments)
        self.count = count
        self.counts = []

    def measure(self, runner):
        self.counts.append(self.count(figures(runner.native(runner.program(*self.command)), emulated=False)))

    measure_again = measure

    def added_ns(self, _off_ns, target_ns, base_ns):
        return statistics.mean(self.counts[-2:]) * (target_ns - base_ns)


class BesideWork(AllFromMemory):
    """A step takes the longer of its load and its work, which the same step takes where nothing misses: as long as the
    out-of-order window holds both (docs/validation.md, closed-form)."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.work_ns = None

    def measure(self, runner):
        alone = runner.program("nvmemu-chase", "--size", "4KiB", "--loads", "2000000", *self.arguments)
        self.work_ns = figures(runner.native(alone), emulated=False)["ns_per_load"]

    def added_ns(self, _off_ns, target_ns, base_ns):
        return max(target_ns, self.work_ns) - max(base_ns, self.work_ns)


class AsManyAtOnce(AllFromMemory):
    """Of loads that do not wait for one another, as many are waited for at once as natively: off / latency groups a load, and
    each group takes target - base longer. That rests on a model: that how many there are does not depend on the latency,
    as where the window's size, or the number of its misses, bounds them and not what memory moves. The latency is what
    misses take that come as often, as chases of more and more chains tell: less than where one comes at a time, on machines
    whose memory is clocked by what is asked of it, and more where it is all that memory moves."""

    CHAINS = (1, 2, 4, 8, 16)

    def __init__(self, memory_set):
        self.memory_set = memory_set
        self.latency_by_rate = []  # of misses a ns, in rising order, at the time of the run

    def measure(self, runner):
        self.latency_by_rate = []
        for chains in self.CHAINS:
            command = runner.program("nvmemu-chase", *self.memory_set, "--chains", str(chains), "--seconds", "1")
            step_ns = figures(runner.native(command), emulated=False)["ns_per_load"]
            self.latency_by_rate.append((chains / step_ns, step_ns))
        self.latency_by_rate.sort()

    def latency_ns(self, rate):
        """Beyond what was measured, that of the nearest."""
        known = self.latency_by_rate
        for (low, low_ns), (high, high_ns) in zip(known, known[1:]):
            if low <= rate < high:
                return low_ns + (high_ns - low_ns) * (rate - low) / (high - low)
        return known[0][1] if rate < known[0][0] else known[-1][1]

    def added_ns(self, off_ns, target_ns, base_ns):
        return off_ns / self.latency_ns(1 / off_ns) * (target_ns - base_ns)


def errors_in_percent(pairs, truth, target_ns, base_ns):
    """Of each pair, against what the windows without delays say that it should be."""
    return [100 * (pair.on_ns / (pair.off_ns + truth.added_ns(pair.off_ns, target_ns, base_ns)) - 1) for pair in pairs]


def errors_of_delay_in_percent(pairs, truth, target_ns, base_ns):
    """Likewise, of what windows with delays take longer."""
    return [100 * ((pair.on_ns - pair.off_ns) / truth.added_ns(pair.off_ns, target_ns, base_ns) - 1) for pair in pairs]


class Windowed:
    """A run, whose pairs of windows are its repetitions. Further rounds add to them where these do not tell. A `cost` may only be
    too high."""

    seconds = SECONDS
    runs = 1
    fewest_pairs = FEWEST_PAIRS
    pairs_of = staticmethod(pairs_of)
    errors = staticmethod(errors_in_percent)

    def __init__(self, name, bound, target, program, arguments, truth, cost=False):
        self.row = Row(f"windows: {name}, {target}", "%", BOUNDS[bound], signed=not cost, repeated=True)
        self.rows = [self.row]
        self.target = target
        self.program = program
        self.arguments = arguments
        self.truth = truth
        self.memory = ["--read-latency", target]
        self.options = []  # for nvmemu run, beside the memory's

    def round(self, runner, _selected):
        if self.row.failure or (self.row.samples and self.row.verdict() != UNSURE):
            return
        progress(f"  {self.row.name}")
        try:
            self.truth.measure(runner)
            for _ in range(self.runs):
                report = self.report(runner)
                self.truth.measure_again(runner)
                self.judge(report)
        except RunError as error:
            self.row.failure = str(error)

    def report(self, runner):
        command = runner.program(self.program, *self.arguments, "--seconds", str(self.seconds))
        outcome = runner.emulated(command, ["--alternate", WINDOW, *self.memory, *self.options])
        figures(outcome, emulated=True)
        return outcome.report

    def target_ns(self, report):
        return report["target"]["read_latency_ns"]

    def judge(self, report):
        pairs = self.pairs_of(report["alternation"]["windows"])
        others = 100 * (1 - share_of_processor(report))
        if len(pairs) < self.fewest_pairs:
            raise RunError(f"{self.fewest_pairs} windows with delays are needed that are whole and lie between two without, and "
                           f"there are {len(pairs)}; others took {others:.0f} % of the processor's time")
        base_ns = report["base"]["read_latency_ns"]
        self.row.samples += self.errors(pairs, self.truth, self.target_ns(report), base_ns)
        on_ns, off_ns = (statistics.median(each) for each in zip(*pairs))
        self.row.remark = f"{len(self.row.samples)} pairs; {off_ns:.4g} ns without delays, {on_ns:.4g} with; base {base_ns:.0f}"
        if others > TELLING:
            self.row.remark += f"; others took {others:.0f} % of the processor's time"


class FirstWindow(Windowed):
    """Of each of several short runs the first second, before anything was walked for long."""

    seconds = 3
    runs = 7
    fewest_pairs = 1
    pairs_of = staticmethod(first_pair_of)


class MeanError:
    """Of the rows of other experiments, which ran before it."""

    def __init__(self, name, bound, experiments):
        self.row = Row(f"windows: {name}, mean of absolute errors", "%", BOUNDS[bound])
        self.rows = [self.row]
        self.experiments = experiments

    def round(self, _runner, _selected):
        errors = [abs(experiment.row.median) for experiment in self.experiments if experiment.row.samples]
        failed = [experiment.row.name for experiment in self.experiments if experiment.row.failure]
        if failed:
            self.row.failure = f"without {failed[0]}, which failed, it would be one of the easy ones"
        elif errors:
            self.row.samples = [statistics.mean(errors)]
            self.row.remark = f"of {len(errors)} rows of {len(self.experiments)}"
        else:
            self.row.skipped = "none of its rows was selected"
