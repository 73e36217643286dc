# SPDX-License-Identifier: Apache-2.0
"""How programs that are walked and single-stepped are judged."""
import json
import os
import shutil
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__)))))

from gallery import stepping  # noqa: E402
from gallery.judge import FAIL, PASS, SKIPPED  # noqa: E402
from gallery.program import Job  # noqa: E402

COUNTS = {"program": "sh", "walks": 3, "walked": 800, "compared": 700, "differences": 0, "first": "", "astray": 12, "astray_faults": 5, "kinds": ["add", "jz"],
          "stops": {"length": 2, "system call": 1}}
# What is preloaded writes a line for each process; here the program does it in its place.
TELLS = 'if [ "$NVMEMU_TEST_STEPS_TO" ]; then cat FOLDER/told >"$NVMEMU_TEST_STEPS_TO"; fi; '


class Step(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def step(self, *told, does="echo same", needs="sh"):
        def prepare(folder):
            with open(f"{folder}/told", "w") as file:
                file.writelines(json.dumps({**COUNTS, **line}) + "\n" for line in told)
        job = Job("job", (needs,), ("true",), prepare=prepare, command=("sh", "-c", TELLS + does))
        with mock.patch.object(stepping, "progress"):
            return stepping.step(job, "", 1000, self.folder)

    def test_passes_what_did_as_natively_and_adds_up_its_processes(self):
        row = self.step({}, {"compared": 100, "kinds": ["add", "ret"]})
        self.assertEqual(row.verdict(), PASS)
        self.assertEqual(row.cells(), ["job", "6", "800", "3", "0", "24", "10", PASS, "length 4, system call 2"])

    def test_fails_where_a_walk_differs(self):
        row = self.step({}, {"differences": 1, "first": "add at libc.so+12: register 3: 1, not 2"})
        self.assertEqual(row.verdict(), FAIL)
        self.assertIn("sh, 1 walks: add at libc.so+12: register 3: 1, not 2", row.cells()[-1])

    def test_fails_where_the_program_did_otherwise(self):
        row = self.step({}, does='echo "${NVMEMU_TEST_STEPS_TO:+other}"')
        self.assertEqual(row.verdict(), FAIL)
        self.assertIn("another result", row.failures[0])

    def test_fails_where_nothing_was_compared(self):
        self.assertIn("nothing was compared", self.step({"compared": 0}).failures)
        self.assertEqual(self.step().verdict(), FAIL)

    def test_fails_where_wrong_registers_do_no_harm_to_any_walk(self):
        self.assertIn("no walk with wrong registers went wrong", self.step({"walks": 101, "astray_faults": 0}).failures)

    def test_skips_what_is_not_installed(self):
        row = self.step(needs="no-such-program")
        self.assertEqual((row.verdict(), row.skipped), (SKIPPED, "not installed: no-such-program"))

    def test_sums_all_rows(self):
        whole = stepping.total([self.step({}), self.step({})])
        self.assertEqual(whole.cells()[1:7], ["6", "1400", "2", "0", "24", "10"])


if __name__ == "__main__":
    unittest.main()
