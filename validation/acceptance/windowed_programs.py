# SPDX-License-Identifier: Apache-2.0
"""What is judged by windows: chases, loads that are written out or independent, work beside a miss, what needs no memory,
and data structures."""
from acceptance.windows import (AllFromMemory, AsManyAtOnce, BesideWork, FirstWindow, FromMemory, MeanError, Nothing,
                                Windowed)

TARGET = "3x"
CHASE_TARGETS = ("2x", "4x")
LITTLE = "1.25x"
SET = ["--size", "256MiB"]  # far beyond what a program really gets of the last-level cache
# A multiplication beside a load is three instructions: more of them than the out-of-order window of any processor holds, so
# that a part of the miss is hidden, natively as emulated.
BEYOND_THE_WINDOW = 300
# Those whose accesses depend on one another. Not union-find, whose operations make fewer accesses the longer it runs.
STRUCTURES = ("list", "binary-tree", "b-tree", "hash-chains", "skip-list", "random-walk", "persist")


def chases_at(target, numbers_of_chains):
    for pages in ("2MiB", "4KiB"):
        for chains in numbers_of_chains:
            yield Windowed(f"chase, {chains} chain{'s' if chains > 1 else ''}, {pages}", "windows: chase", target,
                           "nvmemu-chase", [*SET, "--chains", str(chains), "--page-size", pages], AllFromMemory())


def chases():
    for target in CHASE_TARGETS:
        yield from chases_at(target, (1, 2, 4, 8, 16))


# Where little is added, what measuring takes is much beside it.
def little_slower():
    yield from chases_at(LITTLE, (1, 4))


# What walks have said of a load for long is wrong from one moment on.
def after_cached():
    yield Windowed("chase, cached for 5 s before", "windows: other loads", TARGET, "nvmemu-chase",
                   [*SET, "--cached-before", "5"], AllFromMemory())


def written_out():
    def from_memory(run):
        return run["from_memory_per_load"]
    for where, stride in (("near", 64), ("near", 256), ("far", 256)):
        for loads in (1, 32, 200, 400):
            arguments = ["--loads", str(loads), "--stride", str(stride), *(["--near"] if where == "near" else [])]
            counting = FromMemory("nvmemu-written-out", [*arguments, "--seconds", "1", "--count-misses"], from_memory)
            name = f"{loads} written out, {stride} bytes apart, {where}"
            yield Windowed(name, "windows: other loads", TARGET, "nvmemu-written-out", arguments, counting)
            yield FirstWindow(f"{name}, at first", "windows: other loads", TARGET, "nvmemu-written-out", arguments, counting)


def gathers():
    for instructions in (11, 50, 180):
        yield Windowed(f"gather, {instructions} instructions a load", "windows: other loads", TARGET, "nvmemu-gather",
                       [*SET, "--instructions", str(instructions)], AsManyAtOnce(SET))


def beside_work():
    for count in (10, 40, 100, 300):
        work = ["--work", str(count)]
        truth = BesideWork(work) if count < BEYOND_THE_WINDOW else AllFromMemory()
        yield Windowed(f"chase, {count} multiplications beside", "windows: other loads", TARGET, "nvmemu-chase",
                       [*SET, *work], truth)
        yield Windowed(f"chase, {count} multiplications between", "windows: other loads", TARGET, "nvmemu-chase",
                       [*SET, *work, "--between-loads"], AllFromMemory())


def without_memory():
    for size in ("16KiB", "64KiB", "256KiB"):
        yield Windowed(f"cached chase, {size}", "windows: cached chase", "4x", "nvmemu-chase", ["--size", size], Nothing(),
                       cost=True)
    for kind, options in (("doubles", []), ("integers", ["--integers"])):
        yield Windowed(f"sum of {kind}", "windows: sum", "4x", "nvmemu-sum", [*SET, *options], Nothing(), cost=True)


def dependent(title, bound, name):
    """A structure of nvmemu-workload whose accesses depend on one another, and are counted by its twin."""
    def from_memory(run):
        return run["accesses_from_memory"] / run["timed_operations"]
    twin = FromMemory("nvmemu-workload", [name, *SET, "--twin", "--seconds", "1"], from_memory)
    return Windowed(f"{title}, {name}", bound, TARGET, "nvmemu-workload", [name, *SET], twin)


def locked():
    yield dependent("locked", "windows: structure", "counted-list")
    yield Windowed("locked, counters", "windows: stores", TARGET, "nvmemu-workload", ["counters", *SET], AsManyAtOnce(SET))


def structures():
    for name in STRUCTURES:
        yield dependent("structure", "windows: structure", name)
    yield Windowed("structure, radix tree", "windows: structure", TARGET, "nvmemu-tiers", ["tree", "--tier", "none"], AllFromMemory())


def experiments():
    for title, bound, kind in (("chase", "windows: chase, mean", chases), ("structure", "windows: structure, mean", structures)):
        judged = list(kind())
        yield from judged
        yield MeanError(title, bound, judged)
    for kind in (little_slower, after_cached, written_out, gathers, beside_work, locked, without_memory):
        yield from kind()
