# SPDX-License-Identifier: Apache-2.0
"""The validation programs on the command line: bad input is refused with a message, figures go to stdout."""
import json
import os
import subprocess
import sys
import time
import unittest

SMALL = {
    "nvmemu-chase": ["--size", "1MiB", "--loads", "1000"],
    "nvmemu-sum": ["--size", "1MiB", "--repeat", "2"],
    "nvmemu-stream": ["--size", "1MiB", "--repeat", "2"],
    "nvmemu-compute": ["--rounds", "1000"],
    "nvmemu-threads": ["--threads", "2"],
    "nvmemu-sync": ["--pattern", "lock", "--size", "1MiB", "--loads", "100", "--rounds", "10"],
    "nvmemu-gather": ["--size", "1MiB", "--loads", "1000"],
    "nvmemu-persist": ["--lines", "4", "--rounds", "1000"],
    "nvmemu-tiers": ["lists", "--size", "1MiB", "--fast-size", "512KiB", "--steps", "1000"],
    "nvmemu-workload": ["b-tree", "--size", "1MiB", "--operations", "1000"],
}
SEEDED = ["nvmemu-chase", "nvmemu-sum", "nvmemu-compute", "nvmemu-sync", "nvmemu-gather", "nvmemu-tiers", "nvmemu-workload"]

# Program, arguments, and what the message must name.
BAD_INPUT = [
    ("nvmemu-chase", ["--chains", "0"], "--chains"),
    ("nvmemu-chase", ["--chains", "17"], "--chains"),
    ("nvmemu-chase", ["--chains", "two"], "--chains"),
    ("nvmemu-chase", ["--chains", "-1"], "--chains"),
    ("nvmemu-chase", ["--loads", "0"], "--loads"),
    ("nvmemu-chase", ["--loads", "-5"], "--loads"),
    ("nvmemu-chase", ["--loads", "99999999999999999999"], "--loads"),
    ("nvmemu-chase", ["--loads"], "--loads"),
    ("nvmemu-chase", ["--size", "512"], "--size"),
    ("nvmemu-chase", ["--size", "0MiB"], "--size"),
    ("nvmemu-chase", ["--size", "100B"], "--size"),
    ("nvmemu-chase", ["--size", "1EiB"], "--size"),
    ("nvmemu-chase", ["--size", "big"], "--size"),
    ("nvmemu-chase", ["--page-size", "1GiB"], "--page-size"),
    ("nvmemu-chase", ["--threads", "0"], "--threads"),
    ("nvmemu-chase", ["--repeat", "0"], "--repeat"),
    ("nvmemu-chase", ["--seed", "x"], "--seed"),
    ("nvmemu-chase", ["--work", "-1"], "--work"),
    ("nvmemu-chase", ["--between-loads"], "--between-loads"),
    ("nvmemu-chase", ["--between-loads", "--work", "3", "--chains", "2"], "--between-loads"),
    ("nvmemu-chase", ["--seconds", "0"], "--seconds"),
    ("nvmemu-chase", ["--count-misses", "0ns"], "--count-misses"),
    ("nvmemu-chase", ["--count-misses", "200"], "--count-misses"),
    ("nvmemu-chase", ["--count-misses", "200ns", "--chains", "2"], "--count-misses"),
    ("nvmemu-chase", ["--count-misses", "200ns", "--loads", "1000"], "--loads"),
    ("nvmemu-chase", ["--no-such-option"], "--no-such-option"),
    ("nvmemu-chase", ["stray"], "stray"),
    ("nvmemu-written-out", ["--loads", "7"], "--loads"),
    ("nvmemu-written-out", ["--stride", "63"], "--stride"),
    ("nvmemu-written-out", ["--stride", "100"], "--stride"),
    ("nvmemu-written-out", ["--seconds", "0"], "--seconds"),
    ("nvmemu-written-out", ["--count-misses", "--threshold", "soon"], "--threshold"),
    ("nvmemu-files", ["--names", "short"], "--names"),
    ("nvmemu-files", ["--calls", "0"], "--calls"),
    ("nvmemu-files", ["--calls", "901"], "--calls"),
    ("nvmemu-files", ["--rounds", "no"], "--rounds"),
    ("nvmemu-tiers", ["--fast-size", "100B"], "--fast-size"),
    ("nvmemu-tiers", ["--fast-size", "1EiB"], "--fast-size"),
    ("nvmemu-page-device", ["--device", "drum"], "drum"),
    ("nvmemu-page-device", ["--erase", "soon"], "--erase"),
    ("nvmemu-page-device", ["--erase-block", "7"], "--erase-block"),
    ("nvmemu-page-device", ["--requests", "0"], "--requests"),
    ("nvmemu-gather", ["--instructions", "12"], "--instructions"),
    ("nvmemu-gather", ["--size", "3MiB"], "--size"),
    ("nvmemu-gather", ["--far", "2"], "--far"),
    ("nvmemu-gather", ["--far", "1", "--near", "100KB"], "--near"),
    ("nvmemu-gather", ["--far", "1", "--stores"], "--stores"),
    ("nvmemu-gather", ["--near", "1KiB"], "--far"),
    ("nvmemu-gather", ["--loads", "0"], "--loads"),
    ("nvmemu-persist", ["--lines", "0"], "--lines"),
    ("nvmemu-persist", ["--apart", "100", "--untold"], "--apart: lines are whole ones: a multiple of 64 bytes"),
    ("nvmemu-persist", ["--apart", "256"], "--apart: a round is told as one range of lines side by side: with --untold only"),
    ("nvmemu-persist", ["--by", "msync"], "--by: msync is not one of clwb, clflushopt, clflush, movnti"),
    ("nvmemu-tiers", ["heap"], "heap is not one of chain, lists, lists-last, tree"),
    ("nvmemu-sum", ["--size", "7B"], "--size"),
    ("nvmemu-sum", ["--repeat", "0"], "--repeat"),
    ("nvmemu-sum", ["--page-size", ""], "--page-size"),
    ("nvmemu-stream", ["--size", "12B"], "--size"),
    ("nvmemu-stream", ["--threads", "99999"], "--threads"),
    ("nvmemu-compute", ["--rounds", "1.5"], "--rounds"),
    ("nvmemu-threads", ["--threads", "0"], "--threads"),
    ("nvmemu-sync", [], "--pattern"),
    ("nvmemu-sync", ["--pattern", "knot"], "--pattern"),
    ("nvmemu-sync", ["--pattern", "lock", "--loads", "0"], "--loads"),
    ("nvmemu-sync", ["--pattern", "lock", "--rounds", "-1"], "--rounds"),
    ("nvmemu-sync", ["--pattern", "lock", "--size", "100B"], "--size"),
    ("nvmemu-sync", ["--pattern", "fork", "--size", "64B"], "--size"),
    ("nvmemu-workload", [], "workload"),
    ("nvmemu-workload", ["heap"], "heap"),
    ("nvmemu-workload", ["list", "--size", "3MiB"], "--size"),
    ("nvmemu-workload", ["list", "--size", "64KiB"], "--size"),
    ("nvmemu-workload", ["list", "--size", "32GiB"], "--size"),
    ("nvmemu-workload", ["list", "--operations", "0"], "--operations"),
    ("nvmemu-workload", ["list", "--twin", "--threshold", "soon"], "--threshold"),
]


def run(program, *arguments, **options):
    return subprocess.run([os.path.join(PROGRAMS, program), *arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, **options)


class BadInput(unittest.TestCase):
    def test_is_refused_with_status_2_and_a_message(self):
        for program, arguments, named in BAD_INPUT:
            with self.subTest(program=program, arguments=arguments):
                done = run(program, *arguments)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertEqual(done.stdout, "")
                self.assertTrue(done.stderr.startswith(f"{program}: error: "), done.stderr)
                self.assertIn(named, done.stderr)

    def test_names_a_set_too_small_for_its_chains(self):
        done = run("nvmemu-chase", "--size", "64B", "--chains", "2")
        self.assertEqual(done.returncode, 2)
        self.assertIn("fewer cache lines", done.stderr)


class Failure(unittest.TestCase):
    def test_to_get_memory_is_an_error_with_a_hint(self):
        for program in ("nvmemu-chase", "nvmemu-sum", "nvmemu-stream"):
            with self.subTest(program=program):
                command = ["bash", "-c", 'ulimit -v 1000000; exec "$@"', "-", os.path.join(PROGRAMS, program),
                           "--size", "2GiB"]
                done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                if "Sanitizer" in done.stderr:
                    self.skipTest("a sanitizer needs more address space")
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn("cannot map 2 GiB", done.stderr)
                self.assertIn("hint: ", done.stderr)

    def test_to_write_figures_is_an_error(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([os.path.join(PROGRAMS, "nvmemu-compute"), "--rounds", "1"], stdout=full,
                                  stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("stdout", done.stderr)


class Figures(unittest.TestCase):
    def test_are_lines_or_json(self):
        for program, arguments in SMALL.items():
            with self.subTest(program=program):
                text = run(program, *arguments, check=True).stdout
                figures = json.loads(run(program, "--json", *arguments, check=True).stdout)
                self.assertFalse(figures["emulated"])
                self.assertEqual([line.split()[0] for line in text.splitlines() if not line.startswith(" ")],
                                 list(figures))

    def test_are_on_stdout_alone(self):
        for program, arguments in SMALL.items():
            self.assertEqual(run(program, *arguments, check=True).stderr, "")

    def test_have_the_same_checksum_for_the_same_seed_only(self):
        for program in SEEDED:
            with self.subTest(program=program):
                first, again, other = (
                    json.loads(run(program, "--json", "--seed", seed, *SMALL[program], check=True).stdout)["checksum"]
                    for seed in ("3", "3", "4"))
                self.assertEqual(first, again)
                self.assertNotEqual(first, other)

    def test_of_a_chase_are_given_for_every_thread(self):
        done = run("nvmemu-chase", "--json", "--threads", "3", "--chains", "16", "--repeat", "2", "--work", "5",
                   *SMALL["nvmemu-chase"], check=True)
        figures = json.loads(done.stdout)
        self.assertEqual(len(figures["ns_per_load_by_thread"]), 3)
        self.assertEqual(figures["chains"], 16)
        self.assertLessEqual(figures["ns_per_load_min"], figures["ns_per_load"])
        self.assertLessEqual(figures["ns_per_load"], figures["ns_per_load_max"])

    def test_of_a_chase_have_its_misses_where_they_are_asked_for(self):
        arguments = ["nvmemu-chase", "--json", "--size", "4KiB", "--loads", "200000"]
        self.assertNotIn("misses_per_load", json.loads(run(*arguments, check=True).stdout))
        figures = json.loads(run(*arguments, "--count-misses", "200ns", check=True).stdout)
        self.assertGreaterEqual(figures["misses_per_load"], 0)
        self.assertLess(figures["misses_per_load"], 0.1)

    def test_are_of_as_much_as_is_done_in_a_time_where_one_is_given(self):
        for program, arguments, count in (("nvmemu-chase", [], "loads_per_chain"), ("nvmemu-gather", [], "loads"),
                                          ("nvmemu-sum", [], "repeat"), ("nvmemu-workload", ["list"], "operations")):
            with self.subTest(program=program):
                start = time.monotonic()
                figures = json.loads(run(program, "--json", *arguments, "--size", "1MiB", "--seconds", "1", check=True).stdout)
                self.assertGreaterEqual(time.monotonic() - start, 1)
                self.assertGreater(figures[count], 30)

    def test_of_a_gather_are_its_instructions(self):
        for instructions in (11, 50, 180):
            figures = json.loads(run("nvmemu-gather", "--json", "--instructions", str(instructions),
                                     *SMALL["nvmemu-gather"], check=True).stdout)
            self.assertEqual(figures["instructions"], instructions)

    def test_of_a_gather_no_load_of_a_share_of_0_leaves_what_is_near(self):
        def checksum(*arguments):
            return json.loads(run("nvmemu-gather", "--json", "--loads", "1000", *arguments, check=True).stdout)["checksum"]
        far, near = ["--size", "1MiB"], ["--size", "64KiB"]  # lines by the upper bits of the same random numbers
        self.assertEqual(checksum("--far", "1", *far), checksum(*far))
        self.assertEqual(checksum("--far", "0", "--near", "64KiB", *near), checksum(*near))
        self.assertNotEqual(checksum("--far", "0.5", *far), checksum(*far))

    def test_of_loads_written_out_have_their_share_from_memory_where_it_is_asked_for(self):
        arguments = ["nvmemu-written-out", "--json", "--size", "1MiB", "--seconds", "1", "--loads", "32"]
        self.assertNotIn("from_memory_per_load", json.loads(run(*arguments, check=True).stdout))
        for threshold, share in (("1ns", 1), ("1s", 0)):  # all loads take longer; none does
            figures = json.loads(run(*arguments, "--count-misses", "--threshold", threshold, check=True).stdout)
            self.assertEqual(figures["from_memory_per_load"], share)

    def test_of_a_twin_are_its_accesses(self):
        arguments = ["--json", *SMALL["nvmemu-workload"]]
        plain = json.loads(run("nvmemu-workload", *arguments, check=True).stdout)
        twin = json.loads(run("nvmemu-workload", *arguments, "--twin", "--threshold", "1ns", check=True).stdout)
        self.assertEqual(plain["checksum"], twin["checksum"])
        self.assertEqual(twin["accesses"], 5 * 1000)
        self.assertEqual(twin["accesses_from_memory"], twin["accesses"])  # all take longer than 1 ns
        self.assertNotIn("seconds", twin)

    def test_of_a_twin_are_those_of_each_16th_piece(self):
        arguments = ["--json", "b-tree", "--size", "1MiB", "--operations", "48000"]  # 32 pieces
        plain = json.loads(run("nvmemu-workload", *arguments, check=True).stdout)
        twin = json.loads(run("nvmemu-workload", *arguments, "--twin", "--threshold", "1ns", check=True).stdout)
        self.assertEqual(plain["checksum"], twin["checksum"])
        self.assertEqual(twin["operations"], 48000)
        self.assertEqual(twin["timed_operations"], 3000)
        self.assertEqual(twin["accesses"], 5 * 3000)

    def test_of_stream_are_given_for_every_kernel(self):
        figures = json.loads(run("nvmemu-stream", "--json", "--threads", "3", *SMALL["nvmemu-stream"],
                                 check=True).stdout)
        for kernel in ("copy", "scale", "add", "triad"):
            self.assertGreaterEqual(figures[kernel]["best_mbps"], figures[kernel]["median_mbps"])
            self.assertGreater(figures[kernel]["median_mbps"], 0)

    def page_device(self, *arguments):
        return json.loads(run("nvmemu-page-device", "--json", *arguments, check=True).stdout)

    def test_of_a_device_are_those_of_its_profile(self):
        disk = self.page_device("--device", "hdd-2008")
        for name, told in (("random_reads_per_second", 120), ("random_writes_per_second", 120), ("sequential_read_mbps", 56), ("sequential_write_mbps", 45)):
            self.assertAlmostEqual(disk[name], told, delta=0.02 * told)

    def test_of_a_device_have_what_erasing_takes_once_a_block(self):
        found = self.page_device("--device", "z-nand", "--erase-block", "131072", "--erase", "1500us")
        page_us, erase_us, pages_of_block = 16, 1500, 32
        self.assertAlmostEqual(found["random_writes_per_second"], 1e6 / (page_us + erase_us), delta=2)
        in_log = 1e6 / (page_us + erase_us / pages_of_block)
        self.assertAlmostEqual(found["log_writes_per_second"], in_log, delta=0.01 * in_log)

    def test_of_a_device_are_more_with_requests_side_by_side_where_it_serves_several(self):
        one, many = (self.page_device("--device", "z-nand", "--depth", depth)["random_reads_per_second"] for depth in ("1", "32"))
        self.assertAlmostEqual(many / one, 8, delta=0.1)

    def test_help_is_on_stdout_and_succeeds(self):
        for program in [*SMALL, "nvmemu-page-device"]:
            done = run(program, "--help")
            self.assertEqual(done.returncode, 0)
            self.assertIn("--json", done.stdout)


PROGRAMS = sys.argv[1]
unittest.main(argv=sys.argv[:1])
