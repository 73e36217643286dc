// SPDX-License-Identifier: Apache-2.0
// Swap readahead: /proc/sys/vm/page-cluster, the logarithm of how many pages are read at once.
#pragma once

#include <string>

#include "base/result.h"
#include "system/caretaker.h"

namespace nvmemu::pmbench {

// Set while it lives, then as it was.
class PageCluster {
 public:
  // A caretaker is told before.
  static Result<PageCluster> set(int value, Caretaker* caretaker = nullptr, const std::string& root = "");

  PageCluster(PageCluster&& other) noexcept;
  PageCluster& operator=(PageCluster&&) = delete;
  ~PageCluster();

 private:
  PageCluster(std::string path, std::string before) : path_(std::move(path)), before_(std::move(before)) {}
  std::string path_, before_;
};

}  // namespace nvmemu::pmbench
