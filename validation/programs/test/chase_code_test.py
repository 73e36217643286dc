# SPDX-License-Identifier: Apache-2.0
"""The chase compiles to one load a chain a step, and nothing on the stack: else it measures more than memory."""
import re
import subprocess
import sys
import unittest

MAX_CHAINS = 16
WORK = (0, 1, 2)  # none, multiplications, divisions: Work::Kind
BETWEEN_LOADS = 3  # of one chain


def functions(objdump, program):
    """Number of chains and kind of work -> [(address, instruction)] of the chase's kernels."""
    text = subprocess.run([objdump, "-d", "--no-show-raw-insn", "-C", program], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    found = {}
    for block in text.split("\n\n"):
        name = re.search(r"^[0-9a-f]+ <.*\bwalk<(\d+)u, \(.*Kind\)(\d)>.*>:$", block, re.MULTILINE)
        if name:
            found[int(name[1]), int(name[2])] = [
                (int(line[1], 16), line[2].strip())  # without the symbol that a branch's target is explained by
                for line in re.finditer(r"^\s+([0-9a-f]+):\s+([^<\n]*)", block, re.MULTILINE)]
    return found


def step_loop(instructions):
    """The instructions of the longest loop: from the target of a backward branch to it."""
    loops = []
    for address, instruction in instructions:
        branch = re.match(r"j\w+\s+([0-9a-f]+)", instruction)
        if branch and int(branch[1], 16) < address:
            loops.append([i for a, i in instructions if int(branch[1], 16) <= a <= address])
    return max(loops, key=len)


class ChaseCode(unittest.TestCase):
    def setUp(self):
        self.kernels = functions(*sys.argv[1:3])

    def test_has_a_kernel_for_every_number_of_chains(self):
        self.assertEqual(set(self.kernels), {(n, work) for n in range(1, MAX_CHAINS + 1) for work in WORK} | {(1, BETWEEN_LOADS)})

    def test_loads_once_a_chain_a_step_and_never_spills(self):
        for (chains, work), instructions in self.kernels.items():
            with self.subTest(chains=chains, work=work):
                loop = [i for i in step_loop(instructions) if "nop" not in i]  # also "cs nopw"
                memory = [i for i in loop if "(" in i and not i.startswith("lea")]
                self.assertEqual(len(memory), chains, loop)
                self.assertFalse([i for i in memory if "%rsp" in i], loop)
                for load in memory:  # (register) to register, no store
                    self.assertRegex(load, r"^movq?\s+(0x0)?\(%\w+\),%\w+$")

    def test_is_tight(self):
        for chains in range(1, 14):  # those in vector registers need one move more each
            with self.subTest(chains=chains):
                self.assertEqual(len(step_loop(self.kernels[chains, 0])), chains + 2)


unittest.main(argv=sys.argv[:1])
