#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How predictions are compared with emulated runs; with a runner that plays back times."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))
from acceptance.prediction import Predicted  # noqa: E402
from acceptance.runner import Outcome, RunError  # noqa: E402


class PlayedBack:
    """Records predict, in turn, what `predictions` holds: seconds by target; emulated runs take `emulated_seconds`."""

    folder = "/nowhere"

    def __init__(self, predictions, emulated_seconds, status=0):
        self._predictions = list(predictions)
        self._emulated_seconds = emulated_seconds
        self._status = status
        self.asked = []

    def base_ns(self):
        return 200

    def native(self, _command, _pinned):
        self.asked.append("native")
        return self._outcome()

    def recorded(self, _command, base, _pinned):
        self.asked.append("recorded " + " ".join(base))
        return self._outcome(), "record"

    def predicted(self, _record, targets):
        seconds = self._predictions.pop(0)
        return {target: {"seconds": seconds[target]} for target in targets}

    def emulated(self, _command, options, _pinned):
        self.asked.append("emulated " + " ".join(options))
        return self._outcome({"wall_seconds": self._emulated_seconds[options[1]]})

    def _outcome(self, report=None):
        return Outcome(self._status, b"", "it crashed", 1, report)


class PredictedTest(unittest.TestCase):
    def test_compares_an_emulated_run_with_the_records_before_and_after_it(self):
        predicted = Predicted("work", ["work"])
        runner = PlayedBack([{"2x": 2.0, "4x": 4.0}, {"2x": 2.4, "4x": 4.0}], {"2x": 2.0, "4x": 5.0})
        predicted.round(runner, {row.name for row in predicted.rows})
        self.assertEqual(runner.asked, ["native", "recorded --base-latency 200.00ns",
                                        "emulated --read-latency 2x --base-latency 200.00ns",
                                        "emulated --read-latency 4x --base-latency 200.00ns",
                                        "recorded --base-latency 200.00ns"])
        self.assertAlmostEqual(predicted.by_target["2x"].samples[0], 10)
        self.assertAlmostEqual(predicted.by_target["4x"].samples[0], -20)

    def test_runs_only_the_targets_that_are_selected(self):
        predicted = Predicted("work", ["work"])
        runner = PlayedBack([{"4x": 4.0}, {"4x": 4.0}], {"4x": 4.0})
        predicted.round(runner, {predicted.by_target["4x"].name})
        self.assertEqual(predicted.by_target["2x"].samples, [])
        self.assertEqual(predicted.by_target["4x"].samples, [0])

    def test_a_run_that_fails_fails_its_rows(self):
        predicted = Predicted("work", ["work"])
        predicted.round(PlayedBack([], {}, status=3), {row.name for row in predicted.rows})
        for row in predicted.rows:
            self.assertEqual(row.verdict(), "FAIL")
            self.assertIn("exit status 3: it crashed", row.failure)

    def test_a_prediction_that_cannot_be_made_fails_its_rows(self):
        class WithoutPrediction(PlayedBack):
            def predicted(self, _record, _targets):
                raise RunError("no prediction, exit status 125: the record is cut off")
        predicted = Predicted("work", ["work"])
        predicted.round(WithoutPrediction([], {}), {row.name for row in predicted.rows})
        self.assertIn("no prediction", predicted.rows[0].failure)


if __name__ == "__main__":
    unittest.main()
