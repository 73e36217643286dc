// SPDX-License-Identifier: Apache-2.0
#include "storage/storage_keys.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/nearest.h"
#include "base/quote.h"
#include "base/text.h"
#include "base/units.h"
#include "paging/device_model.h"
#include "storage/storage_values.h"

namespace nvmemu {
namespace {

template <typename Value>
Result<void> put(Result<Value> value, auto& to) {
  if (!value) return tl::unexpected(value.error());
  to = static_cast<std::remove_reference_t<decltype(to)>>(*std::move(value));
  return {};
}

// Keys whose value is a member of the device: of each kind, how it is read and said.
template <LatencyQuantiles PageDevice::*member>
constexpr StorageKey latencies(std::string_view name) {
  return {
      name, "\"100us\", or \"0.5: 75us, 0.99: 95us\"",
      [](StorageDevice& to, std::string_view text) { return put(parse_quantiles(text), to.device.*member); },
      [](const StorageDevice& of) { return text_of_quantiles(of.device.*member); }};
}
template <double PageDevice::*member>
constexpr StorageKey latency(std::string_view name) {
  return {
      name, "\"20us\"",
      [](StorageDevice& to, std::string_view text) { return put(parse_latency_ns(text), to.device.*member); },
      [](const StorageDevice& of) { return text_of_latency(of.device.*member); }};
}
template <double PageDevice::*member>
constexpr StorageKey bandwidth(std::string_view name) {
  return {name, "\"500MB/s\"",
          [](StorageDevice& to, std::string_view text) {
            return put(parse_bandwidth_bps(text), to.device.*member);
          },
          [](const StorageDevice& of) { return text_of_bandwidth(of.device.*member); }};
}

constexpr unsigned kMostCycles = 1'000'000'000;
constexpr std::uint64_t kMostCapacity = std::uint64_t{1} << 50;
constexpr std::uint64_t kMostBuffer = std::uint64_t{1} << 40;
constexpr std::uint64_t kMostErased = std::uint64_t{1} << 30, kMostAhead = std::uint64_t{64} << 20;

constexpr StorageKey kKeys[] = {
    {"mode", "\"block\"",
     [](StorageDevice& to, std::string_view text) { return put(parse_mode(text), to.mode); },
     [](const StorageDevice& of) { return std::string(name_of(of.mode)); }},
    latencies<&PageDevice::read>("read_latency"),
    latencies<&PageDevice::sequential_read>("sequential_read_latency"),
    latencies<&PageDevice::write>("write_latency"),
    latencies<&PageDevice::sequential_write>("sequential_write_latency"),
    bandwidth<&PageDevice::read_bps>("read_bandwidth"),
    bandwidth<&PageDevice::write_bps>("write_bandwidth"),
    {"channels", "8",
     [](StorageDevice& to, std::string_view text) {
       return put(parse_number_up_to(text, DeviceModel::kMostChannels), to.device.channels);
     },
     [](const StorageDevice& of) {
       return of.device.channels == 1 ? std::string() : std::to_string(of.device.channels);
     }},
    {"write_buffer", "\"64MB\"",
     [](StorageDevice& to, std::string_view text) {
       return put(parse_size_within(text, kPageBytes, kMostBuffer), to.device.buffer_bytes);
     },
     [](const StorageDevice& of) { return text_of_size(of.device.buffer_bytes); }},
    bandwidth<&PageDevice::drain_bps>("drain_bandwidth"),
    {"erase_block", "\"4MiB\"",
     [](StorageDevice& to, std::string_view text) {
       return put(parse_size_within(text, kPageBytes, kMostErased), to.device.erase_block_bytes);
     },
     [](const StorageDevice& of) { return text_of_size(static_cast<double>(of.device.erase_block_bytes)); }},
    latency<&PageDevice::erase_ns>("erase_latency"),
    {"spare", "\"7%\"",
     [](StorageDevice& to, std::string_view text) { return put(parse_spare(text), to.device.spare_share); },
     [](const StorageDevice& of) {
       return of.device.spare_share == 0 ? std::string() : text_of_percent(of.device.spare_share);
     }},
    {"capacity", "\"480GB\"",
     [](StorageDevice& to, std::string_view text) {
       return put(parse_size_within(text, kPageBytes, kMostCapacity), to.device.capacity_bytes);
     },
     [](const StorageDevice& of) { return text_of_size(of.device.capacity_bytes); }},
    {"erase_cycles", "3000",
     [](StorageDevice& to, std::string_view text) {
       return put(parse_number_up_to(text, kMostCycles), to.device.erase_cycles);
     },
     [](const StorageDevice& of) {
       return of.device.erase_cycles == 0 ? std::string() : number(of.device.erase_cycles);
     }},
    latency<&PageDevice::flush_ns>("flush_latency"),
    {"commit_latency", "\"3us\"",
     [](StorageDevice& to, std::string_view text) { return put(parse_latency_ns(text), to.commit_ns); },
     [](const StorageDevice& of) { return text_of_latency(of.commit_ns); }},
    {"memory", "\"pcm\"",
     [](StorageDevice& to, std::string_view text) { return put(parse_memory(text), to.memory); },
     [](const StorageDevice& of) { return of.memory; }},
    {"read_ahead", "\"128KiB\"",
     [](StorageDevice& to, std::string_view text) {
       return put(parse_size_within(text, kPageBytes, kMostAhead), to.read_ahead_bytes);
     },
     [](const StorageDevice& of) {
       const bool is_usual = of.read_ahead_bytes == StorageDevice().read_ahead_bytes;
       return is_usual ? std::string() : text_of_size(static_cast<double>(of.read_ahead_bytes));
     }},
};

const StorageKey& key_named(std::string_view name) {
  return *std::ranges::find(kKeys, name, &StorageKey::name);
}

tl::unexpected<Error> missing(std::string_view name, std::string_view mode) {
  const StorageKey& key = key_named(name);
  return failure(std::string(name) + " is not given, which " + std::string(mode) + " storage needs",
                 "write " + std::string(name) + " = " + key.example);
}

tl::unexpected<Error> out_of_place(std::string_view name, std::string_view mode, const char* hint) {
  return failure(std::string(name) + " means nothing for " + std::string(mode) + " storage", hint);
}

}  // namespace

std::span<const StorageKey> storage_keys() { return kKeys; }

Result<void> check_storage_device(const StorageDevice& device) {
  const std::string_view mode = name_of(device.mode);
  const bool is_block = device.mode == StorageMode::kBlock, is_memory = device.mode == StorageMode::kDax;
  const auto has = [&](std::string_view name) { return !key_named(name).get(device).empty(); };
  for (const char* name : {"read_latency", "write_latency", "read_bandwidth", "write_bandwidth"}) {
    if (!has(name)) return missing(name, mode);
  }
  if (is_block && !has("flush_latency")) return missing("flush_latency", mode);
  if (!is_block && !has("commit_latency")) return missing("commit_latency", mode);
  if (is_block && has("commit_latency"))
    return out_of_place("commit_latency", mode,
                        "a commit is two writes with a flush after each: leave it out");
  if (!is_memory && has("memory"))
    return out_of_place("memory", mode,
                        "only what is mapped of dax storage comes from a memory: leave it out");
  for (const auto& [one, other] :
       {std::pair("write_buffer", "drain_bandwidth"), std::pair("drain_bandwidth", "write_buffer"),
        std::pair("erase_block", "erase_latency"), std::pair("erase_latency", "erase_block")}) {
    if (has(one) && !has(other))
      return failure(std::string(other) + " is not given, but " + one + " is", "give both, or none");
  }
  for (const char* name : {"spare", "erase_cycles"}) {
    if (has(name) && !has("erase_block"))
      return failure(std::string(name) + " is given, but no erase_block, of which it is said",
                     "give an erase_block and an erase_latency, or leave it out");
  }
  return {};
}

std::string format_storage_device(const StorageDevice& device) {
  std::string text;
  for (const StorageKey& key : kKeys) {
    const std::string value = key.get(device);
    if (!value.empty()) text += (text.empty() ? "" : "; ") + std::string(key.name) + ": " + value;
  }
  return text;
}

Result<StorageDevice> parse_storage_device(std::string_view text) {
  StorageDevice device;
  while (!text.empty()) {
    std::string_view value = take_until(text, ';');
    const std::string_view name = trimmed(take_until(value, ':'));
    const auto* const key = std::ranges::find(kKeys, name, &StorageKey::name);
    if (key == std::end(kKeys)) return failure("unknown key " + quote(name));
    if (const Result<void> set = key->set(device, trimmed(value)); !set)
      return failure(std::string(name) + " " + set.error().message, set.error().hint);
  }
  if (const Result<void> checked = check_storage_device(device); !checked)
    return tl::unexpected(checked.error());
  return device;
}

}  // namespace nvmemu
