// SPDX-License-Identifier: Apache-2.0
#include "throttle/resctrl_group.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/log.h"
#include "base/text.h"
#include "throttle/files.h"

namespace nvmemu {
namespace {

constexpr std::string_view kPrefix = "nvmemu-";

// What failed, with what resctrl itself says of its last command.
tl::unexpected<Error> refused(const Resctrl& resctrl, const std::string& what, int error) {
  const std::string status = read_file(resctrl.folder + "/info/last_cmd_status").value_or("");
  const std::string_view said = trimmed(status);
  std::string message = what + ": " + std::strerror(error);
  if (!said.empty() && said != "ok") message.append(" (resctrl says: ").append(said).append(")");
  const char* hint = "";
  if (error == EACCES || error == EPERM || error == EROFS) hint = "run it as root";
  if (error == ENOSPC)
    hint = "all classes of service are taken: remove a group of /sys/fs/resctrl with rmdir";
  return failure(std::move(message), hint);
}

// One write(2), for each is one command. 0, or what failed.
int write_command(const std::string& path, std::string_view text, int flags) {
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC | flags);
  if (file < 0) return errno;
  const ssize_t written = write(file, text.data(), text.size());
  const int error = written < 0 ? errno : 0;
  close(file);
  return error != 0 ? error : written == static_cast<ssize_t>(text.size()) ? 0 : EIO;
}

// The process that a group's name is of; 0: none of ours.
pid_t owner_of(std::string_view name) {
  if (!name.starts_with(kPrefix)) return 0;
  return static_cast<pid_t>(std::strtol(std::string(name.substr(kPrefix.size())).c_str(), nullptr, 10));
}

void remove_leftovers(const Resctrl& resctrl, const StepHook& step) {
  std::vector<std::string> leftovers;
  DIR* entries = opendir(resctrl.folder.c_str());
  if (entries == nullptr) return;
  while (const dirent* entry = readdir(entries)) {
    const pid_t owner = owner_of(entry->d_name);
    if (owner > 0 && (owner == getpid() || (kill(owner, 0) != 0 && errno == ESRCH)))
      leftovers.push_back(resctrl.folder + "/" + entry->d_name);
  }
  closedir(entries);
  for (const std::string& folder : leftovers) {
    after_step(step, "removing " + folder);
    rmdir(folder.c_str());
  }
}

}  // namespace

Result<std::unique_ptr<ResctrlGroup>> ResctrlGroup::create(const Resctrl& resctrl, StepHook step) {
  remove_leftovers(resctrl, step);
  const std::string folder = fmt::format("{}/{}{}", resctrl.folder, kPrefix, getpid());
  if (mkdir(folder.c_str(), 0755) != 0) return refused(resctrl, "cannot make the group " + folder, errno);
  std::unique_ptr<ResctrlGroup> group(new ResctrlGroup(resctrl, folder, std::move(step)));
  after_step(group->step_, "made " + folder);
  return group;
}

ResctrlGroup::~ResctrlGroup() {
  if (const auto removed = remove(); !removed) log_warning(removed.error().message);
}

Result<std::uint64_t> ResctrlGroup::limit(std::string_view name, int domain, std::uint64_t amount) {
  const ResctrlResource* resource = resctrl_.find(name);
  if (resource == nullptr) return failure("resctrl has no " + std::string(name) + " here");
  const auto wanted = rounded(*resource, amount);
  if (!wanted) return wanted;
  const std::string path = folder_ + "/schemata";
  const auto current = [&path, name] { return parse_schemata(read_file(path).value_or(""), name); };
  const auto in_domain = [domain](const DomainLimit& limit) { return limit.domain == domain; };

  auto limits = current();
  if (!limits) return failure(path + ": " + limits.error().message);
  const auto at = std::find_if(limits->begin(), limits->end(), in_domain);
  if (at == limits->end()) {
    std::vector<int> domains;
    for (const DomainLimit& limit : *limits) domains.push_back(limit.domain);
    return failure(fmt::format("{} has no domain {}", name, domain),
                   fmt::format("it has: {}", fmt::join(domains, ", ")));
  }
  at->amount = *wanted;
  const std::string line = schemata_line(name, *limits);
  if (const int error = write_command(path, line, O_TRUNC); error != 0)
    return refused(resctrl_, "cannot write " + std::string(trimmed(line)) + " to " + path, error);
  after_step(step_, "limited " + path);
  limits = current();
  if (!limits) return failure(path + ": " + limits.error().message);
  const auto now = std::find_if(limits->begin(), limits->end(), in_domain);
  if (now == limits->end()) return failure(path + " has lost domain " + std::to_string(domain));
  return now->amount;
}

Result<bool> ResctrlGroup::add_thread(pid_t tid) {
  const std::string path = folder_ + "/tasks";
  const int error = write_command(path, std::to_string(tid) + "\n", O_APPEND);
  if (error == 0) {
    after_step(step_, "added " + std::to_string(tid));
    return true;
  }
  if (error == ESRCH) return false;
  return refused(resctrl_, fmt::format("cannot write thread {} to {}", tid, path), error);
}

Result<void> ResctrlGroup::remove() {
  if (folder_.empty()) return {};
  after_step(step_, "removing " + folder_);
  if (rmdir(folder_.c_str()) != 0 && errno != ENOENT)
    return refused(resctrl_, "cannot remove the group " + folder_, errno);
  folder_.clear();
  return {};
}

}  // namespace nvmemu
