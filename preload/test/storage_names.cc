// SPDX-License-Identifier: Apache-2.0
// Files by other names, and folders that do not stay.
#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "storage_calls.h"

namespace nvmemu::stored {
namespace {

int open_again(const std::string& name) {
  const int fd = open(name.c_str(), O_RDWR);
  check(fd >= 0, name.c_str());
  return fd;
}

// In a process that has not got it open.
void unlink_elsewhere(const char* name, int fd) {
  const pid_t child = fork();
  if (child == 0) {
    close(fd);
    _exit(unlink(path(name).c_str()) == 0 ? 0 : 1);
  }
  int status = 1;
  check(waitpid(child, &status, 0) == child && status == 0, "unlink by another process");
}

}  // namespace

// Of 4 reads of a page, 1 finds it absent: it was cut off, by a link's name. 4 commits: two of the file, of
// which the second is for the cut; two of the folder, each for names that have come or gone.
void links_and_folders() {
  const std::string page = contents(kPage), pages = contents(4 * kPage);
  const int fd = make("a");
  write_at(fd, pages, 0);
  check(fsync(fd) == 0, "fsync");
  check(symlink("a", path("link").c_str()) == 0, "symlink");
  check(truncate(path("link").c_str(), kPage) == 0 && truncate(path("link").c_str(), 4 * kPage) == 0,
        "truncate");
  expect_at(fd, std::string(kPage, '\0'), 2 * kPage);
  check(fsync(fd) == 0, "fsync");

  const int folder = open(path("").c_str(), O_RDONLY | O_DIRECTORY);
  check(folder >= 0 && fsync(folder) == 0, "fsync of a folder");
  check(mkdirat(folder, "d", 0755) == 0 && linkat(folder, "a", folder, "d/x", 0) == 0, "linkat");
  check(rename(path("d").c_str(), path("e").c_str()) == 0, "rename of a folder");
  check(fsync(folder) == 0 && fsync(folder) == 0, "fsync of a folder");

  const int moved = open_again(path("e/x"));
  expect_at(moved, page, 0);
  const int same = open_again("/proc/self/fd/" + std::to_string(moved));
  expect_at(same, page, 0);
  const int below = openat(folder, "e/x", O_RDONLY);
  check(below >= 0, "openat");
  expect_at(below, page, 0);
}

// What somebody has open stays in the page cache: 4 reads of pages that are there. Of the 4 files with dirty
// pages the two that are synced are written; what nobody can open again never is.
void files_that_stay() {
  const std::string page = contents(kPage);
  const int first = make("a"), second = make("b"), unnamed = make("c"), removed = make("d");
  for (const int fd : {first, second, unnamed, removed}) write_at(fd, page, 0);
  check(renameat2(AT_FDCWD, path("a").c_str(), AT_FDCWD, path("b").c_str(), RENAME_EXCHANGE) == 0,
        "exchange");
  check(rename(path("a").c_str(), path("a").c_str()) == 0, "rename to itself");
  check(unlink(path("c").c_str()) == 0, "unlink of an open file");
  unlink_elsewhere("d", removed);
  for (const int fd : {first, second, unnamed, removed}) expect_at(fd, page, 0);
  check(fdatasync(first) == 0 && fdatasync(second) == 0 && fdatasync(unnamed) == 0, "fdatasync");
}

// A commit of all, and one of a folder whose names have changed since.
void names_by_number() {
  make("z");
  check(syscall(SYS_sync) == 0, "sync by its number");
  check(syscall(SYS_renameat, AT_FDCWD, path("z").c_str(), AT_FDCWD, path("y").c_str()) == 0, "renameat");
  const int folder = open(path("").c_str(), O_RDONLY | O_DIRECTORY);
  check(folder >= 0 && fsync(folder) == 0, "fsync of a folder whose names have changed");
}

// A commit of the folder that opendir() has opened, for the name in it, and none the second time.
void opened_folder() {
  check(mkdir(path("d").c_str(), 0755) == 0, "mkdir");
  sync();
  make("d/x");
  DIR* const folder = opendir(path("d").c_str());
  check(folder != nullptr && fsync(dirfd(folder)) == 0 && fsync(dirfd(folder)) == 0,
        "fsync of an opened folder");
  check(closedir(folder) == 0, "closedir");
}

// What was open goes on, and is charged, as what is opened under the new name is not: 2 reads of 3.
void vanishing_folder() {
  const std::string page = contents(kPage);
  const int fd = make("a");
  write_at(fd, page, 0);
  const std::string elsewhere = path("").substr(0, path("").size() - 1) + ".gone";
  check(rename(path("").c_str(), elsewhere.c_str()) == 0, "rename");
  expect_at(fd, page, 0);
  write_at(fd, page, kPage);
  check(fsync(fd) == 0, "fsync");
  expect_at(fd, page, kPage);
  check(open(path("a").c_str(), O_RDONLY) == -1 && errno == ENOENT, "open of what is not there");
  expect_at(open_again(elsewhere + "/a"), page, kPage);
}

// What lies elsewhere is not charged, though the same file was, by the same path: 3 reads of 4.
void moved_folder() {
  const std::string page = contents(kPage), elsewhere = path("").substr(0, path("").size() - 1) + ".moved";
  check(mkdir(path("d").c_str(), 0755) == 0, "mkdir");
  write_at(make("d/a"), page, 0);
  for (int i = 0; i < 2; ++i) expect_at(open_again(path("d/a")), page, 0);
  check(rename(path("d").c_str(), elsewhere.c_str()) == 0, "rename");
  check(symlink(elsewhere.c_str(), path("d").c_str()) == 0, "symlink");
  expect_at(open_again(path("d/a")), page, 0);
  check(unlink(path("d").c_str()) == 0 && rename(elsewhere.c_str(), path("d").c_str()) == 0, "back");
  expect_at(open_again(path("d/a")), page, 0);
}

// What has just been elsewhere by a path, and is not any more, is charged: by a link that leads elsewhere and
// then here, and in a folder in its place; and by a descriptor's name. 3 reads of 8.
void turned_links() {
  const std::string page = contents(kPage), elsewhere = path("").substr(0, path("").size() - 1) + ".turned";
  check(mkdir(path("d").c_str(), 0755) == 0 && mkdir(elsewhere.c_str(), 0755) == 0, "mkdir");
  const std::string link = path("l"), by_link = link + "/a";
  const int here = make("d/a"), there = open((elsewhere + "/a").c_str(), O_CREAT | O_RDWR, 0644);
  write_at(here, page, 0);
  write_at(there, page, 0);
  check(symlink(elsewhere.c_str(), link.c_str()) == 0, "symlink");
  for (int i = 0; i < 3; ++i) expect_at(open_again(by_link), page, 0);
  check(unlink(link.c_str()) == 0 && symlink(path("d").c_str(), link.c_str()) == 0, "turned");
  expect_at(open_again(by_link), page, 0);
  check(unlink(link.c_str()) == 0 && mkdir(link.c_str(), 0755) == 0, "a folder instead");
  write_at(make("l/a"), page, 0);
  expect_at(open_again(by_link), page, 0);

  const int fd = open_again(elsewhere + "/a");
  const std::string name = "/proc/self/fd/" + std::to_string(fd);
  for (int i = 0; i < 2; ++i) expect_at(open_again(name), page, 0);
  check(dup2(here, fd) == fd, "dup2");
  expect_at(open_again(name), page, 0);
}

// What does not go in is said as without storage, and counted as far as it went: 6,000 bytes, twice.
void too_large() {
  std::signal(SIGXFSZ, SIG_IGN);
  constexpr rlim_t kMost = 6000;
  const rlimit limit{kMost, kMost};
  const std::string pages = contents(2 * kPage);
  const int fd = make("a");
  check(setrlimit(RLIMIT_FSIZE, &limit) == 0, "setrlimit");
  check(write(fd, pages.data(), pages.size()) == kMost, "a write that does not go in");
  check(write(fd, pages.data(), pages.size()) == -1 && errno == EFBIG, "another");
  expect_at(fd, pages.substr(0, kMost), 0);
  FILE* const stream = std::fopen(path("b").c_str(), "w");
  static char buffer[4 * kPage];
  check(std::setvbuf(stream, buffer, _IOFBF, sizeof buffer) == 0, "setvbuf");
  check(std::fwrite(pages.data(), 1, pages.size(), stream) == pages.size(), "fwrite");
  check(std::fclose(stream) == EOF && errno == EFBIG, "fclose");
  expect_file(path("b"), pages.substr(0, kMost));
}

// A child that shares its parent's memory closes, and copies, its own: the parent's read is seen.
void descriptors_of_a_vfork() {
  const int fd = open(path("old").c_str(), O_RDONLY);
  check(fd >= 0, "open");
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  const pid_t child = vfork();
#pragma GCC diagnostic pop
  if (child == 0) {
    dup2(0, fd);
    close(fd);
    close_range(3, ~0U, 0);
    execl("/bin/true", "true", nullptr);
    _exit(1);
  }
  int status = 0;
  check(waitpid(child, &status, 0) == child && status == 0, "vfork");
  expect_at(fd, contents(kPage), 0);
}

}  // namespace nvmemu::stored
