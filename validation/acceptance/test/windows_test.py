# SPDX-License-Identifier: Apache-2.0
"""How pairs of windows are judged; with a runner that plays back reports."""
import json
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
from acceptance.at_base import ProgramAtBase, cpu_seconds  # noqa: E402
from acceptance.repeats import Repeats, deviations_in_percent, misses_of_intervals  # noqa: E402
from acceptance.runner import Outcome, RunError  # noqa: E402
from acceptance.tiers import Share, Tiered  # noqa: E402
from acceptance.windowed_programs import experiments  # noqa: E402
from acceptance.windows import (AllFromMemory, AsManyAtOnce, BesideWork, FirstWindow, FromMemory, MeanError, Nothing, Pair,  # noqa: E402
                                Windowed, errors_in_percent, errors_of_delay_in_percent, first_pair_of, pairs_of)


def window(delays, ns, seconds=0.5, measuring=0.0):
    """In which a unit took so much CPU time, with all that measuring took; None: in which nothing was done."""
    return {"delays": delays, "seconds": 2 * seconds, "cpu_seconds": seconds, "measuring": measuring,
            "progress": 1e9 * seconds / ns if ns else 0}


def windows(off_ns, on_ns, pairs):
    """Whole ones, between two in which something else is done, too."""
    whole = [window(False, off_ns), *[window(True, on_ns), window(False, off_ns)] * pairs]
    return [window(False, None), window(True, 5000), *whole, window(True, 3000), window(False, None)]


class Pairs(unittest.TestCase):
    def test_are_of_whole_windows_only(self):
        self.assertEqual(pairs_of(windows(100, 200, 3)), [Pair(200, 100)] * 3)

    def test_have_the_mean_of_both_neighbours(self):
        drifting = [window(False, 100), *(window(number % 2 == 1, ns) for number, ns in
                                          enumerate([100, 210, 120, 230, 140])), window(True, 100)]
        self.assertEqual([(round(pair.on_ns), round(pair.off_ns)) for pair in pairs_of(drifting)], [(210, 110), (230, 130)])

    def test_leave_out_what_measuring_takes_where_no_delay_makes_up_for_it(self):
        measured = [window(False, 1), window(False, 125, measuring=0.2), window(True, 200, measuring=0.2),
                    window(False, 125, measuring=0.2), window(True, 1)]
        self.assertEqual([(round(pair.on_ns), round(pair.off_ns)) for pair in pairs_of(measured)], [(200, 100)])

    def test_are_none_where_nothing_was_done(self):
        self.assertEqual(pairs_of([window(number % 2 == 1, None) for number in range(9)]), [])
        self.assertEqual(pairs_of([]), [])


class PlayedBack:
    """Natively `figures` are printed; an emulated run has these windows."""

    folder = "/nowhere"

    def __init__(self, all_windows=(), native=None, share=1.0, injected=(1e9,), status=0):
        self.windows = list(all_windows)
        self.native_figures = native or {}
        self.share = share
        self.injected = list(injected)
        self.status = status
        self.asked = []

    def program(self, name, *arguments):
        return [name, *arguments]

    def native(self, command):
        self.asked.append(" ".join(command))
        return Outcome(0, json.dumps({"emulated": False, **self.native_figures}).encode(), "", 1, None)

    def emulated(self, command, options):
        self.asked.append(" ".join([*options, "--", *command]))
        report = {"alternation": {"windows": self.windows}, "base": {"read_latency_ns": 100},
                  "target": {"read_latency_ns": 300}, "tiers": [{}, {"read_latency_ns": 300}], "error": {"relative_95": 0.1},
                  "totals": {"cpu_ns": 10e9 * self.share - 1e9,
                             "injected_ns": self.injected[len(self.asked) % len(self.injected)]}, "wall_seconds": 10}
        return Outcome(self.status, b'{"emulated": true}', "it crashed", 10, report)


def judged(truth, off_ns, on_ns, pairs=7, **played):
    experiment = Windowed("work", "windows: other loads", "3x", "nvmemu-work", ["--hard"], truth,
                          cost=isinstance(truth, Nothing))
    experiment.round(PlayedBack(windows(off_ns, on_ns, pairs), **played), set())
    return experiment


class First(unittest.TestCase):
    def test_is_one_pair_of_each_run(self):
        later = windows(50, 300, 3)[2:]
        experiment = FirstWindow("work", "windows: other loads", "3x", "nvmemu-work", [], AllFromMemory())
        runner = PlayedBack([window(False, 1), window(True, 270), window(False, 100), *later])
        experiment.round(runner, set())
        self.assertEqual(len(runner.asked), FirstWindow.runs)
        self.assertEqual([round(error) for error in experiment.row.samples], [-10] * FirstWindow.runs)
        self.assertEqual(experiment.row.verdict(), "FAIL")

    def test_is_the_one_after_what_is_done_before(self):
        rest = [window(True, 200), window(False, 100), window(True, 200)]
        self.assertEqual(first_pair_of([window(False, None), window(True, 1), window(False, 50), *rest]), [Pair(200, 100)])
        self.assertEqual(first_pair_of([window(False, 1), window(True, 2), window(False, 3)]), [])
        self.assertEqual(first_pair_of([]), [])


class OfDelay(unittest.TestCase):
    def test_is_what_is_added_against_what_is_due(self):
        self.assertEqual([round(each, 6) for each in errors_of_delay_in_percent([Pair(118, 100), Pair(122, 100)], Share(0.1), 300, 100)],
                         [-10, 10])

    def test_is_what_tiers_are_judged_by(self):
        def row(share, on_ns):
            experiment = Tiered("work", "windows: tiers", "", "nvmemu-work", [], share)
            runner = PlayedBack(windows(100, on_ns, 7))
            experiment.round(runner, set())
            return experiment.row
        self.assertAlmostEqual(row(Share(0.1), 110).median, -50)
        self.assertAlmostEqual(row(Share(0.1), 120).median, 0)
        self.assertAlmostEqual(row(Nothing(), 110).median, 10)


class Judged(unittest.TestCase):
    def assert_exact(self, truth, off_ns, on_ns, **played):
        row = judged(truth, off_ns, on_ns, **played).row
        self.assertEqual(row.failure, "")
        self.assertAlmostEqual(row.median, 0)
        self.assertEqual(row.verdict(), "PASS")

    def test_by_what_a_load_takes_longer(self):
        self.assert_exact(AllFromMemory(), 110, 310)
        row = judged(AllFromMemory(), 110, 341).row
        self.assertAlmostEqual(row.median, 10)
        self.assertEqual(row.verdict(), "FAIL")

    def test_by_the_loads_that_the_program_counts(self):
        counted = FromMemory("nvmemu-work", ["--count"], lambda run: run["from_memory"] / run["operations"])
        self.assert_exact(counted, 250, 250 + 2.5 * 200, native={"from_memory": 10, "operations": 4})

    def test_by_the_mean_of_what_is_counted_before_and_behind(self):
        counts = iter([2, 3, 5])

        class Counting(PlayedBack):
            def native(self, command):
                self.native_figures = {"from_memory": next(counts)}
                return super().native(command)
        truth = FromMemory("nvmemu-work", ["--count"], lambda run: run["from_memory"])
        experiment = Windowed("work", "windows: other loads", "3x", "nvmemu-work", [], truth)
        experiment.runs = 2
        experiment.round(Counting(windows(250, 250 + 2.5 * 200, 7)), set())
        self.assertEqual([round(error, 6) for error in experiment.row.samples[:7]], [0] * 7)
        self.assertEqual([round(error) for error in experiment.row.samples[7:]], [-29] * 7)  # 750 for 250 + 4 * 200

    def test_beside_work_by_the_longer_of_the_two(self):
        self.assert_exact(BesideWork(["--work", "40"]), 110, 310, native={"ns_per_load": 50})
        self.assert_exact(BesideWork(["--work", "400"]), 170, 310, native={"ns_per_load": 160})
        self.assert_exact(BesideWork(["--work", "1000"]), 400, 400, native={"ns_per_load": 400})

    def test_of_loads_at_once_by_their_groups(self):
        truth = AsManyAtOnce(["--size", "1GiB"])
        self.assert_exact(truth, 25, 75, native={"ns_per_load": 100})
        self.assert_exact(truth, 25, 125, native={"ns_per_load": 50})  # of a later run, whose own it goes by
        truth.latency_by_rate = [(0.01, 100), (0.02, 100), (0.05, 40)]
        self.assertEqual(truth.latency_ns(0.005), 100)
        self.assertEqual(truth.latency_ns(0.035), 70)
        self.assertEqual(truth.latency_ns(1), 40)

    def test_what_needs_no_memory_by_its_slowdown(self):
        row = judged(Nothing(), 10, 10.5).row
        self.assertAlmostEqual(row.median, 5)
        self.assertEqual(judged(Nothing(), 10, 8).row.verdict(), "PASS")

    def test_by_the_median_of_the_pairs(self):
        pairs = [Pair(300, 100)] * 4 + [Pair(600, 100)] * 3
        self.assertEqual(sorted(errors_in_percent(pairs, AllFromMemory(), 300, 100)), [0] * 4 + [100] * 3)

    def test_not_by_few_pairs(self):
        row = judged(AllFromMemory(), 110, 310, pairs=6).row
        self.assertEqual(row.verdict(), "FAIL")
        self.assertIn("there are 6", row.failure)

    def test_telling_where_others_have_the_processor(self):
        self.assertIn("others took 50 % of the processor's time", judged(AllFromMemory(), 110, 310, share=0.5).row.note())
        self.assertNotIn("others", judged(AllFromMemory(), 110, 310).row.note())
        self.assertIn("others took 50 %", judged(AllFromMemory(), 110, 310, pairs=3, share=0.5).row.failure)

    def test_in_one_run_however_many_rounds(self):
        experiment = Windowed("work", "windows: other loads", "3x", "nvmemu-work", ["--hard"], AllFromMemory())
        runner = PlayedBack(windows(110, 310, 7))
        experiment.round(runner, set())
        experiment.round(runner, set())
        self.assertEqual(runner.asked, ["--alternate 500ms --read-latency 3x -- nvmemu-work --hard --seconds 13"])

    def test_as_failed_where_the_run_fails(self):
        self.assertIn("it crashed", judged(AllFromMemory(), 110, 310, status=3).row.failure)


class Mean(unittest.TestCase):
    def of(self, *experiments_before):
        mean = MeanError("work", "windows: chase, mean", experiments_before)
        mean.round(None, set())
        return mean.row

    def test_is_of_absolute_errors(self):
        row = self.of(judged(AllFromMemory(), 100, 306), judged(AllFromMemory(), 100, 288))
        self.assertAlmostEqual(row.median, 3)

    def test_leaves_out_what_was_not_selected(self):
        row = self.of(judged(AllFromMemory(), 100, 303),
                      Windowed("other", "windows: other loads", "3x", "nvmemu-work", [], AllFromMemory()))
        self.assertAlmostEqual(row.median, 1)
        self.assertEqual(row.note(), "of 1 rows of 2")
        self.assertEqual(self.of().verdict(), "SKIP")

    def test_is_none_without_a_row_that_failed_to_run(self):
        row = self.of(judged(AllFromMemory(), 100, 300), judged(AllFromMemory(), 100, 300, pairs=1))
        self.assertEqual(row.verdict(), "FAIL")
        self.assertIn("windows: work, 3x", row.failure)


class Repeated(unittest.TestCase):
    def test_runs_deviate_from_their_median(self):
        self.assertEqual([round(each) for each in deviations_in_percent([90, 100, 120])], [-10, 0, 20])
        with self.assertRaises(RunError):
            deviations_in_percent([0, 0, 0])

    def test_intervals_hold_the_median_or_do_not(self):
        self.assertEqual(misses_of_intervals([100, 100, 121, 80, 80], [0.01, 0.01, 0.2, 0.2, 0.3]), 1)
        self.assertEqual(misses_of_intervals([100, 100], [None, 0.1]), 1)

    def test_ten_runs_give_both_rows(self):
        repeats = Repeats("sh", ["sh"], "sh")
        runner = PlayedBack(injected=[100.0] * 9 + [80.0])
        repeats.round(runner, set())
        repeats.round(runner, set())
        self.assertEqual(len(runner.asked), 10)
        self.assertEqual([row.verdict() for row in repeats.rows], ["FAIL", "PASS"])  # 20 % away; one of ten outside
        self.assertEqual(repeats.rows[1].samples, [1])

    def test_what_is_not_installed_is_skipped(self):
        repeats = Repeats("x", ["no-such-program"], "no-such-program")
        repeats.round(PlayedBack(), set())
        self.assertEqual({row.verdict() for row in repeats.rows}, {"SKIP"})


class Shell:
    """Runs what it is given, as if emulated where that is asked for."""

    folder = "/nowhere"

    def native(self, command, **variables):
        done = subprocess.run(command, env={**os.environ, **variables}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              check=False)
        return Outcome(done.returncode, done.stdout, done.stderr.decode(), 1, None)

    def emulated(self, command, _options):
        outcome = self.native(command, EMULATED="9")
        return outcome._replace(report={"totals": {"cpu_ns": 2e9, "overhead_ns": 1e7}})


class AtBase(unittest.TestCase):
    def test_cpu_time_is_the_last_that_the_shell_says(self):
        self.assertAlmostEqual(cpu_seconds("a warning\n1.25 0.50\n"), 1.75)
        for stderr in ("", "a warning\n"):
            with self.assertRaises(RunError):
                cpu_seconds(stderr)

    def row(self, script):
        """Of a shell script, which knows whether it is emulated."""
        return self.experiment(script).row

    def experiment(self, script):
        experiment = ProgramAtBase("work", ["sh", "-c", script], "sh")
        experiment.round(Shell(), set())
        return experiment

    def test_is_judged_by_cpu_time(self):
        busy = "i=0; while [ $i -lt ${EMULATED:-1}00000 ]; do i=$((i+1)); done"
        self.assertGreater(self.row(busy).median, 100)  # nine times as much
        self.assertLess(self.row(busy.replace("${EMULATED:-1}", "1")).median, 100)

    def test_tells_what_measuring_took_by_the_reports_own_account(self):
        account = self.experiment("true").account
        self.assertAlmostEqual(account.median, 0.5)
        self.assertEqual(account.verdict(), "PASS")

    def test_fails_by_another_output_or_status(self):
        self.assertIn("another result", self.row("echo ${EMULATED:-1}").failure)
        self.assertIn("exit status 3", self.row("exit 3").failure)


class Rows(unittest.TestCase):
    def test_have_names_of_their_own_by_which_they_are_selected(self):
        names = [row.name for experiment in experiments() for row in experiment.rows]
        self.assertEqual(len(names), len(set(names)))
        self.assertTrue(all(name.startswith("windows: ") for name in names))


if __name__ == "__main__":
    unittest.main()
