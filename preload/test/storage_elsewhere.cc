// SPDX-License-Identifier: Apache-2.0
// Names elsewhere, and what makes them names of files on storage, or of none. Each scenario begins with names
// that have just been found to be elsewhere.
#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>

#include "storage_calls.h"

namespace nvmemu::stored {
namespace {

// Beside the folder that the program was given.
std::string beside(const std::string& name) {
  return std::filesystem::path(path("").substr(0, path("").size() - 1)).parent_path() / name;
}

void touch(const std::string& name) {
  const int fd = open(name.c_str(), O_CREAT | O_EXCL | O_WRONLY, 0644);
  check(fd >= 0 && close(fd) == 0, name.c_str());
}

// Names in its folder are found to be elsewhere.
void make_and_remove(const std::string& name) {
  touch(name);
  check(unlink(name.c_str()) == 0, name.c_str());
}

void expect_by(const std::string& name, const std::string& text) {
  const int fd = open(name.c_str(), O_RDONLY);
  check(fd >= 0, name.c_str());
  expect_at(fd, text, 0);
  close(fd);
}

// Makes 40 times all kinds of names in a folder, and takes them away.
void change_names(const std::string& folder) {
  for (int i = 0; i < 40; ++i) {
    const std::string first = folder + "/x" + std::to_string(i), second = folder + "/y" + std::to_string(i);
    check(mkdir(first.c_str(), 0755) == 0 && rmdir(first.c_str()) == 0, "mkdir and rmdir");
    touch(first);
    check(rename(first.c_str(), second.c_str()) == 0 && unlink(second.c_str()) == 0, "rename and unlink");
  }
}

// Whether the system call that a traced process is about to make asks what a name, or a descriptor, is.
bool asks_for_names(pid_t process) {
  __ptrace_syscall_info info{};
  if (ptrace(PTRACE_GET_SYSCALL_INFO, process, sizeof info, &info) <= 0) return false;
  if (info.op != PTRACE_SYSCALL_INFO_ENTRY) return false;
  switch (info.entry.nr) {
    case SYS_readlinkat:
    case SYS_newfstatat:
    case SYS_fstat:
      return true;
    case SYS_openat:
      return (info.entry.args[2] & O_PATH) != 0;
    default:
      return false;
  }
}

// How often a stopped child that traces itself asks so until it ends.
long count_asking(pid_t child) {
  int status = 0;
  check(waitpid(child, &status, 0) == child && WIFSTOPPED(status), "a traced child");
  check(ptrace(PTRACE_SETOPTIONS, child, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL) == 0, "ptrace");
  constexpr int kCall = SIGTRAP | 0x80;
  long asking = 0, deliver = 0;
  while (true) {
    check(ptrace(PTRACE_SYSCALL, child, 0, deliver) == 0, "ptrace");
    check(waitpid(child, &status, 0) == child, "waitpid");
    if (!WIFSTOPPED(status)) break;
    deliver = WSTOPSIG(status) == kCall ? 0 : WSTOPSIG(status);
    if (deliver == 0 && asks_for_names(child)) ++asking;
  }
  check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the traced child");
  return asking;
}

}  // namespace

// In the folder that the program was given, which is elsewhere: of 200 calls on names those 80 ask the kernel
// for more than natively that take a name from a file, what that and the new name are; and where the folder
// is asked once in a tenth of a second.
void names_asked_for() {
  const Stopwatch stopwatch;
  const pid_t child = fork();
  if (child == 0) {
    check(ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0 && raise(SIGSTOP) == 0, "ptrace");
    change_names(path("d"));
    _exit(0);
  }
  const long asking = count_asking(child);
  long moments = 2;
  while (stopwatch.has_run_for(std::chrono::milliseconds(100 * (moments - 1)))) ++moments;
  std::fprintf(stderr, "asked %ld times in %ld moments\n", asking, moments);
  constexpr long kOfFiles = 40 * (2 + 1);  // of two names, and of one
  constexpr long kMostInAMoment =
      8;  // two, and what a child's beginning asks; without what is known, 500 in all
  check(asking <= kOfFiles + kMostInAMoment * moments, "names are asked for");
}

// What is no address is none here, either.
void names_that_are_no_addresses() {
  const std::string too_long(8192, 'x');
  check(unlink(too_long.c_str()) == -1 && errno == ENAMETOOLONG, "a path too long");
  for (const std::uintptr_t address : {std::uintptr_t{1}, std::uintptr_t{0x123456789000}}) {
    const char* const none = reinterpret_cast<const char*>(address);
    check(unlink(none) == -1 && errno == EFAULT && rmdir(none) == -1 && errno == EFAULT, "unlink, rmdir");
    check(rename(none, "x") == -1 && errno == EFAULT && rename("x", none) == -1 && errno == EFAULT, "rename");
    check(mkdir(none, 0755) == -1 && errno == EFAULT && chdir(none) == -1 && errno == EFAULT, "mkdir, chdir");
    check(symlink("x", none) == -1 && errno == EFAULT && link(path("x").c_str(), none) == -1, "links");
    check(open(none, O_RDONLY) == -1 && errno == EFAULT && truncate(none, 0) == -1 && errno == EFAULT,
          "open");
  }
}

// 5 commits, of names that have changed: in the working directory that was elsewhere; in a folder by the
// number of a descriptor that was elsewhere; and the folder's own name leads to it.
void names_here_after_all() {
  const std::string elsewhere = beside("other");
  check(mkdir(elsewhere.c_str(), 0755) == 0 && chdir(elsewhere.c_str()) == 0, "elsewhere");
  make_and_remove("a");
  const int folder = open(path("").c_str(), O_RDONLY | O_DIRECTORY);
  check(folder >= 0 && chdir(path("").c_str()) == 0, "here");
  touch("a");
  check(fsync(folder) == 0 && unlink("a") == 0 && fsync(folder) == 0, "by the working directory");

  int at = open(elsewhere.c_str(), O_RDONLY | O_DIRECTORY);
  const int number = at;
  check(mkdirat(at, "d", 0755) == 0 && unlinkat(at, "d", AT_REMOVEDIR) == 0 && close(at) == 0, "elsewhere");
  at = open(path("").c_str(), O_RDONLY | O_DIRECTORY);
  check(at == number && mkdirat(at, "d", 0755) == 0 && fsync(at) == 0, "by a descriptor");
  check(rmdir(path("d/").c_str()) == 0 && fsync(at) == 0, "with a slash behind");

  make_and_remove(beside("a"));
  const int own = open(path("").substr(0, path("").size() - 1).c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  check(mkdirat(own, "e", 0755) == 0 && fsync(own) == 0, "by its own name");
}

// Dirty pages of files that go elsewhere, and then altogether, are never written.
void files_that_leave() {
  const std::string elsewhere = beside("other"), page = contents(kPage);
  check(mkdir(elsewhere.c_str(), 0755) == 0, "mkdir");
  make_and_remove(elsewhere + "/a");
  write_at(make("a"), page, 0);
  check(rename(path("a").c_str(), (elsewhere + "/a").c_str()) == 0, "rename");
  check(unlink((elsewhere + "/a").c_str()) == 0, "unlink");
  write_at(make("b"), page, 0);
  check(link(path("b").c_str(), (elsewhere + "/b").c_str()) == 0 && unlink(path("b").c_str()) == 0, "link");
  check(unlink((elsewhere + "/b").c_str()) == 0, "unlink");
  sync();
}

// A link that is put in another's place leads here: 1 read of 4. By a path from the working directory, too: 1
// of 4.
void exchanged_links() {
  const std::string elsewhere = beside("other"), page = contents(kPage);
  check(mkdir(elsewhere.c_str(), 0755) == 0 && mkdir((elsewhere + "/v").c_str(), 0755) == 0, "mkdir");
  write_at(make("a"), page, 0);
  write_at(open((elsewhere + "/v/a").c_str(), O_CREAT | O_RDWR, 0644), page, 0);
  check(chdir(elsewhere.c_str()) == 0, "chdir");
  for (const std::string& prefix : {elsewhere + "/", std::string()}) {
    const std::string link = prefix + "link", next = prefix + "next";
    check(symlink((elsewhere + "/v").c_str(), link.c_str()) == 0, "symlink");
    for (int i = 0; i < 3; ++i) expect_by(link + "/a", page);
    check(symlink(path("").c_str(), next.c_str()) == 0 && rename(next.c_str(), link.c_str()) == 0,
          "exchange");
    expect_by(link + "/a", page);
    check(unlink(link.c_str()) == 0, "unlink");
  }
}

}  // namespace nvmemu::stored
