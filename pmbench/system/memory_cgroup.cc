// SPDX-License-Identifier: Apache-2.0
#include "system/memory_cgroup.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <sstream>
#include <utility>

#include "base/units.h"
#include "system/kernel_files.h"

namespace nvmemu::pmbench {
namespace {

// Beside the set: the program, its metadata, page tables.
constexpr std::uint64_t kProgramBytes = std::uint64_t{16} << 20;

struct Hierarchy {
  bool is_v2 = false;
  std::string mount;
  std::string home;  // this process's group: a folder in or below the mount

  const char* limit_file() const { return is_v2 ? "memory.max" : "memory.limit_in_bytes"; }
};

bool has_word(std::string_view list, std::string_view word, char separator) {
  std::istringstream words{std::string(list)};
  for (std::string one; std::getline(words, one, separator);) {
    if (one == word) return true;
  }
  return false;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// The group's folder; the mount itself where that shows only a part of the hierarchy, as in a container.
std::string home_in(const std::string& mount, const std::string& group, CgroupFiles& files) {
  const std::string folder = group == "/" ? mount : mount + group;
  return files.is_folder(folder) ? folder : mount;
}

// The group of this process in the hierarchy of version 2 ("0::/a/b") or of the controller "memory" of
// version 1 ("4:memory:/a/b").
std::string own_group(std::string_view text, bool is_v2) {
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (is_v2 ? line.starts_with("0::") : has_word(controllers, "memory", ','))
      return line.substr(second + 1);
  }
  return "/";
}

std::optional<Hierarchy> find_hierarchy(CgroupFiles& files) {
  const std::string groups = files.read("/proc/self/cgroup");
  std::istringstream mounts(files.read("/proc/self/mounts"));
  std::optional<Hierarchy> found;
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    std::string device, mount, type, options;
    words >> device >> mount >> type >> options;
    const bool is_v2 =
        type == "cgroup2" && has_word(first_line(files.read(mount + "/cgroup.controllers")), "memory", ' ');
    const bool is_v1 = type == "cgroup" && has_word(options, "memory", ',');
    if (is_v2 || is_v1) found = Hierarchy{is_v2, mount, home_in(mount, own_group(groups, is_v2), files)};
    if (is_v2) break;
  }
  return found;
}

Result<void> check_swap(const CgroupRequest& request, CgroupFiles& files) {
  if (!request.needs_swap) return {};
  const KeyedNumbers memory = parse_keyed(files.read("/proc/meminfo"));
  if (number_of(memory, "SwapTotal") == 0) {
    return failure("--memory-limit: this machine has no swap: what is over the limit has nowhere to go",
                   "make some: mkswap and swapon a partition, a file or /dev/zram0");
  }
  const std::uint64_t needed_bytes = request.set_bytes + kProgramBytes;
  const std::uint64_t free_bytes = number_of(memory, "SwapFree") << 10;
  if (needed_bytes > request.limit_bytes && needed_bytes - request.limit_bytes > free_bytes) {
    return failure(fmt::format("--memory-limit: {} are over the limit, and only {} of swap are free",
                               format_size(needed_bytes - request.limit_bytes), format_size(free_bytes)),
                   "add swap, or choose a smaller -s or a higher limit");
  }
  return {};
}

// Version 2: children have the controllers that their parent hands on. Only the root may hand on controllers
// and have processes itself, so that the group must often be made beside this process's, or higher.
bool hands_memory_on(const std::string& parent, CgroupFiles& files) {
  const std::string control = parent + "/cgroup.subtree_control";
  return has_word(first_line(files.read(control)), "memory", ' ') || files.write(control, "+memory") == 0;
}

struct Made {
  std::string folder;
  int error = 0;
};

Made make_group(const Hierarchy& hierarchy, CgroupFiles& files) {
  const std::string name = fmt::format("/pmbench-{}", getpid());
  Made made{{}, EBUSY};
  for (std::string parent = hierarchy.home;; parent.erase(parent.rfind('/'))) {
    if (!hierarchy.is_v2 || hands_memory_on(parent, files)) {
      made.error = files.make_folder(parent + name);
      if (made.error == 0) return {parent + name, 0};
    }
    if (parent.size() <= hierarchy.mount.size() || !hierarchy.is_v2) return made;
  }
}

}  // namespace

// Version 1 has a number near 2^63 where it has none, version 2 "max".
std::optional<std::uint64_t> own_memory_limit(CgroupFiles& files) {
  constexpr std::uint64_t kNone = std::uint64_t{1} << 60;
  const std::optional<Hierarchy> hierarchy = find_hierarchy(files);
  if (!hierarchy) return std::nullopt;
  const KeyedNumbers limit =
      parse_keyed("limit " + files.read(hierarchy->home + "/" + hierarchy->limit_file()));
  const std::uint64_t bytes = number_of(limit, "limit");
  return limit.contains("limit") && bytes < kNone ? std::optional(bytes) : std::nullopt;
}

Result<MemoryCgroup> MemoryCgroup::create(const CgroupRequest& request, CgroupFiles& files) {
  if (const Result<void> checked = check_swap(request, files); !checked)
    return tl::unexpected(checked.error());
  const std::optional<Hierarchy> hierarchy = find_hierarchy(files);
  if (!hierarchy) {
    return failure("--memory-limit: no cgroup file system with a memory controller is mounted",
                   "as root: mount -t cgroup2 none /sys/fs/cgroup");
  }
  const Made made = make_group(*hierarchy, files);
  if (made.error != 0) {
    return failure(
        fmt::format("--memory-limit: cannot make a memory cgroup in {}: {}", hierarchy->home,
                    std::strerror(made.error)),
        "run it as root, or in a group of your own: systemd-run --user --scope -p Delegate=yes pmbench ...");
  }
  MemoryCgroup group(files, made.folder, hierarchy->home);
  if (const Result<void> entered = group.limit_and_enter(hierarchy->limit_file(), request.limit_bytes);
      !entered)
    return tl::unexpected(entered.error());
  return group;
}

Result<void> MemoryCgroup::limit_and_enter(const char* limit_file, std::uint64_t limit_bytes) {
  const std::pair<std::string, std::string> writes[] = {
      {folder_ + "/" + limit_file, std::to_string(limit_bytes)},
      {folder_ + "/cgroup.procs", std::to_string(getpid())}};
  for (const auto& [path, text] : writes) {
    if (const int error = files_->write(path, text); error != 0)
      return failure(
          fmt::format("--memory-limit: cannot write {} to {}: {}", text, path, std::strerror(error)),
          error == EACCES || error == EPERM ? "run it as root" : "");
  }
  return {};
}

MemoryCgroup::MemoryCgroup(MemoryCgroup&& other) noexcept
    : files_(std::exchange(other.files_, nullptr)),
      folder_(std::move(other.folder_)),
      home_(std::move(other.home_)) {}

MemoryCgroup::~MemoryCgroup() {
  if (files_ == nullptr) return;
  files_->write(home_ + "/cgroup.procs", std::to_string(getpid()));
  files_->remove_folder(folder_);
}

std::string RealCgroupFiles::read(const std::string& path) { return read_text(path); }

bool RealCgroupFiles::is_folder(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

int RealCgroupFiles::make_folder(const std::string& path) {
  if (caretaker_ != nullptr) caretaker_->will_make_group(path);
  return mkdir(path.c_str(), 0755) == 0 ? 0 : errno;
}

int RealCgroupFiles::remove_folder(const std::string& path) { return rmdir(path.c_str()) == 0 ? 0 : errno; }

int RealCgroupFiles::write(const std::string& path, std::string_view text) {
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return errno;
  const ssize_t written = ::write(fd, text.data(), text.size());
  const int error = written == static_cast<ssize_t>(text.size()) ? 0 : (written < 0 ? errno : EIO);
  close(fd);
  return error;
}

}  // namespace nvmemu::pmbench
