# SPDX-License-Identifier: Apache-2.0
"""pmbench as a program of experiments."""
import os

from acceptance.runner import RunError

ZRAM = "/sys/class/zram-control"


def not_root():
    return "" if os.geteuid() == 0 else "needs root"


def no_zram():
    return not_root() or ("" if os.path.exists(ZRAM) else "this kernel has no zram")


def histogram_of(result, slower_than_ns=0):
    """[begin_ns, count] of all reads and writes of all threads that took so long, in order."""
    counts = {}
    for thread in result["threads"]:
        for kind in ("reads", "writes"):
            for begin_ns, count in thread[kind]["buckets"]:
                if begin_ns >= slower_than_ns:
                    counts[begin_ns] = counts.get(begin_ns, 0) + count
    return sorted(counts.items())


def quantile(histogram, share):
    """The beginning of its bucket, in ns; None of nothing."""
    wanted = share * sum(count for _, count in histogram)
    seen = 0
    for begin_ns, count in histogram:
        seen += count
        if seen >= wanted:
            return begin_ns
    return None


def mean_ns(histogram):
    total = sum(count for _, count in histogram)
    return sum(begin_ns * count for begin_ns, count in histogram) / total if total else None


def share_of_slowest(histogram, share):
    """What part of all time the slowest `share` of them took."""
    left = share * sum(count for _, count in histogram)
    slowest_ns = 0
    for begin_ns, count in reversed(histogram):
        taken = min(left, count)
        slowest_ns += taken * begin_ns
        left -= taken
    all_ns = sum(begin_ns * count for begin_ns, count in histogram)
    return slowest_ns / all_ns if all_ns else None


def accesses_per_second(result):
    return sum(thread["accesses"] for thread in result["threads"]) / result["seconds"]


FAULT_NS = 1500  # an access that takes longer has faulted


def pmbench(lab, mib, seconds, kernel, latency="", read_percent=50):
    """Uniform accesses of one thread to random contents, half of them in memory: paged by the kernel to zram, or by nvmemu to a device
    that takes `latency`. What pmbench writes, and nvmemu's report."""
    command = [lab.pmbench, "-m", str(mib), "-s", str(mib), "-i", "-q", "--thp", "off", "-r", str(read_percent), "--json", lab.path("pmbench.json")]
    if kernel:
        ran = lab.run([*command, "--memory-limit", f"{mib // 2}M", "--page-cluster", "0", "--swap-device", "zram", str(seconds)])
    else:
        ran = lab.run([*command, str(seconds)], ["--dram", f"{mib // 2}M", *(["--page-latency", latency] if latency else [])])
        told = ran.report["paging"]
        if told["hard_faults"]["faults"] == 0:
            raise RunError(f"nothing was paged in: {told['unpaged_bytes'] / (1 << 20):.0f} MiB of pmbench's memory are not paged")
    return lab.read("pmbench.json"), ran.report
