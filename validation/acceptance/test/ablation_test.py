# SPDX-License-Identifier: Apache-2.0
"""validation/ablation, as far as nothing is measured."""
import os
import subprocess
import sys
import tempfile
import unittest

FOLDER = os.path.dirname(os.path.realpath(__file__))
ABLATION = os.path.join(os.path.dirname(os.path.dirname(FOLDER)), "ablation")


def run(*arguments):
    with tempfile.NamedTemporaryFile() as nvmemu:
        return subprocess.run([sys.executable, "-B", ABLATION, "--nvmemu", nvmemu.name, *arguments], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False)


class Ablation(unittest.TestCase):
    def test_has_the_rules_of_the_library(self):
        done = run("--help")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("late-ticks,long-walks", done.stdout.replace("\n", "").replace(" ", ""))

    def test_names_a_rule_that_there_is_none_of(self):
        done = run("--rules", "late-ticks,hiden")
        self.assertEqual(done.returncode, 2)
        self.assertIn("hiden", done.stderr)
        self.assertIn("hint", done.stderr)

    def test_measures_nothing_where_no_row_matches(self):
        done = run("--only", "no such row")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no such row", done.stderr)


if __name__ == "__main__":
    unittest.main()
