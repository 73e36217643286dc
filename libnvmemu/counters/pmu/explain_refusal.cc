// SPDX-License-Identifier: Apache-2.0
#include "counters/pmu/explain_refusal.h"

#include <cstring>

#include "host/capabilities.h"

namespace nvmemu {
namespace {

Error in_words(const Capability& refused) { return {refused.why, refused.mend}; }

}  // namespace

Error explain_refusal(const OpenFailure& failure, std::string_view event) {
  const std::string name(event);
  const std::string said = std::string("perf_event_open: ") + std::strerror(failure.error);
  switch (failure.refusal) {
    case CounterRefusal::kNone:
      return {"nothing was refused", {}};
    case CounterRefusal::kNoPmu:
      return in_words(explain_no_counters(failure.error));
    case CounterRefusal::kNotAllowed:
      return in_words(explain_forbidden(failure.error));
    case CounterRefusal::kBusy:
      return {said + " (no counter is free for " + name + ")",
              "end what else counts (perf, a profiler); as root: sysctl kernel.nmi_watchdog=0 frees one"};
    case CounterRefusal::kNoSuchEvent:
      return {said + " (" + name + " does not exist here, while others do)",
              "a virtual machine may show fewer events than its processor has: bare metal"};
    case CounterRefusal::kOther:
      break;
  }
  return {said + " (" + name + ")", {}};
}

}  // namespace nvmemu
