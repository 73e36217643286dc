// SPDX-License-Identifier: Apache-2.0
#include "host/bandwidth.h"

#include <sys/mman.h>

#include <algorithm>
#include <barrier>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <thread>
#include <vector>

#include "base/units.h"

namespace nvmemu {
namespace {

constexpr std::size_t kMebibyte = std::size_t{1} << 20;
constexpr std::size_t kBlock = 64;  // bytes a step, so that a slice is a whole number of them

// Two arrays in one mapping.
class Arrays {
 public:
  explicit Arrays(std::size_t bytes) : bytes_(bytes) {
    mapped_ =
        mmap(nullptr, 2 * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped_ != MAP_FAILED) madvise(mapped_, 2 * bytes, MADV_HUGEPAGE);
  }
  ~Arrays() {
    if (mapped_ != MAP_FAILED) munmap(mapped_, 2 * bytes_);
  }
  Arrays(const Arrays&) = delete;
  Arrays& operator=(const Arrays&) = delete;

  bool mapped() const { return mapped_ != MAP_FAILED; }
  std::byte* from() const { return static_cast<std::byte*>(mapped_); }
  std::byte* to() const { return from() + bytes_; }

 private:
  std::size_t bytes_;
  void* mapped_;
};

// One load or store: SSE2's on x86-64, Advanced SIMD's on arm64.
using Vector = std::uint64_t __attribute__((vector_size(16), may_alias));

const Vector* vectors(const std::byte* at) { return reinterpret_cast<const Vector*>(at); }
Vector* vectors(std::byte* at) { return reinterpret_cast<Vector*>(at); }

// Lets the compiler drop nothing that the value was made of.
void keep(Vector value) {
#if defined(__x86_64__)
  asm volatile("" : : "x"(value));
#elif defined(__aarch64__)
  asm volatile("" : : "w"(value));
#endif
}

// Four sums, so that the adds never are what is waited for.
void sum_all(const std::byte* from, std::size_t bytes) {
  Vector a{}, b{}, c{}, d{};
  for (const std::byte* at = from; at < from + bytes; at += kBlock) {
    a += vectors(at)[0];
    b += vectors(at)[1];
    c += vectors(at)[2];
    d += vectors(at)[3];
  }
  keep((a + b) + (c + d));
}

// Ordinary stores on purpose: memcpy would take non-temporal ones, which few programs use.
void copy_all(std::byte* to, const std::byte* from, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += kBlock) {
    for (std::size_t part = 0; part < kBlock / sizeof(Vector); ++part)
      vectors(to + at)[part] = vectors(from + at)[part];
    asm volatile("" : : : "memory");  // or the compiler may make a memcpy of it
  }
}

std::size_t array_bytes(const Cpu& cpu) {
  const std::size_t wanted = std::max<std::size_t>(256 * kMebibyte, 2 * cpu.last_level_cache_bytes());
  return std::min<std::size_t>(wanted, cpu.memory_bytes / 16) / kMebibyte * kMebibyte;
}

// One thread's part of each array.
struct Slice {
  std::byte* from;
  std::byte* to;
  std::size_t bytes;
};

// Thread 0 is the caller, which keeps the time between barriers.
class Stream {
 public:
  Stream(const Clock& clock, const Arrays& arrays, std::size_t bytes, int threads, int repetitions)
      : clock_(clock), arrays_(arrays), threads_(threads), repetitions_(repetitions), barrier_(threads) {
    slice_bytes_ = bytes / static_cast<std::size_t>(threads) / kBlock * kBlock;
  }

  Bandwidth run() {
    std::vector<std::thread> others;
    others.reserve(static_cast<std::size_t>(threads_));
    int started = 1;
    for (; started < threads_; ++started) {
      try {
        others.emplace_back(&Stream::work, this, started);
      } catch (const std::system_error&) {  // no more threads are allowed: measure with those there are
        break;
      }
    }
    for (int missing = started; missing < threads_; ++missing) barrier_.arrive_and_drop();
    running_ = started;
    work(0);
    for (auto& other : others) other.join();
    return {summarize(read_bps_), summarize(copy_bps_)};
  }

 private:
  void work(int thread) {
    const std::size_t offset = static_cast<std::size_t>(thread) * slice_bytes_;
    const Slice slice{arrays_.from() + offset, arrays_.to() + offset, slice_bytes_};
    std::memset(slice.from, 1, slice.bytes);
    std::memset(slice.to, 2, slice.bytes);
    for (int repetition = 0; repetition < repetitions_; ++repetition) {
      time(thread, 1, read_bps_, [&] { sum_all(slice.from, slice.bytes); });
      time(thread, 2, copy_bps_, [&] { copy_all(slice.to, slice.from, slice.bytes); });
    }
  }

  // `traffic`: bytes that count for each byte of the slice.
  template <typename Pass>
  void time(int thread, int traffic, std::vector<double>& results, const Pass& pass) {
    barrier_.arrive_and_wait();
    const std::uint64_t start = clock_.now_ticks();
    pass();
    barrier_.arrive_and_wait();
    if (thread != 0) return;
    const double moved = static_cast<double>(slice_bytes_) * running_ * traffic;
    results.push_back(moved / (clock_.ns_since(start) / 1e9));
  }

  const Clock& clock_;
  const Arrays& arrays_;
  int threads_;
  int repetitions_;
  int running_ = 1;
  std::barrier<> barrier_;
  std::size_t slice_bytes_;
  std::vector<double> read_bps_, copy_bps_;
};

}  // namespace

Result<Bandwidth> measure_bandwidth(const Cpu& cpu, const Clock& clock, int threads, int repetitions) {
  const std::size_t bytes = array_bytes(cpu);
  if (bytes < static_cast<std::size_t>(threads) * kBlock)
    return failure("too little memory to measure bandwidth: " + format_size(cpu.memory_bytes),
                   "free some memory");
  const Arrays arrays(bytes);
  if (!arrays.mapped())
    return failure("cannot map " + format_size(2 * bytes) + " to measure bandwidth: " + std::strerror(errno),
                   "free some memory");
  return Stream(clock, arrays, bytes, threads, repetitions).run();
}

}  // namespace nvmemu
