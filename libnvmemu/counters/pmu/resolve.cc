// SPDX-License-Identifier: Apache-2.0
#include "counters/pmu/resolve.h"

#include <dlfcn.h>
#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>

#include <cstdlib>

namespace nvmemu {
namespace {

// Loaded when it is asked: the relocation of its tables, a megabyte of them, takes a third of what a tool
// takes to begin.
struct Libpfm {
  decltype(&pfm_initialize) initialize = nullptr;
  decltype(&pfm_get_os_event_encoding) encode = nullptr;
  decltype(&pfm_strerror) describe = nullptr;
};

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

Result<Libpfm> load() {
  void* const library = dlopen("libpfm.so.4", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return failure(std::string("libpfm4 cannot be loaded: ") + dlerror());
  Libpfm pfm;
  if (!find(library, "pfm_initialize", pfm.initialize) ||
      !find(library, "pfm_get_os_event_encoding", pfm.encode) || !find(library, "pfm_strerror", pfm.describe))
    return failure(std::string("libpfm4 lacks a function: ") + dlerror());
  // It keeps its tables to the processors it sees, unless it is told before it is initialised.
  setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
  if (const int status = pfm.initialize(); status != PFM_SUCCESS)
    return failure(std::string("libpfm4 cannot be initialised: ") + pfm.describe(status));
  return pfm;
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
  static const Result<Libpfm> pfm = load();
  if (!pfm) return tl::unexpected<Error>(pfm.error());
  perf_event_attr attributes{};
  pfm_perf_encode_arg_t request{};
  request.size = sizeof request;
  request.attr = &attributes;
  const int status = pfm->encode(name.c_str(), PFM_PLM3, PFM_OS_PERF_EVENT, &request);
  if (status != PFM_SUCCESS) return failure("libpfm4: " + name + ": " + pfm->describe(status));
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
