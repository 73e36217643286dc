# SPDX-License-Identifier: Apache-2.0
"""validation/installed-programs, on programs made for it, with an nvmemu that only runs them."""
import os
import stat
import subprocess
import sys
import tempfile
import unittest

FOLDER = os.path.dirname(os.path.realpath(__file__))
TOOL = os.path.join(os.path.dirname(os.path.dirname(FOLDER)), "installed-programs")

# Runs what is behind `--`; tells it that it is emulated.
NVMEMU = """#!/bin/sh
while [ "$1" != -- ]; do shift; done
shift
case $1 in */refused) echo "nvmemu: error: it is statically linked" >&2; exit 125 ;; esac
EMULATED=yes exec "$@"
"""
PROGRAMS = {
    "steady": "#!/bin/sh\necho steady $1\n",
    "refused": "#!/bin/sh\necho refused\n",
    "changed": "#!/bin/sh\necho changed $EMULATED\n",
    "unsteady": "#!/bin/sh\ndate +%N\n",
}


class InstalledPrograms(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.bin = os.path.join(self.folder.name, "bin")
        os.mkdir(self.bin)
        self.nvmemu = self.write(self.folder.name, "nvmemu", NVMEMU)

    @staticmethod
    def write(folder, name, content):
        path = os.path.join(folder, name)
        with open(path, "w") as file:
            file.write(content)
        os.chmod(path, stat.S_IRWXU)
        return path

    def run_on(self, *names, arguments=()):
        for name in names:
            self.write(self.bin, name, PROGRAMS[name])
        return subprocess.run([sys.executable, "-B", TOOL, "--nvmemu", self.nvmemu, "--folder", self.bin, *arguments],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)

    def test_tells_those_that_do_the_same(self):
        done = self.run_on("steady", "refused", "unsteady")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("3 programs: 1 same, 0 differs, 1 refused, 1 differs natively", done.stdout)

    def test_shows_what_differs(self):
        done = self.run_on("steady", "changed", arguments=["--argument=--help", "--", "--dram", "8M"])
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("emulated: exit status 0; changed yes", done.stdout)
        self.assertIn("2 programs: 1 same, 1 differs", done.stdout)

    def test_says_what_it_lacks(self):
        done = self.run_on(arguments=["--folder", "/no/such/folder"])
        self.assertEqual(done.returncode, 2)
        self.assertIn("/no/such/folder", done.stderr)
        self.nvmemu = "/no/such/nvmemu"
        done = self.run_on()
        self.assertEqual(done.returncode, 2)
        self.assertIn("hint", done.stderr)


if __name__ == "__main__":
    unittest.main()
