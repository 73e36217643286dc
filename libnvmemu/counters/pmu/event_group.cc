// SPDX-License-Identifier: Apache-2.0
#include "counters/pmu/event_group.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>

#include "base/high_descriptor.h"
#include "base/page_bytes.h"
#include "base/raw_syscall.h"

namespace nvmemu {
namespace {

// arm64 asks for user-space reads event by event, in config1: bit 1 for them, bit 0 for 64 bits, which cores
// before PMUv3.5 have for cycles alone (Documentation/arch/arm64/perf.rst). The most that is granted is
// taken.
#if defined(__aarch64__)
constexpr std::array<std::uint64_t, 3> kUserAccess{3, 2, 0};
#else
constexpr std::array<std::uint64_t, 1> kUserAccess{0};
#endif

bool says_no_pmu(int error) {
  return error == ENOENT || error == EOPNOTSUPP || error == ENODEV || error == ENOSYS;
}

// UserRegisters, with a counter that may be a test's.
struct Registers {
  EventGroup::CounterReader read_counter;
  std::uint64_t counter(std::uint32_t number) const noexcept { return read_counter(number); }
  static std::uint64_t time() noexcept { return UserRegisters::time(); }
};

void close_descriptor(int fd) { raw_syscall(SYS_close, fd); }

}  // namespace

long open_event(const perf_event_attr& event, int tid, int group) noexcept {
  return raw_syscall(SYS_perf_event_open, &event, tid, -1, group, PERF_FLAG_FD_CLOEXEC);
}

perf_event_attr user_event(std::uint32_t type, std::uint64_t config, std::uint64_t config1) noexcept {
  perf_event_attr event{};
  event.size = sizeof event;
  event.type = type;
  event.config = config;
  event.config1 = config1;
  event.exclude_kernel = 1;
  event.exclude_hv = 1;
  event.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return event;
}

long EventGroup::open_one(perf_event_attr event, int tid, int group) const noexcept {
  if (group < 0) event.disabled = 1;  // the leader starts and stops them all
  const std::uint64_t config1 = event.config1;
  long fd = -EINVAL;
  for (const std::uint64_t access : kUserAccess) {
    event.config1 = config1 | (event.type == PERF_TYPE_RAW ? access : 0);
    fd = opener_(event, tid, group);
    if (fd != -EINVAL && fd != -EOPNOTSUPP) break;
  }
  return fd;
}

// A follower that would open alone found no counter free beside the others.
CounterRefusal EventGroup::classify(const perf_event_attr& event, int tid, bool leads,
                                    int error) const noexcept {
  if (error == EACCES || error == EPERM) return CounterRefusal::kNotAllowed;
  if (error == EBUSY || error == ENOSPC) return CounterRefusal::kBusy;
  if (leads && says_no_pmu(error)) return CounterRefusal::kNoPmu;
  if (!says_no_pmu(error) && error != EINVAL) return CounterRefusal::kOther;
  if (leads) return CounterRefusal::kNoSuchEvent;
  const long alone = open_one(event, tid, -1);
  if (is_error(alone)) return CounterRefusal::kNoSuchEvent;
  close_descriptor(static_cast<int>(alone));
  return CounterRefusal::kBusy;
}

OpenFailure EventGroup::open_all(int tid, std::span<const perf_event_attr> events,
                                 std::array<int, kMostEvents>& files) noexcept {
  for (std::size_t i = 0; i < events.size(); ++i) {
    const long fd = open_one(events[i], tid, i == 0 ? -1 : files[0]);
    if (!is_error(fd)) {
      files[i] = static_cast<int>(fd);
      continue;
    }
    const int error = static_cast<int>(-fd);
    const OpenFailure failure{classify(events[i], tid, i == 0, error), error, i};
    std::for_each_n(files.begin(), i, close_descriptor);
    return failure;
  }
  return {};
}

OpenFailure EventGroup::open(int tid, std::span<const perf_event_attr> events) noexcept {
  if (is_open() || events.empty() || events.size() > kMostEvents) return {CounterRefusal::kOther, EINVAL, 0};
  std::array<int, kMostEvents> files{};
  if (const OpenFailure failure = open_all(tid, events, files); failure.refusal != CounterRefusal::kNone)
    return failure;
  const std::span<const int> opened(files.data(), events.size());
  raw_syscall(SYS_ioctl, files[0], PERF_EVENT_IOC_ENABLE, 0);
  for (std::size_t i = 0; i < opened.size(); ++i)
    raw_syscall(SYS_ioctl, files[i], PERF_EVENT_IOC_ID, &ids_[i]);
  size_ = events.size();
  const bool mapped = map(opened);
  user_reads_ =
      mapped && std::all_of(pages_.begin(), pages_.begin() + size_,
                            [](const perf_event_mmap_page* page) { return is_read_in_user_space(*page); });
  for (std::size_t i = 0; i < size_; ++i) keep_or_close(i, files[i], mapped);
  return {};
}

// A mapping keeps its event; what must be read by a system call needs the leader's descriptor besides.
void EventGroup::keep_or_close(std::size_t which, int fd, bool mapped) noexcept {
  const bool needed = !mapped || (which == 0 && !user_reads_);
  descriptors_[which] = needed ? raised(fd) : -1;
  if (!needed) close_descriptor(fd);
}

bool EventGroup::map(std::span<const int> files) noexcept {
  for (std::size_t i = 0; i < files.size(); ++i) {
    // The page alone, without a ring: the kernel rounds up to its own page size.
    const long map = raw_syscall(SYS_mmap, nullptr, kPageBytes, PROT_READ, MAP_SHARED, files[i], 0);
    if (is_error(map)) {  // the user's locked memory is spent
      unmap();
      return false;
    }
    pages_[i] = reinterpret_cast<const perf_event_mmap_page*>(map);
  }
  return true;
}

void EventGroup::unmap() noexcept {
  for (const perf_event_mmap_page*& page : pages_) {
    if (page != nullptr) raw_syscall(SYS_munmap, page, kPageBytes);
    page = nullptr;
  }
}

void EventGroup::close() noexcept {
  if (!is_open()) return;
  unmap();
  close_descriptors();
  size_ = 0;
}

void EventGroup::abandon() noexcept {
  close_descriptors();  // the child's copies
  pages_ = {};
  size_ = 0;
}

// A program may have closed the descriptor and given its number to a file of its own.
bool EventGroup::owns_descriptor(std::size_t which) const noexcept {
  std::uint64_t id = 0;
  return descriptors_[which] >= 0 &&
         raw_syscall(SYS_ioctl, descriptors_[which], PERF_EVENT_IOC_ID, &id) == 0 && id == ids_[which];
}

void EventGroup::close_descriptors() noexcept {
  for (std::size_t i = 0; i < size_; ++i) {
    if (owns_descriptor(i)) close_descriptor(descriptors_[i]);
  }
}

bool EventGroup::read(GroupReading& reading) const noexcept {
  return is_open() && (user_reads_ ? read_pages(reading) : read_descriptor(reading));
}

std::uint64_t EventGroup::enabled_ns() const noexcept {
  const auto leader = read_page(*pages_[0], Registers{counter_});
  return leader ? leader->enabled_ns : 0;
}

// All are on counters or none: the leader's times are everyone's.
bool EventGroup::read_pages(GroupReading& reading) const noexcept {
  GroupReading fresh;
  for (std::size_t i = 0; i < size_; ++i) {
    const Times times = i == 0 ? Times::kUpToDate : Times::kAsTheyAre;
    const auto counter = read_page(*pages_[i], Registers{counter_}, times);
    if (!counter) return false;
    fresh.counts[i] = counter->count;
    if (i != 0) continue;
    fresh.enabled_ns = counter->enabled_ns;
    fresh.running_ns = counter->running_ns;
  }
  reading = fresh;
  return true;
}

bool EventGroup::read_descriptor(GroupReading& reading) const noexcept {
  if (!owns_descriptor(0)) return false;
  struct {
    std::uint64_t events, enabled_ns, running_ns;
    std::array<std::uint64_t, kMostEvents> counts;
  } answer{};
  const long length = raw_syscall(SYS_read, descriptors_[0], &answer, sizeof answer);
  if (length < static_cast<long>((3 + size_) * sizeof(std::uint64_t)) || answer.events != size_) return false;
  reading = {answer.counts, answer.enabled_ns, answer.running_ns};
  return true;
}

}  // namespace nvmemu
