// SPDX-License-Identifier: Apache-2.0
// Interposed: the wait for one of some requests of POSIX aio (aio_calls.cc), until the C library and the
// storage are done with it.
#include <aio.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <span>

#include "base/timespec.h"
#include "device_wait.h"
#include "edge.h"
#include "storage/aio_mark.h"
#include "storage/aio_requests.h"

namespace nvmemu::preload {
namespace {

NVMEMU_HOOK(int, aio_suspend, (const aiocb* const*, int, const timespec*));
NVMEMU_HOOK(int, nanosleep, (const timespec*, timespec*));

// How a list of requests stands.
struct Standing {
  static constexpr std::size_t kMost = 64;
  bool is_one_done = false;
  std::uint64_t first_done_ns = kNever;  // of those that are with the storage
  std::array<const aiocb*, kMost> at_work{};
  int count = 0;  // of those that are with the C library
  bool are_more = false;
};

Standing look_at(std::span<const aiocb* const> requests, std::uint64_t now_ns) noexcept {
  Standing standing;
  for (const aiocb* const request : requests) {
    if (request == nullptr) continue;
    const int error = librarys_error(request);
    if (error == EINPROGRESS) {
      standing.are_more |= standing.count == Standing::kMost;
      if (!standing.are_more) standing.at_work[static_cast<std::size_t>(standing.count++)] = request;
    } else if (is_still_served(request, error, now_ns)) {
      standing.first_done_ns = std::min(standing.first_done_ns, done_ns_of(request));
    } else {
      standing.is_one_done = true;
    }
  }
  return standing;
}

// Unlike a call that waits for a disk, it ends when a signal comes. 0, or -1 with EINTR.
int sleep_for_requests(std::uint64_t now_ns, std::uint64_t until_ns) {
  constexpr std::uint64_t kSpunNs = 300'000;
  if (until_ns - now_ns <= kSpunNs) return sleep_until(until_ns), 0;
  const timespec time = timespec_of(until_ns - now_ns - kSpunNs);
  return real_nanosleep(&time, nullptr);
}

// For the first of what may come next.
int wait_for_some(const Standing& standing, std::uint64_t now_ns, std::uint64_t limit_ns) {
  constexpr std::uint64_t kLookAgainNs = 1'000'000, kSoonNs = 100'000;
  // What is done, and not told of yet, is about to be.
  const std::uint64_t first_ns = std::max(standing.first_done_ns, now_ns + kSoonNs);
  std::uint64_t until_ns = std::min(first_ns, limit_ns);
  const bool is_about_to_be_known = standing.first_done_ns == kNever && standing.count == 0;
  if (standing.are_more || is_about_to_be_known) until_ns = std::min(until_ns, now_ns + kLookAgainNs);
  if (standing.count == 0) return sleep_for_requests(now_ns, until_ns);
  const timespec time = timespec_of(until_ns - now_ns);
  const int result =
      real_aio_suspend(standing.at_work.data(), standing.count, until_ns == kNever ? nullptr : &time);
  return result != 0 && errno == EAGAIN ? 0 : result;
}

int suspend(std::span<const aiocb* const> requests, const timespec* timeout) {
  const std::uint64_t begin_ns = ProcessStorage::now_ns();
  std::uint64_t limit_ns = kNever;
  if (timeout != nullptr) limit_ns = begin_ns + ns_of(*timeout);
  for (;;) {
    const std::uint64_t now_ns = ProcessStorage::now_ns();
    const Standing standing = look_at(requests, now_ns);
    if (standing.is_one_done) return 0;
    if (now_ns >= limit_ns) return errno = EAGAIN, -1;
    if (const int result = wait_for_some(standing, now_ns, limit_ns); result != 0) return result;
  }
}

bool is_any_charged(std::span<const aiocb* const> requests) noexcept {
  return std::ranges::any_of(
      requests, [](const aiocb* request) { return request != nullptr && done_ns_of(request) != 0; });
}

}  // namespace
}  // namespace nvmemu::preload

using namespace nvmemu::preload;

NVMEMU_EXPORT int aio_suspend(const aiocb* const requests[], int count, const timespec* timeout) {
  this_thread().reach_edge(__builtin_return_address(0));
  const std::span<const aiocb* const> all(requests, static_cast<std::size_t>(std::max(count, 0)));
  if (!process_storage().is_open() || !is_any_charged(all)) return real_aio_suspend(requests, count, timeout);
  return suspend(all, timeout);
}

static_assert(sizeof(aiocb) == sizeof(aiocb64));
NVMEMU_EXPORT int aio_suspend64(const aiocb64* const requests[], int count, const timespec* timeout) {
  return aio_suspend(reinterpret_cast<const aiocb* const*>(requests), count, timeout);
}
