// SPDX-License-Identifier: Apache-2.0
// Memory taken away from the machine while the benchmark runs, by a process of its own.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/result.h"

namespace nvmemu::pmbench {

class Eater {
 public:
  // Returns when it holds `bytes`: locked where that is allowed, else by writing to all of them again and
  // again. Refuses what the machine has not. Before there are threads.
  static Result<Eater> start(std::uint64_t bytes, const std::string& root = "");

  Eater(Eater&& other) noexcept;
  Eater& operator=(Eater&&) = delete;
  ~Eater();  // gives it back

  pid_t pid() const noexcept { return pid_; }

 private:
  explicit Eater(pid_t pid) : pid_(pid) {}
  pid_t pid_;
};

}  // namespace nvmemu::pmbench
