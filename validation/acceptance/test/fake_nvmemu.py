#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stands in for nvmemu: tells the command the target through the environment, and writes a report, of --alternate with
windows of what the command takes natively and emulated. FAKE says what to do wrong."""
import json
import os
import subprocess
import sys

BASE_NS = 100

if sys.argv[1] == "calibrate":
    if os.environ.get("FAKE") == "no calibration":
        sys.exit("nvmemu: error: no memory")
    unstable = os.environ.get("FAKE") == "disturbed"
    print(json.dumps({"calibration": {"base_latency_ns": BASE_NS, "unstable": unstable}, "spreads": {"base_latency_ns": 0.02}}))
    sys.exit(0)
split = sys.argv.index("--")
options = dict(zip(*[iter(word for word in sys.argv[2:split] if word != "--quiet")] * 2))
latency = options.get("--read-latency", "1x")
target_ns = float(latency[:-1]) * BASE_NS if latency.endswith("x") else float(latency[:-2])
environment = dict(os.environ)
if os.environ.get("FAKE") != "native":
    environment["FAKE_TARGET_NS"] = str(target_ns)
for direction in ("read", "write"):
    if f"--{direction}-bandwidth" in options:
        mbps = options[f"--{direction}-bandwidth"]
        environment[f"FAKE_{direction.upper()}_MBPS"] = str(float(mbps[:-4]) * (1000 if mbps.endswith("GB/s") else 1))
command = sys.argv[split + 1:]
status = subprocess.run(command, env=environment, check=False).returncode


def ns_of_unit(with_target):
    alone = {name: value for name, value in environment.items() if name != "FAKE_TARGET_NS"}
    told = subprocess.run(command, env=environment if with_target else alone, stdout=subprocess.PIPE, check=True).stdout
    return json.loads(told)["ns_per_load"]


def windows():
    ns = {delays: ns_of_unit(delays) for delays in (False, True)}
    for number in range(2 if os.environ.get("FAKE") == "short" else 20):
        delays = number % 2 == 1
        yield {"delays": delays, "cpu_seconds": 0.5, "measuring": 0, "progress": 5e8 / ns[delays]}


if os.environ.get("FAKE") != "no report":
    with open(options["--report"], "w") as report:
        told = {"base": {"read_latency_ns": BASE_NS}, "warnings": ["a warning"], "target": {"read_latency_ns": target_ns},
                "wall_seconds": 10, "totals": {"cpu_ns": 9e9, "injected_ns": 1e9}, "error": {"relative_95": 0.1}}
        if "--alternate" in options:
            told["alternation"] = {"windows": list(windows())}
        json.dump(told, report)
sys.exit(status)
