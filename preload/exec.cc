// SPDX-License-Identifier: Apache-2.0
// Interposed: how a process becomes another program, or starts one. What is owed is paid before; the other
// program is emulated too, whatever environment it is given; and the board has its name, should the library
// not get into it.
#include <alloca.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/raw_syscall.h"
#include "edge.h"
#include "host/elf_check.h"
#include "inheritance.h"
#include "runtime.h"

namespace nvmemu::preload {
namespace {

NVMEMU_HOOK(int, execve, (const char*, char* const[], char* const[]));
NVMEMU_HOOK(int, execvpe, (const char*, char* const[], char* const[]));
NVMEMU_HOOK(int, fexecve, (int, char* const[], char* const[]));
NVMEMU_HOOK(int, execveat, (int, const char*, char* const[], char* const[], int));
NVMEMU_HOOK(int, posix_spawn,
            (pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*, char* const[],
             char* const[]));
NVMEMU_HOOK(int, posix_spawnp,
            (pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*, char* const[],
             char* const[]));

// A program for another C library than glibc ends where it finds this one in its environment; one of 32 bits
// says so.
bool starts_without_library_only(int program) noexcept {
  struct stat status {};
  const bool is_file = !is_error(raw_syscall(SYS_fstat, program, &status)) && S_ISREG(status.st_mode);
  const ElfVerdict verdict = is_file ? check_elf_file(program) : ElfVerdict::kNotElf;
  raw_syscall(SYS_close, program);
  return verdict == ElfVerdict::kForeignLoader || verdict == ElfVerdict::k32Bit;
}
int opened(int folder, const char* path) noexcept {
  return static_cast<int>(raw_syscall(SYS_openat, folder, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}
int copied(int fd) noexcept { return static_cast<int>(raw_syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 0)); }

// As execvp(3) finds it.
int opened_on_path(const char* name) noexcept {
  const char* const folders = getenv("PATH");
  if (std::strchr(name, '/') != nullptr || folders == nullptr) return opened(AT_FDCWD, name);
  char path[PATH_MAX];
  for (const char* folder = folders; folder != nullptr;) {
    const char* const end = strchrnul(folder, ':');
    const int bytes = static_cast<int>(end - folder);
    const int length =
        std::snprintf(path, sizeof path, "%.*s%s%s", bytes, folder, bytes > 0 ? "/" : "", name);
    const bool is_whole = length > 0 && static_cast<std::size_t>(length) < sizeof path;
    if (const int fd = is_whole ? opened(AT_FDCWD, path) : -1; fd >= 0) return fd;
    folder = *end == ':' ? end + 1 : nullptr;
  }
  return -1;
}

// Calls `start(environment)` with the environment as the program, which `open()` opens if it can, needs it,
// on this stack: the heap may not be touched here.
template <typename Open, typename Start>
int with_environment(const Open& open, char* const environment[], const Start& start) {
  if (!Runtime::get().active()) return start(environment);
  const bool starts_without = starts_without_library_only(open());
  const EnvironmentRoom room = room_for(environment);
  auto* pointers = static_cast<char**>(alloca(room.pointers * sizeof(char*)));
  auto* characters = static_cast<char*>(alloca(room.characters));
  return start(starts_without ? without_library(environment, pointers, characters)
                              : complete_environment(environment, pointers, characters));
}

// Becomes `program` by `start`, which returns only if that fails.
template <typename Open, typename Start>
int become(const char* program, const Open& open, char* const environment[], const Start& start) {
  this_thread().end_epoch();  // without effect in the child of a vfork
  BoardProcess* expected = Runtime::get().expect_program(program, getpid(), getppid(), false);
  const int result = with_environment(open, environment, start);
  Runtime::get().forget_program(expected);
  return result;
}

template <typename Spawn, typename Open>
int spawn(Spawn& real, pid_t* pid, const char* program, const Open& open,
          const posix_spawn_file_actions_t* actions, const posix_spawnattr_t* attributes,
          char* const arguments[], char* const environment[]) {
  this_thread().reach_edge(reinterpret_cast<const void*>(&real));
  pid_t child = 0;
  const int error = with_environment(open, environment, [&](char* const completed[]) {
    return real(&child, program, actions, attributes, arguments, completed);
  });
  if (error == 0) {
    Runtime::get().expect_program(program, child, getpid(), true);
    if (pid != nullptr) *pid = child;
  }
  return error;
}

std::size_t count_arguments(va_list rest) {
  std::size_t count = 1;
  while (va_arg(rest, const char*) != nullptr) ++count;
  return count;
}

}  // namespace
}  // namespace nvmemu::preload

using namespace nvmemu::preload;

NVMEMU_EXPORT int execve(const char* path, char* const arguments[], char* const environment[]) noexcept {
  return become(
      path, [&] { return opened(AT_FDCWD, path); }, environment,
      [&](char* const completed[]) { return real_execve(path, arguments, completed); });
}
NVMEMU_EXPORT int execv(const char* path, char* const arguments[]) noexcept {
  return execve(path, arguments, environ);
}
NVMEMU_EXPORT int execvpe(const char* file, char* const arguments[], char* const environment[]) noexcept {
  return become(
      file, [&] { return opened_on_path(file); }, environment,
      [&](char* const completed[]) { return real_execvpe(file, arguments, completed); });
}
NVMEMU_EXPORT int execvp(const char* file, char* const arguments[]) noexcept {
  return execvpe(file, arguments, environ);
}
NVMEMU_EXPORT int fexecve(int fd, char* const arguments[], char* const environment[]) noexcept {
  return become(
      "(by descriptor)", [fd] { return copied(fd); }, environment,
      [&](char* const completed[]) { return real_fexecve(fd, arguments, completed); });
}
NVMEMU_EXPORT int execveat(int folder, const char* path, char* const arguments[], char* const environment[],
                           int flags) noexcept {
  return become(
      path, [&] { return opened(folder, path); }, environment,
      [&](char* const completed[]) { return real_execveat(folder, path, arguments, completed, flags); });
}

// The arguments as an array, on this stack; `after` reads what follows their end.
#define NVMEMU_EXEC_LIST(call)                                                 \
  va_list rest;                                                                \
  va_start(rest, argument);                                                    \
  const std::size_t count = count_arguments(rest);                             \
  va_end(rest);                                                                \
  auto** arguments = static_cast<char**>(alloca((count + 1) * sizeof(char*))); \
  va_start(rest, argument);                                                    \
  arguments[0] = const_cast<char*>(argument);                                  \
  for (std::size_t i = 1; i <= count; ++i) arguments[i] = va_arg(rest, char*); \
  const int result = call;                                                     \
  va_end(rest);                                                                \
  return result

NVMEMU_EXPORT int execl(const char* path, const char* argument, ...) noexcept {
  NVMEMU_EXEC_LIST(execve(path, arguments, environ));
}
NVMEMU_EXPORT int execlp(const char* file, const char* argument, ...) noexcept {
  NVMEMU_EXEC_LIST(execvpe(file, arguments, environ));
}
NVMEMU_EXPORT int execle(const char* path, const char* argument, ...) noexcept {
  NVMEMU_EXEC_LIST(execve(path, arguments, va_arg(rest, char* const*)));
}

NVMEMU_EXPORT int posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                              const posix_spawnattr_t* attributes, char* const arguments[],
                              char* const environment[]) {
  return spawn(
      real_posix_spawn, pid, path, [&] { return opened(AT_FDCWD, path); }, actions, attributes, arguments,
      environment);
}
NVMEMU_EXPORT int posix_spawnp(pid_t* pid, const char* file, const posix_spawn_file_actions_t* actions,
                               const posix_spawnattr_t* attributes, char* const arguments[],
                               char* const environment[]) {
  return spawn(
      real_posix_spawnp, pid, file, [&] { return opened_on_path(file); }, actions, attributes, arguments,
      environment);
}
