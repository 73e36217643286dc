// SPDX-License-Identifier: Apache-2.0
#include "emulated_nodes.h"

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>

#include "asked_memory.h"
#include "base/page_bytes.h"
#include "base/raw_syscall.h"
#include "base/relaxed.h"
#include "page_migration.h"
#include "resident_pages.h"

namespace nvmemu::preload {
namespace {

__thread PolicyNumber own_number;

// The nodes below 64 that a mask names; nothing where it cannot be read.
std::optional<NodeMask> read_mask(const unsigned long* mask, unsigned long bits) noexcept {
  if (mask == nullptr || bits <= 1) return 0;
  if (!kernel_reads(reinterpret_cast<std::uintptr_t>(mask), sizeof *mask)) return std::nullopt;
  return bits > kMostNodes ? *mask : *mask & ((NodeMask{1} << (bits - 1)) - 1);
}

// A mask as the kernel writes one: of whole words, as many as there are bits asked for.
void write_mask(unsigned long* mask, unsigned long bits, NodeMask nodes) noexcept {
  if (mask == nullptr || bits == 0) return;
  mask[0] = bits >= kMostNodes ? nodes : nodes & ((NodeMask{1} << bits) - 1);
}

NodeMask allowed_by_kernel() noexcept {
  NodeMask nodes = 0;
  raw_syscall(SYS_get_mempolicy, nullptr, &nodes, kKernelBits, nullptr, unsigned{MPOL_F_MEMS_ALLOWED});
  return nodes;
}

// Whatever part of a word the first one begins at.
bool is_readable(const int* numbers, std::size_t count) noexcept {
  constexpr std::uintptr_t kWordBytes = sizeof(std::uint64_t);
  const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(numbers) & ~(kWordBytes - 1);
  const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(numbers + count);
  return end >= first && kernel_reads(first, std::max(kWordBytes, end - first));
}

}  // namespace

PolicyNumber own_policy_number() noexcept { return own_number; }
void inherit_policy(PolicyNumber number) noexcept { own_number = number; }

void EmulatedNodes::open(const TierPlan& plan, const char* tree, NodeMask real,
                         std::size_t page_bytes) noexcept {
  tree_ = tree;
  nodes_.real = real;
  nodes_.page_bytes = page_bytes;
  for (std::size_t i = 0; i < plan.tiers.size(); ++i) {
    if (plan.tiers[i].node != 0) nodes_.add(plan.tiers[i].node, static_cast<TierId>(i + 1));
  }
  if (!are_there()) return;
  shared_.open(tree_.c_str());
  history_ = map_history((tree_ + '/' + kNodeHistoryName).c_str());
}

void EmulatedNodes::begin_child() noexcept {
  shared_.begin_child();
  set_own_policy(own_number);
}

void EmulatedNodes::inherit(const char* task_policy) noexcept {
  MemoryPolicy policy;
  const char* const end = task_policy + std::strlen(task_policy);
  const auto mode = std::from_chars(task_policy, end, policy.mode);
  const bool is_whole =
      *mode.ptr == ':' && std::from_chars(mode.ptr + 1, end, policy.nodes).ec == std::errc();
  if (is_whole && policy.mode != MPOL_DEFAULT) set_own_policy(note(policy));
}

TierPattern EmulatedNodes::otherwise(const TierPattern& given) const noexcept {
  return own_number == 0 ? given : pattern_of(own_policy(), nodes_);
}

void EmulatedNodes::task_policy(char* out) const noexcept {
  const MemoryPolicy policy = own_policy();
  char* const end = out + kLongestTaskPolicy - 1;
  char* const colon = std::to_chars(out, end, policy.mode).ptr;
  *colon = ':';
  *std::to_chars(colon + 1, end, policy.nodes).ptr = '\0';
}

PolicyNumber EmulatedNodes::note(const MemoryPolicy& policy) noexcept {
  return own() == nullptr ? PolicyNumber{0} : own()->note(policy);
}

MemoryPolicy EmulatedNodes::own_policy() const noexcept {
  return own() == nullptr ? MemoryPolicy{} : own()->policy(own_number);
}

// Other processes are told of the first thread's only, as by the kernel.
void EmulatedNodes::set_own_policy(PolicyNumber number) noexcept {
  own_number = number;
  if (own() != nullptr && raw_syscall(SYS_gettid) == raw_syscall(SYS_getpid))
    own()->first_policy.store(number, kRelaxed);
}

MemoryPolicy EmulatedNodes::policy_of(const PlacementOf& whose, PolicyNumber number) const noexcept {
  if (number == 0)
    number = whose.pid() == kOwnProcess ? own_number : whose.nodes().first_policy.load(kRelaxed);
  return whose.nodes().policy(number);
}

void EmulatedNodes::on_mapped(Placement& placement, std::uintptr_t address,
                              std::size_t bytes) const noexcept {
  if (own_number != 0)
    placement.place_pattern(address, bytes, pattern_of(own_policy(), nodes_), RuleKind::kNode);
}

long EmulatedNodes::set_mempolicy(int mode, const unsigned long* mask, unsigned long bits) noexcept {
  const std::optional<NodeMask> asked = read_mask(mask, bits);
  if (!asked) return -EFAULT;
  const NodeMask real = real_nodes_of(*asked, nodes_);
  const bool names_emulated = (*asked & nodes_.emulated) != 0;
  const long result = names_emulated ? raw_syscall(SYS_set_mempolicy, mode, &real, kKernelBits)
                                     : raw_syscall(SYS_set_mempolicy, mode, mask, bits);
  if (result == 0)
    set_own_policy(mode == MPOL_DEFAULT ? PolicyNumber{0} : note({.mode = mode, .nodes = *asked}));
  return result;
}

long EmulatedNodes::mbind(Placement& placement, std::uintptr_t address, std::size_t bytes, int mode,
                          const unsigned long* mask, unsigned long bits, unsigned flags) noexcept {
  const std::optional<NodeMask> asked = read_mask(mask, bits);
  if (!asked) return -EFAULT;
  const NodeMask real = real_nodes_of(*asked, nodes_);
  const bool names_emulated = (*asked & nodes_.emulated) != 0;
  const unsigned moves = flags & (MPOL_MF_MOVE | MPOL_MF_MOVE_ALL);
  if ((flags & MPOL_MF_STRICT) != 0 && moves == 0 && *asked != 0) {
    // Of no bytes, the kernel says whether it is to be understood at all.
    const long understood = raw_syscall(SYS_mbind, address, 0UL, mode, &real, kKernelBits, flags);
    if (understood == 0 && lies_elsewhere(placement, address, bytes, *asked)) return -EIO;
    if (names_emulated) flags &= ~unsigned{MPOL_MF_STRICT};
  }
  const long result = names_emulated ? raw_syscall(SYS_mbind, address, bytes, mode, &real, kKernelBits, flags)
                                     : raw_syscall(SYS_mbind, address, bytes, mode, mask, bits, flags);
  if (result != 0) return result;
  const MemoryPolicy policy{.mode = mode, .nodes = *asked};
  if (moves != 0) {
    bind(placement, address, bytes, policy);
  } else {
    for_each_run(address, bytes, [&](std::uintptr_t first, std::size_t run, bool is_touched) {
      if (is_touched)
        return placement.set_origin(first, run, mode == MPOL_DEFAULT ? PolicyNumber{0} : note(policy));
      bind(placement, first, run, policy);
    });
  }
  return result;
}

// Whether a page that is there already is on none of these; on which of the real ones, the kernel knows. As
// far as all is mapped: of the rest the kernel says that it is not.
bool EmulatedNodes::lies_elsewhere(const Placement& placement, std::uintptr_t address, std::size_t bytes,
                                   NodeMask asked) const noexcept {
  const auto is_elsewhere = [&](std::uintptr_t page) {
    const int node = nodes_.node_of_tier[placement.tier_of(reinterpret_cast<const void*>(page))];
    return (asked & (node == 0 ? nodes_.real : mask_of_node(node))) == 0;
  };
  std::array<unsigned char, 512> resident;  // NOLINT(*-member-init): mincore fills what is read
  const std::uintptr_t end = address + bytes;
  while (address < end) {
    const std::size_t pages = std::min(resident.size(), (end - address + kPageBytes - 1) / kPageBytes);
    if (is_error(raw_syscall(SYS_mincore, address, pages * kPageBytes, resident.data()))) return false;
    for (std::size_t i = 0; i < pages; ++i) {
      if ((resident[i] & 1) != 0 && is_elsewhere(address + i * kPageBytes)) return true;
    }
    address += pages * kPageBytes;
  }
  return false;
}

void EmulatedNodes::bind(Placement& placement, std::uintptr_t address, std::size_t bytes,
                         const MemoryPolicy& policy) noexcept {
  if (policy.mode == MPOL_DEFAULT) {
    placement.on_unmapped(address, bytes);
    return on_mapped(placement, address, bytes);
  }
  TierPattern pattern = pattern_of(policy, nodes_);
  pattern.origin = note(policy);
  placement.place_pattern(address, bytes, pattern, RuleKind::kNode);
}

// Where the kernel has it on node `real`.
int EmulatedNodes::node_of(const Placement& placement, std::uintptr_t address, int real) const noexcept {
  const int node = nodes_.node_of_tier[placement.tier_of(reinterpret_cast<const void*>(address))];
  return node == 0 ? real : node;
}

long EmulatedNodes::get_mempolicy(const Placement& placement, int* mode, unsigned long* mask,
                                  unsigned long bits, std::uintptr_t address,
                                  unsigned long flags) const noexcept {
  const long result = raw_syscall(SYS_get_mempolicy, mode, mask, bits, address, flags);
  if (result != 0) return result;
  const bool of_address = (flags & MPOL_F_ADDR) != 0;
  if ((flags & MPOL_F_MEMS_ALLOWED) != 0) {
    write_mask(mask, bits, nodes_.all());
    return result;
  }
  if ((flags & MPOL_F_NODE) != 0) {
    if (of_address && mode != nullptr) *mode = node_of(placement, address, *mode);
    return result;
  }
  // As in the kernel, that of a range is none where mbind() has given it none.
  const PolicyNumber number = of_address ? placement.origin_of(address) : own_number;
  if (number == 0) return result;
  const MemoryPolicy policy = own()->policy(number);
  if (mode != nullptr) *mode = policy.mode;
  write_mask(mask, bits, policy.nodes);
  return result;
}

// The pages that go to real nodes are the kernel's to move; of those that go to emulated ones it only tells
// whether they are there. As in the kernel, those before one that is to go where no node is have moved.
long EmulatedNodes::move_pages(PlacementOf& whose, std::size_t count, void* const* pages, const int* to,
                               int* status, int flags) const noexcept {
  const auto ask_kernel = [&](std::size_t asked) {
    return raw_syscall(SYS_move_pages, whose.pid(), asked, pages, nullptr, status, flags);
  };
  if (const long refused = ask_kernel(0); refused < 0) return refused;
  if (to != nullptr && !is_readable(to, count)) return -EFAULT;
  const std::size_t known = to == nullptr ? count : known_nodes(to, count);
  if (const long told = ask_kernel(known); told < 0) return told;
  for (std::size_t i = 0; i < known; ++i) {
    if (status[i] < 0) continue;
    const long moved = to == nullptr ? 0 : move_page(whose, pages[i], to[i], flags, status[i]);
    if (moved < 0) return moved;
    if (to == nullptr)
      status[i] = node_of(whose.placement(), reinterpret_cast<std::uintptr_t>(pages[i]), status[i]);
  }
  return known < count ? -ENODEV : 0;
}

// How many of them, from the first on, are nodes.
std::size_t EmulatedNodes::known_nodes(const int* numbers, std::size_t count) const noexcept {
  const int* const unknown = std::find_if(numbers, numbers + count, [this](int number) {
    return number < 0 || static_cast<std::size_t>(number) >= kMostNodes ||
           (nodes_.all() & mask_of_node(number)) == 0;
  });
  return static_cast<std::size_t>(unknown - numbers);
}

long EmulatedNodes::move_page(PlacementOf& whose, void* page, int to, int flags, int& status) const noexcept {
  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(page) & ~(kPageBytes - 1);
  TierId tier = 0;
  if (nodes_.is_emulated(to)) {
    tier = nodes_.tiers[static_cast<std::size_t>(to)];
    status = to;
  } else {
    const long moved = raw_syscall(SYS_move_pages, whose.pid(), 1UL, &page, &to, &status, flags);
    if (moved < 0) return moved;
  }
  TierPattern moved = TierPattern::all_of(tier);
  moved.origin = whose.placement().origin_of(begin);  // its range's policy stays
  if (status >= 0) whose.placement().place_pattern(begin, kPageBytes, moved, RuleKind::kNode);
  return 0;
}

// Whether the program may, and may go where it wants to, the kernel says when it is to move nothing.
long EmulatedNodes::migrate_pages(PlacementOf& whose, unsigned long bits, const unsigned long* from,
                                  const unsigned long* to) const noexcept {
  const std::optional<NodeMask> old = read_mask(from, bits), wanted = read_mask(to, bits);
  if (!old || !wanted) return -EFAULT;
  if (((*old | *wanted) & nodes_.emulated) == 0)
    return raw_syscall(SYS_migrate_pages, whose.pid(), bits, from, to);
  const NodeMask nothing = 0;
  NodeMask real = *wanted & ~nodes_.emulated;
  if (real != *wanted) real |= allowed_by_kernel();
  const long refused = raw_syscall(SYS_migrate_pages, whose.pid(), kKernelBits, &nothing, &real);
  return refused != 0 ? refused : migrate_pages_of(whose, nodes_, *old, *wanted);
}

}  // namespace nvmemu::preload
