# SPDX-License-Identifier: Apache-2.0
"""How samples are judged."""
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__)))))

from acceptance.bounds import Bound  # noqa: E402
from acceptance.latency import AGAINST, errors_in_percent  # noqa: E402
from acceptance.rows import FAIL, PASS, SKIP, UNSURE, Row, interval_of_median, table  # noqa: E402
from acceptance.runner import last_level_cache_bytes  # noqa: E402
from acceptance.sync import Synchronised, error_in_percent, expected_seconds  # noqa: E402


def error(*samples, bound=Bound(5, 10)):
    return Row("error", "%", bound, signed=True, samples=list(samples))


def repeated(*samples):
    row = error(*samples, bound=Bound(5))
    row.repeated = True
    return row


def cost(*samples, bound=Bound(5)):
    return Row("cost", "%", bound, samples=list(samples))


class Verdict(unittest.TestCase):
    def test_of_an_error_counts_both_signs(self):
        self.assertEqual(error(5, 5, 5).verdict(), PASS)
        self.assertEqual(error(-5, -5, -5).verdict(), PASS)
        self.assertEqual(error(6, 6, 6).verdict(), FAIL)
        self.assertEqual(error(-6, -6, -6).verdict(), FAIL)

    def test_of_an_error_counts_the_worst_run(self):
        self.assertEqual(error(0, 0, 10).verdict(), PASS)
        self.assertEqual(error(0, 0, -11).verdict(), FAIL)

    def test_of_a_cost_may_be_below_zero(self):
        self.assertEqual(cost(-50, -50, -50).verdict(), PASS)

    def test_of_a_cost_leaves_single_runs_out(self):
        self.assertEqual(cost(0, 1, 99).verdict(), PASS)
        self.assertEqual(cost(0, 6, 6).verdict(), FAIL)

    def test_is_failure_where_one_run_failed(self):
        row = error(0, 0, 0)
        row.failure = "exit status 1"
        self.assertEqual(row.verdict(), FAIL)

    def test_is_not_changed_by_a_remark_which_a_failure_hides(self):
        row = cost(6, 6, 6)
        row.remark = "natively 15 to 73"
        self.assertEqual(row.verdict(), FAIL)
        self.assertEqual(row.note(), "natively 15 to 73")
        row.failure = "exit status 1"
        self.assertEqual(row.note(), "exit status 1")

    def test_is_neither_without_samples(self):
        self.assertEqual(error().verdict(), SKIP)

    def test_is_neither_where_the_samples_say_nothing(self):
        row = cost(600, 600, 600)
        row.skipped = "does not stay in the cache"
        self.assertEqual(row.verdict(), SKIP)
        self.assertEqual(row.note(), "does not stay in the cache")
        row.failure = "exit status 1"
        self.assertEqual(row.verdict(), FAIL)

    def test_without_a_bound_rests_on_failures_alone(self):
        self.assertEqual(cost(400, bound=None).verdict(), PASS)


class HowSure(unittest.TestCase):
    def test_the_interval_of_a_median_needs_five_samples(self):
        self.assertIsNone(interval_of_median([1, 2, 3, 4]))
        self.assertEqual(interval_of_median([5, 1, 3, 4, 2]), (1, 5))

    def test_the_interval_leaves_out_what_may_be_left_out(self):
        self.assertEqual(interval_of_median(range(9)), (1, 7))  # 2 (1 + 9) / 512 = 0.04 outside
        self.assertEqual(interval_of_median(range(20)), (5, 14))  # 0.04; with one more on either side 0.12

    def test_of_repetitions_whose_interval_holds_the_bound_nothing_can_be_told(self):
        for samples in ([4, 4, 4, 6, 6], [-4, -4, -6, -6, -6], [-9, 0, 0, 0, 9]):
            self.assertEqual(repeated(*samples).verdict(), UNSURE)

    def test_of_others_it_can(self):
        self.assertEqual(repeated(-4, 4, 0, 4, -4).verdict(), PASS)
        self.assertEqual(repeated(6, 6, 7, 8, 9).verdict(), FAIL)
        self.assertEqual(repeated(-6, -6, -7, -8, -9).verdict(), FAIL)
        self.assertEqual(repeated(4, 6, 4, 6).verdict(), PASS)  # too few for an interval: the median counts

    def test_a_cost_may_be_far_below_zero(self):
        row = cost(-50, -50, -40, 0, 1)
        row.repeated = True
        self.assertEqual(row.verdict(), PASS)


class Figures(unittest.TestCase):
    def test_worst_is_the_furthest_off_with_its_sign(self):
        self.assertEqual(error(3, -7, 5).worst, -7)
        self.assertEqual(cost(3, -7, 5).worst, 5)

    def test_errors_are_against_target_and_closed_form(self):
        errors = errors_in_percent(measured_ns=550, native_ns=150, target_ns=500, base_ns=100)
        self.assertAlmostEqual(errors[AGAINST[0]], 10)
        self.assertAlmostEqual(errors[AGAINST[1]], 0)

    def test_are_in_the_table(self):
        text = table([error(3, -7, 5), error()])
        self.assertRegex(text.splitlines()[1], r"error +\+3\.0 +-7\.0 +12\.0 +5 / 10 % +PASS")
        self.assertRegex(text.splitlines()[2], r"error +- +- +- +5 / 10 % +SKIP")


class AgainstBefore(unittest.TestCase):
    BEFORE = {"error": {"median": -3.0, "spread": 2.0}, "cost": {"median": 3.0, "spread": 2.0}}

    def test_is_further_off_by_more_than_either_spread(self):
        self.assertTrue(error(6, 6, 5).is_further_off(self.BEFORE))
        self.assertTrue(error(-6, -6, -5).is_further_off(self.BEFORE))
        self.assertFalse(error(4.9, 4.9).is_further_off(self.BEFORE))
        self.assertFalse(error(6, 9, 3).is_further_off(self.BEFORE))
        self.assertTrue(cost(6).is_further_off(self.BEFORE))
        self.assertFalse(cost(-9).is_further_off(self.BEFORE))

    def test_is_not_where_there_is_nothing_to_compare(self):
        self.assertFalse(error(6).is_further_off({}))
        self.assertFalse(error().is_further_off(self.BEFORE))

    def test_is_in_the_table(self):
        self.assertIn("was -3.0, nearer than now", table([error(9)], self.BEFORE))
        self.assertNotIn("nearer", table([error(1)], self.BEFORE))


class ClosedForm(unittest.TestCase):
    def test_adds_what_the_critical_loads_take_beyond_the_base(self):
        self.assertAlmostEqual(expected_seconds(1.5, critical_loads=5_000_000, target_ns=500, base_ns=200), 3.0)

    def test_is_the_native_time_where_the_target_is_the_base(self):
        self.assertAlmostEqual(expected_seconds(1.5, critical_loads=5_000_000, target_ns=200, base_ns=200), 1.5)

    def test_is_compared_with_the_means(self):
        native = [{"seconds": seconds, "critical_loads": 5_000_000} for seconds in (1.0, 2.0)]
        emulated = [{"seconds": seconds, "critical_loads": 5_000_000} for seconds in (2.9, 3.7)]
        self.assertAlmostEqual(error_in_percent(native, emulated, 500, [190, 210]), 10)
        emulated[1]["seconds"] = 3.1
        self.assertAlmostEqual(error_in_percent(native, emulated, 500, [190, 210]), 0)

    def test_is_not_asked_of_machines_where_it_does_not_hold(self):
        pair = Synchronised("x", "synchronised", "nvmemu-sync", [])
        self.assertIn("needs 2 processors", pair.why_not("/bin/sh", 1, base_ns=100, target=500))
        self.assertIn("takes 600 ns", pair.why_not("/bin/sh", 2, base_ns=600, target=500))
        self.assertEqual(pair.why_not("/bin/sh", 2, base_ns=100, target=500), "")


class LastLevelCache(unittest.TestCase):
    def test_is_the_outermost(self):
        with tempfile.TemporaryDirectory() as root:
            for index, (level, size) in enumerate([("1", "48K"), ("3", "32M"), ("2", "2048K")]):
                os.mkdir(f"{root}/index{index}")
                for name, text in (("level", level), ("size", size)):
                    with open(f"{root}/index{index}/{name}", "w") as file:
                        file.write(text + "\n")
            self.assertEqual(last_level_cache_bytes(root), 32 * 2**20)

    def test_has_a_default(self):
        self.assertEqual(last_level_cache_bytes("/nonexistent"), 32 * 2**20)


unittest.main()
