// SPDX-License-Identifier: Apache-2.0
// How much memory the program may map (RLIMIT_AS, RLIMIT_DATA) is said of its own. The kernel counts what
// keeps its pages, too, which takes up many times as many addresses: it is told of a limit by so much higher.
#include <sys/resource.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/raw_syscall.h"
#include "paging/process_pager.h"
#include "paging/trapped_call.h"
#include "process_memory.h"

namespace nvmemu::preload {
namespace {

constinit ProcessMemory own{};

constexpr std::uint64_t kNone = RLIM64_INFINITY;

std::uint64_t raised(std::uint64_t limit, std::uint64_t by) noexcept {
  return limit >= kNone - by ? kNone : limit + by;
}
std::uint64_t lowered(std::uint64_t limit, std::uint64_t by) noexcept {
  return limit == kNone ? kNone : limit - std::min(limit, by);
}

bool counts_mappings(std::uintptr_t resource) noexcept {
  return resource == RLIMIT_AS || resource == RLIMIT_DATA;
}

bool is_of_this_process(std::uintptr_t pid) noexcept {
  return pid == 0 || static_cast<long>(pid) == raw_syscall(SYS_getpid);
}

struct Asked {
  std::uintptr_t resource;
  int set = -1, get = -1;  // which arguments have limits
};

long make(TrappedCall& call, const Asked& asked) noexcept {
  const std::uintptr_t set = asked.set >= 0 ? call.argument(asked.set) : 0;
  const std::uintptr_t get = asked.get >= 0 ? call.argument(asked.get) : 0;
  const std::uint64_t by = asked.resource == RLIMIT_AS ? own.mapped : own.data;
  rlimit64 wanted{}, found{};
  if (set != 0) {
    if (!call.can_read(set, sizeof wanted)) return -EFAULT;
    std::memcpy(&wanted, reinterpret_cast<const void*>(set), sizeof wanted);
    wanted = {raised(wanted.rlim_cur, by), raised(wanted.rlim_max, by)};
    call.set_argument(asked.set, reinterpret_cast<std::uintptr_t>(&wanted));
  }
  call.need({get, get + (get != 0 ? sizeof found : 0)}, true);
  const long result = call.make();
  if (set != 0) call.set_argument(asked.set, set);
  if (is_error(result) || get == 0) return result;
  std::memcpy(&found, reinterpret_cast<const void*>(get), sizeof found);
  found = {lowered(found.rlim_cur, by), lowered(found.rlim_max, by)};
  std::memcpy(reinterpret_cast<void*>(get), &found, sizeof found);
  return result;
}

}  // namespace

void begin_limits(const ProcessMemory& before) noexcept {
  const ProcessMemory now = process_memory();
  own.mapped = now.mapped - std::min(now.mapped, before.mapped);
  own.data = now.data - std::min(now.data, before.data);
}

bool answer_limit_call(TrappedCall& call) noexcept {
  switch (call.number()) {
    case SYS_setrlimit:
      call.return_with(counts_mappings(call.argument(0))
                           ? make(call, {.resource = call.argument(0), .set = 1})
                           : make_with_buffers(call));
      ProcessPager::look_at_limits();
      return true;
    case SYS_getrlimit:
      if (!counts_mappings(call.argument(0))) return false;
      call.return_with(make(call, {.resource = call.argument(0), .get = 1}));
      return true;
    case SYS_prlimit64: {
      const bool is_ours = counts_mappings(call.argument(1)) && is_of_this_process(call.argument(0));
      call.return_with(is_ours ? make(call, {.resource = call.argument(1), .set = 2, .get = 3})
                               : make_with_buffers(call));
      ProcessPager::look_at_limits();
      return true;
    }
    default:
      return false;
  }
}

}  // namespace nvmemu::preload
