// SPDX-License-Identifier: Apache-2.0
#include "output/xml.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <pugixml.hpp>
#include <sstream>

#include "output/bands.h"
#include "output/clocks.h"
#include "output/files.h"
#include "output/names.h"
#include "output/totals.h"
#include "output/xml_fields.h"

namespace nvmemu::pmbench {
namespace {

using Node = pugi::xml_node;

// XML cannot hold control characters, however they are written, and a host's name may be anything.
std::string without_controls(std::string_view text) {
  std::string clean(text);
  std::ranges::replace_if(
      clean, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return clean;
}

Node add_text(Node parent, const char* name, std::string_view text) {
  Node node = parent.append_child(name);
  node.text().set(without_controls(text).c_str());
  return node;
}

template <typename T>
void add_number(Node parent, const char* name, T value) {
  parent.append_child(name).text().set(fmt::format("{}", value).c_str());
}

void add_decimal(Node parent, const char* name, double value) {
  parent.append_child(name).text().set(fmt::format("{:.4f}", value).c_str());
}

// A time in microseconds and in clocks, as two elements in one.
void add_latency(Node parent, const char* name, const char* us_name, const char* clocks_name, double ns,
                 const RunResult& result) {
  Node node = parent.append_child(name);
  add_decimal(node, us_name, to_us(ns));
  add_number(node, clocks_name, to_clocks(ns, result.clock_khz));
}

void add_parameters(Node signature, const Options& options) {
  const Phase none;
  const Phase& first = options.phases.empty() ? none : options.phases.front();
  std::vector<std::string> patterns;
  for (const Phase& phase : options.phases) patterns.push_back(phase.pattern);

  Node node = signature.append_child("params");
  // Whole seconds are all that the viewer can parse.
  add_number(node, "duration", std::max(1LL, std::llround(options.duration_s)));
  add_number(node, "mapsize", options.map_mib);
  add_number(node, "setsize", options.set_mib);
  add_number(node, "initialize", options.initialize ? 1 : 0);
  add_decimal(node, "shape", first.shape);
  add_number(node, "delay", options.delay_cycles);
  add_number(node, "quiet", options.quiet ? 1 : 0);
  add_number(node, "cold", options.cold ? 1 : 0);
  add_number(node, "jobs", options.jobs);
  add_number(node, "offset", options.offset);
  add_number(node, "ratio", options.read_percent);
  add_text(node, "pattern", fmt::format("{}", fmt::join(patterns, "+")));
  add_text(node, "access", name_of(options.access));
  add_text(node, "tsops", name_of(options.timestamp));
}

void add_signature(Node report, const RunResult& result) {
  const MachineInfo& machine = result.machine;
  Node signature = report.append_child("signature");
  Node info = signature.append_child("pmbench_info");
  add_text(info, "version_number", result.version);
  add_text(info, "version_options", fmt::format(" {} {}bit +mt -nu -xa", machine.os_name, 8 * sizeof(void*)));
  add_text(info, "version_xmloutput", "0.1");
  Node os = signature.append_child("os_info");
  add_text(os, "hostname", machine.hostname);
  Node version = os.append_child("version_info");
  add_text(version, "os_name", machine.os_name);
  add_text(version, "arch", machine.architecture);
  add_text(version, "release", machine.release);
  Node time = signature.append_child("time_info");
  for (const TimeField& field : kTimeFields) add_number(time, field.name, result.started.*field.field);
  add_text(signature, "uuid", result.uuid);
  add_parameters(signature, result.options);
  if (result.interrupted) add_text(signature, "interrupted", "1");
}

void add_machine(Node report, const RunResult& result) {
  const MachineInfo& machine = result.machine;
  Node node = report.append_child("machine_info");
  add_text(node, "modelname", machine.cpu_model.empty() ? "unsupported" : machine.cpu_model);
  add_number(node, "freq_khz", std::llround(result.clock_khz));
  node.append_child("tlb_info");
  Node caches = node.append_child("cache_info");
  caches.append_attribute("deterministic") = machine.caches.empty() ? "0" : "1";
  for (const Cache& cache : machine.caches) {
    Node item = caches.append_child("cache");
    item.append_attribute("type") = cache.type.c_str();
    add_number(item, "level", cache.level);
    add_number(item, "capacity", cache.capacity_bytes >> 10);
    add_number(item, "sets", cache.sets);
    add_number(item, "linesize", cache.line_bytes);
    add_number(item, "partitions", cache.partitions);
    add_number(item, "ways", cache.ways);
  }
}

void add_thread(Node parent, std::size_t number, const ThreadResult& thread, const RunResult& result) {
  const ThreadMeans means = means_of(thread, result);
  Node node = parent.append_child("result_thread");
  node.append_attribute("thread_num") = static_cast<unsigned long long>(number);
  add_latency(node, "result_netavg", "netavg_us", "netavg_clk", means.net_ns, result);
  Node details = node.append_child("result_details");
  add_latency(details, "details_latency", "latency_us", "latency_clk", means.with_drawing_ns, result);
  add_number(details, "details_samples", thread.accesses);
  add_latency(details, "details_overhead", "overhead_us", "overhead_clk", means.drawing_ns, result);
  add_number(details, "details_total", thread.accesses);
  if (result.options.cold) return;
  Node warmup = node.append_child("warmup_details");
  add_latency(warmup, "warmup_latency", "warmup_us", "warmup_clk", means.warmup_ns, result);
  add_number(warmup, "warmup_total", thread.warmup_accesses);
}

Node add_band(Node histogram, unsigned index, unsigned low_bit, unsigned high_bit, std::uint64_t count) {
  Node node = histogram.append_child("histo_bucket");
  node.append_attribute("index") = index;
  Node interval = node.append_child("bucket_interval");
  add_number(interval, "interval_lo", low_bit);
  add_number(interval, "interval_hi", high_bit);
  add_number(node, "sum_count", count);
  return node;
}

void add_histogram(Node statistics, const char* type, const LatencyCounts& counts) {
  const Bands bands = bands_of(counts);
  Node node = statistics.append_child("histogram");
  node.append_attribute("type") = type;
  add_band(node, 0, 0, Bands::kFirstBit, bands.below);
  for (unsigned i = 0; i < bands.fine.size(); ++i) {
    const unsigned bit = Bands::kFirstBit + i;
    Node hexes = add_band(node, i + 1, bit, bit + 1, sum(bands.fine[i])).append_child("bucket_hexes");
    for (unsigned j = 0; j < Bands::kSubBands; ++j) {
      Node hex = hexes.append_child("hex");
      hex.append_attribute("index") = j;
      hex.text().set(std::to_string(bands.fine[i][j]).c_str());
    }
  }
  for (unsigned i = 0; i < bands.coarse.size(); ++i) {
    add_band(node, 0, Bands::kCoarseBit + i, Bands::kCoarseBit + i + 1, bands.coarse[i]);
  }
  add_band(node, 0, Bands::kLastBit, 32, bands.above);
}

void add_statistics(Node report, const RunResult& result) {
  if (result.options.access != AccessMode::kHisto) return;
  const Totals totals = totals_of(result);
  Node node = report.append_child("statistics");
  if (result.options.read_percent > 0) add_histogram(node, "read", totals.reads);
  if (result.options.read_percent < 100) add_histogram(node, "write", totals.writes);
}

void add_memory(Node report, const std::vector<MemorySnapshot>& snapshots) {
  Node node = report.append_child("sys_mem_info");
  for (std::size_t i = 0; i < snapshots.size(); ++i) {
    Node item = node.append_child("sys_mem_item");
    item.append_attribute("name") = snapshots[i].name.c_str();
    Node info = item.append_child("mem_item_info");
    for (const auto& [name, field] : kMemoryFields) add_number(info, name, snapshots[i].*field);
    if (i + 1 == snapshots.size()) break;
    Node delta = item.append_child("mem_item_delta");
    for (const auto& [name, field] : kMemoryFields) {
      add_number(delta, name, static_cast<std::int64_t>(snapshots[i + 1].*field - snapshots[i].*field));
    }
  }
}

}  // namespace

std::string to_xml(const RunResult& result) {
  pugi::xml_document document;
  Node declaration = document.append_child(pugi::node_declaration);
  declaration.append_attribute("version") = "1.0";
  declaration.append_attribute("encoding") = "utf-8";
  Node report = document.append_child("pmbenchmark").append_child("report");
  add_signature(report, result);
  add_machine(report, result);
  Node threads = report.append_child("result");
  for (std::size_t i = 0; i < result.threads.size(); ++i) {
    add_thread(threads, i + 1, result.threads[i], result);
  }
  add_statistics(report, result);
  add_memory(report, result.snapshots);
  std::ostringstream text;
  document.save(text, "  ", pugi::format_default, pugi::encoding_utf8);
  return text.str();
}

Result<void> write_xml(const RunResult& result, const std::string& path) {
  return write_file(path, to_xml(result));
}

}  // namespace nvmemu::pmbench
