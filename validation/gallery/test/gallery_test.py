# SPDX-License-Identifier: Apache-2.0
"""A gallery of two small programs, with a stand-in for nvmemu; and the command line of validation/programs-gallery."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

FOLDER = os.path.dirname(os.path.realpath(__file__))
VALIDATION = os.path.dirname(os.path.dirname(FOLDER))
sys.path.insert(0, VALIDATION)

from acceptance.runner import Runner  # noqa: E402
from gallery import process, program  # noqa: E402
from gallery.exhibition import exhibit  # noqa: E402
from gallery.judge import FAIL, PASS, SKIPPED  # noqa: E402

# Long enough for its time to be told from that of starting an interpreter.
JOB = program.Job("job", ("sh",), ("echo", "version 1.2.3"), command=("sh", "-c", "echo FOLDER; sleep 0.1"))


def clear(folder):
    for name in ("up", "stop"):
        if os.path.exists(f"{folder}/{name}"):
            os.unlink(f"{folder}/{name}")


def touch(path):
    with open(path, "w"):
        pass


SERVER = program.Server(
    "server", ("sh",), ("echo", "none"),
    command=("sh", "-c", "touch FOLDER/up; until [ -e FOLDER/stop ]; do sleep 0.01; done"),
    before=clear, ready=lambda folder: os.path.exists(f"{folder}/up"), ask=lambda folder: b"answer",
    stop_by=lambda folder: touch(f"{folder}/stop"))


class Exhibit(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        with open(os.path.join(FOLDER, "fake_nvmemu.py")) as source, open(f"{self.folder}/nvmemu", "w") as file:
            file.write(f"#!{sys.executable}\n{source.read()}")
        os.chmod(f"{self.folder}/nvmemu", 0o755)

    def exhibit(self, what, fake="", run_options=()):
        with mock.patch.dict(os.environ, {"FAKE": fake}):
            return exhibit(what, Runner(f"{self.folder}/nvmemu", None, self.folder), 1, run_options)

    def assert_fails(self, fake, because, what=JOB):
        row = self.exhibit(what, fake)
        self.assertEqual(row.verdict(), FAIL)
        self.assertIn(because, row.note())

    def test_passes_a_job_that_does_the_same(self):
        row = self.exhibit(JOB)
        self.assertEqual((row.verdict(), row.note(), row.version), (PASS, "", "1.2.3"))
        self.assertEqual(os.listdir(self.folder), ["nvmemu"])  # it cleans up

    def test_gives_nvmemu_the_options_of_its_user(self):
        row = self.exhibit(JOB, run_options=["--ticker=timer", "--no-walks"])
        options = row.emulated[0].reports[0]["options"]
        self.assertLess({"--read-latency", "2x", "--ticker=timer", "--no-walks"}, set(options))

    def test_fails_a_job(self):
        self.assert_fails("crash", "SIGSEGV")
        self.assert_fails("noise", "a word too many")
        self.assert_fails("output", "another result")
        self.assert_fails("slow", "slowdown")

    def test_fails_what_hangs(self):
        with mock.patch.object(process.Process.wait, "__defaults__", (0.5,)):
            self.assert_fails("hang", "hangs")

    def test_stops_a_server_and_compares_its_answers(self):
        row = self.exhibit(SERVER)
        self.assertEqual(row.natives[0].result, b"answer")
        self.assertEqual(row.failures, [])

    def test_fails_what_is_not_refused(self):
        refused = program.Job("refused", ("sh",), ("true",), command=("true",), refused=True)
        self.assert_fails("", "not refused: exit status 0", refused)

    def test_skips_what_is_not_installed(self):
        row = self.exhibit(program.Job("none", ("no-such-program",), ("true",), command=("true",)))
        self.assertEqual((row.verdict(), row.note()), (SKIPPED, "not installed: no-such-program"))

    def test_skips_what_the_machine_is_without(self):
        row = self.exhibit(program.Job("none", ("sh",), ("true",), command=("false",), lacking=lambda: "no such call"))
        self.assertEqual((row.verdict(), row.note()), (SKIPPED, "no such call"))


class CommandLine(unittest.TestCase):
    def gallery(self, *arguments):
        return subprocess.run([sys.executable, "-B", os.path.join(VALIDATION, "programs-gallery"), *arguments],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)

    def test_lists_the_programs(self):
        listed = self.gallery("--list").stdout.splitlines()
        self.assertIn("redis", listed)
        self.assertEqual(len(listed), len(set(listed)))

    def test_refuses_bad_input(self):
        for arguments in (["--runs", "0"], ["--runs", "x"], ["--only", "("], ["--only", "no such row"],
                          ["--no-such-option"], ["--nvmemu", "/nonexistent"]):
            with self.subTest(arguments=arguments):
                done = self.gallery(*arguments)
                self.assertEqual(done.returncode, 2, done.stdout)
                self.assertIn("error: ", done.stderr)


unittest.main()
