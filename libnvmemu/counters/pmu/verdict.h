// SPDX-License-Identifier: Apache-2.0
// Whether this machine's hardware counters can be trusted, as the self-test found, and where that is kept.
// Tests are the tools' (self_test.h); an emulated process only asks. Not for signal handlers.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "counters/pmu/catalogue.h"

namespace nvmemu {

struct PmuVerdict {
  std::string cpu_model;  // what it is valid for: this processor,
  std::string boot_id;    // this boot of the machine,
  std::string design;     // and this entry of the catalogue
  bool trusted = false;
  bool episodes = false;  // edges of stalls are counted, and right
  bool traffic = false;   // what is moved to and from memory is counted, and plausible
  bool tested = false;    // counts were judged; else they could not be had, which may change at any time
  std::string why;        // with the figures
  std::string mend;       // how to get counters where there are none that can be trusted; may be empty
};

// "key = value" lines, as a calibration's.
std::string serialize(const PmuVerdict& verdict);
Result<PmuVerdict> parse_verdict(std::string_view text);

// Why what a thread moves to and from memory is not told by the design's counters; empty: it is.
std::string why_no_traffic(const Microarchitecture& design, const PmuVerdict& verdict);

// What tells it, for a report: the events' names, and what they leave out.
std::string describe_traffic_events(const Microarchitecture& design);

// Beside the calibration. `tested` is not kept: it is true of all that should be. Only one that is of today's
// processor, boot and `design` is returned.
std::string verdict_path();
Result<PmuVerdict> load_verdict(const std::string& path, std::string_view design);
Result<void> store_verdict(const PmuVerdict& verdict, const std::string& path);

}  // namespace nvmemu
