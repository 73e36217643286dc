# SPDX-License-Identifier: Apache-2.0
"""What the emulator injects at the end of an epoch lands in the timed region if, and only if, it is owed for it."""
import json
import os
import subprocess
import sys
import unittest


def figures(program, *arguments, emulator=None):
    environment = {**os.environ, **({"LD_PRELOAD": emulator} if emulator else {})}
    done = subprocess.run([os.path.join(PROGRAMS, program), "--json", *arguments], env=environment, check=True,
                          stdout=subprocess.PIPE)
    return json.loads(done.stdout)


class Settle(unittest.TestCase):
    def test_finds_the_interface_of_a_preloaded_library(self):
        arguments = ["--rounds", "1000"]
        self.assertTrue(figures("nvmemu-compute", *arguments, emulator=EMULATOR)["emulated"])
        self.assertFalse(figures("nvmemu-compute", *arguments)["emulated"])

    def test_does_not_pay_for_the_setup_inside_the_region(self):
        # Building 64 MiB takes longer than 50 ms, a thousand loads do not: 300 ms would be 300000 ns a load.
        taken = figures("nvmemu-chase", "--size", "64MiB", "--loads", "1000", emulator=EMULATOR)
        self.assertLess(taken["ns_per_load"], 250_000)

    def test_pays_for_the_region_inside_it(self):
        # The fake injects 300 ms once, for a region of any length beyond 50 ms.
        taken = figures("nvmemu-compute", "--rounds", "40000000", emulator=EMULATOR)
        self.assertGreater(taken["seconds"], 0.3)


PROGRAMS, EMULATOR = sys.argv[1:3]
unittest.main(argv=sys.argv[:1])
