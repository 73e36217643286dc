# SPDX-License-Identifier: Apache-2.0
"""Memory of which a part is another one: what is waited for it is to be longer, and nothing else."""
from acceptance.windowed_programs import SET
from acceptance.windows import AllFromMemory, Nothing, Windowed, errors_in_percent, errors_of_delay_in_percent

TARGET = "3x"
WHOLE, SLOW = 10, (1, 5, 9)  # pages


class Share(AllFromMemory):
    """Of the loads that wait for each other, so many are from the slow tier."""

    def __init__(self, share):
        self.share = share

    def added_ns(self, _off_ns, target_ns, base_ns):
        return self.share * (target_ns - base_ns)


class Tiered(Windowed):
    """The machine's own memory stays as it is: the target is the tier's. The error is one of the delay, of which a small share of
    slow memory makes a small part of the time."""

    def __init__(self, name, bound, rule, program, arguments, truth):
        super().__init__(f"tiers: {name}", bound, TARGET, program, arguments, truth)
        self.memory = ["--tier", f"far={TARGET}{rule}"]
        self.errors = errors_in_percent if isinstance(truth, Nothing) else errors_of_delay_in_percent

    def target_ns(self, report):
        return report["tiers"][1]["read_latency_ns"]


def experiments():
    for slow in SLOW:
        rule = f",interleave={WHOLE - slow}:{slow}"
        bound = "windows: tiers" if slow > 1 else "windows: tiers, a tenth"
        for pages in ("2MiB", "4KiB"):
            yield Tiered(f"chase, {slow} of {WHOLE} pages far, {pages}", bound, rule, "nvmemu-chase",
                         [*SET, "--page-size", pages], Share(slow / WHOLE))
    for pages in ("2MiB", "4KiB"):
        yield Tiered(f"chase, interleaved 3:1, {pages}", "windows: tiers", f",interleave=3:1,granularity={pages}", "nvmemu-chase",
                     [*SET, "--page-size", pages], Share(1 / 4))
    yield Tiered("chain, one of two lists far", "windows: tiers", "", "nvmemu-tiers", ["chain"], Share(1))
    yield Tiered("tree, leaves far", "windows: tiers, tree", "", "nvmemu-tiers", ["tree"], Share(1))
    yield Tiered("two lists side by side, the last far", "windows: tiers, lists", "", "nvmemu-tiers", ["lists-last"], Share(1))
    yield Tiered("two lists side by side, one far", "windows: tiers, lists", "", "nvmemu-tiers", ["lists"], Share(1))
    yield Tiered("two lists, none far", "windows: tiers", "", "nvmemu-tiers", ["lists", "--tier", "none"], Nothing())
