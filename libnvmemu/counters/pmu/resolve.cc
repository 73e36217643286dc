// SPDX-License-Identifier: Apache-2.0
#include "counters/pmu/resolve.h"

#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>

#include <cstdlib>

namespace nvmemu {
namespace {

// libpfm4 keeps its tables to the processors it sees, unless it is told before it is initialised.
int initialize() {
  static const int status = [] {
    setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
    return pfm_initialize();
  }();
  return status;
}

std::string hexadecimal(std::uint64_t number) {
  std::string digits;
  do {
    digits.insert(digits.begin(), "0123456789abcdef"[number % 16]);
  } while ((number /= 16) != 0);
  return "0x" + digits;
}

}  // namespace

Result<Encoding> encode_by_libpfm(const std::string& name) {
  if (const int status = initialize(); status != PFM_SUCCESS)
    return failure(std::string("libpfm4 cannot be initialised: ") + pfm_strerror(status));
  perf_event_attr attributes{};
  pfm_perf_encode_arg_t request{};
  request.size = sizeof request;
  request.attr = &attributes;
  const int status = pfm_get_os_event_encoding(name.c_str(), PFM_PLM3, PFM_OS_PERF_EVENT, &request);
  if (status != PFM_SUCCESS) return failure("libpfm4: " + name + ": " + pfm_strerror(status));
  return Encoding{attributes.config, attributes.config1};
}

ResolvedEvent resolve(const Microarchitecture& microarchitecture, const Event& event) {
  ResolvedEvent resolved{.name = std::string(microarchitecture.pmu) + "::" + event.name,
                         .encoding = {event.config, event.config1}};
  const Result<Encoding> known = encode_by_libpfm(resolved.name);
  if (!known) {
    resolved.why_raw = known.error().message;
    return resolved;
  }
  resolved.confirmed = *known == resolved.encoding;
  resolved.mismatch = !resolved.confirmed && event.origin == Origin::kLibpfm;
  if (!resolved.confirmed) resolved.why_raw = "libpfm4 encodes it as " + hexadecimal(known->config);
  return resolved;
}

}  // namespace nvmemu
