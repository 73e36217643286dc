// SPDX-License-Identifier: Apache-2.0
#include "paging/file_store.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "base/descriptor.h"
#include "base/high_descriptor.h"
#include "base/private_file.h"
#include "base/raw_syscall.h"
#include "paging/page_device.h"

namespace nvmemu {
namespace {

constexpr std::size_t kMostPath = 4096;
constexpr long kAgain = 0;

// "PATH/nvmemu-pages.NUMBER" of a folder, else "PATH.NUMBER". False where that is too long.
bool name_file(const char* path, bool is_folder, std::uint64_t number, char (&out)[kMostPath]) noexcept {
  const char* const between = is_folder ? "/nvmemu-pages." : ".";
  const std::size_t length = std::strlen(path), more = std::strlen(between);
  if (length + more + 2 * sizeof number + 1 > kMostPath) return false;
  char* at = std::copy_n(between, more, std::copy_n(path, length, out));
  for (int shift = 60; shift >= 0; shift -= 4) *at++ = "0123456789abcdef"[number >> shift & 15];
  *at = '\0';
  return true;
}

bool is_folder(int at, const char* path) noexcept {
  struct stat status {};
  return raw_syscall(SYS_newfstatat, at, path, &status, 0) == 0 && S_ISDIR(status.st_mode);
}

// In the folder `path`, or in the one that it would be in: without a name, so that none stays whenever this
// process is killed. Some file systems have no such files.
long open_nameless(int at, const char* path, bool is_folder) noexcept {
  char folder[kMostPath];
  const std::string_view whole(path);
  const std::size_t slash = is_folder ? whole.size() : whole.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? "."
                                : slash == 0                    ? "/"
                                                                : whole.substr(0, slash);
  if (name.size() >= sizeof folder) return -ENAMETOOLONG;
  *std::copy(name.begin(), name.end(), folder) = '\0';
  return raw_syscall(SYS_openat, at, folder, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);
}

bool lies_in_memory(int file) noexcept {
  struct statfs system {};
  if (raw_syscall(SYS_fstatfs, file, &system) != 0) return false;
  return system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC;
}

// Whether the first page does. Some file systems take requests past their cache, and leave it there for all
// that (ext4 with data=journal).
bool lies_in_page_cache(int file) noexcept {
  void* const mapped = mmap(nullptr, kPageBytes, PROT_READ, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) return false;
  unsigned char pages[1] = {};
  const bool is_known = mincore(mapped, kPageBytes, pages) == 0;
  munmap(mapped, kPageBytes);
  return is_known && (pages[0] & 1) != 0;
}

}  // namespace

int FileStore::open_folder(const char* path, const char*& name) noexcept {
  constexpr int kFlags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  const char* const slash = std::strrchr(path, '/');
  char folder[kMostPath] = ".";
  name = ".";
  if (is_folder(AT_FDCWD, path)) {
    if (std::strlen(path) >= kMostPath) return -ENAMETOOLONG;
    std::strcpy(folder, path);
  } else if (slash != nullptr) {
    const auto length = std::max<std::size_t>(static_cast<std::size_t>(slash - path), 1);  // of "/": itself
    if (length >= kMostPath) return -ENAMETOOLONG;
    *std::copy_n(path, length, folder) = '\0';
    name = slash + 1;
  } else {
    name = path;
  }
  const long opened = raw_syscall(SYS_openat, AT_FDCWD, static_cast<const char*>(folder), kFlags, 0);
  return opened < 0 ? static_cast<int>(opened) : raised(static_cast<int>(opened));
}

int FileStore::create(int at, const char* path) noexcept {
  const bool folder = is_folder(at, path);
  if (const long file = open_nameless(at, path, folder); file >= 0) return raised(static_cast<int>(file));
  timespec now{};
  raw_syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
  std::uint64_t number =
      static_cast<std::uint64_t>(now.tv_nsec) << 32 | static_cast<std::uint32_t>(raw_syscall(SYS_getpid));
  for (int tries = 0; tries < 16; ++tries, number += std::uint64_t{1} << 32) {
    char name[kMostPath];
    if (!name_file(path, folder, number, name)) return -ENAMETOOLONG;
    const long file =
        raw_syscall(SYS_openat, at, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file == -EEXIST) continue;
    if (file < 0) return static_cast<int>(file);
    raw_syscall(SYS_unlinkat, at, name, 0);
    return raised(static_cast<int>(file));
  }
  return -EEXIST;
}

void FileStore::set_file(int file) noexcept {
  file_ = file;
  const long flags = raw_syscall(SYS_fcntl, file, F_GETFL);
  is_direct_.store(flags > 0 && (flags & O_DIRECT) != 0, std::memory_order_relaxed);
  look_at_limit();
}

void FileStore::look_at_limit() noexcept { most_bytes_.store(most_file_bytes(), std::memory_order_relaxed); }

// Of a file that is open: an open() that is refused for O_DIRECT leaves the file there that it has made.
bool FileStore::go_direct() noexcept {
  if (lies_in_memory(file_)) return false;
  const long flags = raw_syscall(SYS_fcntl, file_, F_GETFL);
  if (flags < 0 || raw_syscall(SYS_fcntl, file_, F_SETFL, flags | O_DIRECT) != 0) return false;
  is_direct_.store(true, std::memory_order_relaxed);
  return true;
}

// Other threads' requests may be on their way past the cache: the kernel keeps the two in step.
void FileStore::go_through_cache() noexcept {
  const long flags = raw_syscall(SYS_fcntl, file_, F_GETFL);
  if (flags >= 0) raw_syscall(SYS_fcntl, file_, F_SETFL, flags & ~long{O_DIRECT});
  if (is_direct_.exchange(false) && tell_cached_ != nullptr) tell_cached_();
}

// Of the bytes that the kernel says, those behind which the next request may begin; kAgain: the same request
// is to be made once more; else an error number. Past the cache requests begin at pages: a part of one counts
// for nothing. Where they are larger than a page (EINVAL), it is better to go through the cache than to lose
// what the program has written.
long FileStore::transferred(long result, bool was_direct) noexcept {
  if (result == -EINTR) return kAgain;
  if (result == -EINVAL && was_direct) {
    go_through_cache();
    return kAgain;
  }
  if (was_direct && result > 0) result -= result % static_cast<long>(kPageBytes);
  return result == 0 ? -EIO : result;  // at its end, or no page of it
}

std::size_t FileStore::read(std::uint64_t slot, std::byte* const* to, std::size_t pages) noexcept {
  constexpr std::size_t kAtOnce = 16;
  std::size_t bytes = 0;
  while (bytes < pages * kPageBytes) {
    iovec parts[kAtOnce];
    std::size_t count = 0;
    for (std::size_t at = bytes; at < pages * kPageBytes && count < kAtOnce; ++count) {
      const std::size_t inside = at % kPageBytes;
      parts[count] = {to[at / kPageBytes] + inside, kPageBytes - inside};
      at += kPageBytes - inside;
    }
    const auto offset = static_cast<long>(slot * kPageBytes + bytes);
    const bool was_direct = is_direct();
    const long got = transferred(raw_syscall(SYS_preadv, file_, parts, count, offset, 0), was_direct);
    if (got < 0) break;
    bytes += static_cast<std::size_t>(got);
  }
  return bytes / kPageBytes;
}

bool FileStore::write(std::uint64_t slot, const std::byte* from, std::size_t pages) noexcept {
  if ((slot + pages) * kPageBytes > most_bytes_.load(std::memory_order_relaxed)) return false;
  for (std::size_t done = 0; done < pages * kPageBytes;) {
    const bool was_direct = is_direct();
    const long put = transferred(
        raw_syscall(SYS_pwrite64, file_, from + done, pages * kPageBytes - done, slot * kPageBytes + done),
        was_direct);
    if (put < 0) return false;
    done += static_cast<std::size_t>(put);
  }
  return true;
}

StoreMedium FileStore::medium() const noexcept {
  if (lies_in_memory(file_)) return StoreMedium::kMemory;
  return is_direct() && !lies_in_page_cache(file_) ? StoreMedium::kDirect : StoreMedium::kPageCache;
}

Result<StoreMedium> check_page_store(const char* path, StoreKind kind) {
  struct stat status {};
  if (stat(path, &status) == 0 && !S_ISDIR(status.st_mode) && !S_ISREG(status.st_mode))
    return failure(std::string(path) + ": neither a folder nor a file", "name a folder on a file system");
  const int file = FileStore::create(AT_FDCWD, path);
  if (file < 0)
    return failure(std::string(path) + ": no file for pages can be made there: " + std::strerror(-file),
                   "name a folder, or a file in one, that you may write to");
  const Descriptor closed(file);
  FileStore store(file);
  if (kind != StoreKind::kCached) store.go_direct();
  alignas(kPageBytes) static std::array<std::byte, kPageBytes> page{std::byte{1}};
  if (!store.write(0, page.data(), 1))
    return failure(std::string(path) + ": nothing can be written there", "is that file system full?");
  if (!store.read_one(0, page.data()))
    return failure(std::string(path) + ": what was written there cannot be read",
                   "name a folder on another file system");
  return store.medium();
}

}  // namespace nvmemu
