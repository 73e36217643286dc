# SPDX-License-Identifier: Apache-2.0
"""The programs that synchronise: their critical paths, and that they come to the same end each time."""
import json
import os
import subprocess
import sys
import unittest

LOADS, ROUNDS = 80, 10
CPUS = len(os.sched_getaffinity(0))


def turns(tasks):
    return -(-tasks // CPUS)


CRITICAL_LOADS = {
    "lock": 2 * ROUNDS * LOADS + LOADS // 2,
    "condition": ROUNDS * LOADS + LOADS // 2,
    "pipe": ROUNDS * LOADS + LOADS // 2,
    "barrier": ROUNDS * LOADS,
    "barrier-both": ROUNDS * LOADS,
    "rwlock": ROUNDS * (LOADS + 2 * LOADS // 8),
    "pipeline": (7 * ROUNDS if CPUS == 1 else 4 * ROUNDS + 3) * LOADS,
    "fork": ROUNDS * turns(8) * LOADS,
    "oversubscribed": turns(4) * ROUNDS * LOADS,
    "errands": ROUNDS * LOADS,
}


def run(program, *arguments):
    command = [os.path.join(PROGRAMS, program), "--json", "--size", "1MiB", *arguments]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=100, check=False)


class Synchronising(unittest.TestCase):
    def assert_ends_alike(self, program, arguments, critical_loads):
        arguments = ["--loads", str(LOADS), "--rounds", str(ROUNDS), *arguments]
        first, again, other = (run(program, *arguments, "--seed", seed) for seed in ("3", "3", "4"))
        for done in (first, again, other):
            self.assertEqual(done.returncode, 0, done.stderr)
        first, again, other = (json.loads(done.stdout) for done in (first, again, other))
        self.assertEqual(first["critical_loads"], critical_loads)
        self.assertEqual(first["rounds"], ROUNDS)
        self.assertGreater(first["seconds"], 0)
        self.assertEqual(first["checksum"], again["checksum"])
        self.assertNotEqual(first["checksum"], other["checksum"])

    def test_ends_alike_in_each_pattern(self):
        for pattern, critical_loads in CRITICAL_LOADS.items():
            with self.subTest(pattern=pattern):
                self.assert_ends_alike("nvmemu-sync", ["--pattern", pattern], critical_loads)

    def test_ends_alike_with_openmp(self):
        if not os.path.exists(os.path.join(PROGRAMS, "nvmemu-openmp")):
            self.skipTest("nvmemu-openmp is not built")
        for construct in ("barrier", "parallel", "for"):
            for balance in ("even", "uneven"):
                with self.subTest(construct=construct, balance=balance):
                    self.assert_ends_alike("nvmemu-openmp", ["--construct", construct, "--balance", balance],
                                           ROUNDS * LOADS)

    def test_has_a_pattern_for_each_in_its_help(self):
        done = run("nvmemu-sync", "--help")
        for pattern in CRITICAL_LOADS:
            self.assertIn(f"{pattern}: ", done.stdout)

    def test_refuses_what_openmp_does_not_have(self):
        if not os.path.exists(os.path.join(PROGRAMS, "nvmemu-openmp")):
            self.skipTest("nvmemu-openmp is not built")
        for option, value in (("--construct", "sections"), ("--balance", "odd"), ("--threads", "0")):
            with self.subTest(option=option):
                done = run("nvmemu-openmp", option, value)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(option, done.stderr)


PROGRAMS = sys.argv[1]
unittest.main(argv=sys.argv[:1])
