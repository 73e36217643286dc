// SPDX-License-Identifier: Apache-2.0
// Device profiles: the memories that can be emulated, by name.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace nvmemu {

// When a persist is done: when it is in the memory controller's queue, behind which the thread goes on while
// the memory takes it (ADR); when it is in the medium, for which the thread waits; or at once, since caches
// are durable (eADR).
enum class PersistDomain { kQueue, kMedium, kCache };

// "queue", "sync", "cache".
std::optional<PersistDomain> find_persist_domain(std::string_view name);
std::string_view name_of(PersistDomain domain);

// "256B": a power of two from a cache line to 1MiB. "4KiB": from a cache line to 1GiB. In bytes.
Result<double> parse_write_granularity(std::string_view text);
Result<double> parse_write_queue(std::string_view text);

// What a memory is to a program: latencies in ns (> 0), bandwidths in bytes per second (> 0). What is not
// given is not emulated: it stays the machine's.
struct Device {
  std::optional<double> read_latency_ns = std::nullopt;
  std::optional<double> write_latency_ns = std::nullopt;
  // What a write takes to DRAM where that was measured: then only the ratio of the two counts. And at what
  // rate one thread's flushes are taken.
  std::optional<double> dram_write_latency_ns = std::nullopt;
  std::optional<double> persist_bandwidth_bps = std::nullopt;
  // How much the medium writes at once, at that rate, however little of it is new; and how much is taken
  // before that is felt.
  std::optional<double> write_granularity_bytes = std::nullopt;
  std::optional<double> write_queue_bytes = std::nullopt;
  std::optional<PersistDomain> persist = std::nullopt;
  std::optional<double> read_bandwidth_bps = std::nullopt;
  std::optional<double> write_bandwidth_bps = std::nullopt;
};

// A named device, with where its figures come from.
struct Profile {
  std::string name;
  std::string description;
  Device device;
  std::string source;
};

// dram, memristor, stt-ram, pcm, cxl-dram, optane-dcpmm, cxl-far: by read latency, shortest first.
// Thread-safe.
std::span<const Profile> built_in_profiles();

// The built-in profile of that name, or the only one whose name begins with that word ("optane"); the error's
// hint names the nearest one. Thread-safe.
Result<Profile> find_built_in_profile(std::string_view name);

}  // namespace nvmemu
