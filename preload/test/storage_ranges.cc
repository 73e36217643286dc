// SPDX-License-Identifier: Apache-2.0
// What changes how a file is written, and what is said of a part of one; by names, and by numbers.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "storage_calls.h"

namespace nvmemu::stored {
namespace {

using std::chrono::milliseconds;

constexpr auto kPageBytes = static_cast<ssize_t>(kPage);

off_t size_of(int fd) {
  struct stat status {};
  check(fstat(fd, &status) == 0, "fstat");
  return status.st_size;
}

int old_file(const char* name) {
  const int fd = open(path(name).c_str(), O_RDONLY);
  check(fd >= 0, name);
  return fd;
}

void read_page(int fd, int page) {
  std::string found(kPage, '\0');
  check(pread(fd, found.data(), kPage, page * kPageBytes) == kPageBytes, "pread");
}

// Past the page cache, and not; where the file system has it.
void read_directly(int fd) {
  const std::unique_ptr<void, void (*)(void*)> room(std::aligned_alloc(kPage, kPage), &std::free);
  if (fcntl(fd, F_SETFL, O_DIRECT) == 0) {
    check((fcntl(fd, F_GETFL) & O_DIRECT) != 0, "F_GETFL");
    check(pread(fd, room.get(), kPage, 0) == kPageBytes, "a direct read");
  }
  check(syscall(SYS_fcntl, fd, F_SETFL, 0) == 0, "F_SETFL");
  check(pread(fd, room.get(), kPage, 0) == kPageBytes, "a read that is none");
}

}  // namespace

// More is asked for than there is: 64 pages that are absent, the same again, the last 16 of them, and one
// page behind them, of a file that has grown meanwhile.
void whole_files() {
  constexpr std::size_t kPages = 64;
  const int fd = open(path("long").c_str(), O_RDWR);
  check(fd >= 0, "long");
  std::string found((kPages + 16) * kPage, '\0');
  const auto read_rest = [&](std::size_t pages) {
    check(read(fd, found.data(), found.size()) == static_cast<ssize_t>(pages * kPage), "read of the rest");
  };
  read_rest(kPages);
  check(lseek(fd, 0, SEEK_SET) == 0, "lseek");
  read_rest(kPages);
  read_rest(0);
  check(lseek(fd, (kPages - 16) * kPageBytes, SEEK_SET) > 0, "lseek");
  read_rest(16);
  write_at(fd, contents(kPage), kPages * kPageBytes);
  read_rest(1);
}

// 6 writes, of which 2 append whatever their offset says; 5 syncs, of which 3 commit; 6 pages are written.
// 2 reads, and one past the page cache.
void flags() {
  const std::string page = contents(kPage);
  const int fd = make("a"), copy = dup(fd);
  check(fcntl(fd, F_SETFL, O_DSYNC) == 0 && (fcntl(fd, F_GETFL) & O_DSYNC) == 0, "F_SETFL of O_DSYNC");
  write_at(fd, page, 0);
  check(fcntl(copy, F_SETFL, O_APPEND) == 0, "F_SETFL of O_APPEND");
  write_at(fd, page, 0);
  check(size_of(fd) == 2 * kPageBytes && fsync(fd) == 0, "what was appended");
  check(syscall(SYS_fcntl, copy, F_SETFL, 0) == 0, "F_SETFL by number");
  write_at(fd, page, 0);
  check(size_of(fd) == 2 * kPageBytes && fdatasync(fd) == 0, "what was written over");

  const iovec out{const_cast<char*>(page.data()), kPage};
  check(pwritev2(fd, &out, 1, 0, RWF_DSYNC) == kPageBytes, "RWF_DSYNC");
  check(syscall(SYS_pwritev2, fd, &out, 1, 0, 0, RWF_SYNC) == kPageBytes, "RWF_SYNC");
  check(pwritev2(fd, &out, 1, 0, RWF_APPEND) == kPageBytes && size_of(fd) == 3 * kPageBytes, "RWF_APPEND");
  check(fdatasync(fd) == 0, "fdatasync");
  std::string found(kPage, '\0');
  const iovec in{found.data(), kPage};
  check(preadv2(fd, &in, 1, 2 * kPageBytes, RWF_HIPRI) == kPageBytes && found == page, "RWF_HIPRI");
  read_directly(fd);
}

// What a child changes of an open file is its parent's, too: 2 writes, of which the second appends; 1 sync,
// which writes 2 pages.
void flags_of_a_child() {
  const std::string page = contents(kPage);
  const int fd = make("a");
  write_at(fd, page, 0);
  if (const pid_t child = fork(); child == 0) {
    _exit(fcntl(fd, F_SETFL, O_APPEND) == 0 ? 0 : 1);
  } else {
    int status = 0;
    check(waitpid(child, &status, 0) == child && status == 0, "F_SETFL of O_APPEND by a child");
  }
  write_at(fd, page, 0);
  check(size_of(fd) == 2 * kPageBytes && fsync(fd) == 0, "what was appended");
}

// On a device that takes 1 ms for each request: 3 syncs of a mapping are commits; the first writes 2 pages.
void synced_mapping() {
  const int fd = make("a");
  write_at(fd, contents(2 * kPage), 0);
  void* const mapped = mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  void* const own = mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
  check(mapped != MAP_FAILED && own != MAP_FAILED && close(fd) == 0, "mmap");
  for (const bool by_number : {false, true, false}) {
    std::memset(mapped, 'x', kPage);
    const Stopwatch time;
    const long result =
        by_number ? syscall(SYS_msync, mapped, 2 * kPage, MS_SYNC) : msync(mapped, kPage, MS_SYNC);
    check(result == 0 && time.has_run_for(std::chrono::microseconds(3900)), "how long msync took");
  }
  check(msync(mapped, kPage, MS_ASYNC) == 0 && msync(own, kPage, MS_SYNC) == 0, "msync of no file");
  check(munmap(mapped, 2 * kPage) == 0, "munmap");
  check(msync(mapped, kPage, MS_SYNC) == -1 && errno == ENOMEM, "msync of what is not mapped");
  expect_at(old_file("a"), std::string(kPage, 'x'), 0);
}

// 5 reads and 5 writes of a page each. What is no address is none to us either.
void copies() {
  const int from = old_file("old"), to = make("b");
  int ends[2];
  check(pipe(ends) == 0, "pipe");
  off64_t in = 0, out = kPageBytes;
  check(syscall(SYS_sendfile, to, from, &in, kPage) == kPageBytes && in == kPageBytes, "sendfile");
  in = 0;
  check(syscall(SYS_copy_file_range, from, &in, to, &out, kPage, 0) == kPageBytes, "copy_file_range");
  in = 0;
  check(syscall(SYS_splice, from, &in, ends[1], nullptr, kPage, 0) == kPageBytes, "splice from a file");
  check(syscall(SYS_splice, ends[0], nullptr, to, &out, kPage, 0) == kPageBytes, "splice to a file");
  in = 0;
  check(splice(from, &in, ends[1], nullptr, kPage, 0) == kPageBytes, "splice from a file, by name");
  check(splice(ends[0], nullptr, to, &out, kPage, 0) == kPageBytes, "splice to a file, by name");
  check(lseek(to, out, SEEK_SET) == out && sendfile(to, from, nullptr, kPage) == kPageBytes,
        "sendfile, by name");
  auto* const nowhere = reinterpret_cast<off64_t*>(1);
  check(copy_file_range(from, nowhere, to, nullptr, kPage, 0) == -1 && errno == EFAULT, "no address");
  check(size_of(to) == 5 * kPageBytes, "what was copied");
}

// Of "long": 4 pages without any read ahead, 8 and 4 read ahead since they are to be needed, 6 of a stream;
// 2 of those are found in the cache, and one not any more.
void advice() {
  const int fd = old_file("long");
  check(posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM) == 0, "POSIX_FADV_RANDOM");
  for (int page = 0; page < 4; ++page) read_page(fd, page);
  check(posix_fadvise(fd, 32 * kPageBytes, 8 * kPageBytes, POSIX_FADV_WILLNEED) == 0, "POSIX_FADV_WILLNEED");
  read_page(fd, 33);
  check(posix_fadvise(fd, 32 * kPageBytes, 8 * kPageBytes, POSIX_FADV_DONTNEED) == 0, "POSIX_FADV_DONTNEED");
  read_page(fd, 33);
  const off_t begin = 48 * kPageBytes;
  const bool is_there = readahead(fd, begin, 4 * kPage) == 0;  // tmpfs has not got it
  check(is_there || posix_fadvise(fd, begin, 4 * kPageBytes, POSIX_FADV_WILLNEED) == 0, "readahead");
  read_page(fd, 50);
  check(syscall(SYS_fadvise64, fd, 0, 0, POSIX_FADV_NORMAL) == 0, "POSIX_FADV_NORMAL");
  read_page(fd, 56);
  read_page(fd, 57);
  check(posix_fadvise(fd, 0, 0, -1) == EINVAL, "no advice");
}

// 4 syncs that commit, since room has been given or taken; 4 pages are written, and one is not. A page is
// read that was cut out, and one that was not.
void allocation() {
  const int fd = make("a");
  write_at(fd, contents(4 * kPage), 0);
  check(fsync(fd) == 0, "fsync");
  check(fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 8 * kPageBytes) == 0 && fdatasync(fd) == 0, "fallocate");
  check(size_of(fd) == 4 * kPageBytes, "what is kept");
  write_at(fd, contents(kPage), kPageBytes);
  check(syscall(SYS_fallocate, fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, kPage, kPage) == 0, "a hole");
  check(fdatasync(fd) == 0, "fdatasync");
  expect_at(fd, std::string(kPage, '\0'), kPageBytes);
  expect_at(fd, contents(kPage), 0);
  check(posix_fallocate(fd, 0, 16 * kPageBytes) == 0 && size_of(fd) == 16 * kPageBytes, "posix_fallocate");
  check(fdatasync(fd) == 0, "fdatasync");
}

// On a device that takes 20 ms for each request: what was begun is waited for by who asks for it.
void write_back() {
  const int fd = make("a");
  write_at(fd, contents(2 * kPage), 0);
  const Stopwatch time;
  check(sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE) == 0, "sync_file_range");
  check(sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WAIT_BEFORE) == 0, "sync_file_range that waits");
  check(time.has_run_for(milliseconds(19)), "how long it took");
}

}  // namespace nvmemu::stored
