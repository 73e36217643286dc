// SPDX-License-Identifier: Apache-2.0
// The models by name, and what each needs. Thread-safe; for errors it allocates, so not for signal handlers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/latency_model.h"

namespace nvmemu {

// Of ReadLatency, beside base and target; bits, as CountSet is.
using LatencySet = std::uint32_t;
inline constexpr LatencySet kNeedsCacheLatency = 1U << 0;
inline constexpr LatencySet kNeedsRemoteLatency = 1U << 1;

struct Model {
  std::string_view name;
  DelayModel delay_ns;
  CountSet counts;       // that it needs of the source,
  LatencySet latencies;  // and of the machine
};

// All, best first, but for those that `auto` does not take: they come last.
std::span<const Model> models() noexcept;

// "auto, stall, ...": for messages and help.
std::string model_names();

// An error where there is no such model; "auto" is fine, and null.
Result<const Model*> find_model(std::string_view name);

// The model of that name; for "auto" the best that `counts` allow. An error where there is none, or where the
// model needs what the source (`source`, in the message) does not count, or what is not known of the machine.
Result<const Model*> choose_model(std::string_view name, std::string_view source, CountSet counts,
                                  const ReadLatency& latency);

}  // namespace nvmemu
