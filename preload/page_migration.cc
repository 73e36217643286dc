// SPDX-License-Identifier: Apache-2.0
#include "page_migration.h"

#include <linux/mempolicy.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>

#include "base/address_range.h"
#include "base/raw_syscall.h"
#include "numa_maps.h"
#include "present_pages.h"

namespace nvmemu::preload {
namespace {

// The emulated placement of what lies on one node.
class Migration {
 public:
  Migration(PlacementOf& whose, const Nodes& nodes, NodeMove move) noexcept
      : nodes_(nodes), pid_(whose.pid()), placement_(whose.placement()), move_(move), present_(pid_) {}

  void migrate(const NumaMapsLine& line, std::uintptr_t end) noexcept {
    if (line.pages.total() == 0) return;
    const TierMap& map = *placement_.map();
    map.for_each_stretch(line.address, end, [&](std::uintptr_t first, std::uintptr_t last, TierClass tiers) {
      const TierPattern pattern = map.pattern_of(tiers);
      if (has_leaving(pattern)) move_present(line, {first, last}, pattern);
    });
  }
  long unmoved() const noexcept { return unmoved_; }

 private:
  bool is_leaving(TierId tier) const noexcept {
    const int node = nodes_.node_of_tier[tier];
    return node == (nodes_.is_emulated(move_.from) ? move_.from : 0);
  }

  bool has_leaving(const TierPattern& pattern) const noexcept {
    const auto* const first = pattern.parts.data();
    return std::any_of(first, first + pattern.count, [&](const auto& part) { return is_leaving(part.tier); });
  }

  // Of what is interleaved, that part is elsewhere.
  TierPattern moved_of(TierPattern pattern) const noexcept {
    for (std::size_t i = 0; i < pattern.count; ++i) {
      if (is_leaving(pattern.parts[i].tier))
        pattern.parts[i].tier = nodes_.tiers[static_cast<std::size_t>(move_.to)];
    }
    const auto* const first = pattern.parts.data();
    if (std::any_of(first, first + pattern.count, [&](const auto& part) { return part.tier != first->tier; }))
      return pattern;
    TierPattern all = TierPattern::all_of(first->tier);
    all.origin = pattern.origin;
    return all;
  }

  // Placed in runs of pages that follow each other.
  void move_present(const NumaMapsLine& line, AddressRange range, const TierPattern& pattern) noexcept {
    const bool is_of_kernel = !nodes_.is_emulated(move_.from) || !nodes_.is_emulated(move_.to);
    const TierPattern moved = moved_of(pattern);
    AddressRange run;
    const auto place = [&] {
      if (!run.empty()) placement_.place_pattern(run.begin, run.bytes(), moved, RuleKind::kNode);
    };
    present_.for_each(range.begin, range.end, line.page_bytes, is_of_kernel ? line.pages.only_node() : 0,
                      [&](std::uintptr_t page, int node) {
                        if (is_leaving(pattern.of(page)) && !leaves_kernels(page, node)) return true;
                        if (page != run.end) {
                          place();
                          run.begin = page;
                        }
                        run.end = page + line.page_bytes;
                        return true;
                      });
    place();
  }

  // Where one of the two is the kernel's: whether a page that it has on `node` is among those that move.
  bool leaves_kernels(std::uintptr_t page, int node) noexcept {
    if (!nodes_.is_emulated(move_.from)) return node == move_.from;
    if (nodes_.is_emulated(move_.to) || node == move_.to) return true;
    int status = -1;
    const long result =
        raw_syscall(SYS_move_pages, pid_, 1UL, &page, &move_.to, &status, unsigned{MPOL_MF_MOVE});
    const bool has_moved = result == 0 && status >= 0;
    if (!has_moved) ++unmoved_;
    return has_moved;
  }

  const Nodes& nodes_;
  const long pid_;
  Placement& placement_;
  const NodeMove move_;
  PresentPages present_;
  long unmoved_ = 0;
};

long move_in_kernel(long pid, NodeMove move) noexcept {
  const NodeMask from = mask_of_node(move.from), to = mask_of_node(move.to);
  return raw_syscall(SYS_migrate_pages, pid, kKernelBits, &from, &to);
}

// How many could not be moved, or an error number.
long move_emulated(PlacementOf& whose, const Nodes& nodes, NodeMove move) noexcept {
  const NumaMaps maps(whose.pid());
  if (!maps.is_read()) return -ENOMEM;
  Migration migration(whose, nodes, move);
  maps.for_each([&](std::string_view text, std::uintptr_t end) {
    const auto line = end == 0 ? std::nullopt : parse_numa_maps_line(text);
    if (line) migration.migrate(*line, end);
  });
  return migration.unmoved();
}

}  // namespace

long migrate_pages_of(PlacementOf& whose, const Nodes& nodes, NodeMask from, NodeMask to) noexcept {
  long left = 0;
  for (const NodeMove move : moves_between(from & nodes.all(), to & nodes.all())) {
    const bool is_emulated = nodes.is_emulated(move.from) || nodes.is_emulated(move.to);
    const long unmoved = is_emulated ? move_emulated(whose, nodes, move) : move_in_kernel(whose.pid(), move);
    if (unmoved < 0) return unmoved;
    left += unmoved;
  }
  return left;
}

}  // namespace nvmemu::preload
