// SPDX-License-Identifier: Apache-2.0
#include "touch/process_watch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>

namespace nvmemu::pmbench {
namespace {

// The number behind any blanks.
std::uint64_t number_at(std::string_view text) noexcept {
  std::uint64_t number = 0;
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

template <std::size_t kSize>
std::string_view read_at_start(const Descriptor& file, std::array<char, kSize>& room) noexcept {
  const ssize_t got = pread(file.get(), room.data(), room.size(), 0);
  return {room.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
}

}  // namespace

std::uint64_t swap_free_bytes_of(std::string_view meminfo) noexcept {
  constexpr std::string_view kKey = "SwapFree:";
  const std::size_t at = meminfo.find(kKey);
  return at == std::string_view::npos ? 0 : number_at(meminfo.substr(at + kKey.size())) << 10;
}

Result<ProcessWatch> ProcessWatch::open() {
  Descriptor statm(::open("/proc/self/statm", O_RDONLY | O_CLOEXEC));
  Descriptor meminfo(::open("/proc/meminfo", O_RDONLY | O_CLOEXEC));
  if (statm.get() < 0 || meminfo.get() < 0)
    return failure(fmt::format("cannot open /proc/self/statm and /proc/meminfo: {}", std::strerror(errno)));
  return ProcessWatch(std::move(statm), std::move(meminfo));
}

// The second number of statm is the resident pages.
MemoryWatch::Sample ProcessWatch::sample() noexcept {
  static const auto kPageBytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  std::array<char, 4096> room;
  const std::string_view statm = read_at_start(statm_, room);
  const std::size_t second = statm.find(' ');
  Sample sample;
  if (second != std::string_view::npos) sample.rss_bytes = number_at(statm.substr(second)) * kPageBytes;
  sample.swap_free_bytes = swap_free_bytes_of(read_at_start(meminfo_, room));
  return sample;
}

}  // namespace nvmemu::pmbench
