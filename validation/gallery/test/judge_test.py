# SPDX-License-Identifier: Apache-2.0
"""How runs are judged, and what the tables say of it."""
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__)))))

from gallery import tables  # noqa: E402
from gallery.judge import FAIL, PASS, SKIPPED, Row, Run, differences, messages  # noqa: E402
from gallery.limits import HIGHEST_SLOWDOWN, LOWEST_SLOWDOWN  # noqa: E402

REPORT = {"totals": {"threads": 2, "injected_ns": 5e8}, "processes": [{}]}
NATIVE = Run(0, b"1\n2\n", "pid 17 ready\n", 1.0)


def emulated(**changes):
    return NATIVE._replace(**{"seconds": 2.0, "reports": [REPORT], **changes})


def row_of(*runs, **options):
    row = Row("name", "1.2", natives=[NATIVE], **options)
    for run in runs:
        row.add(run)
    return row


class Differences(unittest.TestCase):
    def assert_found(self, run, text):
        self.assertIn(text, "; ".join(differences([NATIVE], run)))

    def test_are_none_where_only_numbers_of_messages_differ(self):
        self.assertEqual(differences([NATIVE], emulated(stderr="pid 4711 ready\n")), [])

    def test_are_told_of_a_status_with_the_signal(self):
        self.assert_found(emulated(status=139), "exit status 139 (SIGSEGV), natively 0")
        self.assert_found(emulated(status=-11), "(SIGSEGV)")
        self.assert_found(emulated(status=3), "exit status 3, natively 0")
        self.assert_found(emulated(status=255), "exit status 255, natively 0")

    def test_are_told_of_a_result_by_its_first_line_that_differs(self):
        self.assert_found(emulated(result=b"1\n3\n"), "another result: '3', natively '2'")
        self.assert_found(emulated(result=b"1\n2\nmore\n"), "another result: 'more', natively '(end)'")

    def test_are_none_where_one_of_the_native_results_is_the_same(self):
        other = NATIVE._replace(result=b"other")
        self.assertEqual(differences([NATIVE, other], emulated(result=b"other")), [])

    def test_are_told_of_messages_that_no_native_run_wrote(self):
        self.assert_found(emulated(stderr="pid 17 ready\nnvmemu: oops\nagain\n"),
                          "stderr: nvmemu: oops (and 1 lines more)")

    def test_are_told_of_a_run_that_was_not_emulated(self):
        self.assert_found(emulated(reports=[]), "no run report")
        self.assert_found(emulated(reports=[{**REPORT, "processes": []}]), "ran natively")

    def test_messages_are_lines_without_numbers_and_addresses(self):
        self.assertEqual(messages("12:30:01.5 at 0x7fff\n\n12:31:00 at 0xa\n"), {"# at #"})


class Verdict(unittest.TestCase):
    def test_passes_what_is_right_and_slower(self):
        self.assertEqual(row_of(emulated(), emulated()).verdict(), PASS)

    def test_fails_one_wrong_run_of_many(self):
        row = row_of(emulated(), emulated(status=139), emulated())
        self.assertEqual(row.verdict(), FAIL)
        self.assertIn("1 of 3 runs: exit status 139", row.note())

    def test_fails_what_is_faster_or_implausibly_slow(self):
        for slowdown, verdict in ((LOWEST_SLOWDOWN, PASS), (LOWEST_SLOWDOWN - 0.01, FAIL), (HIGHEST_SLOWDOWN, PASS),
                                  (HIGHEST_SLOWDOWN + 0.01, FAIL)):
            with self.subTest(slowdown=slowdown):
                self.assertEqual(row_of(emulated(seconds=slowdown)).verdict(), verdict)

    def test_lets_short_runs_differ_by_what_the_machine_does(self):
        row = Row("name", "1.2", natives=[NATIVE._replace(seconds=0.21)])
        row.add(emulated(seconds=0.17))
        self.assertEqual(row.verdict(), PASS)

    def test_of_the_time_counts_the_median(self):
        self.assertEqual(row_of(emulated(), emulated(), emulated(seconds=99)).verdict(), PASS)

    def test_leaves_the_time_out_where_it_says_nothing(self):
        self.assertEqual(row_of(emulated(seconds=99), timed=False).verdict(), PASS)

    def test_fails_without_a_run(self):
        self.assertEqual(Row("name", failures=["natively: not so"]).verdict(), FAIL)

    def test_is_skipped_with_the_reason(self):
        row = Row("name", skipped="not installed: x")
        self.assertEqual((row.verdict(), row.note()), (SKIPPED, "not installed: x"))


class Tables(unittest.TestCase):
    def test_have_the_medians_and_the_sums_over_reports(self):
        row = row_of(emulated(reports=[REPORT, REPORT]))
        self.assertEqual(tables.cells(row), ["name", "1.2", "1.00", "2.00", "2.00", "4", "2", "1.00", "1", "PASS"])

    def test_show_what_was_skipped(self):
        line = tables.text([Row("name", skipped="not installed: x")]).splitlines()[1]
        self.assertRegex(line, r"name +(- +){7}0 +SKIPPED +not installed: x")

    def test_markdown_escapes(self):
        text = tables.markdown([row_of(emulated(stderr="a | b <c>\n"))], "about")
        self.assertIn("- name: 1 of 1 runs: stderr: a \\| b &lt;c>", text)

    def test_markdown_replaces_only_the_section_of_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/x.md"
            tables.write_markdown(path, "first\n")
            with open(path) as file:
                made = file.read()
            with open(path, "w") as file:
                file.write(f"before\n{made}after\n")
            tables.write_markdown(path, "second\n")
            with open(path) as file:
                self.assertEqual(file.read(), f"before\n{tables.BEGIN}\nsecond\n{tables.END}\nafter\n")


unittest.main()
