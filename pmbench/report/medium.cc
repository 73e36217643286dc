// SPDX-License-Identifier: Apache-2.0
#include "report/medium.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "base/clock.h"

namespace nvmemu::pmbench {
namespace {

constexpr std::size_t kReadBytes = 4096;
constexpr std::size_t kLeastBlocks = 256;  // 1 MiB: fewer would be read from a cache of the device's own

class File {
 public:
  // A pipe in its place is not waited for: size_of() refuses it.
  explicit File(const std::string& path)
      : fd_(open(path.c_str(), O_RDONLY | O_DIRECT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  int fd() const { return fd_; }

 private:
  int fd_;
};

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

tl::unexpected<Error> refuse(const std::string& path, int error) {
  return failure("cannot measure " + path + ": " + std::strerror(error),
                 error == EINVAL
                     ? "its file system has no direct reads: name the device, or a file on the medium itself"
                     : "name the swap device or a file on the same medium");
}

Result<std::uint64_t> size_of(const File& file, const std::string& path) {
  struct stat status {};
  if (fstat(file.fd(), &status) != 0) return refuse(path, errno);
  if (S_ISREG(status.st_mode)) return static_cast<std::uint64_t>(status.st_size);
  std::uint64_t bytes = 0;
  if (!S_ISBLK(status.st_mode))
    return failure("cannot measure " + path + ": it is neither a device of blocks nor a file");
  if (ioctl(file.fd(), BLKGETSIZE64, &bytes) != 0) return refuse(path, errno);
  return bytes;
}

MediumLatency latency_of(std::vector<double> ns) {
  const auto middle = ns.begin() + static_cast<std::ptrdiff_t>(ns.size() / 2);
  std::nth_element(ns.begin(), middle, ns.end());
  return {ns.size(), std::accumulate(ns.begin(), ns.end(), 0.0) / static_cast<double>(ns.size()), *middle};
}

}  // namespace

Result<MediumLatency> measure_medium(const std::string& path, double seconds, std::size_t most_reads) {
  const File file(path);
  if (file.fd() < 0) return refuse(path, errno);
  const Result<std::uint64_t> bytes = size_of(file, path);
  if (!bytes) return tl::unexpected(bytes.error());
  const std::uint64_t blocks = *bytes / kReadBytes;
  if (blocks < kLeastBlocks) return failure("cannot measure " + path + ": it has less than 1 MiB");
  const std::unique_ptr<void, Free> buffer(std::aligned_alloc(kReadBytes, kReadBytes));

  std::mt19937_64 random(1);
  std::uniform_int_distribution<std::uint64_t> block(0, blocks - 1);
  std::vector<double> ns;
  const std::uint64_t begin = monotonic_raw_ns();
  const std::uint64_t end = begin + static_cast<std::uint64_t>(seconds * 1e9);
  for (std::uint64_t now = begin; now < end && ns.size() < most_reads;) {
    const auto offset = static_cast<off_t>(block(random) * kReadBytes);
    const std::uint64_t before = monotonic_raw_ns();
    const ssize_t read = pread(file.fd(), buffer.get(), kReadBytes, offset);
    const int error = errno;
    now = monotonic_raw_ns();
    if (read < 0 && error == EINTR) continue;
    if (read != static_cast<ssize_t>(kReadBytes)) return refuse(path, read < 0 ? error : EIO);
    ns.push_back(static_cast<double>(now - before));
  }
  if (ns.empty()) return failure("cannot measure " + path + ": no read ended in time");
  return latency_of(std::move(ns));
}

}  // namespace nvmemu::pmbench
