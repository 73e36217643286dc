// SPDX-License-Identifier: Apache-2.0
#include "touch/touch_limits.h"

#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>

#include "base/units.h"
#include "system/kernel_files.h"
#include "system/memory_cgroup.h"

namespace nvmemu::pmbench {
namespace {

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;
constexpr std::uint64_t kHugePageBytes = 2 * kMebibyte;
constexpr std::uint64_t kLeastLimitBytes = 64 * kMebibyte;  // of which the program itself takes a few
constexpr std::uint64_t kSpareSwapBytes =
    64 * kMebibyte;  // of swap that is made: what the program itself takes goes there, too
constexpr std::uint64_t kLeftBytes = 256 * kMebibyte;  // to the machine, beyond what its kernel keeps

// Files that container engines, and systemd in them, make; of others a namespace of processes tells, which
// the machine's own has by this number (the kernel's PROC_PID_INIT_INO).
constexpr const char* kContainerFiles[] = {"/.dockerenv", "/run/.containerenv", "/run/systemd/container"};
constexpr const char* kOwnNamespace = "/proc/self/ns/pid";
constexpr const char* kFirstNamespace = "pid:[4026531836]";

Result<void> check_limit(const TouchOptions& options, const TouchMachine& machine) {
  const std::uint64_t most = machine.management.available_bytes / 2;
  if (!options.memory_limit_bytes) {
    return failure("--memory-limit is missing: without one, all of the machine would page",
                   "--memory-limit 256M, or, for the whole machine, pmbench kswapd --whole-machine");
  }
  if (*options.memory_limit_bytes < kLeastLimitBytes) {
    return failure(fmt::format("--memory-limit: {} leave no room for the program itself",
                               format_size(*options.memory_limit_bytes)),
                   fmt::format("at least {}", format_size(kLeastLimitBytes)));
  }
  if (*options.memory_limit_bytes > most) {
    return failure(fmt::format("--memory-limit: {} are more than half of the {} that are available",
                               format_size(*options.memory_limit_bytes),
                               format_size(machine.management.available_bytes)),
                   fmt::format("at most {}", format_size(most)));
  }
  return {};
}

Result<void> check_whole_machine(const TouchOptions& options, const TouchMachine& machine) {
  if (!machine.container.empty()) {
    return failure(fmt::format("--whole-machine: this is a container ({}), and the machine is others'",
                               machine.container),
                   "a virtual machine of your own; or pmbench touch --memory-limit 256M");
  }
  const MemoryManagement& management = machine.management;
  if (machine.limited_bytes && *machine.limited_bytes < management.memory_bytes) {
    return failure(
        fmt::format(
            "--whole-machine: this process is in a memory cgroup of {}, whose reclaim is not kswapd's",
            format_size(*machine.limited_bytes)),
        "run it outside of that cgroup");
  }
  const std::uint64_t left = options.eat_to_bytes > 0 ? options.eat_to_bytes : management.available_bytes;
  const std::uint64_t least = machine.min_free_bytes + kLeftBytes;
  if (left < least) {
    return failure(fmt::format("{}: {} would be available, and {} must be left",
                               options.eat_to_bytes > 0 ? "--eat-to" : "--whole-machine", format_size(left),
                               format_size(least)),
                   fmt::format("--eat-to {}M, or a machine with more memory", least / kMebibyte + 1));
  }
  if (options.eat_to_bytes > management.available_bytes) {
    return failure(fmt::format("--eat-to: {} are more than the {} that are available",
                               format_size(options.eat_to_bytes), format_size(management.available_bytes)));
  }
  return {};
}

// Half of it stays free: for others, and for what the kernel swaps out twice.
Result<void> check_swap(const TouchNeeds& needs, const TouchOptions& options, const TouchMachine& machine) {
  constexpr const char* kMake =
      "as root: --swap-device zram makes some for the run; or mkswap and swapon a partition or a file";
  if (!options.swap_device.empty()) {
    if (geteuid() != 0) return failure("--swap-device: swap is the machine's: it takes root");
    if (options.whole_machine && options.swap_device == kNullBlockDevice) {
      return failure("--swap-device null_blk: it keeps pages in memory as they are: that frees none",
                     "--swap-device zram, which compresses them");
    }
    if (needs.made_swap_bytes > machine.management.available_bytes / 2) {
      return failure(fmt::format("--swap-device {}: {} could take more than half of what is available",
                                 options.swap_device, format_size(needs.made_swap_bytes)),
                     "a smaller --memory-limit, --ratio or --swap-size");
    }
    if (is_made(options.swap_device) && needs.made_swap_bytes < 2 * needs.swap_bytes) {
      return failure(fmt::format("--swap-size: {} will be swapped out, and half of it must stay free",
                                 format_size(needs.swap_bytes)),
                     fmt::format("at least {}", format_size(2 * needs.swap_bytes)));
    }
    return {};
  }
  if (machine.management.swap_bytes == 0)
    return failure("this machine has no swap: what is touched beyond the memory has nowhere to go", kMake);
  if (needs.swap_bytes > machine.management.swap_free_bytes / 2) {
    return failure(
        fmt::format("{} are touched beyond the memory, more than half of the {} of swap that are free",
                    format_size(needs.swap_bytes), format_size(machine.management.swap_free_bytes)),
        fmt::format("a smaller --ratio or {}; {}", options.whole_machine ? "--eat-to" : "--memory-limit",
                    kMake));
  }
  return {};
}

Result<void> check_huge_pages(const TouchOptions& options, const TouchMachine& machine) {
  const std::string& huge_pages = machine.management.huge_pages;
  if (std::ranges::find(options.huge_pages, HugePages::kOn) == options.huge_pages.end()) return {};
  if (huge_pages != "never" && huge_pages != "none") return {};
  return failure(huge_pages == "none" ? "--thp on: this kernel has no transparent huge pages"
                                      : "--thp on: transparent huge pages are forbidden on this machine",
                 huge_pages == "none" ? "--thp off"
                                      : "as root: echo madvise >/sys/kernel/mm/transparent_hugepage/enabled");
}

std::string container_of(const std::string& root) {
  for (const char* file : kContainerFiles) {
    if (access((root + file).c_str(), F_OK) == 0) return file;
  }
  std::error_code none;
  const std::string own = std::filesystem::read_symlink(root + kOwnNamespace, none).string();
  return none || own == kFirstNamespace ? "" : own;
}

double swapped_pages(const std::string& root) {
  const KeyedNumbers events = parse_keyed(read_text(root + "/proc/vmstat"));
  return static_cast<double>(number_of(events, "pswpin") + number_of(events, "pswpout"));
}

}  // namespace

TouchMachine read_touch_machine(const std::string& root) {
  RealCgroupFiles files;
  return {.management = read_memory_management(),
          .min_free_bytes = read_number(root + "/proc/sys/vm/min_free_kbytes").value_or(0) << 10,
          .limited_bytes = own_memory_limit(files),
          .container = container_of(root)};
}

TouchNeeds touch_needs(const TouchOptions& options, const TouchMachine& machine) {
  TouchNeeds needs;
  const std::uint64_t available = machine.management.available_bytes;
  if (options.whole_machine) {
    needs.memory_bytes = options.eat_to_bytes > 0 ? options.eat_to_bytes : available;
    needs.eaten_bytes = available > needs.memory_bytes ? available - needs.memory_bytes : 0;
  } else {
    needs.memory_bytes = options.memory_limit_bytes.value_or(0);
  }
  const auto touched = static_cast<std::uint64_t>(static_cast<double>(needs.memory_bytes) * options.ratio);
  needs.touched_bytes = (touched + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
  needs.swap_bytes = needs.touched_bytes > needs.memory_bytes ? needs.touched_bytes - needs.memory_bytes : 0;
  if (is_made(options.swap_device))
    needs.made_swap_bytes =
        options.swap_bytes > 0 ? options.swap_bytes : 2 * needs.swap_bytes + kSpareSwapBytes;
  return needs;
}

Result<void> check_touch(const TouchOptions& options, const TouchMachine& machine) {
  if (!(options.ratio >= 1)) {
    return failure(fmt::format("--ratio: {:g} is below 1: all would fit into memory", options.ratio),
                   "18/16, as the paper did, or more");
  }
  const Result<void> safe =
      options.whole_machine ? check_whole_machine(options, machine) : check_limit(options, machine);
  if (!safe) return safe;
  if (const Result<void> huge = check_huge_pages(options, machine); !huge) return huge;
  return check_swap(touch_needs(options, machine), options, machine);
}

Result<void> check_nobody_swaps(double wait_s, const std::string& root) {
  const double before = swapped_pages(root);
  const timespec wait{.tv_sec = static_cast<time_t>(wait_s),
                      .tv_nsec = static_cast<long>((wait_s - std::floor(wait_s)) * 1e9)};
  nanosleep(&wait, nullptr);
  const double swapped = swapped_pages(root) - before;
  if (swapped == 0) return {};
  return failure(
      fmt::format("--whole-machine: others swap here: {:.0f} pages within {:g} s", swapped, wait_s),
      "wait until the machine has enough memory, or take one of your own");
}

std::string describe(const TouchNeeds& needs, const TouchOptions& options) {
  std::string names;
  for (const TouchPattern pattern : options.patterns)
    names += fmt::format("{}{}", names.empty() ? "" : ", ",
                         kTouchPatterns[static_cast<std::size_t>(pattern)].name);
  std::string text =
      fmt::format("{} runs of {}: {} touched where {} {}, so that about {} go to swap", options.runs, names,
                  format_size(needs.touched_bytes), format_size(needs.memory_bytes),
                  options.whole_machine ? "are available" : "are allowed", format_size(needs.swap_bytes));
  if (needs.made_swap_bytes > 0)
    text += fmt::format(", a device in memory ({}) of {}", options.swap_device,
                        format_size(needs.made_swap_bytes));
  if (needs.eaten_bytes > 0)
    text += fmt::format("; {} are taken away before", format_size(needs.eaten_bytes));
  return text;
}

}  // namespace nvmemu::pmbench
