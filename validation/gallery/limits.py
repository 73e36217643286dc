# SPDX-License-Identifier: Apache-2.0
"""What is asked of every program of the gallery."""

FACTOR = 2  # the emulated latency, as a multiple of this machine's
RUNS = 20  # emulated ones: a crash that comes once in ten runs shows in 88 of 100 galleries
NATIVE_RUNS = 3

# Emulation only slows down. Less than 1 is noise: of a shared machine, and of programs with threads that race.
LOWEST_SLOWDOWN = 0.9
NOISE_SECONDS = 0.1  # by which runs of some tenths differ anyhow

# A program that only waits for memory takes FACTOR times as long. The delay itself may be half too long before that is
# a bug of the emulation rather than its error; and 0.5 is for noise and for what sampling many short processes costs.
HIGHEST_SLOWDOWN = 1 + 1.5 * (FACTOR - 1) + 0.5

# A run that takes this long hangs. The workloads take one to three seconds natively.
TIMEOUT_SECONDS = 120
