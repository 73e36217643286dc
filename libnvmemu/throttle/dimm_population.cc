// SPDX-License-Identifier: Apache-2.0
#include "throttle/dimm_population.h"

#include <fmt/format.h>

#include <cstdint>
#include <sstream>

#include "host/cpu.h"
#include "throttle/files.h"
#include "throttle/numa_nodes.h"

namespace nvmemu {
namespace {

constexpr std::uint8_t kMemoryDevice = 17;
// Offsets in a memory device's structure.
constexpr std::size_t kSize = 0x0c, kLocator = 0x10, kSpeed = 0x15, kExtendedSize = 0x1c;
constexpr unsigned kSizeIsExtended = 0x7fff, kSizeUnknown = 0xffff, kSizeInKibibytes = 0x8000;

unsigned little_endian(std::string_view bytes, std::size_t at, std::size_t count) {
  unsigned value = 0;
  for (std::size_t i = count; i-- > 0;) {
    if (at + i >= bytes.size()) return 0;
    value = value << 8 | static_cast<std::uint8_t>(bytes[at + i]);
  }
  return value;
}

// The strings follow the structure, each ended by a zero; they count from 1.
std::string_view string_of(std::string_view strings, unsigned number) {
  for (; number > 1; --number) {
    const auto end = strings.find('\0');
    if (end == std::string_view::npos) return {};
    strings.remove_prefix(end + 1);
  }
  return number == 0 ? std::string_view{} : strings.substr(0, strings.find('\0'));
}

unsigned mebibytes_of(std::string_view structure) {
  const unsigned size = little_endian(structure, kSize, 2);
  if (size == kSizeIsExtended) return little_endian(structure, kExtendedSize, 4);
  if (size == kSizeUnknown) return 0;
  return (size & kSizeInKibibytes) != 0 ? (size & ~kSizeInKibibytes) / 1024 : size;
}

std::string memory_of_nodes(const std::string& root) {
  std::string text = "memory";
  for (const NumaNode& node : read_numa_nodes(root)) {
    const std::string file = fmt::format("{}/sys/devices/system/node/node{}/meminfo", root, node.id);
    std::istringstream words(read_file(file).value_or(""));
    std::string word;
    while (words >> word && word != "MemTotal:") continue;
    std::uint64_t kibibytes = 0;
    words >> kibibytes;
    text += fmt::format(" {} GiB", (kibibytes + (1 << 19)) >> 20);  // kernels differ in what they take of it
  }
  return text;
}

}  // namespace

std::vector<std::string> parse_dimms(std::string_view table) {
  std::vector<std::string> dimms;
  while (table.size() >= 4) {
    const auto type = static_cast<std::uint8_t>(table[0]);
    const auto length = static_cast<std::uint8_t>(table[1]);
    const auto end = table.find(std::string_view("\0\0", 2), length);
    if (length < 4 || end == std::string_view::npos) break;
    const std::string_view structure = table.substr(0, length);
    const std::string_view strings = table.substr(length, end - length);
    if (type == kMemoryDevice && mebibytes_of(structure) > 0) {
      dimms.push_back(fmt::format("{} {} MiB {} MT/s",
                                  string_of(strings, little_endian(structure, kLocator, 1)),
                                  mebibytes_of(structure), little_endian(structure, kSpeed, 2)));
    }
    table.remove_prefix(end + 2);
  }
  return dimms;
}

std::string machine_text(const std::string& root, const std::vector<Channel>& channels) {
  std::string text = read_cpu(root).model;
  for (const Channel& channel : channels) text += "; " + to_text(channel.address);
  const auto dimms = parse_dimms(read_file(root + "/sys/firmware/dmi/tables/DMI").value_or(""));
  if (dimms.empty()) return text + "; " + memory_of_nodes(root);
  for (const std::string& dimm : dimms) text += "; " + dimm;
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ') c = '?';  // one line, whatever the firmware wrote
  }
  return text;
}

}  // namespace nvmemu
