// SPDX-License-Identifier: Apache-2.0
// What the kernel's resctrl can limit of the memory bandwidth, where the processor has it: Intel's MBA, AMD's
// MB and SMBA (kernel documentation, filesystems/resctrl). It limits threads, not the memory of a node.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "throttle/schemata.h"

namespace nvmemu {

enum class BandwidthUnit {
  kPercent,   // Intel: of what a core could request
  kMebibyte,  // Intel, mounted with mba_MBps: MiB/s, which the kernel regulates by what it measures
  kEighthGb,  // AMD: 1/8 GB/s
};

struct ResctrlResource {
  std::string name;  // "MB"; "SMBA": slow memory, such as CXL
  BandwidthUnit unit;
  std::uint64_t minimum;
  std::uint64_t step;
  std::uint64_t unlimited;           // the amount that stands for no limit
  std::vector<DomainLimit> domains;  // of the default group
};

struct Resctrl {
  std::string folder;  // where it is mounted, `root` included
  std::vector<ResctrlResource> resources;

  const ResctrlResource* find(std::string_view name) const;
};

// Fails where it is not mounted, or cannot be; the hint says which and how.
Result<Resctrl> read_resctrl(const std::string& root);

// The amount of `resource` that stands for so many bytes a second; fails for percents, which stand for none.
Result<std::uint64_t> amount_of(const ResctrlResource& resource, double bytes_per_second);

// `amount` as the kernel would round it, up to the next step; fails where it is out of range.
Result<std::uint64_t> rounded(const ResctrlResource& resource, std::uint64_t amount);

// "50 %", "2000 MiB/s", "2 GB/s", "no limit".
std::string describe(const ResctrlResource& resource, std::uint64_t amount);

// That there are no thermal registers here; the hint says what there is instead.
Error no_thermal_registers(const std::string& root);

}  // namespace nvmemu
