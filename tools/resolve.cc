// SPDX-License-Identifier: Apache-2.0
#include "resolve.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <sstream>

#include "base/descriptor.h"
#include "base/read_file.h"
#include "host/elf_check.h"
#include "shebang.h"

namespace nvmemu {
namespace {

constexpr int kDeepestScript = 4;  // the kernel's own limit
constexpr std::size_t kScriptHeadBytes =
    256;  // as much of the first line as the kernel reads (BINPRM_BUF_SIZE)
constexpr const char* kDefaultPath = "/usr/local/bin:/usr/bin:/bin";

using Resolved = tl::expected<std::string, Refusal>;

tl::unexpected<Refusal> refuse(ExitStatus exit_status, std::string message, std::string hint = {}) {
  return tl::unexpected(Refusal{exit_status, {std::move(message), std::move(hint)}});
}

bool is_directory(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

bool is_executable_file(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) == 0;
}

Resolved find_by_path(const std::string& path) {
  if (is_executable_file(path)) return path;
  if (is_directory(path)) return refuse(kNotExecutable, path + " is a directory");
  if (access(path.c_str(), F_OK) == 0) {
    return refuse(kNotExecutable, path + " is not executable", "make it so: chmod +x " + path);
  }
  const int error = errno;
  return refuse(error == EACCES ? kNotExecutable : kNotFound, path + ": " + std::strerror(error));
}

Resolved find_in_path(const std::string& name) {
  const char* variable = std::getenv("PATH");
  std::istringstream directories(variable == nullptr ? kDefaultPath : variable);
  std::string not_executable;
  for (std::string directory; std::getline(directories, directory, ':');) {
    const std::string path = (directory.empty() ? "." : directory) + "/" + name;
    if (is_executable_file(path)) return path;
    if (not_executable.empty() && access(path.c_str(), F_OK) == 0 && !is_directory(path))
      not_executable = path;
  }
  if (!not_executable.empty()) {
    return refuse(kNotExecutable, not_executable + " is not executable",
                  "make it so: chmod +x " + not_executable);
  }
  return refuse(kNotFound, name + ": command not found", "give its path, or add its directory to PATH");
}

Resolved find_command(const std::string& command) {
  if (command.empty()) return refuse(kNotFound, "the command is empty");
  return command.find('/') == std::string::npos ? find_in_path(command) : find_by_path(command);
}

// The dynamic loader ignores LD_PRELOAD in programs that change who they run as.
std::optional<Refusal> check_privileges(const std::string& path) {
  const std::string copy_hint = "run a copy of it, which has not: cp " + path + " COPY";
  struct stat status {};
  if (stat(path.c_str(), &status) == 0) {
    if ((status.st_mode & S_ISUID) != 0) {
      return Refusal{kNvmemuFailed, {path + " is set-user-id: nothing can be preloaded into it", copy_hint}};
    }
    // Without the group's x bit, it once meant mandatory locking.
    if ((status.st_mode & S_ISGID) != 0 && (status.st_mode & S_IXGRP) != 0) {
      return Refusal{kNvmemuFailed, {path + " is set-group-id: nothing can be preloaded into it", copy_hint}};
    }
  }
  if (getxattr(path.c_str(), "security.capability", nullptr, 0) > 0) {
    return Refusal{kNvmemuFailed,
                   {path + " has file capabilities: nothing can be preloaded into it", copy_hint}};
  }
  return std::nullopt;
}

std::string read_head(int fd) {
  std::array<char, kScriptHeadBytes> head{};
  const ssize_t got = pread(fd, head.data(), head.size(), 0);
  return got > 0 ? std::string(head.data(), static_cast<std::size_t>(got)) : std::string();
}

std::optional<Refusal> check_file(const std::string& path, int depth);

std::optional<Refusal> check_interpreter(const std::string& script, const Shebang& shebang, int depth) {
  const auto explain_script = [&script](Refusal refusal) {
    refusal.error.message =
        script + " is a script, and its interpreter cannot be used: " + refusal.error.message;
    return refusal;
  };
  if (depth >= kDeepestScript) {
    return Refusal{kNotExecutable,
                   {script + ": too many scripts that interpret scripts (exec format error)", {}}};
  }
  const Resolved interpreter = find_by_path(shebang.interpreter);
  if (shebang.interpreter.empty()) {
    return Refusal{kNotExecutable, {script + " names no interpreter after #! (exec format error)", {}}};
  }
  // That the command itself is there is known: an interpreter that is not makes it one that cannot be
  // executed.
  if (!interpreter) return explain_script({kNotExecutable, interpreter.error().error});
  if (auto refusal = check_file(*interpreter, depth + 1)) return explain_script(*refusal);

  const bool is_env = shebang.interpreter.substr(shebang.interpreter.rfind('/') + 1) == "env";
  const std::string name = is_env ? command_of_env(shebang.argument) : std::string();
  if (name.empty()) return std::nullopt;
  const Resolved named = find_command(name);
  if (!named) return explain_script(named.error());
  if (auto refusal = check_file(*named, depth + 1)) return explain_script(*refusal);
  return std::nullopt;
}

std::optional<Refusal> check_file(const std::string& path, int depth) {
  const Result<Descriptor> file = open_regular_file(path);
  if (!file) {
    // It may be executed, but not read: then it can only be tried.
    return errno == EACCES ? check_privileges(path)
                           : std::optional(Refusal{kNotExecutable, {path + ": " + std::strerror(errno), {}}});
  }
  if (const auto shebang = parse_shebang(read_head(file->get())))
    return check_interpreter(path, *shebang, depth);

  const ElfVerdict verdict = check_elf_file(file->get());
  switch (verdict) {
    case ElfVerdict::kPreloadable:
      return check_privileges(path);
    case ElfVerdict::kNotElf:
    case ElfVerdict::kBroken:
    case ElfVerdict::kNotExecutable:
      return Refusal{kNotExecutable, {path + " " + explain(verdict), {}}};
    default:
      return Refusal{kNvmemuFailed, {path + " " + explain(verdict), {}}};
  }
}

}  // namespace

Resolved resolve_command(const std::string& command) {
  Resolved path = find_command(command);
  if (!path) return path;
  if (auto refusal = check_file(*path, 0)) return tl::unexpected(*std::move(refusal));
  return path;
}

}  // namespace nvmemu
