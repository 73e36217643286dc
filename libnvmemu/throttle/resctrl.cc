// SPDX-License-Identifier: Apache-2.0
#include "throttle/resctrl.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <sstream>

#include "base/text.h"
#include "base/units.h"
#include "host/cpu.h"
#include "throttle/files.h"

namespace nvmemu {
namespace {

constexpr std::uint64_t kAmdUnlimited = 2048;
constexpr std::uint64_t kMebibytesUnlimited = 0xffffffff;  // MBA_MAX_MBPS of the kernel
constexpr double kEighthGb = 1e9 / 8;
constexpr double kMebibyte = 1 << 20;

struct Mount {
  std::string folder;
  bool mebibytes;  // option mba_MBps
};

std::optional<Mount> find_mount(const std::string& root) {
  std::istringstream lines(read_file(root + "/proc/self/mounts").value_or(""));
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string device, folder, type, options;
    words >> device >> folder >> type >> options;
    if (type != "resctrl") continue;
    return Mount{root + folder, ("," + options + ",").find(",mba_MBps,") != std::string::npos};
  }
  return std::nullopt;
}

std::uint64_t number_in(const std::string& path, std::uint64_t otherwise) {
  const std::string text = read_file(path).value_or("");
  const std::string_view digits = trimmed(text);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return error == std::errc() && value > 0 ? value : otherwise;
}

BandwidthUnit unit_of(const Mount& mount, const std::string& vendor) {
  if (vendor == "AuthenticAMD" || vendor == "HygonGenuine") return BandwidthUnit::kEighthGb;
  return mount.mebibytes ? BandwidthUnit::kMebibyte : BandwidthUnit::kPercent;
}

ResctrlResource resource_of(const std::string& folder, const std::string& name, BandwidthUnit unit) {
  const std::string info = folder + "/info/" + name;
  ResctrlResource resource{name, unit, 1, 1, 0, {}};
  switch (unit) {
    case BandwidthUnit::kPercent:
      resource.unlimited = 100;
      resource.minimum = number_in(info + "/min_bandwidth", 10);
      resource.step = number_in(info + "/bandwidth_gran", 10);
      break;
    case BandwidthUnit::kEighthGb:
      resource.unlimited = kAmdUnlimited;
      resource.minimum = number_in(info + "/min_bandwidth", 1);
      resource.step = number_in(info + "/bandwidth_gran", 1);
      break;
    case BandwidthUnit::kMebibyte:  // the files of info/ are about percents, here too
      resource.unlimited = kMebibytesUnlimited;
      break;
  }
  return resource;
}

}  // namespace

const ResctrlResource* Resctrl::find(std::string_view name) const {
  const auto found = std::find_if(resources.begin(), resources.end(),
                                  [name](const ResctrlResource& resource) { return resource.name == name; });
  return found == resources.end() ? nullptr : &*found;
}

Result<Resctrl> read_resctrl(const std::string& root) {
  const auto mount = find_mount(root);
  if (!mount) {
    if (access((root + "/sys/fs/resctrl").c_str(), F_OK) == 0)
      return failure(
          "resctrl is not mounted",
          "as root: mount -t resctrl resctrl /sys/fs/resctrl; on Intel with -o mba_MBps for limits in "
          "MiB/s rather than percent");
    return failure("this machine has no resctrl",
                   "it takes an Intel processor with MBA or an AMD one with QoS, and a kernel with "
                   "CONFIG_X86_CPU_RESCTRL; virtual machines seldom have it");
  }
  Resctrl resctrl{mount->folder, {}};
  const auto schemata = read_file(mount->folder + "/schemata");
  if (!schemata) return failure("cannot read " + mount->folder + "/schemata", "run it as root");
  const BandwidthUnit unit = unit_of(*mount, read_cpu(root).signature.vendor);
  for (const char* name : {"MB", "SMBA"}) {
    if (access((mount->folder + "/info/" + name).c_str(), F_OK) != 0) continue;
    ResctrlResource resource = resource_of(mount->folder, name, unit);
    auto domains = parse_schemata(*schemata, name);
    if (!domains) return failure(mount->folder + "/schemata: " + domains.error().message);
    resource.domains = *std::move(domains);
    if (!resource.domains.empty()) resctrl.resources.push_back(std::move(resource));
  }
  if (resctrl.resources.empty())
    return failure("resctrl is mounted, but it cannot limit memory bandwidth here (there is no info/MB)",
                   "the processor has no MBA, or the kernel was booted with rdt=!mba");
  return resctrl;
}

Result<std::uint64_t> amount_of(const ResctrlResource& resource, double bytes_per_second) {
  switch (resource.unit) {
    case BandwidthUnit::kPercent:
      return failure(resource.name + " takes percents here, and how many of them make " +
                         format_bandwidth(bytes_per_second) + " depends on the program",
                     "mount resctrl with -o mba_MBps for absolute limits");
    case BandwidthUnit::kMebibyte:
      return static_cast<std::uint64_t>(std::llround(bytes_per_second / kMebibyte));
    case BandwidthUnit::kEighthGb:
      break;
  }
  return static_cast<std::uint64_t>(std::llround(bytes_per_second / kEighthGb));
}

Result<std::uint64_t> rounded(const ResctrlResource& resource, std::uint64_t amount) {
  if (amount < resource.minimum || amount > resource.unlimited)
    return failure(fmt::format("{} of {} is out of range: {} to {}", amount, resource.name, resource.minimum,
                               resource.unlimited));
  const std::uint64_t up = (amount + resource.step - 1) / resource.step * resource.step;
  return std::min(up, resource.unlimited);
}

std::string describe(const ResctrlResource& resource, std::uint64_t amount) {
  if (amount >= resource.unlimited) return "no limit";
  switch (resource.unit) {
    case BandwidthUnit::kPercent:
      return fmt::format("{} %", amount);
    case BandwidthUnit::kMebibyte:
      return fmt::format("{} MiB/s", amount);
    case BandwidthUnit::kEighthGb:
      break;
  }
  return format_bandwidth(static_cast<double>(amount) * kEighthGb);
}

Error no_thermal_registers(const std::string& root) {
  const auto resctrl = read_resctrl(root);
  return {
      "this machine has no memory controller with thermal registers (Intel Xeon E5 of the Sandy Bridge, Ivy "
      "Bridge, "
      "Haswell and Broadwell generations have them)",
      resctrl ? "it has resctrl instead, mounted on " + resctrl->folder
              : "nor has it anything else that is ready for use: " + resctrl.error().message + " (" +
                    resctrl.error().hint + ")"};
}

}  // namespace nvmemu
