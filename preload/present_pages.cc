// SPDX-License-Identifier: Apache-2.0
#include "present_pages.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include <algorithm>

#include "base/high_descriptor.h"
#include "base/page_bytes.h"
#include "base/raw_syscall.h"

namespace nvmemu::preload {
namespace {

// Of an entry of /proc/PID/pagemap (Documentation/admin-guide/mm/pagemap.rst).
constexpr std::uint64_t kExclusive = std::uint64_t{1} << 56, kOfFile = std::uint64_t{1} << 61,
                        kPresent = std::uint64_t{1} << 63;

// Of <linux/fs.h>, which is older where this is built.
struct ScannedRegion {
  std::uint64_t start, end, categories;
};
struct PagemapScan {
  std::uint64_t size = sizeof(PagemapScan), flags = 0, start = 0, end = 0, walk_end = 0;
  std::uint64_t regions = 0, region_count = 0, most_pages = 0;
  std::uint64_t inverted = 0, all_of = 0, any_of = 0, told = 0;
};
constexpr unsigned long kScan = _IOWR('f', 16, PagemapScan);
constexpr std::uint64_t kScanPresent = 1U << 3;

bool is_its_own(std::uint64_t entry) noexcept {
  return (entry & (kPresent | kExclusive | kOfFile)) == (kPresent | kExclusive);
}

// What is present, of no file, and of others too is a page that fork has shared, or the page of zeros.
bool is_surely_there(std::uint64_t entry) noexcept {
  return (entry & kPresent) != 0 && (entry & (kExclusive | kOfFile)) != 0;
}

}  // namespace

PresentPages::PresentPages(long pid, Which which) noexcept
    : pid_(pid),
      fd_(raw_syscall(SYS_openat, AT_FDCWD, FileOfProc(pid, "/pagemap").c_str(), O_RDONLY | O_CLOEXEC)),
      which_(which) {
  if (!is_error(fd_)) fd_ = raised(static_cast<int>(fd_));
}

PresentPages::~PresentPages() {
  if (!is_error(fd_)) raw_syscall(SYS_close, fd_);
}

std::size_t PresentPages::bytes_to_next(std::uintptr_t begin, std::uintptr_t end) const noexcept {
  ScannedRegion found{};
  PagemapScan scan;
  scan.start = begin;
  scan.end = end;
  scan.regions = reinterpret_cast<std::uintptr_t>(&found);
  scan.region_count = 1;
  scan.most_pages = 1;
  scan.all_of = kScanPresent;
  scan.told = kScanPresent;
  const long regions = is_error(fd_) ? fd_ : raw_syscall(SYS_ioctl, fd_, kScan, &scan);
  if (is_error(regions)) return 0;
  return regions == 0 ? end - begin : found.start - begin;
}

// How many of `count` entries are read, each of a page's first 4 KiB.
std::size_t PresentPages::read_entries(std::uintptr_t begin, std::size_t count,
                                       std::size_t page_bytes) noexcept {
  if (is_error(fd_)) return 0;
  const auto read = [this](std::uintptr_t page, std::size_t entries, std::uint64_t* out) {
    const long bytes =
        raw_syscall(SYS_pread64, fd_, out, entries * sizeof *out, page / kPageBytes * sizeof *out);
    return is_error(bytes) ? 0 : static_cast<std::size_t>(bytes) / sizeof *out;
  };
  if (page_bytes == kPageBytes) return read(begin, count, entries_.data());
  std::size_t done = 0;
  while (done < count && read(begin + done * page_bytes, 1, &entries_[done]) == 1) ++done;
  return done;
}

// How many pages were looked at: of each, its node, or below 0.
std::size_t PresentPages::look(std::uintptr_t begin, std::uintptr_t end, std::size_t page_bytes,
                               int node) noexcept {
  const std::size_t count = std::min(kAtOnce, (end - begin + page_bytes - 1) / page_bytes);
  const std::size_t read = read_entries(begin, count, page_bytes);
  std::array<const void*, kAtOnce> asked;  // NOLINT(*-member-init): filled as far as it is read
  std::array<int, kAtOnce> where, told;    // NOLINT(*-member-init)
  std::size_t questions = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_read = i < read;
    if (which_ == Which::kOwn) {
      nodes_[i] = is_read && is_its_own(entries_[i]) ? node : kUnknown;
      continue;
    }
    nodes_[i] = is_read && is_surely_there(entries_[i]) ? node : kUnknown;
    if (nodes_[i] != kUnknown || (is_read && (entries_[i] & kPresent) == 0)) continue;
    asked[questions] = reinterpret_cast<const void*>(begin + i * page_bytes);
    where[questions++] = static_cast<int>(i);
  }
  if (questions == 0 ||
      is_error(raw_syscall(SYS_move_pages, pid_, questions, asked.data(), nullptr, told.data(), 0)))
    return count;
  for (std::size_t i = 0; i < questions; ++i) nodes_[static_cast<std::size_t>(where[i])] = told[i];
  return count;
}

}  // namespace nvmemu::preload
