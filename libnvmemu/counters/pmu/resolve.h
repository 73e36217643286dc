// SPDX-License-Identifier: Apache-2.0
// The catalogue's events by their names, asked of the installed libpfm4. For tools and tests (target
// nvmemu_event_names): the emulated process needs no names and does not load libpfm4.
#pragma once

#include <string>

#include "base/result.h"
#include "counters/pmu/catalogue.h"

namespace nvmemu {

struct Encoding {
  std::uint64_t config = 0, config1 = 0;
  bool operator==(const Encoding&) const = default;
};

// What the event is counted by: always the catalogue's encoding, which libpfm4 confirms or does not know.
struct ResolvedEvent {
  std::string name;  // "skx::MEM_LOAD_RETIRED:L3_MISS"
  Encoding encoding;
  bool confirmed = false;    // libpfm4 gives this encoding for the name
  bool mismatch = false;     // libpfm4 gives another, and the catalogue does not expect it to
  std::string why_raw = {};  // where not confirmed
};

// libpfm4's encoding of a full name, whatever the machine is. Not thread-safe.
Result<Encoding> encode_by_libpfm(const std::string& name);

ResolvedEvent resolve(const Microarchitecture& microarchitecture, const Event& event);

}  // namespace nvmemu
