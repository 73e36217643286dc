// SPDX-License-Identifier: Apache-2.0
// Runs a command to its end: where, for how long, and what it said.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace nvmemu::suite {

struct ChildOptions {
  std::vector<int> cpus = {};                 // that it may run on; empty: as the caller
  std::optional<int> memory_node = {};        // that all its memory shall come from,
  std::optional<int> other_memory_node = {};  // or each second page of it, where that is a node, too
  double most_seconds = 900;                  // then it is killed, which is an error
  // Called a few times a second while it runs.
  std::function<void(pid_t pid)> watch = {};
};

struct ChildOutcome {
  int status = 0;  // exit status, or 128 + the signal
  double wall_seconds = 0;
  double steal_share = 0;  // of the processors' time meanwhile, what the host took
  std::string out, err;
};

// `words`: the program, looked up in PATH, and its arguments; at least one. An error: it could not be
// started, or did not end. Not thread-safe: forks.
Result<ChildOutcome> run_child(const std::vector<std::string>& words, const ChildOptions& options);

// The processors that the caller may run on.
std::vector<int> usable_cpus();

}  // namespace nvmemu::suite
