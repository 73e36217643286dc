// SPDX-License-Identifier: Apache-2.0
#include "throttle/pci_config.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/log.h"
#include "throttle/files.h"

extern "C" {
#include <pci/pci.h>
}

namespace nvmemu {
namespace {

constexpr std::size_t kLongestFolder = 900;  // libpci ends the process above 1023, file names included
constexpr const char* kRootHint = "run it as root: the configuration space is root's (CAP_SYS_ADMIN)";

// What libpci last warned of, for the error that follows.
std::string& last_warning() {
  static std::string warning;
  return warning;
}

[[gnu::format(printf, 1, 2)]] void keep_warning(char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  last_warning() = text;
}

// libpci calls it where it cannot go on, and it must not return. What gets here is a lack of memory:
// everything else was looked at before. The recovery file, which is written first, sees to it that nothing
// stays throttled.
[[gnu::noreturn, gnu::format(printf, 1, 2)]] void end_process(char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  log_warning(std::string("libpci: ") + text);
  _exit(125);
}

[[gnu::format(printf, 1, 2)]] void ignore(char*, ...) {}

// One device of libpci's, for one access.
class Handle {
 public:
  Handle(pci_access* access, const PciAddress& at)
      : device_(pci_get_dev(access, static_cast<int>(at.domain), static_cast<int>(at.bus),
                            static_cast<int>(at.device), static_cast<int>(at.function))) {
    last_warning().clear();
  }
  ~Handle() { pci_free_dev(device_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  pci_dev* get() const { return device_; }

 private:
  pci_dev* device_;
};

std::string because(std::string_view otherwise) {
  return last_warning().empty() ? std::string(otherwise) : last_warning();
}

// "0x8086\n" and the like.
std::optional<int> number_in(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return std::nullopt;
  char* end = nullptr;
  const long value = std::strtol(text->c_str(), &end, 0);
  if (end == text->c_str() || value < -1 || value > 0xffff) return std::nullopt;
  return static_cast<int>(value);
}

template <typename Number>
bool take_hex(std::string_view& text, Number& value, char separator) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (separator == '\0') return text.empty();
  if (!text.starts_with(separator)) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::string to_text(const PciAddress& address) {
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", address.domain, address.bus, address.device,
                     address.function);
}

std::optional<PciAddress> parse_pci_address(std::string_view text) {
  PciAddress address;
  if (!take_hex(text, address.domain, ':') || !take_hex(text, address.bus, ':') ||
      !take_hex(text, address.device, '.') || !take_hex(text, address.function, '\0'))
    return std::nullopt;
  if (address.domain > 0x7fffffff || address.bus > 0xff || address.device > 0x1f || address.function > 7)
    return std::nullopt;
  return address;
}

void PciConfig::Cleanup::operator()(pci_access* access) const { pci_cleanup(access); }

Result<PciConfig> PciConfig::open(const std::string& root) {
  std::string folder = root + "/sys/bus/pci";
  if (folder.size() > kLongestFolder) return failure("the path is too long: " + folder);
  std::unique_ptr<pci_access, Cleanup> access(pci_alloc());
  access->method = PCI_ACCESS_SYS_BUS_PCI;
  access->writeable = 0;  // opened for writing when it is written: reading must work where writing is refused
  access->error = end_process;
  access->warning = keep_warning;
  access->debug = ignore;
  char parameter[] = "sysfs.path";
  pci_set_param(access.get(), parameter, folder.data());
  pci_init(access.get());
  return PciConfig(std::move(folder), std::move(access));
}

std::string PciConfig::file(const PciAddress& address, std::string_view name) const {
  return fmt::format("{}/devices/{}/{}", folder_, to_text(address), name);
}

Result<std::vector<PciDevice>> PciConfig::devices() const {
  std::vector<PciDevice> found;
  const std::string folder = folder_ + "/devices";
  DIR* entries = opendir(folder.c_str());
  if (entries == nullptr) {
    if (errno == ENOENT) return found;
    return failure("cannot open " + folder + ": " + std::strerror(errno));
  }
  while (const dirent* entry = readdir(entries)) {
    const auto address = parse_pci_address(entry->d_name);
    if (!address) continue;
    const auto vendor = number_in(file(*address, "vendor"));
    const auto device = number_in(file(*address, "device"));
    if (!vendor || !device || *vendor < 0 || *device < 0) continue;  // on its way out, or none of ours
    found.push_back({*address, static_cast<std::uint16_t>(*vendor), static_cast<std::uint16_t>(*device)});
  }
  closedir(entries);
  std::sort(found.begin(), found.end(),
            [](const PciDevice& a, const PciDevice& b) { return a.address < b.address; });
  return found;
}

bool PciConfig::is_present(const PciAddress& address) const {
  return access(file(address, "config").c_str(), F_OK) == 0;
}

// Beyond the end of a short file libpci reads ones, and writes make it longer.
Result<void> PciConfig::check_size(const PciAddress& address, int end) const {
  struct stat status {};
  const std::string path = file(address, "config");
  if (stat(path.c_str(), &status) != 0)
    return failure("PCI device " + to_text(address) + " is gone: " + path + ": " + std::strerror(errno));
  if (status.st_size >= end) return {};
  return failure(
      fmt::format("{} has {} bytes, and {} are needed: the extended configuration space is missing", path,
                  static_cast<long long>(status.st_size), end),
      "boot the kernel without pci=nommconf; virtual machines seldom have it");
}

Result<void> PciConfig::read(const PciAddress& address, int offset, std::uint8_t* to, int bytes) const {
  if (auto fits = check_size(address, offset + bytes); !fits) return fits;
  const Handle handle(access_.get(), address);
  if (pci_read_block(handle.get(), offset, to, bytes) != 0) return {};
  return failure(fmt::format("cannot read the PCI configuration of {} at {:#x}: {}", to_text(address), offset,
                             because("the kernel shows only its first bytes")),
                 kRootHint);
}

Result<std::uint16_t> PciConfig::read_word(const PciAddress& address, int offset) const {
  std::uint8_t bytes[2];
  if (auto done = read(address, offset, bytes, sizeof bytes); !done) return tl::unexpected(done.error());
  return static_cast<std::uint16_t>(bytes[0] | bytes[1] << 8);
}

Result<std::uint32_t> PciConfig::read_long(const PciAddress& address, int offset) const {
  std::uint8_t bytes[4];
  if (auto done = read(address, offset, bytes, sizeof bytes); !done) return tl::unexpected(done.error());
  return static_cast<std::uint32_t>(bytes[0]) | static_cast<std::uint32_t>(bytes[1]) << 8 |
         static_cast<std::uint32_t>(bytes[2]) << 16 | static_cast<std::uint32_t>(bytes[3]) << 24;
}

Result<void> PciConfig::write_word(const PciAddress& address, int offset, std::uint16_t value) const {
  if (auto fits = check_size(address, offset + 2); !fits) return fits;
  {
    const Handle handle(access_.get(), address);
    if (pci_write_word(handle.get(), offset, value) == 0)
      return failure(fmt::format("cannot write the PCI configuration of {} at {:#x}: {}", to_text(address),
                                 offset, because("the kernel refused")),
                     "run it as root; a kernel in lockdown (secure boot) refuses root too: see "
                     "/sys/kernel/security/lockdown");
  }
  const auto now = read_word(address, offset);
  if (!now) return tl::unexpected(now.error());
  if (*now == value) return {};
  return failure(fmt::format("PCI device {} at {:#x}: wrote {:#06x}, and it reads {:#06x}", to_text(address),
                             offset, value, *now),
                 "the firmware may have locked the register");
}

Result<void> PciConfig::check_writable(const PciAddress& address) const {
  const std::string path = file(address, "config");
  const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);  // changes nothing
  if (fd < 0) {
    const int error = errno;
    if (error == ENOENT) return failure("PCI device " + to_text(address) + " is gone");
    return failure(
        "cannot open " + path + " for writing: " + std::strerror(error),
        error == EROFS ? "a container: give it a writable /sys, or run it on the host" : kRootHint);
  }
  close(fd);
  return {};
}

int PciConfig::numa_node(const PciAddress& address) const {
  return number_in(file(address, "numa_node")).value_or(-1);
}

}  // namespace nvmemu
