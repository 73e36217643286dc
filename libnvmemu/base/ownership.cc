// SPDX-License-Identifier: Apache-2.0
#include "base/ownership.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/descriptor.h"
#include "base/quote.h"

namespace nvmemu {
namespace {

// No link is followed: what lies in a user's folder may be replaced by the user meanwhile.
bool make_folder(const std::string& folder, unsigned mode) {
  if (mkdir(folder.c_str(), mode) != 0) return errno == EEXIST;
  if (geteuid() != 0) return true;
  const Descriptor made(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (made) give_to_owner_of(folder_of(folder), made.get());
  return true;
}

}  // namespace

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

void give_to_owner_of(const std::string& folder, int fd) noexcept {
  struct stat status {};
  if (geteuid() != 0 || stat(folder.c_str(), &status) != 0 || status.st_uid == 0) return;
  static_cast<void>(!fchown(fd, status.st_uid, status.st_gid));
}

Result<void> make_folders(const std::string& folder, unsigned mode) {
  for (auto end = folder.find('/', 1); end != std::string::npos; end = folder.find('/', end + 1))
    make_folder(folder.substr(0, end), mode);  // what matters is whether the last one can be made
  if (make_folder(folder, mode)) return {};
  const int error = errno;
  auto failed = failure("cannot create " + printable(folder) + ": " + std::strerror(error));
  errno = error;
  return failed;
}

}  // namespace nvmemu
