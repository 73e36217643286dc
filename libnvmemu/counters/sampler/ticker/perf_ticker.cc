// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/ticker/perf_ticker.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <iterator>

#include "base/page_bytes.h"
#include "base/raw_syscall.h"

namespace nvmemu {
namespace {

// One page holds 256 samples, or 25 with registers; rings count against perf_event_mlock_kb, so they are as
// small as they can be.
constexpr std::size_t ring_bytes(bool registers) { return (registers ? 2 : 1) * kPageBytes; }

#if defined(__x86_64__)
// By the numbers of asm/perf_regs.h, in which order the kernel writes them: AX, BX, CX, DX, SI, DI, BP, SP
// (0 to 7) and R8 to R15 (16 to 23).
constexpr std::uint64_t kRegisterMask = 0xff00ff;
constexpr std::uint8_t kWritten[] = {kRax, kRbx, kRcx, kRdx, kRsi, kRdi, kRbp, kRsp,
                                     kR8,  kR9,  kR10, kR11, kR12, kR13, kR14, kR15};
#else
constexpr std::uint64_t kRegisterMask = 0;
constexpr std::uint8_t kWritten[] = {0};
#endif

perf_event_attr sampling_attributes(std::uint64_t period_ns, std::uint32_t wakeup, bool registers) {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_TASK_CLOCK;
  attr.sample_period = period_ns;
  attr.sample_type = PERF_SAMPLE_IP;
  if (registers) {
    attr.sample_type |= PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER;
    attr.sample_regs_user = kRegisterMask;
    attr.use_clockid = 1;
    attr.clockid = CLOCK_MONOTONIC;
  }
  attr.wakeup_events = wakeup;
  attr.exclude_kernel = 1;
  attr.exclude_hv = 1;
  attr.disabled = 1;
  return attr;
}

// Has the event on `fd` signal the thread, and starts it, by `request`. 0, or a negative error number.
long start(long fd, int tid, int signal, unsigned long request) {
  constexpr int kSamples = 1;  // of PERF_EVENT_IOC_REFRESH
  const f_owner_ex owner{F_OWNER_TID, tid};
  long error = raw_syscall(SYS_fcntl, fd, F_SETOWN_EX, &owner);
  if (error == 0) error = raw_syscall(SYS_fcntl, fd, F_SETSIG, signal);
  if (error == 0) error = raw_syscall(SYS_fcntl, fd, F_SETFL, O_ASYNC | O_NONBLOCK);
  if (error == 0)
    error = raw_syscall(SYS_ioctl, fd, request, request == PERF_EVENT_IOC_REFRESH ? kSamples : 0);
  return error;
}

// Reads the ring, whose records may wrap.
class RingReader {
 public:
  RingReader(perf_event_mmap_page* page, std::size_t bytes)
      : page_(page),
        bytes_(bytes),
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
    for (std::size_t i = 0; i < sizeof(T); ++i) bytes[i] = data_[(tail_ + offset + i) % bytes_];
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
  }
  // A record of no length would never end; what follows it cannot be read.
  void skip(std::size_t bytes) { tail_ = bytes == 0 ? head_ : tail_ + bytes; }

 private:
  perf_event_mmap_page* page_;
  std::size_t bytes_;
  const std::uint8_t* data_;
  std::uint64_t tail_;
  std::uint64_t head_;
};

}  // namespace

std::size_t PerfTicker::map_bytes() const noexcept { return kPageBytes + ring_bytes(registers_); }

int PerfTicker::open(int tid, std::uint64_t period_ns, std::uint32_t wakeup, int signal,
                     bool registers) noexcept {
  registers_ = registers && kRegisterMask != 0;
  return open_event(tid, period_ns, wakeup, signal, PERF_EVENT_IOC_ENABLE);
}

int PerfTicker::open_for_one(int tid, std::uint64_t first_ns, int signal, bool registers) noexcept {
  registers_ = registers && kRegisterMask != 0;
  return open_event(tid, first_ns, 1, signal, PERF_EVENT_IOC_REFRESH);
}

int PerfTicker::open_event(int tid, std::uint64_t period_ns, std::uint32_t wakeup, int signal,
                           unsigned long request) noexcept {
  perf_event_attr attr = sampling_attributes(period_ns, wakeup, registers_);
  const long fd = raw_syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (is_error(fd)) return static_cast<int>(-fd);
  const long map = raw_syscall(SYS_mmap, nullptr, map_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  const long error = is_error(map) ? map : start(fd, tid, signal, request);
  raw_syscall(SYS_close, fd);  // the mapping keeps the event
  if (error == 0) {
    page_ = reinterpret_cast<perf_event_mmap_page*>(map);
  } else if (!is_error(map)) {
    raw_syscall(SYS_munmap, map, map_bytes());
  }
  return static_cast<int>(-error);
}

int PerfTicker::reopen(int tid, std::uint64_t period_ns, std::uint32_t wakeup, int signal) noexcept {
  perf_event_mmap_page* old = page_;
  const int error = open_event(tid, period_ns, wakeup, signal, PERF_EVENT_IOC_ENABLE);
  if (error == 0 && old != nullptr) raw_syscall(SYS_munmap, old, map_bytes());
  return error;
}

void PerfTicker::close() noexcept {
  if (page_ != nullptr) raw_syscall(SYS_munmap, page_, map_bytes());
  page_ = nullptr;
}

namespace {

// IP; and with registers: time, which ABI the registers are of (0: none, the thread was in the kernel), and
// they themselves (perf_event_open(2)).
TickerSample sample_of(const RingReader& ring, std::size_t bytes, bool registers) noexcept {
  constexpr std::size_t kIp = sizeof(perf_event_header);
  constexpr std::size_t kTime = kIp + 8, kAbi = kTime + 8, kFirst = kAbi + 8;
  TickerSample sample{.ip = ring.at<std::uintptr_t>(kIp)};
  if (!registers) return sample;
  sample.time_ns = static_cast<double>(ring.at<std::uint64_t>(kTime));
  if (ring.at<std::uint64_t>(kAbi) == 0 || bytes < kFirst + 8 * std::size(kWritten)) return sample;
  for (std::size_t i = 0; i < std::size(kWritten); ++i)
    sample.registers[kWritten[i]] = ring.at<std::uint64_t>(kFirst + 8 * i);
  return sample;
}

}  // namespace

std::size_t PerfTicker::drain(TickerSample* samples, std::size_t capacity, std::uint64_t& lost) noexcept {
  std::size_t count = 0;
  RingReader ring(page_, ring_bytes(registers_));
  while (!ring.empty() && count < capacity) {
    const auto header = ring.at<perf_event_header>(0);
    if (header.type == PERF_RECORD_SAMPLE) samples[count++] = sample_of(ring, header.size, registers_);
    if (header.type == PERF_RECORD_LOST)
      lost += ring.at<std::uint64_t>(sizeof header + sizeof(std::uint64_t));
    ring.skip(header.size);
  }
  return count;
}

bool PerfTicker::has_samples() const noexcept { return !RingReader(page_, ring_bytes(registers_)).empty(); }

bool PerfTicker::discard() noexcept {
  RingReader ring(page_, ring_bytes(registers_));
  const bool any = !ring.empty();
  while (!ring.empty()) ring.skip(ring.at<perf_event_header>(0).size);
  return any;
}

}  // namespace nvmemu
