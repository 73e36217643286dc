# SPDX-License-Identifier: Apache-2.0
"""Programs that are paged, and what is read of a report on paging."""
import os
import shutil
import sys

from acceptance.runner import RunError
from engine.experiment import Choice, Figure

PYTHON = """
import random
random.seed(1)
d = {{random.randrange(10**9): str(i) for i in range({entries})}}
h = 0
for key in sorted(d): h = (h * 31 + key + int(d[key])) % (1 << 61)
print(h)
"""
SQL = """
create table t(a integer, b text);
with recursive c(x) as (select 1 union all select x + 1 from c where x < {rows})
insert into t select (x * 2654435761) % 1000000, printf('%064d', x) from c;
create index i on t(a);
select count(*), sum(length(b)) from t where a >= 0;
"""
# Recursive, in place, of random integers: FlashVM's.
QUICKSORT = """
#include <stdio.h>
#include <stdlib.h>
static void sort(unsigned *all, long n) {
  while (n > 1) {
    unsigned pivot = all[n / 2];
    long i = 0, j = n - 1;
    while (i <= j) {
      while (all[i] < pivot) i++;
      while (all[j] > pivot) j--;
      if (i <= j) { unsigned one = all[i]; all[i++] = all[j]; all[j--] = one; }
    }
    sort(all, j + 1);
    all += i;
    n -= i;
  }
}
int main(int argc, char **argv) {
  long n = argc > 1 ? atol(argv[1]) : 0;
  unsigned *all = malloc(n * sizeof *all), seed = 1;
  unsigned long sum = 0;
  if (n < 1 || all == NULL) return 1;
  for (long i = 0; i < n; i++) all[i] = (seed = seed * 1664525u + 1013904223u) >> 1;
  sort(all, n);
  for (long i = 0; i < n; i++) sum = sum * 31 + all[i];
  printf("%lu\\n", sum);
}
"""
MIB = 1 << 20


def convert():
    """ImageMagick's, by the name that Debian gives its version 6 beside `convert`, which may be somebody else's."""
    return next((name for name in ("convert-im6.q16", "magick") if shutil.which(name)), "convert")


def flash_programs(mib):
    """FlashVM's QuickSort and ImageMagick, and SQLite and Python for the programs of its that cannot be had; each with some
    `mib` MiB of memory that is paged. `value`: the command, and what it takes at most where its peak is mostly other memory."""
    side = int((mib * MIB / 8) ** 0.5)  # 8 bytes a pixel
    magick = convert()
    return [
        Choice("QuickSort", (["./quicksort", str(mib * MIB // 4)], mib), needs=("cc",)),
        Choice("ImageMagick", ([magick, "-size", f"{side}x{side}", "-seed", "1", "plasma:fractal", "-resize", "50%", "-format", "%#", "info:"],
                               mib * 1.25), needs=(magick,)),
        Choice("SQLite", (["sqlite3", ":memory:", SQL.format(rows=mib * 8000)], mib), needs=("sqlite3",)),
        Choice("Python", ([sys.executable, "-S", "-c", PYTHON.format(entries=mib * 7000)], mib), needs=(sys.executable,)),
    ]


def prepare(lab, program):
    if "./quicksort" in program.value[0] and not os.path.exists(lab.path("quicksort")):
        lab.put("quicksort.c", QUICKSORT)
        lab.run(["cc", "-O2", "-o", "quicksort", "quicksort.c"])


def dram_of(lab, command, share, mib=None):
    """The options for so much of its peak in DRAM, or of `mib`; and how much that is."""
    dram_mib = max(1.0, share * (mib or lab.peak_mib(command)))
    return ["--dram", f"{int(dram_mib * 1024)}KiB"], dram_mib


def figures_of_paging(report):
    """RunError where pager and kernel differed, or a page was lost."""
    told = report["paging"]
    wrong = [f"{told[what]} {what}" for what in ("surprises", "failed_reads") if told[what]]
    if wrong:
        raise RunError("the pager reports " + ", ".join(wrong))
    median_ns = told["hard_faults"]["median_ns"]
    return {"hard_faults": told["hard_faults"]["faults"], "hard_median_us": median_ns / 1e3 if median_ns else None,
            "written_mib": told["written_bytes"] / MIB, "device_seconds": told["device_ns"] / 1e9}


PAGING_FIGURES = [Figure("hard_faults", "hard faults"), Figure("hard_median_us", "of a hard fault, the median", "us"),
                  Figure("written_mib", "written", "MiB"), Figure("device_seconds", "waited for the device", "s")]


def paged(lab, program, options, share=0.5):
    """A run of one of flash_programs(), its output checked."""
    command, mib = program.value
    dram, _ = dram_of(lab, command, share, mib)
    ran = lab.run(command, [*dram, *options])
    lab.check_output(f"{program.name} {' '.join(command)}", command, ran)
    return ran
