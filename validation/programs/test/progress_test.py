# SPDX-License-Identifier: Apache-2.0
"""The programs tell the emulator what they have done, in their own units, in small pieces."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

MIB = 2**20
# Program and arguments: what they do, and in how many pieces at least.
TOLD = {
    ("nvmemu-chase", "--size", "1MiB", "--loads", "25000", "--threads", "2", "--repeat", "2"): (100_000, 12),
    ("nvmemu-sum", "--size", "16MiB", "--repeat", "2"): (2 * 16 * MIB // 8, 6),
    ("nvmemu-sum", "--integers", "--size", "16MiB", "--repeat", "2"): (2 * 16 * MIB // 8, 6),
    # Rounds, the one that warms up too; arrays read and written; bytes of each.
    ("nvmemu-stream", "--size", "4MiB", "--repeat", "1", "--threads", "2"): (2 * 15 * 4 * MIB, 2 * 5 * 4),
    ("nvmemu-compute", "--rounds", "1000001"): (1_000_001, 5),
    ("nvmemu-sync", "--pattern", "barrier", "--size", "1MiB", "--loads", "100", "--rounds", "10"): (1000, 10),
    ("nvmemu-gather", "--size", "1MiB", "--loads", "200001"): (200_001, 3),
    ("nvmemu-persist", "--rounds", "5001"): (5001, 3),
    ("nvmemu-tiers", "chain", "--size", "1MiB", "--steps", "25000"): (25_000, 3),
    ("nvmemu-workload", "list", "--size", "1MiB", "--operations", "9001"): (9001, 3),
    ("nvmemu-workload", "list", "--size", "1MiB", "--operations", "9001", "--twin", "--threshold", "1ns"): (9001, 3),
}


class Progress(unittest.TestCase):
    def test_is_what_was_done(self):
        for command, (done, pieces) in TOLD.items():
            with self.subTest(command=" ".join(command)), tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "progress")
                subprocess.run([os.path.join(PROGRAMS, command[0]), *command[1:]], check=True, stdout=subprocess.PIPE,
                               env={**os.environ, "LD_PRELOAD": EMULATOR, "FAKE_PROGRESS": path})
                with open(path) as file:
                    told = [int(number) for number in file.read().split()]
                self.assertEqual(told[0], done)
                self.assertGreaterEqual(told[1], pieces)


class Windows(unittest.TestCase):
    def run_program(self, *options, **environment):
        command = [os.path.join(PROGRAMS, "nvmemu-compute"), "--rounds", "1000", *options]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True,
                              env={**os.environ, "LD_PRELOAD": EMULATOR, **environment}).stdout

    def test_are_those_with_work_from_their_beginning(self):
        figures = json.loads(self.run_program("--json", FAKE_WINDOWS="1"))
        self.assertEqual(figures["windows_without_delays"], {"median_per_s": 1100, "per_s": [1000, 1200]})
        self.assertEqual(figures["windows_with_delays"], {"median_per_s": 400, "per_s": [400]})

    def test_are_lines_of_the_text(self):
        lines = [line.split() for line in self.run_program(FAKE_WINDOWS="1").splitlines()]
        self.assertIn(["windows_without_delays"], lines)
        self.assertIn(["per_s", "1000.000", "1200.000"], lines)

    def test_are_not_told_of_where_nothing_alternates(self):
        self.assertNotIn("windows", self.run_program())


PROGRAMS, EMULATOR = sys.argv[1:3]
unittest.main(argv=sys.argv[:1])
