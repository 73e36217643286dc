// SPDX-License-Identifier: Apache-2.0
#include "swap_device.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/swap.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <utility>

#include "swap/swap_area.h"
#include "system/kernel_files.h"

namespace nvmemu::pmbench {
namespace {

struct Output {
  int status;
  std::string first_line;
};

// By the shell, its complaints put aside.
Output shell(const std::string& command) {
  std::FILE* pipe = popen((command + " 2>/dev/null").c_str(), "r");
  if (pipe == nullptr) return {-1, {}};
  char line[256] = "";
  if (std::fgets(line, sizeof line, pipe) == nullptr) line[0] = '\0';
  line[std::strcspn(line, "\n")] = '\0';
  return {pclose(pipe), line};
}

Result<void> make_swap(const std::string& device, unsigned mib) {
  if (auto written = write_swap_header(device, std::uint64_t{mib} << 20); !written) return written;
  return swap_on(device);
}

class Zram final : public SwapDevice {
 public:
  static Result<std::unique_ptr<SwapDevice>> make(unsigned mib) {
    const std::string number = read_line("/sys/class/zram-control/hot_add");  // reading it makes a device
    if (number.empty()) return failure("this kernel makes no zram devices");
    auto zram = std::unique_ptr<Zram>(new Zram(number));
    const std::string block = "/sys/block/zram" + number;
    if (const auto sized = write_text(block + "/disksize", std::to_string(mib) + "M"); !sized)
      return tl::unexpected(sized.error());
    if (const auto on = make_swap(zram->device_, mib); !on) return tl::unexpected(on.error());
    return zram;
  }
  ~Zram() override {
    swapoff(device_.c_str());
    static_cast<void>(write_text("/sys/block/zram" + number_ + "/reset", "1"));
    static_cast<void>(write_text("/sys/class/zram-control/hot_remove", number_));
  }

 private:
  explicit Zram(std::string number) : number_(std::move(number)), device_("/dev/zram" + number_) {}
  std::string number_, device_;
};

// The file's pages must never be swapped out themselves: to this very device, they would wait for one another
// for good, and no signal ends that. So they are of a tmpfs of its own, mounted without swap, and all are
// there before the first is written to.
class Loop final : public SwapDevice {
 public:
  static Result<std::unique_ptr<SwapDevice>> make(unsigned mib) {
    auto loop = std::unique_ptr<Loop>(new Loop);
    if (const auto made = loop->make_file(mib); !made) return tl::unexpected(made.error());
    const Output device = shell("PATH=$PATH:/sbin:/usr/sbin losetup --find --show " + loop->file_);
    if (device.status != 0) return failure("losetup makes no loop device");
    loop->device_ = device.first_line;
    if (const auto on = make_swap(loop->device_, mib); !on) return tl::unexpected(on.error());
    return loop;
  }
  ~Loop() override {
    if (!device_.empty()) {
      swapoff(device_.c_str());
      shell("PATH=$PATH:/sbin:/usr/sbin losetup --detach " + device_);
    }
    if (!file_.empty()) unlink(file_.c_str());
    if (is_mounted_) umount2(folder_.c_str(), MNT_DETACH);
    if (!folder_.empty()) rmdir(folder_.c_str());
  }

 private:
  Loop() = default;
  Result<void> make_file(unsigned mib) {
    char folder[] = "/tmp/pmbench-swap-XXXXXX";
    if (mkdtemp(folder) == nullptr) return failure("no folder in /tmp");
    folder_ = folder;
    is_mounted_ =
        mount("pmbench-swap", folder, "tmpfs", 0, fmt::format("noswap,size={}m", mib + 1).c_str()) == 0;
    if (!is_mounted_)
      return failure(fmt::format("cannot mount a tmpfs without swap: {}", std::strerror(errno)));
    file_ = folder_ + "/swap";
    const int fd = open(file_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    const int error = fd < 0 ? errno : posix_fallocate(fd, 0, static_cast<off_t>(mib) << 20);
    if (fd >= 0) close(fd);
    if (error != 0) return failure(fmt::format("no room for {} MiB of swap: {}", mib, std::strerror(error)));
    return {};
  }

  std::string folder_, file_, device_;
  bool is_mounted_ = false;
};

}  // namespace

Result<std::unique_ptr<SwapDevice>> make_zram_swap(unsigned mib) {
  if (geteuid() != 0) return failure("not root");
  return Zram::make(mib);
}

Result<std::unique_ptr<SwapDevice>> make_loop_swap(unsigned mib) {
  if (geteuid() != 0) return failure("not root");
  return Loop::make(mib);
}

}  // namespace nvmemu::pmbench
