# SPDX-License-Identifier: Apache-2.0
"""validation/accept, from its command line to its exit status, with stand-ins for what it runs."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

FOLDER = os.path.dirname(os.path.realpath(__file__))
ACCEPT = os.path.join(os.path.dirname(os.path.dirname(FOLDER)), "accept")


def stand_in(name, path):
    """With the interpreter that runs the test, for another may be slow to start; and without what it finds of the site's
    own, which takes a fifth of a start."""
    with open(os.path.join(FOLDER, name)) as source, open(path, "w") as file:
        file.write(f"#!{sys.executable} -IS\n{source.read()}")
    os.chmod(path, 0o755)


class Accept(unittest.TestCase):
    def setUp(self):
        build = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, build)
        self.folder = f"{build}/validation"
        os.makedirs(f"{build}/pmbench")
        os.makedirs(self.folder)
        stand_in("fake_program.py", f"{build}/pmbench/pmbench")
        stand_in("fake_nvmemu.py", f"{self.folder}/nvmemu")
        for program in ("chase", "compute", "gather", "stream", "sync", "workload", "written-out"):
            stand_in("fake_program.py", f"{self.folder}/nvmemu-{program}")

    def accept(self, *arguments, fake=""):
        command = [sys.executable, "-B", ACCEPT, "--nvmemu", f"{self.folder}/nvmemu", "--programs", self.folder, *arguments]
        return subprocess.run(command, env={**os.environ, "FAKE": fake}, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False)

    def assert_fails(self, only, fake, because):
        done = self.accept("--only", only, "--rounds", "1", fake=fake)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("FAIL", done.stdout)
        self.assertIn(because, done.stdout)

    def test_keeps_to_itself_what_reports_of_the_base_warn_of(self):
        self.assertNotIn("a warning", self.accept("--only", "start-up", "--rounds", "1").stdout)

    def test_passes_what_is_exact(self):
        done = self.accept("--only", "1 chain, (500|1000) ns|base, compute", "--rounds", "2")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout.count("PASS"), 5)
        self.assertIn("warning: a warning", done.stdout)
        self.assertIn("round 2 of 2", done.stderr)

    def test_tells_what_it_has_measured_when_it_is_interrupted(self):
        command = [sys.executable, "-B", ACCEPT, "--nvmemu", f"{self.folder}/nvmemu", "--programs", self.folder, "--only", "1 chain, 500 ns",
                   "--rounds", "1000000"]
        with subprocess.Popen(command, env={**os.environ, "FAKE": ""}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            while "round 2 " not in process.stderr.readline():
                self.assertIsNone(process.poll())
            process.send_signal(signal.SIGINT)
            told, _ = process.communicate()
        self.assertEqual(process.returncode, 130, told)
        self.assertIn("PASS", told)

    def test_fails_a_wrong_latency(self):
        self.assert_fails("1 chain, 500 ns, vs target", "latency", "+20.0")

    def test_judges_the_accesses_of_pmbench(self):
        done = self.accept("--only", "pmbench, 4 KiB pages, 500 ns", "--rounds", "1")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout.count("PASS"), 2)
        self.assert_fails("pmbench, 4 KiB pages, 500 ns, access", "latency", "+20.0")
        self.assert_fails("pmbench, 4 KiB pages, 500 ns, timed", "timed", "+400.0")

    def test_judges_bandwidth_by_what_moves_over_the_bus(self):
        done = self.accept("--only", "bandwidth: (copy|sum), read, (75|10) %, 1 thread", "--rounds", "1")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout.count("PASS"), 4)
        self.assert_fails("bandwidth: triad, write, 25 %, 2 threads", "bandwidth", "+29.9")  # a target of 833 MB/s, rounded

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "needs two processors")
    def test_judges_synchronisation_by_its_critical_path(self):
        done = self.accept("--only", "sync: lock, (500|1000) ns", "--rounds", "1")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout.count("PASS"), 2)
        self.assert_fails("sync: lock, 500 ns", "latency", "+18.2")  # 6.5 s where 5.5 s are expected

    def test_skips_programs_that_are_not_built(self):
        done = self.accept("--only", "sync: openmp for, even, 500 ns", "--rounds", "1")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("nvmemu-openmp is not built", done.stdout)

    def test_fails_a_slowdown_at_the_base(self):
        self.assert_fails("base, compute", "slow", "+50.0")

    def test_judges_a_cached_chase_where_it_stays_in_the_cache(self):
        done = self.accept("--only", "^cached chase", "--rounds", "1")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("natively 10.0 to 10.0 ns; what misses then owes +0.0 %", done.stdout)
        self.assert_fails("^cached chase", "slow", "+50.0")

    def test_skips_a_cached_chase_that_neighbours_evict(self):
        done = self.accept("--only", "^cached chase", "--rounds", "1", fake="evicted")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"\+81\.8 .* SKIP  does not stay in the cache: natively 11\.0 to 11\.0 ns; what misses "
                                      r"then owes \+81\.8 %")

    def test_judges_windows_by_what_each_kind_of_load_should_take(self):
        done = self.accept("--rounds", "2", "--only", "^windows: (chase, 4 chains, 4KiB|structure, (list|mean)|200 written out, "
                           "64|gather, 50|chase, 40|cached chase, 64)")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout.count("PASS"), 11)
        self.assertEqual(done.stderr.count("windows: structure, list, 3x"), 1)  # in one round
        self.assert_fails("^windows: gather, 11", "latency", "+20.0")
        self.assert_fails("^windows: cached chase, 16", "slow", "+50.0")

    def test_fails_windows_that_are_too_few(self):
        self.assert_fails("^windows: chase, 1 chain, 2MiB, 2x", "short", "are needed that are whole")

    def test_fails_another_result(self):
        self.assert_fails("1 chain, 500 ns", "checksum", "another result")
        self.assert_fails("base, compute", "checksum", "another result")
        self.assert_fails("^cached chase", "checksum", "another result")

    def test_does_not_start_without_a_report(self):
        done = self.accept("--only", "base, compute", fake="no report")
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn("no run report", done.stderr)

    def test_fails_what_ran_natively(self):
        self.assert_fails("1 chain, 500 ns", "native", "ran natively")

    def test_compares_the_output_of_programs(self):
        done = self.accept("--only", "program: gzip", "--rounds", "1")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_writes_json(self):
        path = f"{self.folder}/result.json"
        self.accept("--only", "base, compute", "--rounds", "2", "--json", path)
        with open(path) as file:
            result = json.load(file)
        self.assertEqual(result["rows"][0]["verdict"], "PASS")
        self.assertEqual(result["rows"][0]["samples"], [0, 0])

    def test_calibrates_again_and_again(self):
        done = self.accept("--only", "^calibration", "--rounds", "2")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout.count("PASS"), 2)
        self.assertIn("it varied by 2 to 2 % within one", done.stdout)
        self.assertEqual(done.stderr.count("calibration: takes, 6 times"), 1)  # in one round
        self.assert_fails("^calibration", "no calibration", "no memory")
        disturbed = self.accept("--only", "^calibration: base", "--rounds", "1", fake="disturbed")
        self.assertRegex(disturbed.stdout, r"\+0\.0 .* SKIP  neighbours disturbed 6 of 6")

    def test_judges_four_threads_by_their_own_time(self):
        self.assert_fails("^chase, 4 threads, 500 ns", "latency", "+20.0")

    def test_says_what_was_nearer_before(self):
        path = f"{self.folder}/before.json"
        self.accept("--only", "1 chain, 500 ns, vs target", "--rounds", "1", "--json", path)
        same = self.accept("--only", "1 chain, (500|1000) ns, vs target", "--rounds", "1", "--against", path)
        self.assertIn("was +0.0", same.stdout)
        self.assertIn("0 of 1 rows are further off", same.stdout)
        further = self.accept("--only", "1 chain, 500 ns, vs target", "--rounds", "1", "--against", path, fake="latency")
        self.assertIn("was +0.0, nearer than now", further.stdout)
        self.assertIn("1 of 1 rows are further off", further.stdout)

    def test_refuses_what_is_no_result(self):
        path = f"{self.folder}/no-result.json"
        with open(path, "w") as file:
            file.write("[]")
        for wrong in (path, "/nonexistent"):
            done = self.accept("--only", "base, compute", "--against", wrong)
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn("hint", done.stderr)

    def test_refuses_bad_input(self):
        for arguments in (["--rounds", "0"], ["--rounds", "x"], ["--only", "("], ["--only", "no such row"],
                          ["--no-such-option"], ["--nvmemu", "/nonexistent"], ["--programs", "/nonexistent"]):
            with self.subTest(arguments=arguments):
                done = self.accept(*arguments)
                self.assertEqual(done.returncode, 2, done.stdout)
                self.assertIn("error: ", done.stderr)


unittest.main()
