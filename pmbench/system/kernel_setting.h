// SPDX-License-Identifier: Apache-2.0
// A setting of the kernel, a file of /proc/sys or /sys that holds one line: another for a while.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "system/caretaker.h"

namespace nvmemu::pmbench {

// Swap readahead, the logarithm of how many pages are read at once; and how many areas a process may have.
inline constexpr const char* kPageClusterFile = "/proc/sys/vm/page-cluster";
inline constexpr const char* kMaxMapCountFile = "/proc/sys/vm/max_map_count";

// Set while it lives, then as it was. Not for threads: one at a time sets it.
class KernelSetting {
 public:
  // `option`: what asked for it, for messages. A caretaker is told before.
  static Result<KernelSetting> set(std::string_view option, const std::string& path, std::string_view value,
                                   Caretaker* caretaker = nullptr);

  KernelSetting(KernelSetting&& other) noexcept;
  KernelSetting& operator=(KernelSetting&&) = delete;
  ~KernelSetting();

 private:
  KernelSetting(std::string path, std::string before) : path_(std::move(path)), before_(std::move(before)) {}
  std::string path_, before_;
};

}  // namespace nvmemu::pmbench
