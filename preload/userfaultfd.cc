// SPDX-License-Identifier: Apache-2.0
// Interposed: how a program says which of its pages a userfaultfd is to serve.
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>

#include <optional>

#include "asked_memory.h"
#include "counters/sampler/walked/thread_walks.h"
#include "hook.h"
#include "runtime.h"

namespace nvmemu::preload {
namespace {

NVMEMU_HOOK(int, ioctl, (int, unsigned long, void*));

// A range, and how; what is not there to be read the kernel will not take either.
std::optional<uffdio_register> read_registration(const void* argument) noexcept {
  if (!kernel_reads(reinterpret_cast<std::uintptr_t>(argument), sizeof(uffdio_register))) return std::nullopt;
  return *static_cast<const uffdio_register*>(argument);
}

std::optional<uffdio_range> read_range(const void* argument) noexcept {
  if (!kernel_reads(reinterpret_cast<std::uintptr_t>(argument), sizeof(uffdio_range))) return std::nullopt;
  return *static_cast<const uffdio_range*>(argument);
}

// It is noted before, so that no walk comes between; one that fails costs walks there.
void before_registration(const void* argument) noexcept {
  constexpr std::uint64_t kReadsWait = UFFDIO_REGISTER_MODE_MISSING | UFFDIO_REGISTER_MODE_MINOR;
  const auto registration = read_registration(argument);
  if (!registration || (registration->mode & kReadsWait) == 0) return;
  const uffdio_range& range = registration->range;
  note_served(Runtime::get().shared().walks, range.start, range.start + range.len);
}

void after_unregistration(const void* argument) noexcept {
  const auto range = read_range(argument);
  if (range) note_served_no_more(Runtime::get().shared().walks, range->start, range->start + range->len);
}

}  // namespace
}  // namespace nvmemu::preload

using namespace nvmemu::preload;

// <sys/ioctl.h> declares it as variadic; the kernel takes one word more.
NVMEMU_EXPORT int interposed_ioctl(int fd, unsigned long request, void* argument) noexcept __asm__("ioctl");

int interposed_ioctl(int fd, unsigned long request, void* argument) noexcept {
  const bool active = Runtime::get().active();
  if (request == UFFDIO_REGISTER && active) before_registration(argument);
  const int result = real_ioctl(fd, request, argument);
  if (request == UFFDIO_UNREGISTER && active && result == 0) after_unregistration(argument);
  return result;
}
