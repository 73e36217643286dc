// SPDX-License-Identifier: Apache-2.0
#include "system/page_cluster.h"

#include <fmt/format.h>

#include <utility>

#include "system/kernel_files.h"

namespace nvmemu::pmbench {

Result<PageCluster> PageCluster::set(int value, Caretaker* caretaker, const std::string& root) {
  const std::string path = root + "/proc/sys/vm/page-cluster";
  const std::string before = read_line(path);
  if (before.empty()) return failure(fmt::format("--page-cluster: cannot read {}", path));
  if (caretaker != nullptr) caretaker->will_write(path, before);
  if (const Result<void> written = write_text(path, std::to_string(value)); !written)
    return failure("--page-cluster: " + written.error().message, "run it as root");
  return PageCluster(path, before);
}

PageCluster::PageCluster(PageCluster&& other) noexcept
    : path_(std::exchange(other.path_, {})), before_(std::move(other.before_)) {}

// Nothing could be done about it, were it not possible.
PageCluster::~PageCluster() {
  if (!path_.empty()) static_cast<void>(write_text(path_, before_));
}

}  // namespace nvmemu::pmbench
