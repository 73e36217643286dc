// SPDX-License-Identifier: Apache-2.0
#include "workloads/page_buffer.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "base/page_bytes.h"
#include "base/units.h"

namespace nvmemu::workloads {
namespace {

constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

std::size_t page_faults_so_far() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return static_cast<std::size_t>(usage.ru_minflt);
}

}  // namespace

Result<PageBuffer> PageBuffer::create(std::size_t bytes, PageSize page_size) {
  const std::size_t used_bytes = (bytes + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
  PageBuffer buffer;
  buffer.mapped_bytes_ = used_bytes + kHugePageBytes;
  void* mapped =
      mmap(nullptr, buffer.mapped_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    return failure("cannot map " + format_size(bytes) + ": " + std::strerror(errno),
                   "choose a smaller --size, or raise the limit: ulimit -v");
  buffer.mapped_ = mapped;
  void* aligned = mapped;
  std::size_t space = buffer.mapped_bytes_;
  std::align(kHugePageBytes, used_bytes, aligned, space);
  buffer.data_ = static_cast<std::byte*>(aligned);
  buffer.bytes_ = bytes;
  // Refused where the kernel has no transparent huge pages: then all pages are small, as touch() finds.
  madvise(aligned, used_bytes, page_size == PageSize::k2MiB ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  buffer.touch();
  return buffer;
}

void PageBuffer::touch() {
  const std::size_t before = page_faults_so_far();
  for (std::size_t at = 0; at < bytes_; at += kPageBytes) *reinterpret_cast<volatile char*>(data_ + at) = 0;
  const std::size_t faults = page_faults_so_far() - before;
  const std::size_t small_pages = (bytes_ + kPageBytes - 1) / kPageBytes;
  // One fault a page. Where memory is fragmented some huge pages are split; a sixteenth of all may be.
  has_huge_pages_ = small_pages > 1 && faults <= 1 + small_pages / 16;
}

PageBuffer::PageBuffer(PageBuffer&& other) noexcept { *this = std::move(other); }

PageBuffer& PageBuffer::operator=(PageBuffer&& other) noexcept {
  std::swap(mapped_, other.mapped_);
  std::swap(mapped_bytes_, other.mapped_bytes_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(has_huge_pages_, other.has_huge_pages_);
  return *this;
}

PageBuffer::~PageBuffer() {
  if (mapped_ != nullptr) munmap(mapped_, mapped_bytes_);
}

}  // namespace nvmemu::workloads
