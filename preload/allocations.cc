// SPDX-License-Identifier: Apache-2.0
#include "allocations.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <unwind.h>

#include <array>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "hook.h"
#include "keep_errno.h"
#include "runtime.h"

namespace nvmemu::preload {
namespace {

constexpr std::uintptr_t kPageBytes = 4096;
constexpr std::size_t kMostFrames = 32;

// Who called, the nearest first.
struct Frames {
  std::array<void*, kMostFrames> code;
  std::size_t count = 0;
};

_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* opaque) {
  auto& frames = *static_cast<Frames*>(opaque);
  if (frames.count == frames.code.size()) return _URC_END_OF_STACK;
  frames.code[frames.count++] = reinterpret_cast<void*>(_Unwind_GetIP(context));
  return _URC_NO_REASON;
}

// "build" of "build", of "_Z5buildi" and of "Index::build(int)"; the whole of a mangled or demangled name,
// too.
bool is_named(const char* symbol, std::string_view name) {
  if (symbol == nullptr) return false;
  if (name == symbol) return true;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(symbol, nullptr, nullptr, nullptr), &std::free);
  if (demangled == nullptr) return false;
  std::string_view text = demangled.get();
  if (name == text) return true;
  text = text.substr(0, text.find('('));
  return name == text || (text.ends_with(name) && text.substr(0, text.size() - name.size()).ends_with("::"));
}

// "libindex" of "/usr/lib/libindex.so.2", and the file's whole name.
bool is_file_named(const char* path, std::string_view name) {
  if (path == nullptr) return false;
  std::string_view file = path;
  file.remove_prefix(file.rfind('/') + 1);
  return file == name || (file.starts_with(name) && file.substr(name.size()).starts_with(".so"));
}

bool is_called_by(const Frames& frames, const std::vector<std::string>& callers) {
  for (std::size_t i = 0; i < frames.count; ++i) {
    Dl_info info{};
    // Where a call returns to may be the next function's first instruction.
    if (dladdr(static_cast<char*>(frames.code[i]) - 1, &info) == 0) continue;
    for (const std::string& caller : callers) {
      if (is_named(info.dli_sname, caller) || is_file_named(info.dli_fname, caller)) return true;
    }
  }
  return false;
}

// Of rules by callers the first; else of those by size alone, that of the largest. 0: none.
TierId tier_of_block(const TierPlan& plan, std::size_t bytes) {
  std::uint64_t largest = 0;
  TierId by_size = 0;
  Frames frames;
  for (std::size_t i = 0; i < plan.tiers.size(); ++i) {
    const TierSpec& tier = plan.tiers[i];
    if (tier.least_block_bytes == 0 || bytes < tier.least_block_bytes) continue;
    if (tier.callers.empty()) {
      if (tier.least_block_bytes > largest) by_size = static_cast<TierId>(i + 1);
      largest = std::max(largest, tier.least_block_bytes);
      continue;
    }
    if (frames.count == 0) _Unwind_Backtrace(add_frame, &frames);
    if (is_called_by(frames, tier.callers)) return static_cast<TierId>(i + 1);
  }
  return by_size;
}

std::uintptr_t first_page_of(const void* block) noexcept {
  return (reinterpret_cast<std::uintptr_t>(block) + kPageBytes - 1) & ~(kPageBytes - 1);
}

// The pages that are the block's alone.
struct Pages {
  std::uintptr_t first, bytes;
};
Pages pages_of(const void* block, std::size_t bytes) noexcept {
  const std::uintptr_t first = first_page_of(block);
  const std::uintptr_t end = (reinterpret_cast<std::uintptr_t>(block) + bytes) & ~(kPageBytes - 1);
  return {first, end > first ? end - first : 0};
}

}  // namespace
}  // namespace nvmemu::preload

using namespace nvmemu::preload;

NVMEMU_EXPORT unsigned long nvmemu_least_block(void) {
  unsigned long least = std::numeric_limits<unsigned long>::max();
  if (!Runtime::get().active()) return least;
  for (const nvmemu::TierSpec& tier : Runtime::get().config().tiers.tiers) {
    if (tier.least_block_bytes != 0) least = std::min<unsigned long>(least, tier.least_block_bytes);
  }
  return least;
}

NVMEMU_EXPORT void nvmemu_block_taken(const void* block, unsigned long bytes) {
  Runtime& runtime = Runtime::get();
  if (!runtime.active()) return;
  const KeepErrno keep;
  const nvmemu::TierId tier = tier_of_block(runtime.config().tiers, bytes);
  const Pages pages = pages_of(block, bytes);
  if (tier != 0 && pages.bytes != 0) runtime.placement().place(pages.first, pages.bytes, tier);
}

NVMEMU_EXPORT int nvmemu_block_is_placed(const void* block) {
  const nvmemu::TierMap* const map = Runtime::get().placement().map();
  return map != nullptr && map->placed_in(first_page_of(block)) ? 1 : 0;
}

NVMEMU_EXPORT void nvmemu_block_given_back(const void* block, unsigned long bytes) {
  const Pages pages = pages_of(block, bytes);
  Runtime& runtime = Runtime::get();
  if (runtime.active() && pages.bytes != 0) runtime.placement().on_unmapped(pages.first, pages.bytes);
}
