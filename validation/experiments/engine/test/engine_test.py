#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The order of runs, the journal, figures, and experiments of small programs with a stand-in for nvmemu."""
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from contextlib import redirect_stderr, redirect_stdout

FOLDER = os.path.dirname(os.path.realpath(__file__))
EXPERIMENTS = os.path.dirname(os.path.dirname(FOLDER))
sys.path[:0] = [EXPERIMENTS, os.path.dirname(EXPERIMENTS)]

from engine import command, plot  # noqa: E402
from engine.experiment import Choice, Experiment, Figure, Finding, LeftOut, Plot, Results, order  # noqa: E402
from engine.journal import Journal, JournalError  # noqa: E402
from engine.output import number, table  # noqa: E402

FAKE_NVMEMU = os.path.join(EXPERIMENTS, "..", "gallery", "test", "fake_nvmemu.py")


class Order(unittest.TestCase):
    def test_is_interleaved_and_every_other_round_backwards(self):
        self.assertEqual(list(order("AB", 3)), [(0, "A"), (0, "B"), (1, "B"), (1, "A"), (2, "A"), (2, "B")])


class InFolder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.path = os.path.join(self.folder, "journal.jsonl")


class JournalTest(InFolder):
    def with_runs(self, *rows):
        with Journal(self.path, {"build": "b"}) as journal:
            for row in rows:
                journal.append(kind="run", row=row)

    def rows(self):
        with Journal(self.path, {"build": "b"}) as journal:
            return [entry["row"] for entry in journal.of("run")]

    def test_has_what_was_appended(self):
        self.with_runs("one", "two")
        self.assertEqual(self.rows(), ["one", "two"])

    def test_goes_on_after_a_line_that_was_cut(self):
        self.with_runs("one", "two")
        whole = os.path.getsize(self.path)
        for cut in (1, 7, len('{"kind": "run", "row": "two"}')):
            os.truncate(self.path, whole - cut)
            self.assertEqual(self.rows(), ["one"])
            self.with_runs("two")
            self.assertEqual(self.rows(), ["one", "two"])

    def test_begins_anew_where_its_first_line_was_cut(self):
        self.with_runs()
        os.truncate(self.path, 5)
        self.with_runs("one")
        self.assertEqual(self.rows(), ["one"])

    def test_refuses_a_damaged_line(self):
        self.with_runs("one")
        with open(self.path, "a") as file:
            file.write("nonsense\n")
        with self.assertRaisesRegex(JournalError, "no JSON.*--fresh"):
            self.rows()

    def test_refuses_another_file(self):
        with open(self.path, "w") as file:
            file.write("[1]\n")
        with self.assertRaisesRegex(JournalError, "no journal"):
            self.rows()

    def test_refuses_runs_of_another_build(self):
        self.with_runs("one")
        with self.assertRaisesRegex(JournalError, "another build.*--fresh"):
            Journal(self.path, {"build": "another"})

    def test_is_of_one_process_at_a_time(self):
        with Journal(self.path, {}), self.assertRaisesRegex(JournalError, "another process"):
            Journal(self.path, {})

    def test_finds_what_is_found_once_only_once(self):
        asked = []
        for _ in range(2):
            with Journal(self.path, {}) as journal:
                self.assertEqual(journal.once("answer", lambda: asked.append(1) or 42), 42)
        self.assertEqual(len(asked), 1)


def results_of(**samples):
    results = Results()
    for setting, values in samples.items():
        for value in values:
            results.add(f"p: {setting}", {"f": value})
    return results


class ResultsTest(unittest.TestCase):
    def test_have_medians_of_what_is_known(self):
        results = results_of(a=[3, 1, 9, None], b=[2])
        self.assertEqual(results.median("p", "a", "f"), 3)
        self.assertEqual(results.ratio("f", ("p", "a"), ("p", "b")), 1.5)

    def test_have_none_of_what_was_not_measured(self):
        results = results_of(a=[None], b=[0], c=[4])
        self.assertIsNone(results.median("p", "a", "f"))
        self.assertIsNone(results.median("p", "nothing", "f"))
        self.assertIsNone(results.ratio("f", ("p", "c"), ("p", "a")))
        self.assertIsNone(results.ratio("f", ("p", "c"), ("p", "b")))


EXAMPLE = Experiment("example", "An example", [Choice("p")], [Choice("a", x=1), Choice("b|c", x=2)],
                     [Figure("f", "time", "s")], measure=None, not_claimed=["much"])


class Output(unittest.TestCase):
    def test_numbers_have_three_digits(self):
        self.assertEqual([number(value) for value in (None, 0, 1.2345, 0.012345, 123.45, 12345.6)],
                         ["-", "0", "1.23", "0.0123", "123", "12,346"])

    def test_a_table_has_medians_and_spreads_of_what_was_measured(self):
        text = table(EXAMPLE, EXAMPLE.rows(), results_of(**{"a": [1, 2, 4], "b|c": [5]}), "about")
        self.assertIn("| program | setting | time, s |", text)
        self.assertIn("| p | a | 2 (1 to 4) |", text)
        self.assertIn("| p | b\\|c | 5 |", text)
        self.assertIn("Not claimed:\n- much", text)

    def test_a_table_says_what_was_left_out_and_what_failed(self):
        results = Results(left_out={"p: a": "no zram"}, failures={"p: b|c": "it crashed"})
        text = table(EXAMPLE, EXAMPLE.rows(), results, "about")
        for line in ("Nothing was measured.", "Left out:\n- p: a: no zram", "Failed:\n- p: b|c: it crashed"):
            self.assertIn(line, text)

    def test_a_curve_goes_over_the_settings(self):
        text = plot.script(Plot("f", "it's", lines=True, log="x"), EXAMPLE.rows(), results_of(**{"a": [1, 3], "b|c": [5]}), "s")
        self.assertIn("1 2\n2 5\n", text)
        self.assertIn("'it''s'", text)

    def test_bars_go_over_the_programs(self):
        self.assertIn('"p" 2\n', plot.script(Plot("f", "t"), EXAMPLE.rows(), results_of(a=[2]), "s"))

    def test_bars_of_one_program_go_over_its_figures(self):
        figures = {"f": "first", "g": "second"}
        text = plot.script(Plot("f", "t", program="p", figures=figures), EXAMPLE.rows(), results_of(a=[2], **{"b|c": [3]}), "s")
        self.assertIn('"first" 2\n', text)
        self.assertIn('"first" 3\n', text)
        self.assertNotIn("second", text)
        self.assertEqual(plot.script(Plot("f", "t", program="another", figures=figures), EXAMPLE.rows(), results_of(a=[2]), "s"), "")

    def test_nothing_measured_is_no_plot(self):
        self.assertEqual(plot.script(Plot("f", "t"), EXAMPLE.rows(), Results(), "s"), "")

    @unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not installed")
    def test_gnuplot_draws_both(self):
        with tempfile.TemporaryDirectory() as folder:
            for lines in (False, True):
                text = plot.script(Plot("f", "t", lines), EXAMPLE.rows(), results_of(a=[2], **{"b|c": [3]}), "s")
                plot.draw(text, f"{folder}/plot.svg")
                with open(f"{folder}/plot.svg") as file:
                    self.assertIn("</svg>", file.read())


class Main(InFolder):
    """Experiments of shell commands."""

    def setUp(self):
        super().setUp()
        os.makedirs(f"{self.folder}/build/tools")
        with open(FAKE_NVMEMU) as source, open(f"{self.folder}/build/tools/nvmemu", "w") as file:
            file.write(f"#!{sys.executable}\n{source.read()}")
        os.chmod(f"{self.folder}/build/tools/nvmemu", 0o755)
        self.ran = []

    def experiment(self, measure, findings=lambda results: []):
        def noted(lab, program, setting):
            self.ran.append(setting.name)
            return measure(lab, setting)
        return Experiment("example", "An example", [Choice("p")], [Choice("a"), Choice("b")], [Figure("f", "f")], noted, findings)

    def main(self, measure, *words, findings=lambda results: []):
        stdout, stderr = io.StringIO(), io.StringIO()
        handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE)}
        try:
            with redirect_stdout(stdout), redirect_stderr(stderr):
                status = command.main(self.experiment(measure, findings),
                                      ["--build", f"{self.folder}/build", "--out", f"{self.folder}/out", *words])
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
        return status, stdout.getvalue(), stderr.getvalue()

    def test_makes_rounds_and_writes_them(self):
        status, printed, _ = self.main(lambda lab, setting: {"f": len(self.ran)}, "--rounds", "2")
        self.assertEqual((status, self.ran), (0, ["a", "b", "b", "a"]))
        self.assertIn("| p | a | 2.5 (1 to 4) |", printed)
        with open(f"{self.folder}/out/result.json") as file:
            self.assertEqual(json.load(file)["rows"][0]["figures"]["f"]["samples"], [1, 4])

    def test_goes_on_where_it_was(self):
        def killed(_lab, _setting):
            if len(self.ran) == 3:
                raise KeyboardInterrupt
            return {"f": 1}
        with self.assertRaises(KeyboardInterrupt):
            self.main(killed, "--rounds", "2")
        status, _, _ = self.main(lambda lab, setting: {"f": 3}, "--rounds", "2")
        self.assertEqual((status, self.ran), (0, ["a", "b", "b", "b", "a"]))

    def test_fresh_begins_anew(self):
        self.main(lambda lab, setting: {"f": 1}, "--rounds", "1")
        self.main(lambda lab, setting: {"f": 1}, "--rounds", "1")
        self.assertEqual(self.ran, ["a", "b"])
        self.main(lambda lab, setting: {"f": 1}, "--rounds", "1", "--fresh")
        self.assertEqual(self.ran, ["a", "b", "a", "b"])

    def test_a_run_that_fails_is_told_with_its_output_and_not_made_again(self):
        def fails(lab, setting):
            return {"f": float(lab.run(["sh", "-c", "echo oh >&2; exit 3" if setting.name == "a" else "echo 7"]).stdout)}
        status, printed, _ = self.main(fails, "--rounds", "2")
        self.assertEqual((status, self.ran), (1, ["a", "b", "b"]))
        self.assertIn("ended with exit status 3", printed)
        self.assertIn("oh", printed)

    def test_what_is_lacking_is_left_out(self):
        def lacking(_lab, _setting):
            raise LeftOut("no such device")
        status, printed, _ = self.main(lacking, "--rounds", "2")
        self.assertEqual((status, self.ran), (0, ["a", "b"]))
        self.assertIn("- p: a: no such device", printed)

    def test_a_promise_that_does_not_hold_fails(self):
        for agrees, status in ((True, 0), (False, 1), (None, 0)):
            found = self.main(lambda lab, setting: {"f": 1}, findings=lambda results, agrees=agrees: [Finding("s", "h", agrees, bound=True)])
            self.assertEqual(found[0], status)

    def test_another_output_than_natively_fails(self):
        def differs(lab, setting):
            lab.check_output("p", ["echo", "1"], lab.run(["echo", "1" if setting.name == "a" else "2"]))
            return {"f": 1}
        status, printed, _ = self.main(differs, "--rounds", "1")
        self.assertEqual(status, 1)
        self.assertIn("- p: b: another output than natively: '2", printed)

    def test_runs_under_nvmemu_and_reads_its_report(self):
        status, printed, _ = self.main(lambda lab, setting: {"f": len(lab.run(["true"], ["--read-latency", "2x"]).report["processes"])}, "--rounds", "1")
        self.assertEqual(status, 0, printed)
        self.assertIn("| p | a | 1 |", printed)

    def test_only_and_list(self):
        status, printed, _ = self.main(None, "--only", "b$", "--list")
        self.assertEqual((status, printed, self.ran), (0, "p: b\n", []))

    def test_says_why_it_cannot_start(self):
        for words, why in ((["--only", "nothing"], "no row matches nothing"), (["--build", "/nowhere"], "there is no program /nowhere/tools/nvmemu")):
            status, printed, said = self.main(None, *words)
            self.assertEqual((status, printed), (2, ""))
            self.assertIn(why, said)

    def test_a_program_is_ended_with_the_experiment(self):
        script = ("import sys; sys.path[:0] = sys.argv[2:4]; from engine.command import main; from engine.experiment import *\n"
                  "main(Experiment('example', '', [Choice('p')], [Choice('a')], [Figure('f', 'f')], lambda lab, p, s: lab.run("
                  "['sh', '-c', 'echo $$ > ' + sys.argv[1] + '/id; exec sleep 600'])), ['--build', sys.argv[1] + '/build', '--out', sys.argv[1] + '/out'])")
        with subprocess.Popen([sys.executable, "-B", "-c", script, self.folder, *sys.path[:2]], stderr=subprocess.PIPE, text=True) as running:
            path = f"{self.folder}/id"
            while running.poll() is None and not (os.path.exists(path) and os.path.getsize(path)):
                time.sleep(0.01)
            running.terminate()
            _, said = running.communicate()
        self.assertEqual(running.returncode, 128 + signal.SIGTERM, said)
        with open(path) as file, self.assertRaises(ProcessLookupError):
            program = int(file.read())
            for _ in range(3000):  # what has ended has its number until it is waited for
                os.kill(program, 0)
                time.sleep(0.01)


if __name__ == "__main__":
    unittest.main()
