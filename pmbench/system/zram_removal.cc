// SPDX-License-Identifier: Apache-2.0
#include "system/zram_removal.h"

#include <time.h>
#include <unistd.h>

#include "system/kernel_files.h"

namespace nvmemu::pmbench {

void remove_zram(const std::string& number, const std::string& root) {
  constexpr int kMostTries = 200;
  const timespec a_while{.tv_sec = 0, .tv_nsec = 10'000'000};
  const std::string folder = root + "/sys/block/zram" + number;
  for (int i = 0; i < kMostTries && access(folder.c_str(), F_OK) == 0; ++i) {
    static_cast<void>(write_text(folder + "/reset", "1"));
    if (write_text(root + "/sys/class/zram-control/hot_remove", number)) return;
    nanosleep(&a_while, nullptr);
  }
}

}  // namespace nvmemu::pmbench
