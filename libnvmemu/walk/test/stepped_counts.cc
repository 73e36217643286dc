// SPDX-License-Identifier: Apache-2.0
#include "walk/test/stepped_counts.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string>

namespace nvmemu {
namespace {

const char* name_of_kind(std::size_t mnemonic) {
  return ZydisMnemonicGetString(static_cast<ZydisMnemonic>(mnemonic));
}

// As it is found in the file that the code is of.
std::string place_of(std::uintptr_t address) {
  Dl_info file{};
  if (dladdr(reinterpret_cast<const void*>(address), &file) == 0) return fmt::format("{:#x}", address);
  return fmt::format("{}+{:#x}", file.dli_fname, address - reinterpret_cast<std::uintptr_t>(file.dli_fbase));
}

std::string text_of(const MicroOp& op, const RegisterDifference& difference) {
  return fmt::format("{} at {}: {}", name_of_kind(op.mnemonic), place_of(op.address), difference.text());
}

}  // namespace

void SteppedCounts::add(const WalkComparison& over) noexcept {
  ++walks_;
  walked_ += over.walked();
  compared_ += over.compared();
  if (over.not_compared() == NotCompared::kClock) ++at_clocks_;
  if (over.not_compared() == NotCompared::kRepetition) ++at_repetitions_;
  if (over.not_compared() == NotCompared::kNothing) ++stops_[static_cast<std::size_t>(over.stop())];
  for (const RecordedStep& step : over.compared_steps()) kinds_.set(step.op.mnemonic);
  if (!over.difference()) return;
  if (differences_++ == 0) first_ = {over.compared_steps().back().op, over.difference()};
}

void SteppedCounts::write_to(const char* path, const AstrayWalks& astray) const {
  nlohmann::json stops = {
      {"clock", at_clocks_}, {"long repetition", at_repetitions_}, {"threads", with_threads_}};
  for (std::size_t i = 0; i < stops_.size(); ++i) {
    const auto stop = static_cast<WalkStop>(i);
    if (stops_[i] != 0) stops[stop == WalkStop::kNone ? "length" : name_of(stop)] = stops_[i];
  }
  nlohmann::json kinds = nlohmann::json::array();
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    if (kinds_.test(i)) kinds.push_back(name_of_kind(i));
  }
  const nlohmann::json counts = {{"program", program_invocation_short_name},
                                 {"walks", walks_},
                                 {"walked", walked_},
                                 {"compared", compared_},
                                 {"differences", differences_},
                                 {"first", differences_ == 0 ? "" : text_of(first_.op, first_.difference)},
                                 {"kinds", kinds},
                                 {"astray", astray.walks()},
                                 {"astray_faults", astray.faults()},
                                 {"stops", stops}};
  const std::string line = counts.dump() + "\n";
  const int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) return;
  [[maybe_unused]] const ssize_t written =
      write(file, line.data(), line.size());  // at once: others append, too
  close(file);
}

}  // namespace nvmemu
