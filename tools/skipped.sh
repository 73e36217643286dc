# SPDX-License-Identifier: Apache-2.0
# What tests needed and did not have; to be sourced by bash.
# shellcheck shell=bash

# skipped_by_reason LOG: of ctest's LastTest.log, "16 tests need breakpoints that hit; 3 tests need two NUMA nodes", most
# first. Each test is a process of ctest's: GoogleTest says the reason once, in the line after ": Skipped".
skipped_by_reason() {
  awk '
    skipped { ++count[$0]; skipped = 0 }
    /: Skipped$/ { skipped = 1 }
    END {
      for (reason in count) {
        text = reason
        if (!sub(/^needs /, "need ", text)) text = "are skipped: " text
        if (count[reason] == 1) { sub(/^need /, "needs ", text); sub(/^are /, "is ", text) }
        printf "%d test%s %s\n", count[reason], count[reason] == 1 ? "" : "s", text
      }
    }' "$1" | sort -rn | paste -sd ';' | sed 's/;/; /g'
}
