// SPDX-License-Identifier: Apache-2.0
#include "storage_bench/file_calls.h"

#include <unistd.h>

#include <cerrno>

namespace nvmemu::storage_bench {

ssize_t write_bytes(int fd, const std::vector<char>& content, std::uint64_t bytes) noexcept {
  std::uint64_t done = 0;
  while (done < bytes) {
    const ssize_t written = write(fd, content.data() + done, bytes - done);
    if (written < 0 && errno != EINTR) return -1;
    if (written > 0) done += static_cast<std::uint64_t>(written);
  }
  return static_cast<ssize_t>(done);
}

ssize_t read_to_end(int fd, std::vector<char>& buffer) noexcept {
  ssize_t done = 0;
  for (;;) {
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    if (got == 0) return done;
    if (got < 0 && errno != EINTR) return -1;
    if (got > 0) done += got;
  }
}

}  // namespace nvmemu::storage_bench
