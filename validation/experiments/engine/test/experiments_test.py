#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each experiment of the folder is whole: its table, and what it says of results, of none too."""
import importlib.machinery
import importlib.util
import os
import subprocess
import sys
import unittest

FOLDER = os.path.dirname(os.path.realpath(__file__))
EXPERIMENTS = os.path.dirname(os.path.dirname(FOLDER))
sys.path[:0] = [EXPERIMENTS, os.path.dirname(EXPERIMENTS)]
sys.dont_write_bytecode = True

from engine import output, plot  # noqa: E402
from engine.experiment import Results, row_name  # noqa: E402


def paths():
    return sorted(entry.path for entry in os.scandir(EXPERIMENTS) if entry.is_file() and os.access(entry.path, os.X_OK))


def load(path):
    loader = importlib.machinery.SourceFileLoader(os.path.basename(path).replace("-", "_"), path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module.EXPERIMENT


def all_measured(experiment, value):
    results = Results()
    for row in experiment.rows():
        results.add(row_name(*row), {figure.name: value for figure in experiment.figures})
    return results


class Experiments(unittest.TestCase):
    def test_are_some(self):
        self.assertGreaterEqual(len(paths()), 2)

    def test_are_named_as_their_files_and_have_rows_of_their_own(self):
        for path in paths():
            with self.subTest(os.path.basename(path)):
                experiment = load(path)
                self.assertEqual(experiment.name, os.path.basename(path))
                rows = [row_name(*row) for row in experiment.rows()]
                self.assertTrue(rows)
                self.assertEqual(len(rows), len(set(rows)))
                self.assertTrue(experiment.not_claimed)

    def test_plot_figures_that_they_have(self):
        for path in paths():
            experiment = load(path)
            for one in experiment.plots:
                with self.subTest(f"{experiment.name}: {one.title}"):
                    self.assertIn(one.figure, [figure.name for figure in experiment.figures])
                    self.assertTrue(plot.script(one, experiment.rows(), all_measured(experiment, 2), "s"))

    def test_say_something_of_results_and_of_part_of_them(self):
        for path in paths():
            experiment = load(path)
            for results in (Results(), all_measured(experiment, 1), all_measured(experiment, 0), all_measured(experiment, None)):
                with self.subTest(experiment.name):
                    self.assertIn("Not claimed:", output.table(experiment, experiment.rows(), results, "about"))

    def test_findings_need_figures(self):
        for path in paths():
            experiment = load(path)
            with self.subTest(experiment.name):
                self.assertFalse([finding for finding in experiment.findings(Results()) if finding.agrees is not None])

    def test_run_as_programs(self):
        for path in paths():
            with self.subTest(os.path.basename(path)):
                done = subprocess.run([sys.executable, "-B", path, "--list"], capture_output=True, text=True, check=False)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual(done.stdout.split("\n")[:-1], [row_name(*row) for row in load(path).rows()])


if __name__ == "__main__":
    unittest.main()
