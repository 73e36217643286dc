#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stands in for the validation programs: figures of a machine whose memory takes 100 ns and moves 10 GB/s, with no noise. FAKE says what to
get wrong."""
import json
import os
import sys

wrong = os.environ.get("FAKE")
emulated = "FAKE_TARGET_NS" in os.environ
ns = float(os.environ.get("FAKE_TARGET_NS", 100))
if emulated and wrong == "latency":
    ns *= 1.2
seconds = 1.5 if emulated and wrong == "slow" else 1.0
misses_per_load = 1.0
size = sys.argv[sys.argv.index("--size") + 1] if "--size" in sys.argv else ""
if size.endswith("KiB"):  # a set that fits the cache
    misses_per_load = 0.01 if wrong == "evicted" else 0.0
    ns = 10 * (1.5 if emulated and wrong == "slow" else 1) + misses_per_load * ns
if "nvmemu-written-out" in sys.argv[0]:  # a third from memory, the rest at once
    ns /= 3
elif "nvmemu-gather" in sys.argv[0]:  # ten at once
    ns /= 10
elif "nvmemu-workload" in sys.argv[0]:  # two accesses one after the other, and something else
    ns = 2 * ns + 50
critical_loads = 10_000_000
if "nvmemu-sync" in sys.argv[0]:
    seconds = 1e-9 * critical_loads * ns + 0.5  # half a second for what is not memory
if "pmbench" in sys.argv[0]:
    timed_ns = ns if wrong == "timed" else 100
    with open(sys.argv[sys.argv.index("--json") + 1], "w") as file:
        json.dump({"threads": [{"accesses": 1000, "loop_ns": 1000 * (ns + 30), "overhead_ns": 30,
                                "reads": {"count": 1000, "sum_ns": 1000 * timed_ns}}]}, file)


def kernel(reads, writes):
    """MB/s of a kernel that reads and writes so many arrays: as slow as the slower direction."""
    arrays_mbps = 10_000 / max(reads, writes)
    for direction, count in (("READ", reads), ("WRITE", writes)):
        limit = float(os.environ.get(f"FAKE_{direction}_MBPS", 1e9)) * (1.3 if wrong == "bandwidth" else 1)
        arrays_mbps = min(arrays_mbps, limit / count) if count else arrays_mbps
    return {"read_mbps": reads * arrays_mbps, "write_mbps": writes * arrays_mbps}


print(json.dumps({
    "copy": kernel(2, 1),
    "scale": kernel(2, 1),
    "add": kernel(3, 1),
    "triad": kernel(3, 1),
    "sum": kernel(1, 0),
    "emulated": emulated,
    "ns_per_load": ns,
    "ns_per_load_by_thread": [ns],
    "cpu_ns_per_load": ns,
    "misses_per_load": misses_per_load,
    "from_memory_per_load": 1 / 3,
    "accesses_from_memory": 2000,
    "operations": 16000,
    "timed_operations": 1000,
    "seconds": seconds,
    "critical_loads": critical_loads,
    "checksum": "two" if emulated and wrong == "checksum" else "one",
}))
