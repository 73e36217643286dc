# SPDX-License-Identifier: Apache-2.0
"""What is accepted. Errors and slowdowns in per cent; `worst` None: only the median counts."""
from typing import NamedTuple, Optional


class Bound(NamedTuple):
    median: float
    worst: Optional[float] = None


BOUNDS = {
    "chase": Bound(median=5, worst=10),  # error of a latency, perf_event ticker, one thread
    "chase, timer": Bound(median=8, worst=10),
    "chase, threads": Bound(median=8, worst=10),  # of the worse of two
    "synchronised": Bound(median=10),  # error of the time of threads that wait for each other
    "oversubscribed": Bound(median=15),  # and of more of them than processors
    "errands": Bound(median=15),  # and of many that are as short as what beginning them takes is long
    "prediction": Bound(median=10),  # error of a predicted time, against that of an emulated run
    "cached chase": Bound(median=5),  # slowdown of what needs no memory
    "cached sum": Bound(median=10),
    "target = base": Bound(median=2),  # slowdown where nothing is to be injected
    "target = base, programs": Bound(median=1.5),  # CPU time of real programs there,
    "target = base, account": Bound(median=1),  # and what measuring took of it
    # Against what the windows without delays, beside those with, say that it should be.
    "windows: chase": Bound(median=6),
    "windows: chase, mean": Bound(median=3),
    "windows: structure": Bound(median=10),
    "windows: structure, mean": Bound(median=4),
    "windows: other loads": Bound(median=8),
    "windows: tiers": Bound(median=5),
    "windows: tiers, a tenth": Bound(median=10),  # of the nodes in the slow one
    "windows: tiers, tree": Bound(median=8),
    "windows: tiers, lists": Bound(median=10),
    "windows: persists": Bound(median=5),
    "windows: inline persists": Bound(median=10),
    "windows: stores": Bound(median=15),
    "windows: lock behind a persist": Bound(median=5),
    "windows: cached chase": Bound(median=6),
    "windows: sum": Bound(median=5),
    "repeats": Bound(median=15, worst=15),  # deviation of a run's delay from the median's
    "repeats, short": Bound(median=20, worst=20),  # of a program of two seconds
    "repeats outside": Bound(median=1),  # runs of ten whose error interval does not hold it
    "pmbench, access": Bound(median=10),  # error of an access in its loop
    "pmbench, timed": Bound(median=25),  # slowdown of what it times: by samples and traps, but not by delays
    "bandwidth": Bound(median=10),  # error of what is moved in a second
    "shared bandwidth": Bound(median=15),  # and by two processes together
    "unreached bandwidth": Bound(median=2),  # slowdown of what does not reach its target
    "calibration": Bound(median=10),  # seconds
    "calibration, base": Bound(median=3, worst=3),  # deviation from the median's
    "start-up": Bound(median=50),  # ms
    "thread memory": Bound(median=64),  # KiB
}

TARGETS_NS = (300, 500, 1000)
SYNC_TARGETS_NS = (500, 1000)
BANDWIDTH_SHARES = (75, 50, 25, 10)  # per cent of what is moved natively
SLOW_NS = 1000  # what must not slow down a program that needs no memory
PROGRAMS_TARGET = "2x"
PREDICTION_TARGETS = ("2x", "4x")
REPEATS = 10
START_UPS = 20
CALIBRATIONS = 6
THREADS = 64
