// SPDX-License-Identifier: Apache-2.0
#include "memory/mapping.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/units.h"
#include "memory/locked.h"
#include "memory/numa_policy.h"

namespace nvmemu::pmbench {
namespace {

constexpr std::uint64_t kHugePageBytes = std::uint64_t{2} << 20;
constexpr int kHugetlb2MiB = 21 << MAP_HUGE_SHIFT;

tl::unexpected<Error> system_failure(const std::string& what, std::string hint = {}) {
  return failure(fmt::format("{}: {}", what, std::strerror(errno)), std::move(hint));
}

// Not over what somebody keeps there.
Result<void> check_existing(const MappingRequest& request, const struct stat& status) {
  if (!S_ISREG(status.st_mode))
    return failure(fmt::format("--memory: {} is not a regular file", request.file));
  if (request.written) {
    return failure(fmt::format("--memory: {} exists and would be overwritten", request.file),
                   "remove it, or only read: -r 100 without -i");
  }
  if (static_cast<std::uint64_t>(status.st_size) < request.bytes) {
    return failure(fmt::format("--memory: {} has {}, less than -m", request.file,
                               format_size(static_cast<std::uint64_t>(status.st_size))));
  }
  return {};
}

Result<void> set_huge_pages(void* memory, std::uint64_t bytes, HugePages huge_pages) {
  if (huge_pages == HugePages::kAsIs) return {};
  const int advice = huge_pages == HugePages::kOn ? MADV_HUGEPAGE : MADV_NOHUGEPAGE;
  if (madvise(memory, bytes, advice) == 0 || (errno == EINVAL && huge_pages == HugePages::kOff)) return {};
  return system_failure("--thp on: the kernel has no transparent huge pages for this memory");
}

}  // namespace

// -1: none is needed.
Result<int> Mapping::open_backing(const MappingRequest& request) {
  if (request.kind == MemoryKind::kMemfd) {
    const int fd = memfd_create("pmbench", MFD_CLOEXEC);
    if (fd < 0) return system_failure("--memory memfd: cannot make one");
    return fd;
  }
  if (request.kind != MemoryKind::kFile) return -1;
  struct stat status {};
  if (stat(request.file.c_str(), &status) == 0) {
    if (const Result<void> checked = check_existing(request, status); !checked)
      return tl::unexpected(checked.error());
    const int fd = open(request.file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return system_failure("--memory: cannot open " + request.file);
    writable_ = false;
    return fd;
  }
  const int fd = open(request.file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return system_failure("--memory: cannot make " + request.file);
  unlink(request.file.c_str());  // it has a name no longer: however the program ends, its space is free then
  return fd;
}

// Files are given their blocks now: a full disk would be a SIGBUS in the middle of the run.
Result<void> Mapping::map(const MappingRequest& request, int fd) {
  if (fd >= 0 && writable_) {
    const int error = request.kind == MemoryKind::kFile
                          ? posix_fallocate(fd, 0, static_cast<off_t>(request.bytes))
                          : (ftruncate(fd, static_cast<off_t>(request.bytes)) == 0 ? 0 : errno);
    if (error != 0) {
      errno = error;
      return system_failure(fmt::format("--memory: no room for {}", format_size(request.bytes)));
    }
  }
  const bool hugetlb = request.kind == MemoryKind::kHugetlb;
  bytes_ = request.bytes;
  mapped_bytes_ = request.bytes + kHugePageBytes;
  // First the place, larger by what aligning it takes, then the memory over it.
  void* place = mmap(nullptr, mapped_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED) {
    return system_failure(fmt::format("cannot map {}", format_size(request.bytes)),
                          "choose a smaller -m, or raise the limit: ulimit -v");
  }
  mapped_ = place;
  const auto address = reinterpret_cast<std::uintptr_t>(place);
  data_ = reinterpret_cast<std::byte*>((address + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes);
  const bool is_private = request.kind == MemoryKind::kAnonymous || hugetlb;
  const int flags = MAP_FIXED | MAP_NORESERVE | (is_private ? MAP_PRIVATE : MAP_SHARED) |
                    (fd < 0 ? MAP_ANONYMOUS : 0) | (hugetlb ? MAP_HUGETLB | kHugetlb2MiB : 0);
  const std::uint64_t length =
      hugetlb ? (bytes_ + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes : bytes_;
  // Huge pages that are not there would be a SIGBUS, too: those are reserved.
  void* mapped = mmap(data_, length, PROT_READ | (writable_ ? PROT_WRITE : 0),
                      hugetlb ? flags & ~MAP_NORESERVE : flags, fd, 0);
  if (mapped == MAP_FAILED) {
    return hugetlb
               ? system_failure(fmt::format("--memory hugetlb: there are not enough huge pages for {}",
                                            format_size(request.bytes)),
                                fmt::format("as root: sysctl vm.nr_hugepages={}", length / kHugePageBytes))
               : system_failure(fmt::format("cannot map {}", format_size(request.bytes)));
  }
  return {};
}

Result<Mapping> Mapping::create(const MappingRequest& request) {
  Mapping mapping;
  const Result<int> fd = mapping.open_backing(request);
  if (!fd) return tl::unexpected(fd.error());
  const Result<void> mapped = mapping.map(request, *fd);
  if (*fd >= 0) close(*fd);
  if (!mapped) return tl::unexpected(mapped.error());
  unlock(mapping.data_, mapping.bytes_);
  if (request.kind != MemoryKind::kHugetlb) {
    if (const Result<void> set = set_huge_pages(mapping.data_, mapping.bytes_, request.huge_pages); !set)
      return tl::unexpected(set.error());
  }
  if (const Result<void> bound = bind_memory(mapping.data_, mapping.bytes_, request.numa); !bound)
    return tl::unexpected(bound.error());
  return mapping;
}

void Mapping::swap(Mapping& other) noexcept {
  std::swap(mapped_, other.mapped_);
  std::swap(mapped_bytes_, other.mapped_bytes_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(writable_, other.writable_);
}

Mapping::~Mapping() {
  if (mapped_ != nullptr) munmap(mapped_, mapped_bytes_);
}

}  // namespace nvmemu::pmbench
