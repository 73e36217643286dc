// SPDX-License-Identifier: Apache-2.0
#include "swap_device.h"

#include <fmt/format.h>
#include <sys/swap.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

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

Result<void> swap_on(const std::string& device) {
  if (shell("PATH=$PATH:/sbin:/usr/sbin mkswap " + device).status != 0)
    return failure("mkswap fails on " + device);
  if (swapon(device.c_str(), 0) != 0)
    return failure(fmt::format("cannot swap to {}: {}", device, std::strerror(errno)));
  return {};
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
    if (const auto on = swap_on(zram->device_); !on) return tl::unexpected(on.error());
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

class Loop final : public SwapDevice {
 public:
  static Result<std::unique_ptr<SwapDevice>> make(unsigned mib) {
    auto loop = std::unique_ptr<Loop>(new Loop);
    char name[] = "/dev/shm/pmbench-swap-XXXXXX";
    const int fd = mkstemp(name);
    if (fd < 0) return failure("no file in /dev/shm");
    loop->file_ = name;
    const int sized = ftruncate(fd, static_cast<off_t>(mib) << 20);
    close(fd);
    if (sized != 0) return failure("no room in /dev/shm");
    const Output device = shell("PATH=$PATH:/sbin:/usr/sbin losetup --find --show " + loop->file_);
    if (device.status != 0) return failure("losetup makes no loop device");
    loop->device_ = device.first_line;
    if (const auto on = swap_on(loop->device_); !on) return tl::unexpected(on.error());
    return loop;
  }
  ~Loop() override {
    if (!device_.empty()) {
      swapoff(device_.c_str());
      shell("PATH=$PATH:/sbin:/usr/sbin losetup --detach " + device_);
    }
    if (!file_.empty()) unlink(file_.c_str());
  }

 private:
  Loop() = default;
  std::string file_, device_;
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
