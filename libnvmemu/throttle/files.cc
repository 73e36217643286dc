// SPDX-License-Identifier: Apache-2.0
#include "throttle/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/descriptor.h"
#include "base/output_file.h"
#include "base/ownership.h"
#include "base/quote.h"
#include "base/read_file.h"

namespace nvmemu {
namespace {

bool is_refusal(int error) { return error == EACCES || error == EPERM || error == EROFS; }

tl::unexpected<Error> system_failure(const std::string& what, const std::string& path) {
  const int error = errno;
  return failure(what + " " + printable(path) + ": " + std::strerror(error),
                 is_refusal(error) ? "run it as root" : "");
}

Result<void> with_mend(Result<void> done) {
  if (!done && is_refusal(errno)) done.error().hint = "run it as root";
  return done;
}

Result<void> synchronize_folder(const std::string& folder) {
  const Descriptor file(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!file) return system_failure("cannot open", folder);
  if (fsync(file.get()) != 0) return system_failure("cannot synchronise", folder);
  return {};
}

}  // namespace

std::optional<std::string> read_file(const std::string& path) {
  Result<std::string> text = read_whole_file(path, kMostOfSmallFile);
  if (!text) return std::nullopt;
  return std::move(*text);
}

Result<void> write_durably(const std::string& path, std::string_view text, const StepHook& step) {
  if (auto made = with_mend(make_folders(folder_of(path), 0755)); !made) return made;
  return with_mend(write_whole_file(
      path, text, {.mode = 0600, .follow_links = false, .is_durable = true, .after_step = step}));
}

Result<void> remove_durably(const std::string& path, const StepHook& step) {
  if (unlink(path.c_str()) != 0) {
    if (errno == ENOENT) return {};
    return system_failure("cannot remove", path);
  }
  after_step(step, "removed " + path);
  return synchronize_folder(folder_of(path));
}

}  // namespace nvmemu
