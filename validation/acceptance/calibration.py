# SPDX-License-Identifier: Apache-2.0
"""Whether a calibration is done soon, and comes to the same again: on a quiet machine, as it says itself."""
import json
import os
import time

from acceptance.bounds import BOUNDS, CALIBRATIONS
from acceptance.repeats import deviations_in_percent
from acceptance.rows import Row
from acceptance.runner import RunError, progress


class Calibrations:
    """One after another, in the first round; what is kept for runs is left alone."""

    def __init__(self):
        self.seconds = Row("calibration: takes", "s", BOUNDS["calibration"])
        self.base = Row("calibration: base latency against the median", "%", BOUNDS["calibration, base"], signed=True)
        self.rows = [self.seconds, self.base]

    def round(self, runner, _selected):
        if self.seconds.samples or self.seconds.failure:
            return
        progress(f"  {self.seconds.name}, {CALIBRATIONS} times")
        try:
            told = [self.calibration(runner) for _ in range(CALIBRATIONS)]
            within = [each["spreads"]["base_latency_ns"] for each in told]
            self.base.samples = deviations_in_percent([each["calibration"]["base_latency_ns"] for each in told])
            self.base.remark = f"it varied by {100 * min(within):.0f} to {100 * max(within):.0f} % within one"
            disturbed = sum(each["calibration"]["unstable"] for each in told)
            if disturbed:
                self.base.skipped = f"neighbours disturbed {disturbed} of {CALIBRATIONS}: {self.base.remark}"
        except RunError as error:
            self.seconds.failure = self.base.failure = str(error)

    def calibration(self, runner):
        begin = time.monotonic()
        outcome = runner.native([runner.nvmemu, "calibrate", "--json", "-o", os.path.join(runner.folder, "calibration.toml")],
                                pinned=False)
        self.seconds.samples.append(time.monotonic() - begin)
        if outcome.status != 0:
            raise RunError(f"exit status {outcome.status}: {outcome.stderr.strip()[-300:]}")
        return json.loads(outcome.stdout)


def experiments():
    yield Calibrations()
