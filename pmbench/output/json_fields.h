// SPDX-License-Identifier: Apache-2.0
// The fields of each structure by their names in JSON, said once for writing and for reading: `archive` is
// called with each name and member in turn.
#pragma once

#include <concepts>
#include <type_traits>

#include "run/result.h"

namespace nvmemu::pmbench {

// T is What, to be read from, or const What, to be written.
template <typename T, typename What>
concept Is = std::same_as<std::remove_const_t<T>, What>;

// A field that files of earlier versions have not.
template <typename Archive, typename T>
void added(Archive& archive, const char* name, T& value) {
  if constexpr (requires { archive.has(name); }) {
    if (!archive.has(name)) return;
  }
  archive(name, value);
}

template <typename Archive, Is<DelayCounts> T>
void fields(Archive& archive, T& counts) {
  archive("reads", counts.reads);
  archive("writes", counts.writes);
  archive("read_pages", counts.read_pages);
  archive("written_pages", counts.written_pages);
  archive("read_ns", counts.read_ns);
  archive("write_ns", counts.write_ns);
  archive("overdue", counts.overdue);
  archive("late_p95_ns", counts.late_p95_ns);
}

template <typename Archive, Is<SwapTaken> T>
void fields(Archive& archive, T& taken) {
  archive("kind", taken.kind);
  archive("device", taken.device);
  archive("held_by", taken.held_by);
  archive("why_not_null_block", taken.why_not_null_block);
}

template <typename Archive, Is<Cache> T>
void fields(Archive& archive, T& cache) {
  archive("type", cache.type);
  archive("level", cache.level);
  archive("capacity_bytes", cache.capacity_bytes);
  archive("sets", cache.sets);
  archive("line_bytes", cache.line_bytes);
  archive("partitions", cache.partitions);
  archive("ways", cache.ways);
}

template <typename Archive, Is<MachineInfo> T>
void fields(Archive& archive, T& machine) {
  archive("hostname", machine.hostname);
  archive("os_name", machine.os_name);
  archive("architecture", machine.architecture);
  archive("release", machine.release);
  archive("cpu_model", machine.cpu_model);
  archive("tsc_khz", machine.tsc_khz);
  archive("caches", machine.caches);
}

template <typename Archive, Is<MemorySnapshot> T>
void fields(Archive& archive, T& snapshot) {
  archive("name", snapshot.name);
  archive("free_kib", snapshot.free_kib);
  archive("buffer_kib", snapshot.buffer_kib);
  archive("cache_kib", snapshot.cache_kib);
  archive("active_kib", snapshot.active_kib);
  archive("inactive_kib", snapshot.inactive_kib);
  archive("pgpgin", snapshot.pgpgin);
  archive("pgpgout", snapshot.pgpgout);
  archive("pswpin", snapshot.pswpin);
  archive("pswpout", snapshot.pswpout);
  archive("pgmajfault", snapshot.pgmajfault);
}

template <typename Archive, Is<SeriesPoint> T>
void fields(Archive& archive, T& point) {
  archive("at_s", point.at_s);
  archive("seconds", point.seconds);
  archive("phase", point.phase);
  archive("accesses", point.accesses);
  archive("p50_ns", point.p50_ns);
  archive("p99_ns", point.p99_ns);
  archive("max_ns", point.max_ns);
  archive("minor_faults", point.minor_faults);
  archive("major_faults", point.major_faults);
  archive("counters", point.counters);
}

template <typename Archive, Is<Phase> T>
void fields(Archive& archive, T& phase) {
  archive("pattern", phase.pattern);
  archive("shape", phase.shape);
  archive("shape_given", phase.shape_given);
  archive("seconds", phase.seconds);
}

template <typename Archive, Is<Options> T>
void fields(Archive& archive, T& options) {
  archive("duration_s", options.duration_s);
  archive("map_mib", options.map_mib);
  archive("set_mib", options.set_mib);
  archive("access", options.access);
  archive("read_percent", options.read_percent);
  archive("offset", options.offset);
  archive("delay_cycles", options.delay_cycles);
  archive("timestamp", options.timestamp);
  archive("jobs", options.jobs);
  archive("cold", options.cold);
  archive("initialize", options.initialize);
  archive("quiet", options.quiet);
  archive("write_needs_read", options.write_needs_read);
  archive("threshold_ns", options.threshold_ns);
  archive("xml_file", options.xml_file);
  archive("affinity", options.affinity);
  archive("phases", options.phases);
  archive("seed", options.seed);
  archive("json_file", options.json_file);
  archive("csv_file", options.csv_file);
  archive("series_csv_file", options.series_csv_file);
  archive("memory", options.memory);
  archive("backing_file", options.backing_file);
  archive("huge_pages", options.huge_pages);
  archive("page_bytes", options.page_bytes);
  archive("numa", options.numa);
  archive("compressible_percent", options.compressible_percent);
  archive("memory_limit_bytes", options.memory_limit_bytes);
  archive("page_cluster", options.page_cluster);
  added(archive, "swap_device", options.swap_device);
  added(archive, "swap_profile", options.swap_profile);
  added(archive, "swap_latency_ns", options.swap_latency_ns);
  added(archive, "swap_bytes", options.swap_bytes);
  archive("eater_bytes", options.eater_bytes);
  archive("trace_file", options.trace_file);
  archive("repeat", options.repeat);
  archive("fence", options.fence);
}

template <typename Archive, Is<ThreadResult> T>
void fields(Archive& archive, T& thread) {
  archive("accesses", thread.accesses);
  archive("loop_ns", thread.loop_ns);
  archive("generating_ns", thread.generating_ns);
  archive("overhead_ns", thread.overhead_ns);
  archive("warmup_accesses", thread.warmup_accesses);
  archive("warmup_ns", thread.warmup_ns);
  archive("reads", thread.reads);
  archive("writes", thread.writes);
  archive("classes", thread.classes);
  archive("classed_resident", thread.classed_resident);
  archive("minor_faults", thread.minor_faults);
  archive("major_faults", thread.major_faults);
  archive("own_faults", thread.own_faults);
  archive("migrations", thread.migrations);
}

template <typename Archive, Is<RunWindow> T>
void fields(Archive& archive, T& window) {
  archive("delays", window.has_delays);
  archive("seconds", window.seconds);
  archive("accesses", window.progress);
}

template <typename Archive, Is<RunResult> T>
void fields(Archive& archive, T& result) {
  archive("version", result.version);
  archive("command", result.command);
  archive("options", result.options);
  archive("machine", result.machine);
  archive("started", result.started);
  archive("uuid", result.uuid);
  archive("interrupted", result.interrupted);
  archive("seconds", result.seconds);
  archive("initialize_seconds", result.initialize_seconds);
  archive("clock_khz", result.clock_khz);
  archive("timer_ns", result.timer_ns);
  archive("timer_write_ns", result.timer_write_ns);
  archive("threads", result.threads);
  archive("snapshots", result.snapshots);
  archive("series", result.series);
  archive("minor_faults", result.minor_faults);
  archive("major_faults", result.major_faults);
  added(archive, "swap", result.swap);
  added(archive, "swap_taken", result.swap_taken);
  added(archive, "windows", result.windows);
  archive("warnings", result.warnings);
  archive("from_bands", result.from_bands);
}

}  // namespace nvmemu::pmbench
