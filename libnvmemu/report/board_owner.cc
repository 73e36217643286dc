// SPDX-License-Identifier: Apache-2.0
#include "report/board_owner.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>
#include <sstream>
#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "base/folder_entries.h"
#include "base/read_file.h"
#include "storage/shared_storage.h"

namespace nvmemu {
namespace {

// The 22nd field of /proc/PID/stat (proc(5)); the second may hold blanks and brackets. Nothing: no such
// process, or none that is shown.
std::optional<std::uint64_t> start_ticks_of(const std::string& pid) {
  constexpr int kFieldsBetween = 19;
  const std::string text = read_text_or_nothing("/proc/" + pid + "/stat");
  const auto name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  std::string word;
  for (int i = 0; i < kFieldsBetween; ++i) fields >> word;
  std::uint64_t ticks = 0;
  return fields >> ticks ? std::optional(ticks) : std::nullopt;
}

std::uint64_t this_pid_namespace() {
  struct stat status {};
  return stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

// Its head, where the file is a board of this user's; nothing else of a file is believed.
std::optional<BoardHead> read_head(int folder, const char* name, std::size_t bytes) {
  const Descriptor file(openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (!file || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  if (status.st_uid != geteuid() || status.st_size != static_cast<off_t>(bytes)) return std::nullopt;
  BoardHead head{};
  if (pread(file.get(), &head, sizeof head, 0) != static_cast<ssize_t>(sizeof head)) return std::nullopt;
  if (head.magic != kBoardMagic || head.version != kBoardVersion) return std::nullopt;
  return head;
}

}  // namespace

BoardOwner this_process_as_owner() {
  return {this_pid_namespace(), start_ticks_of("self").value_or(0), static_cast<std::uint32_t>(getpid())};
}

bool is_gone(const BoardOwner& owner) {
  if (owner.pid_namespace == 0 || owner.start_ticks == 0) return false;  // it did not know itself
  if (owner.pid_namespace != this_pid_namespace()) return false;
  if (!start_ticks_of("self")) return false;  // nothing can be known here
  return start_ticks_of(std::to_string(owner.pid)) != owner.start_ticks;
}

void sweep_boards(const char* directory, std::size_t bytes) {
  for_each_entry(directory, [bytes](int folder, const char* entry) {
    const std::string_view name = entry;
    if (!name.starts_with(kBoardPrefix) || !name.ends_with(kBoardSuffix)) return;
    const auto head = read_head(folder, entry, bytes);
    if (!head || !is_gone(head->owner)) return;
    unlinkat(folder, entry, 0);
    unlinkat(folder, (std::string(name) + kStorageSuffix).c_str(), 0);
  });
}

}  // namespace nvmemu
