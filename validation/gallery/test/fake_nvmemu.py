#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stands in for nvmemu: runs the command, and writes a report. FAKE says what to do wrong."""
import json
import os
import subprocess
import sys
import time

fake = os.environ.get("FAKE", "")
split = sys.argv.index("--")
report = sys.argv[sys.argv.index("--report") + 1]
if fake == "noise":
    print("nvmemu: a word too many", file=sys.stderr)
if fake == "output":
    print("more")
start = time.monotonic()
status = subprocess.run(sys.argv[split + 1:], check=False).returncode
wall_seconds = (time.monotonic() - start) * (9 if fake == "slow" else 1.7)
if fake == "hang":
    time.sleep(1000)
with open(report, "w") as file:
    json.dump({"base": {"read_latency_ns": 100}, "warnings": [], "wall_seconds": wall_seconds,
               "totals": {"threads": 1, "injected_ns": 0}, "processes": [{}], "options": sys.argv[1:split]}, file)
sys.exit(139 if fake == "crash" else status)
