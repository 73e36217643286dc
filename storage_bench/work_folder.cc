// SPDX-License-Identifier: Apache-2.0
#include "storage_bench/work_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include "storage_bench/call_failure.h"
#include "storage_bench/remove_files.h"

namespace nvmemu::storage_bench {
namespace {

constexpr std::string_view kPrefix = "nvmemu-bench-storage-";
constexpr std::string_view kMarkText = "nvmemu bench storage: it is removed by the next run\n";
constexpr std::string_view kKeptText = "nvmemu bench storage: kept\n";

std::string mark_of(const std::string& folder) { return folder + "/" + kMarkName; }

bool write_mark(int fd, std::string_view text) {
  return ftruncate(fd, 0) == 0 &&
         pwrite(fd, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
}

bool is_own_folder(const std::string& folder) {
  struct stat status {};
  return lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid();
}

bool says_left(int fd) {
  struct stat status {};
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid()) return false;
  std::array<char, 128> text{};
  const ssize_t length = pread(fd, text.data(), text.size(), 0);
  return length > 0 && std::string_view(text.data(), static_cast<std::size_t>(length)) == kMarkText;
}

// Holding its lock, so that of two runs that start at once only one removes it.
bool is_left(const std::string& folder, Descriptor& mark) {
  if (!is_own_folder(folder)) return false;
  mark = Descriptor(open(mark_of(folder).c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  return mark && flock(mark.get(), LOCK_EX | LOCK_NB) == 0 && says_left(mark.get());
}

std::vector<std::string> folders_of_runs(const std::string& directory) {
  std::vector<std::string> folders;
  DIR* const entries = opendir(directory.c_str());
  if (entries == nullptr) return folders;
  while (const dirent* entry = readdir(entries)) {
    if (std::string_view(entry->d_name).starts_with(kPrefix))
      folders.push_back(directory + "/" + entry->d_name);
  }
  closedir(entries);
  std::ranges::sort(folders);
  return folders;
}

std::string absolute(const std::string& directory) {
  char* const resolved = realpath(directory.c_str(), nullptr);
  if (resolved == nullptr) return {};
  std::string path(resolved);
  std::free(resolved);
  return path;
}

}  // namespace

Result<WorkFolder> WorkFolder::make(const std::string& directory) {
  std::string path = absolute(directory);
  if (path.empty()) return call_failure("use", directory, errno);
  path += "/" + std::string(kPrefix) + "XXXXXX";
  if (mkdtemp(path.data()) == nullptr) return call_failure("make a folder in", directory, errno);
  Descriptor mark(open(mark_of(path).c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  // Another run may hold it for as long as it looks. Without locks (some network file systems) a folder is as
  // good, and is not removed by another run.
  if (mark) static_cast<void>(flock(mark.get(), LOCK_EX));
  if (mark && write_mark(mark.get(), kMarkText)) return WorkFolder(std::move(path), std::move(mark));
  auto failed = call_failure("write", mark_of(path), errno);
  unlink(mark_of(path).c_str());
  rmdir(path.c_str());
  return failed;
}

WorkFolder::WorkFolder(WorkFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})), mark_(std::move(other.mark_)) {}

WorkFolder::~WorkFolder() { static_cast<void>(remove()); }

Result<void> WorkFolder::remove() {
  if (path_.empty()) return {};
  return remove_folder(std::exchange(path_, {}));
}

Result<void> WorkFolder::keep() {
  if (!write_mark(mark_.get(), kKeptText)) return call_failure("write", mark_of(path_), errno);
  path_.clear();
  return {};
}

Leftovers remove_leftovers(const std::string& directory) {
  Leftovers leftovers;
  for (const std::string& folder : folders_of_runs(directory)) {
    Descriptor mark;
    if (!is_left(folder, mark)) continue;
    if (const auto removed = remove_folder(folder); !removed) {
      leftovers.failed.push_back(removed.error());
    } else {
      leftovers.removed.push_back(folder);
    }
  }
  return leftovers;
}

}  // namespace nvmemu::storage_bench
