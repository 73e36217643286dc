// SPDX-License-Identifier: Apache-2.0
#include "throttle/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace nvmemu {
namespace {

constexpr std::size_t kLongest = std::size_t{1} << 20;

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

tl::unexpected<Error> system_failure(const std::string& what, const std::string& path) {
  const int error = errno;
  const bool refused = error == EACCES || error == EPERM || error == EROFS;
  return failure(what + " " + path + ": " + std::strerror(error), refused ? "run it as root" : "");
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

Result<void> synchronize_folder(const std::string& folder) {
  const int file = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return system_failure("cannot open", folder);
  const int status = fsync(file);
  const int error = errno;
  close(file);
  errno = error;
  if (status != 0) return system_failure("cannot synchronise", folder);
  return {};
}

Result<void> write_synchronized(const std::string& path, std::string_view text) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return system_failure("cannot create", path);
  const bool written = write_all(file, text) && fsync(file) == 0;
  const int error = errno;
  const bool closed = close(file) == 0;
  if (written && closed) return {};
  if (!written) errno = error;
  return system_failure("cannot write", path);
}

}  // namespace

std::optional<std::string> read_file(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  std::string text;
  std::array<char, 4096> buffer;
  ssize_t got = 0;
  while (text.size() <= kLongest && (got = read(file, buffer.data(), buffer.size())) != 0) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  const int error = errno;
  close(file);
  errno = text.size() > kLongest ? EFBIG : error;
  if (got < 0 || text.size() > kLongest) return std::nullopt;
  return text;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n\r";
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

Result<void> write_durably(const std::string& path, std::string_view text, const StepHook& step) {
  if (auto made = make_folders(folder_of(path)); !made) return made;
  const std::string temporary = path + ".new";  // one name: who writes holds the lock
  if (auto written = write_synchronized(temporary, text); !written) {
    unlink(temporary.c_str());
    return written;
  }
  after_step(step, "wrote " + temporary);
  if (rename(temporary.c_str(), path.c_str()) != 0) {
    const auto failed = system_failure("cannot replace", path);
    unlink(temporary.c_str());
    return failed;
  }
  after_step(step, "renamed to " + path);
  auto synchronized = synchronize_folder(folder_of(path));
  if (synchronized) after_step(step, "synchronised the folder of " + path);
  return synchronized;
}

Result<void> remove_durably(const std::string& path, const StepHook& step) {
  if (unlink(path.c_str()) != 0) {
    if (errno == ENOENT) return {};
    return system_failure("cannot remove", path);
  }
  after_step(step, "removed " + path);
  return synchronize_folder(folder_of(path));
}

Result<void> make_folders(const std::string& folder) {
  for (auto end = folder.find('/', 1); end != std::string::npos; end = folder.find('/', end + 1))
    mkdir(folder.substr(0, end).c_str(), 0755);  // what matters is whether the last one can be made
  if (mkdir(folder.c_str(), 0755) == 0 || errno == EEXIST) return {};
  return system_failure("cannot create", folder);
}

}  // namespace nvmemu
