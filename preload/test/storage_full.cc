// SPDX-License-Identifier: Apache-2.0
// Storage that is full, or broken: what a program is told then is what it would be told anyway.
#include <aio.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "storage_calls.h"

namespace nvmemu::stored {
namespace {

constexpr auto kPageBytes = static_cast<ssize_t>(kPage);

void expect_full(long result, const char* what) { check(result == -1 && errno == ENOSPC, what); }

// 5 times 3 pages and a page of 3 go in.
void fill(int fd, const std::string& pages) {
  ssize_t written = 0;
  for (int i = 0; i < 5; ++i) written += write(fd, pages.data(), 3 * kPage);
  check(written == 15 * kPageBytes, "write");
  check(write(fd, pages.data(), 3 * kPage) == kPageBytes, "a write of which some goes in");
}

void fail_by_each_call(int fd, const std::string& pages) {
  errno = 0;
  expect_full(write(fd, pages.data(), kPage), "write");
  const iovec out{const_cast<char*>(pages.data()), kPage};
  expect_full(syscall(SYS_pwritev, fd, &out, 1, 16 * kPage, 0), "pwritev");
  expect_full(fallocate(fd, 0, 0, 32 * kPageBytes), "fallocate");
  errno = 0;
  check(posix_fallocate(fd, 0, 32 * kPageBytes) == ENOSPC && errno == 0, "posix_fallocate");
}

void fail_by_aio(int fd, std::string& pages) {
  aiocb request{};
  request.aio_fildes = fd;
  request.aio_buf = pages.data();
  request.aio_nbytes = kPage;
  request.aio_offset = 16 * kPageBytes;
  request.aio_sigevent.sigev_notify = SIGEV_NONE;
  check(aio_write(&request) == 0, "aio_write");
  int error = EINPROGRESS;
  while ((error = aio_error(&request)) == EINPROGRESS) sched_yield();
  check(error == ENOSPC && aio_return(&request) == -1, "a request that does not go in");
}

void fail_by_stdio(const std::string& pages) {
  FILE* const stream = std::fopen(path("b").c_str(), "w");
  check(stream != nullptr && std::fwrite(pages.data(), 1, 100, stream) == 100, "fwrite");
  check(std::fclose(stream) == EOF && errno == ENOSPC, "fclose");
}

}  // namespace

// In a file system of 16 pages, which is empty: 17 pages go in, one in the place of another; 6 calls fail.
void full() {
  std::string pages = contents(3 * kPage);
  const int fd = make("a");
  fill(fd, pages);
  fail_by_each_call(fd, pages);
  fail_by_aio(fd, pages);
  fail_by_stdio(pages);
  struct stat status {};
  check(fstat(fd, &status) == 0 && status.st_size == 16 * kPageBytes, "its size");
  check(ftruncate(fd, 15 * kPageBytes) == 0, "ftruncate");
  write_at(fd, pages.substr(0, kPage), 15 * kPageBytes);
  check(fsync(fd) == 0, "fsync");
  for (int i = 0; i < 5; ++i) expect_at(fd, pages, i * 3 * kPageBytes);
  expect_at(fd, pages.substr(0, kPage), 15 * kPageBytes);
}

// With troubled_storage: a write of 2 pages is one of a page; another fails, and a sync.
void refused() {
  const std::string pages = contents(2 * kPage);
  const int fd = make("a");
  check(pwrite(fd, pages.data(), pages.size(), 0) == kPageBytes, "a short write");
  check(pwrite(fd, pages.data(), kPage, 1L << 30) == -1 && errno == EIO, "a write that fails");
  check(fsync(fd) == -1 && errno == EIO, "a sync that fails");
  check(fsync(fd) == 0, "fsync");
  expect_at(fd, pages.substr(0, kPage), 0);
  check(pwrite(-1, pages.data(), kPage, 0) == -1 && errno == EBADF, "a write to no file");
}

}  // namespace nvmemu::stored
