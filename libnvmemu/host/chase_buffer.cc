// SPDX-License-Identifier: Apache-2.0
#include "host/chase_buffer.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <numeric>
#include <utility>
#include <vector>

#include "base/units.h"
#include "host/chase_instructions.h"
#include "host/statistics.h"

namespace nvmemu {
namespace {

constexpr std::size_t kPieceLoads = 1024;

// splitmix64: https://prng.di.unimi.it/splitmix64.c. The same cycle in every run: runs compare.
class Random {
 public:
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  std::uint32_t below(std::uint32_t limit) {  // by multiplication: the bias is below 2^-32 of what is drawn
    return static_cast<std::uint32_t>(((next() >> 32) * limit) >> 32);
  }

 private:
  std::uint64_t state_ = 1;
};

// Sattolo's algorithm: a uniformly random permutation of one cycle. next[i] follows i.
std::vector<std::uint32_t> one_cycle(std::size_t length, Random& random) {
  std::vector<std::uint32_t> next(length);
  std::iota(next.begin(), next.end(), 0U);
  for (std::size_t i = length - 1; i > 0; --i)
    std::swap(next[i], next[random.below(static_cast<std::uint32_t>(i))]);
  return next;
}

long minor_faults() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_minflt;
}

}  // namespace

Result<ChaseBuffer> ChaseBuffer::map(std::size_t bytes, Pages pages) {
  ChaseBuffer buffer;
  const std::size_t mapped_bytes = bytes + kHugePageBytes;
  void* mapped = mmap(nullptr, mapped_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    return failure("cannot map " + format_size(mapped_bytes) + " for a chase: " + std::strerror(errno),
                   "free some memory, or raise the limit: ulimit -v");
  buffer.mapped_ = mapped;
  buffer.mapped_bytes_ = mapped_bytes;
  void* aligned = mapped;
  std::size_t space = mapped_bytes;
  std::align(kHugePageBytes, bytes, aligned, space);
  buffer.data_ = static_cast<std::byte*>(aligned);
  buffer.bytes_ = bytes;
  // A kernel without transparent huge pages knows neither; then the pages are small, which the faults below
  // tell.
  madvise(aligned, bytes, pages == Pages::kHuge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);

  const long before = minor_faults();
  for (std::size_t at = 0; at < bytes; at += kPageBytes)
    *reinterpret_cast<volatile char*>(buffer.data_ + at) = 0;
  const auto faults = static_cast<std::size_t>(minor_faults() - before);
  buffer.has_huge_pages_ = faults <= 2 * bytes / kHugePageBytes;  // one each; a few may be split
  return buffer;
}

Result<void> ChaseBuffer::link(std::size_t stride) {
  Random random;
  const std::size_t count = bytes_ / stride;
  const auto lines_in_stride = static_cast<std::uint32_t>(stride / kLineBytes);
  try {
    const std::vector<std::uint32_t> next = one_cycle(count, random);
    std::vector<std::uint8_t> place(count);
    for (auto& line : place) line = static_cast<std::uint8_t>(random.below(lines_in_stride));
    const auto line = [&](std::size_t i) { return data_ + i * stride + place[i] * kLineBytes; };
    for (std::size_t i = 0; i < count; ++i) {
      const void* following = line(next[i]);
      std::memcpy(line(i), &following, sizeof following);
    }
    start_ = line(0);
  } catch (const std::bad_alloc&) {
    return failure("no memory to shuffle a chase over " + format_size(bytes_), "free some memory");
  }
  loads_ = count;
  return {};
}

Result<ChaseBuffer> ChaseBuffer::of_all_lines(std::size_t bytes, Pages pages) {
  auto buffer = map(bytes, pages);
  if (!buffer) return buffer;
  if (auto linked = buffer->link(kLineBytes); !linked) return tl::unexpected<Error>(linked.error());
  return buffer;
}

Result<ChaseBuffer> ChaseBuffer::of_one_line_per_page(std::size_t bytes, Pages pages) {
  auto buffer = map(bytes, pages);
  if (!buffer) return buffer;
  if (auto linked = buffer->link(kPageBytes); !linked) return tl::unexpected<Error>(linked.error());
  return buffer;
}

ChaseBuffer::ChaseBuffer(ChaseBuffer&& other) noexcept { *this = std::move(other); }

ChaseBuffer& ChaseBuffer::operator=(ChaseBuffer&& other) noexcept {
  std::swap(mapped_, other.mapped_);
  std::swap(mapped_bytes_, other.mapped_bytes_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(start_, other.start_);
  std::swap(loads_, other.loads_);
  std::swap(has_huge_pages_, other.has_huge_pages_);
  return *this;
}

ChaseBuffer::~ChaseBuffer() {
  if (mapped_ != nullptr) munmap(mapped_, mapped_bytes_);
}

const void* chase(const void* line, std::size_t loads) noexcept {
  std::size_t left = loads;
  for (; left >= 8; left -= 8) {
    line = load_pointer(load_pointer(load_pointer(load_pointer(line))));
    line = load_pointer(load_pointer(load_pointer(load_pointer(line))));
  }
  for (; left > 0; --left) line = load_pointer(line);
  return line;
}

double timed_chase_ns(const Clock& clock, const void*& line, std::size_t loads) {
  std::vector<double> pieces;
  for (std::size_t left = loads; left > 0;) {
    const std::size_t piece = std::min(left, kPieceLoads);
    const std::uint64_t start = clock.now_ticks();
    line = chase(line, piece);
    // The clock must not be read before the last load has ended, and nothing else makes the processor wait
    // for it.
    wait_for_loads();
    pieces.push_back(clock.ns_since(start) / static_cast<double>(piece));
    left -= piece;
  }
  return undisturbed_mean(pieces);
}

void flush_ahead(const void* line, std::size_t loads) noexcept {
  for (std::size_t left = loads; left > 0; --left) {
    const void* next = load_pointer(line);
    flush_line(line);
    line = next;
  }
  wait_for_flushes();
}

}  // namespace nvmemu
