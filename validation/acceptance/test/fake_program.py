#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stands in for the validation programs: figures of a machine whose memory takes 100 ns, with no noise. FAKE says what to
get wrong."""
import json
import os

wrong = os.environ.get("FAKE")
emulated = "FAKE_TARGET_NS" in os.environ
ns = float(os.environ.get("FAKE_TARGET_NS", 100))
if emulated and wrong == "latency":
    ns *= 1.2
print(json.dumps({
    "emulated": emulated,
    "ns_per_load": ns,
    "ns_per_load_by_thread": [ns],
    "seconds": 1.5 if emulated and wrong == "slow" else 1.0,
    "checksum": "two" if emulated and wrong == "checksum" else "one",
}))
