// SPDX-License-Identifier: Apache-2.0
#include "call_frames.h"

#include <dlfcn.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

#include "base/caller_name.h"
#include "base/fibonacci_hash.h"
#include "base/path.h"

namespace nvmemu::preload {
namespace {

constexpr std::string_view kOwnLibraries = "libnvmemu-";
constexpr std::string_view kAllocators[] = {kOwnLibraries, "libc.so", "libstdc++.so", "libc++.so",
                                            "ld-linux"};

_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* opaque) {
  auto& frames = *static_cast<CallFrames*>(opaque);
  if (frames.count == frames.code.size()) return _URC_END_OF_STACK;
  frames.code[frames.count++] = reinterpret_cast<void*>(_Unwind_GetIP(context));
  return _URC_NO_REASON;
}

// Where a call returns to may be the next function's first instruction.
bool look_up(void* code, Dl_info& info) { return dladdr(static_cast<char*>(code) - 1, &info) != 0; }

std::string in_hex(std::uintptr_t value) {
  std::array<char, 2 * sizeof value> digits;
  const auto end = std::to_chars(digits.begin(), digits.end(), value, 16).ptr;
  return "0x" + std::string(digits.begin(), end);
}

}  // namespace

CallFrames frames_of_caller() {
  CallFrames frames;
  _Unwind_Backtrace(add_frame, &frames);
  return frames;
}

std::uint64_t callers_in(const CallFrames& frames, const std::vector<std::string>& callers) {
  constexpr std::size_t kLastBit = 63;
  std::uint64_t found = 0;
  for (std::size_t i = 0; i < frames.count; ++i) {
    Dl_info info{};
    if (!look_up(frames.code[i], info)) continue;
    for (std::size_t name = 0; name < callers.size(); ++name) {
      if (is_function_named(info.dli_sname, callers[name]) || is_library_named(info.dli_fname, callers[name]))
        found |= std::uint64_t{1} << std::min(name, kLastBit);
    }
  }
  return found;
}

void record_calls(const CallFrames& frames, RecordWriter& record, std::uint32_t list) {
  const void* before = nullptr;
  for (std::size_t i = 0; i < frames.count; ++i) {
    Dl_info info{};
    if (!look_up(frames.code[i], info) || info.dli_fname == nullptr) continue;
    const std::string_view library = file_name_of(info.dli_fname);
    if (library.starts_with(kOwnLibraries)) continue;
    if (info.dli_saddr != nullptr && info.dli_saddr == before) continue;  // it calls itself
    before = info.dli_saddr;
    record.add_call(list, library, info.dli_sname == nullptr ? std::string_view() : info.dli_sname);
  }
}

std::uint64_t key_of_calls(const CallFrames& frames) noexcept {
  std::uint64_t key = 1;
  for (std::size_t i = 0; i < frames.count; ++i)
    key = fibonacci_hash(key ^ reinterpret_cast<std::uintptr_t>(frames.code[i]));
  return key | 1;
}

void* program_code_of(const CallFrames& frames) {
  for (std::size_t i = 0; i < frames.count; ++i) {
    Dl_info info{};
    if (!look_up(frames.code[i], info) || info.dli_fname == nullptr) continue;
    const std::string_view file = file_name_of(info.dli_fname);
    const auto begins = [file](std::string_view name) { return file.starts_with(name); };
    if (std::ranges::none_of(kAllocators, begins)) return frames.code[i];
  }
  return nullptr;
}

std::string name_of_code(void* code) {
  Dl_info info{};
  const auto at = reinterpret_cast<std::uintptr_t>(code) - 1;
  if (!look_up(code, info) || info.dli_fname == nullptr) return in_hex(at);
  const std::string where = std::string(file_name_of(info.dli_fname)) + "+" +
                            in_hex(at - reinterpret_cast<std::uintptr_t>(info.dli_fbase));
  if (info.dli_sname == nullptr) return where;
  const std::string whole = demangled(info.dli_sname);
  return (whole.empty() ? info.dli_sname : whole.substr(0, whole.find('('))) + " at " + where;
}

}  // namespace nvmemu::preload
