// SPDX-License-Identifier: Apache-2.0
#include "allowed_nodes.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/raw_syscall.h"
#include "base/read_file.h"
#include "file_of_proc.h"
#include "text_room.h"
#include "told_file.h"

namespace nvmemu::preload {
namespace {

constexpr std::string_view kMask = "\nMems_allowed:\t";
constexpr std::string_view kList = "\nMems_allowed_list:\t";

// As the kernel writes it: 32 nodes in each group, the first in the last. `old` has the groups before.
void add_mask(TextRoom& text, std::string_view old, std::uint64_t nodes) noexcept {
  constexpr std::size_t kGroup = 8, kTwoGroups = 2 * kGroup + 1;
  if (old.size() > kTwoGroups) text.add(old.substr(0, old.size() - kTwoGroups));
  text.add(nodes >> 32, 16, kGroup);
  text.add(",");
  text.add(nodes & 0xffffffff, 16, kGroup);
}

bool is_status(std::string_view path) noexcept { return is_own_file_of_proc(path, "/status"); }

bool is_cpuset(std::string_view path) noexcept {
  constexpr std::string_view kLists[] = {"/cpuset.mems", "/cpuset.mems.effective", "/cpuset.effective_mems"};
  return path.starts_with("/sys/fs/cgroup/") &&
         std::ranges::any_of(kLists, [&](std::string_view list) { return path.ends_with(list); });
}

}  // namespace

bool tells_allowed_nodes(std::string_view path) noexcept { return is_status(path) || is_cpuset(path); }

std::size_t allow_in_list(std::uint64_t nodes, char* out, std::size_t capacity) noexcept {
  TextRoom text(out, capacity);
  text.add_list(nodes);
  text.add("\n");
  return text.size();
}

std::size_t allow_in_status(std::string_view status, std::uint64_t nodes, char* out,
                            std::size_t capacity) noexcept {
  TextRoom text(out, capacity);
  while (!status.empty()) {
    const std::size_t mask = status.find(kMask), list = status.find(kList);
    const std::size_t at = std::min(mask, list);
    if (at == std::string_view::npos) break;
    const std::size_t before = at + (at == mask ? kMask : kList).size();
    const std::size_t end = std::min(status.size(), status.find('\n', before));
    text.add(status.substr(0, before));
    if (at == mask) {
      add_mask(text, status.substr(before, end - before), nodes);
    } else {
      text.add_list(nodes);
    }
    status.remove_prefix(end);
  }
  text.add(status);
  return text.size();
}

int open_allowing(const char* path, int flags, std::uint64_t nodes) noexcept {
  constexpr std::size_t kMost = 4096;
  std::array<char, kMost> status;   // NOLINT(*-member-init): filled as far as it is read
  std::array<char, kMost> allowed;  // NOLINT(*-member-init)
  const std::size_t read = read_start_of(path, status.data(), status.size());
  const std::size_t bytes =
      is_status(path) ? allow_in_status({status.data(), read}, nodes, allowed.data(), allowed.size())
                      : allow_in_list(nodes, allowed.data(), allowed.size());
  if (read == 0 || read == kMost || bytes == 0) return -1;
  ToldFile told("allowed-nodes", flags);
  told.add({allowed.data(), bytes});
  return told.finish();
}

}  // namespace nvmemu::preload
