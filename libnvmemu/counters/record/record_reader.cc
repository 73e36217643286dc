// SPDX-License-Identifier: Apache-2.0
#include "counters/record/record_reader.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <span>
#include <sstream>
#include <string_view>

#include "base/read_file.h"
#include "tier/region_heat.h"

namespace nvmemu {
namespace {

using namespace record_format;

constexpr std::uint64_t kRegionBytes = RegionHeat::kRegionBytes;
constexpr double kMostNs = 1e18;  // 30 years
constexpr double kMostCount = 1e18;
constexpr double kMostWeight = 1e15;  // of a thousand threads that wait for a month
constexpr double kMostLost = 1e12;    // thirty years of a thousand threads
constexpr double kLowestLatencyNs = 1e-3;
constexpr double kHighestLatencyNs = 1e9;

template <std::size_t kBytes>
std::string text_of(const char (&field)[kBytes]) {
  return {field, strnlen(field, kBytes)};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin) lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

bool is_within(double value, double lowest, double highest) { return value >= lowest && value <= highest; }

// Null: that is of none.
const QuantityRow* recorded(std::string_view name) {
  const auto* row = std::ranges::find_if(kQuantities, [&](const QuantityRow& one) {
    return name == one.name && (one.places & kInRecords) != 0;
  });
  return row == std::end(kQuantities) ? nullptr : row;
}

// Blanks between them.
std::vector<const QuantityRow*> rows_of(const std::string& names) {
  std::vector<const QuantityRow*> rows;
  std::istringstream stream(names);
  for (std::string name; rows.size() < std::size(EpochSlot{}.figures) && stream >> name;)
    rows.push_back(recorded(name));
  return rows;
}

// A copy, for bytes of a file lie anywhere; atomics are plain here.
template <typename Slot>
const Slot& view(const std::byte* bytes, std::byte* room) {
  std::memcpy(room, bytes, sizeof(Slot));
  return *reinterpret_cast<const Slot*>(room);
}

class Parser {
 public:
  explicit Parser(std::span<const std::byte> bytes) : bytes_(bytes) {}

  Result<Record> parse() {
    for (const auto step : {&Parser::check_format, &Parser::read_header, &Parser::read_slots}) {
      if (Result<void> done = (this->*step)(); !done) return tl::unexpected(std::move(done.error()));
    }
    finish();
    return std::move(record_);
  }

 private:
  Result<void> check_format() {
    if (bytes_.size() < sizeof(std::uint64_t) || header().magic != kMagic) {
      return failure("it is no record", "nvmemu record -o FILE -- COMMAND makes records");
    }
    if (bytes_.size() < kHeaderBytes) return failure("it is cut short, within its first page");
    if (header().version < kFirstVersion || header().version > kVersion ||
        header().slot_bytes != kSlotBytes) {
      return failure("it is a record of version " + std::to_string(header().version) + ", and this is for " +
                         std::to_string(kVersion),
                     "record it again");
    }
    const std::uint64_t claimed = header().claimed.load();
    if (claimed < kHeaderSlots) return failure("its header counts fewer bytes than it has itself");
    if (claimed > bytes_.size() / kSlotBytes) {
      return failure("it is cut short: its header counts " + std::to_string(claimed - kHeaderSlots) +
                     " entries, and there are " + std::to_string(bytes_.size() / kSlotBytes - kHeaderSlots));
    }
    slots_ = claimed;
    return {};
  }

  Result<void> read_header() {
    const Header& header = this->header();
    struct Figure {
      const char* name;
      double value, lowest, highest;
    };
    const Figure figures[] = {
        {"base latency", header.base_ns, kLowestLatencyNs, kHighestLatencyNs},
        {"base latency's spread", header.base_spread, 0, 1e6},
        {"cache's latency", header.cache_ns, 0, kHighestLatencyNs},
        {"remote latency", header.remote_ns, 0, kHighestLatencyNs},
        {"epoch", header.epoch_ns, 1, kMostNs},
        {"wall time", header.wall_ns, 0, kMostNs},
        {"number of lost epochs", static_cast<double>(header.lost.load()), 0, kMostLost},
        {"weight of misses elsewhere", static_cast<double>(header.elsewhere.load()), 0, kMostWeight},
    };
    for (const Figure& figure : figures) {
      if (!is_within(figure.value, figure.lowest, figure.highest)) {
        return failure(std::string("its ") + figure.name + " makes no sense");
      }
    }
    if ((header.counts & ~kAllCounts) != 0) return failure("it says to count what is not known here");
    record_.info = {
        text_of(header.command), text_of(header.cpu_model), text_of(header.source), header.counts,
        header.base_ns,          header.base_spread,        header.cache_ns,        header.remote_ns,
        header.epoch_ns};
    record_.wall_ns = header.wall_ns;
    record_.is_cut_off = header.wall_ns <= 0;
    record_.exit_status = header.exit_status;
    record_.warnings = lines_of(text_of(header.warnings));
    record_.lost = header.lost.load();
    record_.keeps_regions = header.version >= kFirstWithRegions;
    keeps_owners_ = header.version >= kFirstWithOwners;
    if (keeps_owners_) {
      record_.info.tells_blocks = header.tells_blocks != 0;
      record_.info.nodes = header.nodes;
      record_.unowned = header.unowned.load();
    }
    record_.elsewhere = static_cast<double>(header.elsewhere.load());
    names_figures_ = header.version >= kFirstWithFigures;
    figures_ = rows_of(names_figures_ ? text_of(header.figures) : kEarlierFigures);
    for (const char* name : {"cpu_ns", "stall_ns"})
      if (std::ranges::count(figures_, recorded(name)) != 1)
        return failure(std::string("its header does not name each epoch's ") + name + ", once");
    for_each_quantity<kInRecords>([&](const QuantityRow& row, std::size_t) {
      if (!is_kept(row)) record_.unkept.push_back(&row);
    });
    return {};
  }

  Result<void> read_slots() {
    for (std::uint64_t slot = kHeaderSlots; slot < slots_; ++slot) {
      const std::byte* at = bytes_.data() + slot * kSlotBytes;
      std::uint32_t kind = 0;
      std::memcpy(&kind, at, sizeof kind);
      bool sensible = true;
      switch (static_cast<SlotKind>(kind)) {
        case SlotKind::kUnfinished:
          ++record_.unfinished;
          break;
        case SlotKind::kEpoch:
          sensible = read_epoch(at);
          break;
        case SlotKind::kProcess:
          read_process(at);
          break;
        case SlotKind::kRegion:
          sensible = record_.keeps_regions && read_region(at);
          break;
        case SlotKind::kOwner:
          sensible = keeps_owners_ && read_owner(at);
          break;
        case SlotKind::kCall:
          sensible = keeps_owners_;
          if (sensible) read_call(at);
          break;
        default:
          sensible = false;
      }
      if (!sensible) {
        return failure("entry " + std::to_string(slot - kHeaderSlots) + " makes no sense");
      }
    }
    return {};
  }

  bool read_epoch(const std::byte* at) {
    alignas(EpochSlot) std::byte room[sizeof(EpochSlot)];
    const auto& slot = view<EpochSlot>(at, room);
    RecordedEpoch epoch{{slot.process, slot.thread, slot.tid}, slot.begin_ns, slot.end_ns, {}};
    bool sensible = is_within(slot.begin_ns, 0, kMostNs) && is_within(slot.end_ns, slot.begin_ns, kMostNs);
    for (std::size_t i = 0; i < figures_.size(); ++i) {
      // Corrections of the past may come out below 0; nothing is without bound.
      sensible = sensible && is_within(std::abs(slot.figures[i]), 0, kMostCount);
      if (figures_[i] == nullptr) continue;
      sensible = sensible && (figures_[i]->unit != QuantityUnit::kCount || slot.figures[i] >= 0);
      figures_[i]->of(epoch.counts) = slot.figures[i];
    }
    sensible = sensible && (names_figures_ || read_earlier(slot, epoch.counts));
    const double miss_ns = epoch.counts.miss_latency_ns();
    sensible = sensible && epoch.counts.misses_in_a_row >= 0 &&
               (miss_ns == 0 || is_within(std::abs(miss_ns), kLowestLatencyNs, kHighestLatencyNs));
    if (sensible) record_.epochs.push_back(epoch);
    return sensible;
  }

  bool is_kept(const QuantityRow& row) const {
    if (std::ranges::find(figures_, &row) != figures_.end()) return true;
    return !names_figures_ && (&row == recorded("misses_in_a_row") || &row == recorded("counted_ns"));
  }

  // How long a miss took, and which part was counted, were kept in place of how many and how much.
  static bool read_earlier(const EpochSlot& slot, EpochCounts& counts) {
    const double miss_ns = slot.figures[kEarlierMissLatency];
    if (miss_ns != 0 && !is_within(miss_ns, kLowestLatencyNs, kHighestLatencyNs)) return false;
    counts.misses_in_a_row = miss_ns > 0 ? std::max(0.0, counts.stall_ns) / miss_ns : 0;
    counts.counted_ns = slot.figures[kEarlierCountedShare] * counts.cpu_ns;
    return true;
  }

  void read_process(const std::byte* at) {
    alignas(ProcessSlot) std::byte room[sizeof(ProcessSlot)];
    const auto& slot = view<ProcessSlot>(at, room);
    record_.processes.push_back({slot.process, slot.pid, slot.ppid, text_of(slot.command)});
  }

  bool read_region(const std::byte* at) {
    alignas(RegionSlot) std::byte room[sizeof(RegionSlot)];
    const auto& slot = view<RegionSlot>(at, room);
    RecordedRegion region;
    region.address = slot.address;
    region.mapping_begin = slot.mapping_begin;
    region.mapping_end = slot.mapping_end;
    region.mapping = text_of(slot.mapping);
    const bool sensible = slot.address % kRegionBytes == 0 && slot.mapping_begin <= slot.mapping_end &&
                          read_waits(slot, region) &&
                          read_figure(slot.resident_bytes, double{kRegionBytes}, region.resident_bytes);
    if (sensible) record_.regions.push_back(std::move(region));
    return sensible;
  }

  bool read_owner(const std::byte* at) {
    alignas(OwnerSlot) std::byte room[sizeof(OwnerSlot)];
    const auto& slot = view<OwnerSlot>(at, room);
    RecordedOwner owner;
    owner.calls = slot.calls;
    owner.node = slot.node;
    const bool sensible = read_waits(slot, owner) &&
                          read_figure(slot.least_bytes, kMostCount, owner.least_bytes) &&
                          read_figure(slot.most_bytes, kMostCount, owner.most_bytes);
    if (sensible) record_.owners.push_back(owner);
    return sensible;
  }

  void read_call(const std::byte* at) {
    alignas(CallSlot) std::byte room[sizeof(CallSlot)];
    const auto& slot = view<CallSlot>(at, room);
    record_.calls[slot.calls].push_back({text_of(slot.library), text_of(slot.function)});
  }

  template <typename Slot>
  static bool read_waits(const Slot& slot, RecordedWaits& waits) {
    waits.process = slot.process;
    bool sensible = read_figure(slot.misses, kMostCount, waits.misses);
    for (std::size_t part = 0; part < waits.waited.size(); ++part)
      sensible = read_figure(slot.waited[part], kMostWeight, waits.waited[part]) && sensible;
    return sensible;
  }

  static bool read_figure(const std::atomic<std::uint64_t>& kept, double most, double& figure) {
    figure = static_cast<double>(kept.load());
    return figure <= most;
  }

  // Slots are claimed in the order of time, but for threads that claim at the same moment.
  void finish() {
    if (!record_.is_cut_off) return;
    for (const RecordedEpoch& epoch : record_.epochs) {
      record_.wall_ns = std::max(record_.wall_ns, epoch.end_ns);
    }
  }

  // As much of it as there is, the rest 0: check_format() comes first.
  const Header& header() {
    if (!header_read_) {
      std::memcpy(header_, bytes_.data(), std::min(bytes_.size(), sizeof header_));
      header_read_ = true;
    }
    return *reinterpret_cast<const Header*>(header_);
  }

  std::span<const std::byte> bytes_;
  alignas(Header) std::byte header_[sizeof(Header)]{};
  bool header_read_ = false;
  bool keeps_owners_ = false, names_figures_ = true;
  std::vector<const QuantityRow*> figures_;  // an epoch's columns
  std::uint64_t slots_ = 0;
  Record record_;
};

}  // namespace

Result<Record> parse_record(std::span<const std::byte> bytes) { return Parser(bytes).parse(); }

Result<Record> read_record(const std::string& path) {
  const Result<std::string> bytes = read_whole_file(path, kWindows * kWindowBytes);
  if (!bytes) return tl::unexpected(bytes.error());
  Result<Record> record = parse_record(std::as_bytes(std::span(*bytes)));
  if (!record) return failure(path + ": " + record.error().message, record.error().hint);
  return record;
}

}  // namespace nvmemu
