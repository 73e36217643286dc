// SPDX-License-Identifier: Apache-2.0
#include "plan/memory_target.h"

#include "base/decimal.h"
#include "base/quote.h"
#include "base/units.h"

namespace nvmemu {
namespace {

using Read = Result<void>;

std::string in_bytes(double value) { return value > 0 ? to_decimal(value) + "B" : std::string(); }
std::string in_bps(double value) { return value > 0 ? to_decimal(value) + "B/s" : std::string(); }

Read read_persist_domain(std::string_view text, MemoryTarget& target) {
  const auto domain = find_persist_domain(text);
  if (!domain) return failure(quote(text) + " is not one of queue, sync, cache");
  target.persists.domain = *domain;
  return {};
}

std::string write_persist_domain(const MemoryTarget& target) {
  return target.persists.domain == PersistDomain::kQueue ? "" : std::string(name_of(target.persists.domain));
}

constexpr MemoryField kFields[kMemoryFields] = {
    {"read-latency",
     [](std::string_view text, MemoryTarget& target) {
       return take_value(parse_target_latency(text), target.read);
     },
     [](const MemoryTarget& target) { return format_target_latency(target.read); }},
    {"write-latency",
     [](std::string_view text, MemoryTarget& target) {
       return take_value(parse_target_latency(text), target.persists.latency);
     },
     [](const MemoryTarget& target) { return format_target_latency(target.persists.latency); }},
    {"persist-bandwidth",
     [](std::string_view text, MemoryTarget& target) {
       return take_value(parse_bandwidth_bps(text), target.persists.bandwidth_bps);
     },
     [](const MemoryTarget& target) { return in_bps(target.persists.bandwidth_bps); }},
    {"write-granularity",
     [](std::string_view text, MemoryTarget& target) {
       return take_value(parse_write_granularity(text), target.persists.granularity_bytes);
     },
     [](const MemoryTarget& target) { return in_bytes(target.persists.granularity_bytes); }},
    {"write-queue",
     [](std::string_view text, MemoryTarget& target) {
       return take_value(parse_write_queue(text), target.persists.queue_bytes);
     },
     [](const MemoryTarget& target) { return in_bytes(target.persists.queue_bytes); }},
    {"persist", read_persist_domain, write_persist_domain},
    {"read-bandwidth",
     [](std::string_view text, MemoryTarget& target) {
       return take_value(parse_bandwidth_bps(text), target.bandwidth.read_bps);
     },
     [](const MemoryTarget& target) { return in_bps(target.bandwidth.read_bps); }},
    {"write-bandwidth",
     [](std::string_view text, MemoryTarget& target) {
       return take_value(parse_bandwidth_bps(text), target.bandwidth.write_bps);
     },
     [](const MemoryTarget& target) { return in_bps(target.bandwidth.write_bps); }},
};

}  // namespace

MemoryTarget memory_target_of(const Device& device) {
  return {.read = {.ns = device.read_latency_ns.value_or(0)},
          .persists = persist_spec_of(device),
          .bandwidth = {device.read_bandwidth_bps.value_or(0), device.write_bandwidth_bps.value_or(0)}};
}

std::span<const MemoryField, kMemoryFields> memory_fields() noexcept { return kFields; }

}  // namespace nvmemu
