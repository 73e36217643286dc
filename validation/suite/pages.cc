// SPDX-License-Identifier: Apache-2.0
#include "suite/pages.h"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <sstream>
#include <string>

#include "base/page_bytes.h"
#include "base/read_file.h"

namespace nvmemu::suite {
namespace {

constexpr double kTolerance = 0.05;

std::vector<pid_t> children_of(pid_t pid) {
  std::istringstream file(read_text_or_nothing(fmt::format("/proc/{0}/task/{0}/children", pid)));
  std::vector<pid_t> children;
  for (pid_t child; file >> child;) children.push_back(child);
  return children;
}

// Pages to ask for, and for how many each counts.
struct Sampled {
  std::vector<void*> addresses;
  std::vector<std::uint64_t> weights;
};

// Of the mappings that a process writes to and shares with no file.
Sampled sampled_of(pid_t pid, std::size_t most) {
  std::istringstream maps(read_text_or_nothing(fmt::format("/proc/{}/maps", pid)));
  Sampled sampled;
  for (std::string line; std::getline(maps, line);) {
    std::uint64_t begin = 0, end = 0, offset = 0, inode = 0;
    char rights[5] = {};
    if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %" SCNu64, &begin, &end,
                    rights, &offset, &inode) != 5)
      continue;
    if (rights[1] != 'w' || rights[3] != 'p' || inode != 0) continue;
    const std::uint64_t pages = (end - begin) / kPageBytes;
    const std::uint64_t step = pages / most | 1;  // odd: each second page may be on another node
    for (std::uint64_t page = 0; page < pages; page += step) {
      sampled.addresses.push_back(reinterpret_cast<void*>(begin + page * kPageBytes));
      sampled.weights.push_back(std::min(step, pages - page));
    }
  }
  return sampled;
}

void count(pid_t pid, std::size_t most, PagesByNode& pages) {
  Sampled sampled = sampled_of(pid, most);
  const std::size_t size = sampled.addresses.size();
  std::vector<int> nodes(size, -1);
  if (size > 0 &&
      syscall(SYS_move_pages, pid, size, sampled.addresses.data(), nullptr, nodes.data(), 0) == 0) {
    for (std::size_t i = 0; i < size; ++i) {
      if (nodes[i] < 0) continue;  // an errno; ENOENT where nothing was written yet
      pages[nodes[i]] += sampled.weights[i];
    }
  }
  for (const pid_t child : children_of(pid)) count(child, most, pages);
}

}  // namespace

PagesByNode pages_of(pid_t pid, std::size_t most) {
  PagesByNode pages;
  count(pid, most, pages);
  return pages;
}

void PageCensus::look(pid_t pid) { add(pages_of(pid)); }

void PageCensus::add(const PagesByNode& pages) {
  ++looks_;
  std::uint64_t count = 0;
  for (const auto& [node, number] : pages) count += number;
  if (count < count_) return;
  most_ = pages;
  count_ = count;
}

Result<double> PageCensus::check(int node, double expected) const {
  if (looks_ == 0)
    return failure("the run was over before the kernel could be asked which node its memory was on",
                   "it is asked from 5 ms on: a run of a tenth of a second is long enough");
  if (count_ == 0)
    return failure(
        fmt::format("the kernel was asked {} times which node the memory was on, and did not say", looks_),
        "move_pages(2) needs CAP_SYS_NICE, or the same user");
  const auto found = most_.find(node);
  const double share =
      found == most_.end() ? 0 : static_cast<double>(found->second) / static_cast<double>(count_);
  if (std::abs(share - expected) <= kTolerance) return share;
  return failure(fmt::format("{:.0f} % of the memory was on node {}, and {:.0f} % were to be", 100 * share,
                             node, 100 * expected),
                 "the node may be full, or a cpuset may forbid it");
}

}  // namespace nvmemu::suite
