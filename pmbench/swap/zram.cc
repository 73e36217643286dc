// SPDX-License-Identifier: Apache-2.0
#include "swap/zram.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "base/descriptor.h"
#include "swap/swap_area.h"
#include "system/kernel_files.h"
#include "system/zram_removal.h"

namespace nvmemu::pmbench {
namespace {

constexpr const char* kHotAdd = "/sys/class/zram-control/hot_add";

// In a process of its own, which lives on where this one is killed, and then tells the caretaker all the
// same.
[[noreturn]] void add_and_tell(Caretaker& caretaker, int told) {
  setpgid(0, 0);
  const std::string number = read_line(kHotAdd);
  if (!number.empty()) caretaker.will_make_zram(number);
  static_cast<void>(!TEMP_FAILURE_RETRY(write(told, number.data(), number.size())));
  _exit(0);
}

// The kernel makes a device, and tells its number, when that file is read. Its number; empty: it makes none.
std::string add_device(Caretaker& caretaker) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  const Descriptor told(ends[0]);
  Descriptor tells(ends[1]);
  const pid_t pid = fork();
  if (pid == 0) add_and_tell(caretaker, tells.get());
  tells.close();
  if (pid < 0) return {};
  std::string number;
  char piece[16];
  for (ssize_t got = 0; (got = TEMP_FAILURE_RETRY(read(told.get(), piece, sizeof piece))) > 0;)
    number.append(piece, static_cast<std::size_t>(got));
  static_cast<void>(TEMP_FAILURE_RETRY(waitpid(pid, nullptr, 0)));
  return number;
}

}  // namespace

Result<std::unique_ptr<SwapBackend>> Zram::make(std::uint64_t bytes, Caretaker& caretaker) {
  const std::string number = add_device(caretaker);
  if (number.empty())
    return failure("this kernel makes no zram devices",
                   "as root: modprobe zram, of a kernel with CONFIG_ZRAM; or name a block device");
  auto zram = std::unique_ptr<Zram>(new Zram(number));
  const std::string folder = "/sys/block/zram" + number;
  static_cast<void>(write_text(folder + "/comp_algorithm", "lz4"));  // where there is: the fastest
  if (const auto sized = write_text(folder + "/disksize", std::to_string(bytes)); !sized)
    return tl::unexpected(sized.error());
  if (const auto swap = write_swap_header(zram->device_, bytes); !swap) return tl::unexpected(swap.error());
  return zram;
}

Zram::~Zram() {
  if (number_.empty()) return;
  remove_zram(number_);
}

}  // namespace nvmemu::pmbench
