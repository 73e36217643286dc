// SPDX-License-Identifier: Apache-2.0
// storage_calls FOLDER SCENARIO: does with files in a folder what programs do, checks what it reads, and says
// ok. What that comes to is in the scenarios' comments: storage_test.cc counts on it.
#include "storage_calls.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace nvmemu::stored {
namespace {

std::string folder;

}  // namespace

std::string path(const char* name) { return folder + "/" + name; }

void check(bool holds, const char* what) {
  if (holds) return;
  std::perror(what);
  std::exit(1);
}

std::string contents(std::size_t bytes) {
  std::string text(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>('a' + i * 31 % 23);
  return text;
}

int make(const char* name, int flags) {
  const int fd = open(path(name).c_str(), O_RDWR | O_CREAT | O_TRUNC | flags, 0644);
  check(fd >= 0, "open");
  return fd;
}

void write_at(int fd, const std::string& text, off_t at) {
  check(pwrite(fd, text.data(), text.size(), at) == static_cast<ssize_t>(text.size()), "pwrite");
}

void expect_at(int fd, const std::string& text, off_t at) {
  std::string found(text.size(), '\0');
  check(pread(fd, found.data(), found.size(), at) == static_cast<ssize_t>(found.size()), "pread");
  check(found == text, "what was read");
}

// By the kernel alone: it is not to be counted.
void expect_file(const std::string& name, const std::string& text) {
  std::string command = "test \"$(cat '" + name + "')\" = '" + text + "'";
  unsetenv("LD_PRELOAD");
  check(std::system(command.c_str()) == 0, name.c_str());
}

namespace {

// 8 reads and 8 writes of a page each; 2 syncs that commit, 1 that need not.
void plain_calls() {
  const std::string page = contents(kPage);
  const int fd = make("a");
  write_at(fd, page, 0);
  check(write(fd, page.data(), kPage) == kPage, "write");
  const iovec out{const_cast<char*>(page.data()), kPage};
  check(writev(fd, &out, 1) == kPage && pwritev(fd, &out, 1, 2 * kPage) == kPage, "writev");
  expect_at(fd, page, 0);
  std::string found(kPage, '\0');
  check(lseek(fd, 0, SEEK_SET) == 0 && read(fd, found.data(), kPage) == kPage && found == page, "read");
  const iovec in{found.data(), kPage};
  check(readv(fd, &in, 1) == kPage && preadv(fd, &in, 1, 0) == kPage, "readv");
  check(fsync(fd) == 0 && fsync(fd) == 0, "fsync");

  const int copy = dup(fd), other = fcntl(fd, F_DUPFD, 50);
  check(copy >= 0 && other >= 50 && close(fd) == 0, "dup");
  expect_at(copy, page, kPage);
  expect_at(other, page, kPage);
  write_at(copy, page, 3 * kPage);
  check(fdatasync(other) == 0, "fdatasync");  // it has grown

  const int to = make("b");
  check(lseek(copy, 0, SEEK_SET) == 0 && sendfile(to, copy, nullptr, kPage) == kPage, "sendfile");
  off64_t from_at = 0, to_at = kPage;
  check(copy_file_range(copy, &from_at, to, &to_at, kPage, 0) == kPage, "copy_file_range");
  const int synced = make("c", O_DSYNC);
  write_at(synced, page, 0);
  close(copy);
  close(other);
  close(to);
  close(synced);
  check(rename(path("b").c_str(), path("c").c_str()) == 0 && unlink(path("c").c_str()) == 0, "rename");
}

// 100,000 bytes written, by which two calls of others are found out at the next; all of them read, and once
// more a page of them from the middle.
void stdio() {
  const std::string text = contents(100'000);
  FILE* file = std::fopen(path("a").c_str(), "w");
  check(file != nullptr, "fopen");
  check(std::fwrite(text.data(), 1, 50'000, file) == 50'000, "fwrite");
  for (std::size_t i = 50'000; i < 99'999; ++i) check(std::putc(text[i], file) != EOF, "putc");
  check(std::fprintf(file, "%c", text.back()) == 1 && std::fclose(file) == 0, "fclose");

  file = std::fopen(path("a").c_str(), "r");
  std::string found(text.size(), '\0');
  check(file != nullptr && std::fread(found.data(), 1, found.size(), file) == found.size(), "fread");
  check(found == text, "what was read");
  check(std::fclose(file) == 0, "fclose");
}

// What one process has read is there for the next, however it comes to the file: a page read from the device,
// 3 times from the page cache.
void processes() {
  const std::string page = contents(kPage);
  const int fd = open(path("old").c_str(), O_RDONLY);
  check(fd >= 0, "open");
  expect_at(fd, page, 0);
  if (const pid_t child = fork(); child == 0) {
    expect_at(fd, page, 0);
    const int again = open(path("old").c_str(), O_RDONLY);
    expect_at(again, page, 0);
    _exit(0);
  } else {
    int status = 0;
    check(waitpid(child, &status, 0) == child && status == 0, "child");
  }
  check(dup2(fd, 0) == 0, "dup2");
  execl("/proc/self/exe", "storage_calls", folder.c_str(), "inherited", nullptr);
  check(false, "exec");
}

void inherited() { expect_at(0, contents(kPage), 0); }

// Threads that write and sync a file each, 20 times, while signals come whose handler reads.
void threads() {
  static int old = open(path("old").c_str(), O_RDONLY);
  struct sigaction action {};
  action.sa_handler = [](int) {
    char byte = 0;
    if (pread(old, &byte, 1, 0) != 1) _exit(1);
  };
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, nullptr);
  std::vector<std::thread> all;
  for (int i = 0; i < 4; ++i) {
    all.emplace_back([i] {
      const std::string page = contents(kPage);
      const int fd = make(("thread" + std::to_string(i)).c_str());
      for (int round = 0; round < 20; ++round) {
        write_at(fd, page, round * static_cast<off_t>(kPage));
        raise(SIGUSR1);
        check(fsync(fd) == 0, "fsync");
        expect_at(fd, page, round * static_cast<off_t>(kPage));
      }
      close(fd);
    });
  }
  for (std::thread& thread : all) thread.join();
}

// On a device that takes 1 ms for each request: the page, two writes to the journal and two flushes.
void syncs_of_5_ms() {
  const std::string page = contents(kPage);
  const int fd = make("a");
  for (int i = 0; i < 3; ++i) {
    write_at(fd, page, i * static_cast<off_t>(kPage));
    const auto begin = std::chrono::steady_clock::now();
    check(fsync(fd) == 0, "fsync");
    check(std::chrono::steady_clock::now() - begin >= std::chrono::microseconds(4900),
          "how long a sync took");
  }
}

// A mapping, which is told.
void mapping() {
  const int fd = open(path("old").c_str(), O_RDONLY);
  void* const memory = mmap(nullptr, kPage, PROT_READ, MAP_SHARED, fd, 0);
  check(memory != MAP_FAILED && std::memcmp(memory, contents(kPage).data(), kPage) == 0, "mmap");
}

}  // namespace
}  // namespace nvmemu::stored

int main(int argc, char** argv) {
  using namespace nvmemu::stored;
  if (argc != 3) return 2;
  folder = argv[1];
  const struct {
    std::string_view name;
    void (*run)();
  } scenarios[] = {{"plain", plain_calls},
                   {"stdio", stdio},
                   {"processes", processes},
                   {"inherited", inherited},
                   {"threads", threads},
                   {"signals", signals_amid_calls},
                   {"mapping", mapping},
                   {"syncs-of-5-ms", syncs_of_5_ms},
                   {"asynchronous", asynchronous},
                   {"by-number", by_number},
                   {"by-instruction", by_instruction},
                   {"told-lists", told_lists},
                   {"told-lists-in-time", told_lists_in_time},
                   {"long-told-list", long_told_list},
                   {"linux-aio", linux_aio},
                   {"linux-aio-by-number", linux_aio_by_number},
                   {"linux-aio-ring", linux_aio_ring},
                   {"linux-aio-threads", linux_aio_threads},
                   {"linux-aio-eventfds", linux_aio_eventfds},
                   {"linux-aio-eventfds-in-time", linux_aio_eventfds_in_time},
                   {"links-and-folders", links_and_folders},
                   {"files-that-stay", files_that_stay},
                   {"moved-folder", moved_folder},
                   {"turned-links", turned_links},
                   {"names-asked-for", names_asked_for},
                   {"no-addresses", names_that_are_no_addresses},
                   {"names-here-after-all", names_here_after_all},
                   {"files-that-leave", files_that_leave},
                   {"exchanged-links", exchanged_links},
                   {"rings", rings},
                   {"vanishing-folder", vanishing_folder},
                   {"too-large", too_large},
                   {"vfork", descriptors_of_a_vfork},
                   {"full", full},
                   {"refused", refused},
                   {"flags", flags},
                   {"flags-of-a-child", flags_of_a_child},
                   {"synced-mapping", synced_mapping},
                   {"copies", copies},
                   {"advice", advice},
                   {"allocation", allocation},
                   {"write-back", write_back},
                   {"streams", streams},
                   {"closed-streams", closed_streams},
                   {"moved-streams", moved_streams},
                   {"names-by-number", names_by_number},
                   {"opened-folder", opened_folder},
                   {"whole-files", whole_files}};
  for (const auto& scenario : scenarios) {
    if (scenario.name != argv[2]) continue;
    scenario.run();
    std::puts("ok");
    return 0;
  }
  return 2;
}
