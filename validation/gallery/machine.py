# SPDX-License-Identifier: Apache-2.0
"""What the table was measured on, and with."""


def _value(path, key, separator, default="unknown"):
    try:
        with open(path) as file:
            lines = (line.split(separator, 1)[1] for line in file if line.startswith(key))
            return next((text.strip().strip('"') for text in lines), default)
    except OSError:
        return default


def cpu_model():
    return _value("/proc/cpuinfo", "model name", ":")


def system():
    return _value("/etc/os-release", "PRETTY_NAME", "=")
