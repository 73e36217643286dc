// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <pugixml.hpp>

#include "base/quote.h"
#include "output/bands.h"
#include "output/files.h"
#include "output/names.h"
#include "output/time_text.h"
#include "output/xml.h"
#include "output/xml_fields.h"

namespace nvmemu::pmbench {
namespace {

using Node = pugi::xml_node;

// No run makes more accesses than this in a century; sums of them fit in 64 bits.
constexpr std::uint64_t kMostAccesses = std::uint64_t{1} << 53;
constexpr double kMostMicroseconds = 1e13;
constexpr double kMostNs = 1e18;
constexpr const char* kReadsXml = "what pmbench -f FILE writes can be read";

// Values of elements, and the first thing that is wrong with any: so that what reads a structure need not ask
// after each of its numbers.
class Reader {
 public:
  const std::optional<Error>& error() const { return error_; }

  void refuse(Node node, std::string_view what) {
    if (!error_) error_ = Error{fmt::format("{}: {}", node.path(), what), {}};
  }

  // `node`'s child of that name, which must be there.
  Node require(Node node, const char* name) {
    const Node child = node.child(name);
    if (!child && node) refuse(node, fmt::format("no element <{}> in it", name));
    return child;
  }

  // Its number, or what was there before where there is no such child.
  template <typename T>
  void number(Node parent, const char* name, T& value, T least, T most) {
    if (const Node node = parent.child(name)) value = number_of(node, least, most).value_or(value);
  }

  template <typename T>
  std::optional<T> number_of(Node node, T least, T most) {
    return parse(node, node.text().get(), least, most);
  }

  template <typename T>
  std::optional<T> attribute(Node node, const char* name, T least, T most) {
    return parse(node, node.attribute(name).value(), least, most);
  }

  template <typename Enum>
  void name(Node parent, const char* name, Enum& value) {
    const Node node = parent.child(name);
    if (!node) return;
    const std::optional<Enum> found = find_name<Enum>(node.text().get());
    if (found) {
      value = *found;
    } else {
      refuse(node, quote(node.text().get()) + " is unknown");
    }
  }

 private:
  template <typename T>
  std::optional<T> parse(Node node, std::string_view text, T least, T most) {
    while (!text.empty() && std::string_view(" \t\r\n").find(text.front()) != text.npos)
      text.remove_prefix(1);
    while (!text.empty() && std::string_view(" \t\r\n").find(text.back()) != text.npos) text.remove_suffix(1);
    T value{};
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failed == std::errc{} && end == text.data() + text.size() && value >= least && value <= most)
      return value;
    refuse(node, fmt::format("{} is not a number from {} to {}", quote(text), least, most));
    return std::nullopt;
  }

  std::optional<Error> error_;
};

bool flag_of(Reader& reader, Node parent, const char* name) {
  int value = 0;
  reader.number(parent, name, value, 0, 1);
  return value != 0;
}

void read_parameters(Reader& reader, Node node, Options& options) {
  constexpr std::uint64_t kMostMib = std::uint64_t{1} << 40;
  constexpr auto kMostCycles = std::numeric_limits<std::uint64_t>::max();
  Phase phase;
  reader.number(node, "duration", options.duration_s, 0.0, 1e9);
  reader.number(node, "mapsize", options.map_mib, std::uint64_t{0}, kMostMib);
  reader.number(node, "setsize", options.set_mib, std::uint64_t{0}, kMostMib);
  reader.number(node, "shape", phase.shape, -1e12, 1e12);
  reader.number(node, "delay", options.delay_cycles, std::uint64_t{0}, kMostCycles);
  reader.number(node, "jobs", options.jobs, 1U, 1U << 20);
  reader.number(node, "offset", options.offset, std::numeric_limits<int>::min(), 1023);
  reader.number(node, "ratio", options.read_percent, 0U, 100U);
  reader.name(node, "access", options.access);
  reader.name(node, "tsops", options.timestamp);
  options.initialize = flag_of(reader, node, "initialize");
  options.quiet = flag_of(reader, node, "quiet");
  options.cold = flag_of(reader, node, "cold");
  if (const Node pattern = node.child("pattern")) phase.pattern = pattern.text().get();
  phase.shape_given = true;
  phase.seconds = options.duration_s;
  options.phases = {phase};
}

void read_time(Reader& reader, Node node, std::tm& time) {
  for (const auto& [name, field, least, most] : kTimeFields)
    reader.number(node, name, time.*field, least, most);
  if (!parse_time(time_text(time))) reader.refuse(node, "there is no such day");
}

void read_signature(Reader& reader, Node node, RunResult& result) {
  result.version = node.child("pmbench_info").child("version_number").text().get();
  const Node os = node.child("os_info");
  const Node version = os.child("version_info");
  result.machine.hostname = os.child("hostname").text().get();
  result.machine.os_name = version.child("os_name").text().get();
  result.machine.architecture = version.child("arch").text().get();
  result.machine.release = version.child("release").text().get();
  // On Windows, the original writes the time as text.
  if (const Node time = node.child("time_info"); time.child("mday")) read_time(reader, time, result.started);
  result.uuid = node.child("uuid").text().get();
  result.interrupted = static_cast<bool>(node.child("interrupted"));
  read_parameters(reader, reader.require(node, "params"), result.options);
}

void read_machine(Reader& reader, Node node, RunResult& result) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 40;
  result.machine.cpu_model = node.child("modelname").text().get();
  reader.number(node, "freq_khz", result.clock_khz, 0.0, 1e9);
  for (const Node item : node.child("cache_info").children("cache")) {
    Cache cache;
    std::uint64_t capacity_kib = 0;
    cache.type = item.attribute("type").value();
    reader.number(item, "level", cache.level, 0U, 100U);
    reader.number(item, "capacity", capacity_kib, std::uint64_t{0}, kMost);
    reader.number(item, "sets", cache.sets, std::uint64_t{0}, kMost);
    reader.number(item, "linesize", cache.line_bytes, std::uint64_t{0}, kMost);
    reader.number(item, "partitions", cache.partitions, std::uint64_t{0}, kMost);
    reader.number(item, "ways", cache.ways, std::uint64_t{0}, kMost);
    cache.capacity_bytes = capacity_kib << 10;
    result.machine.caches.push_back(std::move(cache));
  }
}

void read_thread(Reader& reader, Node node, ThreadResult& thread) {
  double latency_us = 0;
  double drawing_us = 0;
  double warmup_us = 0;
  const Node details = reader.require(node, "result_details");
  const Node latency = reader.require(details, "details_latency");
  const Node samples = reader.require(details, "details_samples");
  if (samples) thread.accesses = reader.number_of(samples, std::uint64_t{0}, kMostAccesses).value_or(0);
  reader.number(latency, "latency_us", latency_us, 0.0, kMostMicroseconds);
  reader.number(details.child("details_overhead"), "overhead_us", drawing_us, 0.0, kMostMicroseconds);
  const Node warmup = node.child("warmup_details");
  reader.number(warmup.child("warmup_latency"), "warmup_us", warmup_us, 0.0, kMostMicroseconds);
  reader.number(warmup, "warmup_total", thread.warmup_accesses, std::uint64_t{0}, kMostAccesses);

  const auto accesses = static_cast<double>(thread.accesses);
  thread.loop_ns = latency_us * 1e3 * accesses;
  thread.generating_ns = drawing_us * 1e3 * accesses;
  thread.overhead_ns = drawing_us * 1e3;
  thread.warmup_ns = warmup_us * 1e3 * static_cast<double>(thread.warmup_accesses);
  for (const double ns : {thread.loop_ns, thread.generating_ns, thread.warmup_ns}) {
    if (ns > kMostNs) reader.refuse(node, "its accesses took longer than 30 years");
  }
}

void read_sub_bands(Reader& reader, Node band, std::array<std::uint64_t, Bands::kSubBands>& sub_bands) {
  std::size_t found = 0;
  for (const Node hex : reader.require(band, "bucket_hexes").children("hex")) {
    const auto index = reader.attribute(hex, "index", 0U, static_cast<unsigned>(Bands::kSubBands - 1));
    const auto count = reader.number_of(hex, std::uint64_t{0}, kMostAccesses);
    if (!index || !count) return;
    sub_bands[*index] = *count;
    ++found;
  }
  if (found != Bands::kSubBands) reader.refuse(band, "it has not 16 <hex>");
}

void read_band(Reader& reader, Node node, Bands& bands) {
  const Node interval = reader.require(node, "bucket_interval");
  const Node low = reader.require(interval, "interval_lo");
  const Node sum_count = reader.require(node, "sum_count");
  if (!low || !sum_count) return;
  const auto bit = reader.number_of(low, 0U, Bands::kLastBit);
  const auto count = reader.number_of(sum_count, std::uint64_t{0}, kMostAccesses);
  if (!bit || !count) return;
  if (*bit == 0) {
    bands.below = *count;
  } else if (*bit == Bands::kLastBit) {
    bands.above = *count;
  } else if (*bit >= Bands::kCoarseBit) {
    bands.coarse[*bit - Bands::kCoarseBit] = *count;
  } else if (*bit >= Bands::kFirstBit) {
    auto& sub_bands = bands.fine[*bit - Bands::kFirstBit];
    read_sub_bands(reader, node, sub_bands);
    if (!reader.error() && sum(sub_bands) != *count)
      reader.refuse(node, "its sum_count is not its hexes' sum");
  } else {
    reader.refuse(low, "no band begins there");
  }
}

void read_statistics(Reader& reader, Node node, ThreadResult& thread) {
  for (const Node histogram : node.children("histogram")) {
    Bands bands;
    for (const Node band : histogram.children("histo_bucket")) read_band(reader, band, bands);
    if (reader.error()) return;
    const std::string_view type = histogram.attribute("type").value();
    if (type != "read" && type != "write") {
      reader.refuse(histogram, "its type is neither read nor write");
    } else {
      if (bands.total() > kMostAccesses) reader.refuse(histogram, "it has more accesses than a run can make");
      (type == "read" ? thread.reads : thread.writes) = counts_of(bands);
    }
  }
}

void read_memory(Reader& reader, Node node, std::vector<MemorySnapshot>& snapshots) {
  using Limits = std::numeric_limits<std::int64_t>;
  for (const Node item : node.children("sys_mem_item")) {
    MemorySnapshot snapshot;
    snapshot.name = item.attribute("name").value();
    for (const auto& [name, field] : kMemoryFields) {
      // The original's may be below 0: it reads past what it has of /proc/vmstat.
      std::int64_t value = 0;
      reader.number(item.child("mem_item_info"), name, value, Limits::min(), Limits::max());
      snapshot.*field = std::min(static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0)), kMostAccesses);
    }
    snapshots.push_back(std::move(snapshot));
  }
}

void read_report(Reader& reader, Node report, RunResult& result) {
  read_signature(reader, reader.require(report, "signature"), result);
  read_machine(reader, report.child("machine_info"), result);
  for (const Node node : reader.require(report, "result").children("result_thread")) {
    ThreadResult& thread = result.threads.emplace_back();
    read_thread(reader, node, thread);
    result.seconds = std::max(result.seconds, thread.loop_ns / 1e9);
  }
  if (result.threads.empty()) {
    reader.refuse(report, "no thread has a result in it");
  } else {
    read_statistics(reader, report.child("statistics"), result.threads.front());
  }
  read_memory(reader, report.child("sys_mem_info"), result.snapshots);
}

}  // namespace

Result<RunResult> parse_xml(std::string_view text) {
  pugi::xml_document document;
  const pugi::xml_parse_result parsed = document.load_buffer(text.data(), text.size());
  if (!parsed) {
    return failure(fmt::format("it is no XML: {}, at byte {}", parsed.description(), parsed.offset),
                   kReadsXml);
  }
  const Node report = document.child("pmbenchmark").child("report");
  if (!report)
    return failure("it is XML, but not pmbench's: it has no <pmbenchmark> with a <report>", kReadsXml);
  Reader reader;
  RunResult result;
  result.from_bands = true;
  read_report(reader, report, result);
  if (reader.error()) return failure(reader.error()->message, kReadsXml);
  return result;
}

Result<RunResult> read_xml(const std::string& path) {
  const Result<std::string> text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  Result<RunResult> result = parse_xml(*text);
  if (!result) return failure(path + ": " + result.error().message, result.error().hint);
  return result;
}

}  // namespace nvmemu::pmbench
