// SPDX-License-Identifier: Apache-2.0
#include "walk/mappings.h"

#include <algorithm>
#include <charconv>

namespace nvmemu {
namespace {

// Where files lie that are no files: devices, a bus' resources, what drivers share.
constexpr std::string_view kDevices[] = {"/dev/", "/sys/", "/proc/", "/dmabuf:", "anon_inode:"};
// There too, and memory like any other.
constexpr std::string_view kPlainMemory[] = {
    "/dev/zero",          "/dev/shm/", "/dev/hugepages", "anon_inode:[io_uring]", "anon_inode:[perf_event]",
    "anon_inode:kvm-vcpu"};

bool begins_with_one_of(std::string_view name, std::span<const std::string_view> list) {
  return std::any_of(list.begin(), list.end(),
                     [&](std::string_view start) { return name.starts_with(start); });
}

// A hexadecimal number and `behind` it; both are taken off the text.
bool take_number(std::string_view& text, char behind, std::uintptr_t& number) {
  constexpr int kHexadecimal = 16;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number, kHexadecimal);
  if (error != std::errc() || at == end || *at != behind) return false;
  text.remove_prefix(static_cast<std::size_t>(at - text.data()) + 1);
  return true;
}

// What stands behind address, permissions, offset, device and inode.
std::string_view name_in(std::string_view line) {
  constexpr int kFieldsBefore = 5;
  for (int field = 0; field < kFieldsBefore; ++field) {
    line.remove_prefix(std::min(line.find(' '), line.size()));
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  }
  return line;
}

}  // namespace

std::optional<Mapping> parse_mapping(std::string_view line) noexcept {
  Mapping mapping;
  std::string_view rest = line;
  if (!take_number(rest, '-', mapping.range.begin) || !take_number(rest, ' ', mapping.range.end))
    return std::nullopt;
  if (mapping.range.begin >= mapping.range.end || !rest.starts_with('r')) return std::nullopt;
  mapping.name = name_in(line);
  mapping.is_device =
      begins_with_one_of(mapping.name, kDevices) && !begins_with_one_of(mapping.name, kPlainMemory);
  mapping.is_shared = rest.substr(0, 4).ends_with('s');
  mapping.is_plain = mapping.name.empty() && rest.starts_with("rw") && rest.substr(0, 4).ends_with('p');
  return mapping;
}

void DeviceMappings::add(std::string_view piece) noexcept {
  lines_.add(piece, [this](const Mapping& mapping) { add(mapping); });
}

void DeviceMappings::add(const Mapping& next) noexcept {
  if (!next.is_device) {
    joins_ = count_ == ranges_.size();
  } else if (joins_) {
    ranges_[count_ - 1].end = next.range.end;
  } else {
    ranges_[count_++] = next.range;
    joins_ = true;
  }
}

}  // namespace nvmemu
