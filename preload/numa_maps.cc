// SPDX-License-Identifier: Apache-2.0
#include "numa_maps.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/raw_syscall.h"
#include "file_of_proc.h"
#include "present_pages.h"
#include "told_file.h"

namespace nvmemu::preload {
namespace {

// Lines, with the emulated nodes in them.
class Rewriter {
 public:
  Rewriter(const EmulatedNodes& nodes, const PlacementOf& whose, ToldFile& out) noexcept
      : nodes_(nodes), whose_(whose), map_(*whose.placement().map()), out_(out), present_(whose.pid()) {}

  void rewrite(std::string_view text, std::uintptr_t end) noexcept {
    const auto line = end == 0 ? std::nullopt : parse_numa_maps_line(text);
    if (!line || !write(*line, end)) out_.add(text);
    out_.add("\n");
  }

 private:
  bool write(const NumaMapsLine& line, std::uintptr_t end) noexcept {
    PolicyNumber origin = 0;
    NodePages pages = line.pages;
    map_.for_each_stretch(line.address, end, [&](std::uintptr_t first, std::uintptr_t last, TierClass tiers) {
      const TierPattern pattern = map_.pattern_of(tiers);
      if (origin == 0) origin = pattern.origin;
      const bool is_all = first == line.address && last == end;
      if (is_all && !pattern.is_interleaved()) {
        move_all(nodes_.nodes().node_of_tier[pattern.parts[0].tier], pages);
      } else if (nodes_.nodes().have_part_of(pattern)) {
        move_some(line, first, last, pattern, pages);
      }
    });
    std::array<char, kMostOfLine> room;  // NOLINT(*-member-init): filled as far as it is read
    TextRoom text(room.data(), room.size());
    write_numa_maps_line(line, pages, policy_nodes(line, origin), text);
    out_.add(text.text());
    return text.size() != 0;
  }

  static void move_all(int node, NodePages& pages) noexcept {
    if (node == 0) return;
    const std::uint64_t total = pages.total();
    pages = {};
    pages[node] = total;
  }

  // No more than the kernel has counted: it may have been before some came.
  void move_some(const NumaMapsLine& line, std::uintptr_t first, std::uintptr_t last,
                 const TierPattern& pattern, NodePages& pages) noexcept {
    std::uint64_t left = line.pages.total();
    if (left == 0) return;
    present_.for_each(first, last, line.page_bytes, line.pages.only_node(),
                      [&](std::uintptr_t page, int real) {
                        const int node = nodes_.nodes().node_of_tier[pattern.of(page)];
                        if (node != 0 && real < static_cast<int>(kMostNodes) && pages[real] > 0) {
                          --pages[real];
                          ++pages[node];
                        }
                        return --left > 0;
                      });
  }

  // None where the kernel's are right, or of a policy that the emulator does not know of.
  NodeMask policy_nodes(const NumaMapsLine& line, PolicyNumber origin) const noexcept {
    const MemoryPolicy policy = nodes_.policy_of(whose_, origin);
    if ((policy.nodes & nodes_.nodes().emulated) == 0) return 0;
    std::array<char, kMostOfList> room;  // NOLINT(*-member-init): filled as far as it is read
    TextRoom told(room.data(), room.size());
    told.add_list(named_nodes(policy, real_nodes_of(policy.nodes, nodes_.nodes())));
    return told.text() == line.policy_nodes ? named_nodes(policy, nodes_.nodes()) : NodeMask{0};
  }

  static constexpr std::size_t kMostOfLine = 8192, kMostOfList = 256;

  const EmulatedNodes& nodes_;
  const PlacementOf& whose_;
  const TierMap& map_;
  ToldFile& out_;
  PresentPages present_;
};

}  // namespace

NumaMaps::NumaMaps(long pid) noexcept : pid_(pid) {
  PieceReader file(FileOfProc(pid, "/numa_maps").c_str());
  long length = 0;
  while (grow() && (length = file.next(text_ + size_, room_ - size_)) > 0)
    size_ += static_cast<std::size_t>(length);
  if (size_ == room_ || length < 0) size_ = 0;  // a part of it is none
}

NumaMaps::~NumaMaps() {
  if (room_ != 0) raw_syscall(SYS_munmap, text_, room_);
}

// Has room for more where there is memory; else all that there was is full.
bool NumaMaps::grow() noexcept {
  constexpr std::size_t kFirst = std::size_t{1} << 20;
  if (size_ < room_) return true;
  const std::size_t wanted = room_ == 0 ? kFirst : 2 * room_;
  const long grown = room_ == 0 ? raw_syscall(SYS_mmap, nullptr, wanted, PROT_READ | PROT_WRITE,
                                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                                : raw_syscall(SYS_mremap, text_, room_, wanted, MREMAP_MAYMOVE);
  if (is_error(grown)) return false;
  text_ = reinterpret_cast<char*>(grown);
  room_ = wanted;
  return true;
}

std::uintptr_t NumaMaps::address_of_line(std::string_view text) noexcept {
  std::uintptr_t address = 0;
  constexpr int kHexadecimal = 16;
  std::from_chars(text.data(), text.data() + text.size(), address, kHexadecimal);
  return address;
}

std::optional<long> process_of_numa_maps(std::string_view path) noexcept {
  return process_of_file(path, "/numa_maps");
}

int open_numa_maps(const PlacementOf& whose, int flags, const EmulatedNodes& nodes) noexcept {
  const NumaMaps maps(whose.pid());
  if (!maps.is_read()) return -1;
  ToldFile told("numa_maps", flags);
  Rewriter rewriter(nodes, whose, told);
  maps.for_each([&](std::string_view line, std::uintptr_t end) { rewriter.rewrite(line, end); });
  return told.finish();
}

}  // namespace nvmemu::preload
