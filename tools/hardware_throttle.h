// SPDX-License-Identifier: Apache-2.0
// A run's bandwidth, limited by what the machine has for it: the thermal registers of its memory controllers,
// or else resctrl. Both limit reads and writes together.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "stop_signals.h"
#include "throttle/resctrl_group.h"
#include "throttle/thermal_throttle.h"

namespace nvmemu {

// Why the hardware does not limit a run.
struct ThrottleRefusal {
  Error error;
  bool is_absent;  // this machine has nothing that could, or does not let this user; else what was asked for
                   // is wrong, or something failed
};

class HardwareThrottle {
 public:
  // Limits `node` (registers), or this process and what it starts (resctrl), to `bps`, for as long as this
  // lives. `root`: what stands for /. Where neither can be had the message says why, of both.
  static tl::expected<std::unique_ptr<HardwareThrottle>, ThrottleRefusal> apply(const std::string& root,
                                                                                int node, double bps);

  // "thermal registers" or "resctrl"
  std::string_view by() const { return group_ ? "resctrl" : "thermal registers"; }
  // "0x100 on 4 channels of node 0"
  const std::string& what() const { return what_; }

  // Takes the limit away; the destructor does so too, without a word.
  Result<void> lift();

 private:
  using Done = tl::expected<void, ThrottleRefusal>;
  Done set_registers(const std::string& root, int node, double bps);
  Done join_group(const std::string& root, double bps);
  Done limit_group(const ResctrlResource& resource, std::uint64_t amount);

  // A signal that comes while registers are set waits until they are put back. Made first, gone last.
  StopSignals signals_;
  std::unique_ptr<ThermalThrottle> registers_;
  std::unique_ptr<ResctrlGroup> group_;
  std::string what_;
};

}  // namespace nvmemu
