// SPDX-License-Identifier: Apache-2.0
#include "throttle/recovery_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <sstream>
#include <utility>

#include "base/hash.h"
#include "base/quote.h"
#include "throttle/controllers.h"

namespace nvmemu {
namespace {

constexpr std::string_view kRecoveryHeader = "nvmemu-throttle-recovery-2";
constexpr std::string_view kChecksum = "checksum ";

// "8086:2fb0", as lspci(8) writes it.
std::optional<std::pair<std::uint16_t, std::uint16_t>> parse_ids(std::string_view text) {
  unsigned vendor = 0, device = 0;
  char end = '\0';
  if (std::sscanf(std::string(text).c_str(), "%4x:%4x%c", &vendor, &device, &end) != 2) return std::nullopt;
  return std::pair(static_cast<std::uint16_t>(vendor), static_cast<std::uint16_t>(device));
}

// "register 0000:7f:14.0 8086:2fb0 0x190 0x8fff 0x8100": saved, then set.
bool parse_register(std::istringstream& words, SavedRegister& to) {
  std::string address, id_text;
  unsigned offset = 0, saved = 0, set = 0;
  words >> address >> id_text >> std::hex >> offset >> saved >> set;
  const auto channel = parse_pci_address(address);
  const auto ids = parse_ids(id_text);
  if (!ids || family_of_channel(ids->first, ids->second) == nullptr) return false;
  const bool known = std::find(kThermalRegisters.begin(), kThermalRegisters.end(),
                               static_cast<int>(offset)) != kThermalRegisters.end();
  if (words.fail() || !channel || !known || saved > 0xffff || set > 0xffff) return false;
  to = {*channel,
        ids->first,
        ids->second,
        static_cast<int>(offset),
        static_cast<std::uint16_t>(saved),
        static_cast<std::uint16_t>(set)};
  return (words >> std::ws).eof();
}

}  // namespace

std::string serialize(const RecoveryRecord& record) {
  std::string text = fmt::format("{}\nboot_id {}\npid {}\nkept {}\n", kRecoveryHeader, record.boot_id,
                                 record.pid, record.kept ? 1 : 0);
  for (const SavedRegister& at : record.registers) {
    text += fmt::format("register {} {:04x}:{:04x} {:#x} {:#06x} {:#06x}\n", to_text(at.channel), at.vendor,
                        at.device, at.offset, at.saved, at.set);
  }
  return text + std::string(kChecksum) + hash_of(text) + "\n";
}

Result<RecoveryRecord> parse_recovery(std::string_view text) {
  const auto end = text.rfind(kChecksum);
  if (!text.starts_with(kRecoveryHeader) || end == std::string_view::npos ||
      text.substr(end) != std::string(kChecksum) + hash_of(text.substr(0, end)) + "\n")
    return failure("it is damaged");
  std::istringstream lines{std::string(text.substr(0, end))};
  std::string line;
  std::getline(lines, line);  // the header
  RecoveryRecord record;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string key;
    words >> key;
    if (key == "boot_id") {
      words >> record.boot_id;
    } else if (key == "pid") {
      words >> record.pid;
      if (words.fail() || record.pid < 0)
        return failure("it has a line that nvmemu does not write: " + quote(line));
    } else if (key == "kept") {
      words >> record.kept;
    } else if (SavedRegister at; key == "register" && parse_register(words, at)) {
      record.registers.push_back(at);
    } else {
      return failure("it has a line that nvmemu does not write: " + quote(line));
    }
  }
  return record;
}

}  // namespace nvmemu
