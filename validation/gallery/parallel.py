# SPDX-License-Identifier: Apache-2.0
"""Threads and processes that wait for each other all the time."""
import os

from gallery.process import native
from gallery.program import EACH, SOURCES, Job

# Of these the exit status counts: what they print is how fast they were.
STRESSORS = {"futex": ("--futex", "2", "--futex-ops", "100000"),
             "mutex": ("--mutex", "2", "--mutex-ops", "600000"),
             "vm": ("--vm", "2", "--vm-bytes", "64m", "--vm-ops", "60000"),
             "memcpy": ("--memcpy", "2", "--memcpy-ops", "1000")}

MPIRUN = ("mpirun", *(("--allow-run-as-root",) if os.geteuid() == 0 else ()), "--oversubscribe", "-n", "2")


def stressor(name, options):
    return Job(f"stress-ng, {name}", ("stress-ng",), ("stress-ng", "--version"), stdout_counts=False,
               command=("stress-ng", "--quiet", "--temp-path", "FOLDER", *options))


def compile_c(source, *command):
    def prepare(folder):
        native([*command, "-O2", "-o", f"{folder}/program", os.path.join(SOURCES, source)], folder)
    return prepare


MPI = {"needs": ("mpirun", "mpicc"), "version": ("mpirun", "--version"), "prepare": compile_c("ring.c", "mpicc")}

PROGRAMS = [
    *(stressor(name, options) for name, options in STRESSORS.items()),
    Job("OpenMP", ("gcc",), ("gcc", "--version"), prepare=compile_c("openmp.c", "gcc", "-fopenmp"),
        command=("FOLDER/program",)),
    Job("MPI, nvmemu run mpirun", **MPI, command=(*MPIRUN, "FOLDER/program")),
    Job("MPI, mpirun nvmemu run", **MPI, command=(*MPIRUN, EACH, "FOLDER/program")),
]
