#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stands in for nvmemu: tells the command the target through the environment, and writes a report. FAKE says what to do
wrong."""
import json
import os
import subprocess
import sys

BASE_NS = 100

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
status = subprocess.run(sys.argv[split + 1:], env=environment, check=False).returncode
if os.environ.get("FAKE") != "no report":
    with open(options["--report"], "w") as report:
        json.dump({"base": {"read_latency_ns": BASE_NS}, "warnings": ["a warning"]}, report)
sys.exit(status)
