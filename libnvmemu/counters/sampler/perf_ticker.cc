// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/perf_ticker.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/raw_syscall.h"

namespace nvmemu {
namespace {

// One page holds 256 samples; rings count against perf_event_mlock_kb, so they are as small as they can be.
constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kRingBytes = kPageBytes;
constexpr std::size_t kMapBytes = kPageBytes + kRingBytes;

perf_event_attr sampling_attributes(std::uint64_t period_ns, std::uint32_t wakeup) {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_TASK_CLOCK;
  attr.sample_period = period_ns;
  attr.sample_type = PERF_SAMPLE_IP;
  attr.wakeup_events = wakeup;
  attr.exclude_kernel = 1;
  attr.exclude_hv = 1;
  attr.disabled = 1;
  return attr;
}

// Has the event on `fd` signal the thread, and starts it. 0, or a negative error number.
long start(long fd, int tid, int signal) {
  const f_owner_ex owner{F_OWNER_TID, tid};
  long error = raw_syscall(SYS_fcntl, fd, F_SETOWN_EX, &owner);
  if (error == 0) error = raw_syscall(SYS_fcntl, fd, F_SETSIG, signal);
  if (error == 0) error = raw_syscall(SYS_fcntl, fd, F_SETFL, O_ASYNC | O_NONBLOCK);
  if (error == 0) error = raw_syscall(SYS_ioctl, fd, PERF_EVENT_IOC_ENABLE, 0);
  return error;
}

// Reads the ring, whose records may wrap.
class RingReader {
 public:
  explicit RingReader(perf_event_mmap_page* page)
      : page_(page),
        data_(reinterpret_cast<const std::uint8_t*>(page) + kPageBytes),
        tail_(page->data_tail),
        head_(std::atomic_ref<decltype(page->data_head)>(page->data_head).load(std::memory_order_acquire)) {}
  ~RingReader() {
    std::atomic_ref<decltype(page_->data_tail)>(page_->data_tail).store(tail_, std::memory_order_release);
  }
  RingReader(const RingReader&) = delete;
  RingReader& operator=(const RingReader&) = delete;

  bool empty() const { return tail_ >= head_; }
  template <typename T>
  T at(std::size_t offset) const {
    std::uint8_t bytes[sizeof(T)];
    for (std::size_t i = 0; i < sizeof(T); ++i) bytes[i] = data_[(tail_ + offset + i) % kRingBytes];
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
  }
  // A record of no length would never end; what follows it cannot be read.
  void skip(std::size_t bytes) { tail_ = bytes == 0 ? head_ : tail_ + bytes; }

 private:
  perf_event_mmap_page* page_;
  const std::uint8_t* data_;
  std::uint64_t tail_;
  std::uint64_t head_;
};

}  // namespace

int PerfTicker::open(int tid, std::uint64_t period_ns, std::uint32_t wakeup, int signal) noexcept {
  perf_event_attr attr = sampling_attributes(period_ns, wakeup);
  const long fd = raw_syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (is_error(fd)) return static_cast<int>(-fd);
  const long map = raw_syscall(SYS_mmap, nullptr, kMapBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  const long error = is_error(map) ? map : start(fd, tid, signal);
  raw_syscall(SYS_close, fd);  // the mapping keeps the event
  if (error == 0) {
    page_ = reinterpret_cast<perf_event_mmap_page*>(map);
  } else if (!is_error(map)) {
    raw_syscall(SYS_munmap, map, kMapBytes);
  }
  return static_cast<int>(-error);
}

int PerfTicker::reopen(int tid, std::uint64_t period_ns, std::uint32_t wakeup, int signal) noexcept {
  perf_event_mmap_page* old = page_;
  const int error = open(tid, period_ns, wakeup, signal);
  if (error == 0 && old != nullptr) raw_syscall(SYS_munmap, old, kMapBytes);
  return error;
}

void PerfTicker::close() noexcept {
  if (page_ != nullptr) raw_syscall(SYS_munmap, page_, kMapBytes);
  page_ = nullptr;
}

std::size_t PerfTicker::drain(std::uintptr_t* ips, std::size_t capacity, std::uint64_t& lost) noexcept {
  std::size_t count = 0;
  RingReader ring(page_);
  while (!ring.empty() && count < capacity) {
    const auto header = ring.at<perf_event_header>(0);
    if (header.type == PERF_RECORD_SAMPLE) ips[count++] = ring.at<std::uintptr_t>(sizeof header);
    if (header.type == PERF_RECORD_LOST)
      lost += ring.at<std::uint64_t>(sizeof header + sizeof(std::uint64_t));
    ring.skip(header.size);
  }
  return count;
}

bool PerfTicker::has_samples() const noexcept { return !RingReader(page_).empty(); }

bool PerfTicker::discard() noexcept {
  RingReader ring(page_);
  const bool any = !ring.empty();
  while (!ring.empty()) ring.skip(ring.at<perf_event_header>(0).size);
  return any;
}

}  // namespace nvmemu
