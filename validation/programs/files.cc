// SPDX-License-Identifier: Apache-2.0
// nvmemu-files: what calls on files and their names take, each by itself.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "programs/command_line.h"

using nvmemu::Result;
using nvmemu::programs::Figures;

namespace {

constexpr auto kDescription =
    "Makes files and folders in a folder, reads, writes, renames and removes them, and prints what a call of "
    "each kind\n"
    "takes: the fastest of all rounds. Each round has names of its own, so that a first open is one. A "
    "stream "
    "is an fopen, an\n"
    "fread and an fclose.";

struct Options {
  std::string folder = ".", names = "whole";
  std::uint64_t calls = 50, rounds = 200;
};

// As they are named to the kernel: by their whole paths, from the working directory, or from a descriptor.
class Names {
 public:
  Names(const Options& options) : at_(AT_FDCWD), prefix_(options.folder + "/") {
    if (options.names == "whole") return;
    prefix_.clear();
    if (options.names == "relative" && chdir(options.folder.c_str()) != 0) at_ = -1;
    if (options.names == "at") at_ = open(options.folder.c_str(), O_RDONLY | O_DIRECTORY);
  }
  bool are_there() const { return at_ != -1; }
  int at() const { return at_; }
  std::string name(char kind, std::uint64_t round, std::uint64_t number) const {
    return prefix_ + kind + std::to_string(round) + "-" + std::to_string(number);
  }

 private:
  int at_;
  std::string prefix_;
};

// The fastest round of each kind of call, in the order in which they were first made.
class Times {
 public:
  void note(const char* call, double ns) {
    const auto known = std::ranges::find(times_, call, &Time::call);
    if (known == times_.end()) return times_.push_back({call, ns});
    known->ns = std::min(known->ns, ns);
  }
  Figures figures() const {
    Figures figures;
    for (const Time& time : times_) figures[time.call + "_ns"] = time.ns;
    return figures;
  }

 private:
  struct Time {
    std::string call;
    double ns;
  };
  std::vector<Time> times_;
};

class Round {
 public:
  Round(const Names& names, Times& times, std::uint64_t number, std::uint64_t calls)
      : names_(names), times_(times), open_(calls) {
    for (std::uint64_t i = 0; i < calls; ++i) {
      first_.push_back(names.name('a', number, i));
      second_.push_back(names.name('b', number, i));
    }
  }

  // Whether all of it succeeded; else errno.
  bool run() { return make() && move_bytes() && rename_and_open() && read_streams() && remove_all(); }

 private:
  // Names the call, and makes it for each file.
  bool each(const char* call, const std::function<bool(std::size_t)>& one) {
    const std::uint64_t begin_ns = nvmemu::monotonic_raw_ns();
    for (std::size_t i = 0; i < open_.size(); ++i) {
      if (!one(i)) return false;
    }
    const std::uint64_t took_ns = nvmemu::monotonic_raw_ns() - begin_ns;
    times_.note(call, static_cast<double>(took_ns) / static_cast<double>(open_.size()));
    return true;
  }
  bool open_each(const char* call, const std::vector<std::string>& names, int flags) {
    constexpr mode_t kMode = 0600;
    return each(
        call, [&](auto i) { return (open_[i] = openat(names_.at(), names[i].c_str(), flags, kMode)) >= 0; });
  }
  bool close_each() {
    return each("close", [&](auto i) { return close(open_[i]) == 0; });
  }

  bool make() { return open_each("create", first_, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC); }
  bool move_bytes() {
    char byte = 'x';
    return each("write", [&](auto i) { return write(open_[i], &byte, 1) == 1; }) &&
           each("pread", [&](auto i) { return pread(open_[i], &byte, 1, 0) == 1; }) &&
           each("fsync", [&](auto i) { return fsync(open_[i]) == 0; }) &&
           each("ftruncate", [&](auto i) { return ftruncate(open_[i], 2) == 0; }) && close_each();
  }
  bool rename_and_open() {
    struct stat status {};
    return each("rename",
                [&](auto i) {
                  return renameat(names_.at(), first_[i].c_str(), names_.at(), second_[i].c_str()) == 0;
                }) &&
           open_each("first_open", second_, O_RDWR | O_CLOEXEC) && close_each() &&
           open_each("open", second_, O_RDWR | O_CLOEXEC) && close_each() && each("stat", [&](auto i) {
             return fstatat(names_.at(), second_[i].c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
           });
  }
  // Which have no form for descriptors.
  bool read_streams() {
    if (names_.at() != AT_FDCWD) return true;
    return each("stream", [&](auto i) {
      char byte = 0;
      FILE* const stream = std::fopen(second_[i].c_str(), "re");
      const bool is_read = stream != nullptr && std::fread(&byte, 1, 1, stream) == 1;
      return stream != nullptr && std::fclose(stream) == 0 && is_read;
    });
  }
  bool remove_all() {
    constexpr mode_t kMode = 0700;
    const int at = names_.at();
    return each("unlink", [&](auto i) { return unlinkat(at, second_[i].c_str(), 0) == 0; }) &&
           each("mkdir", [&](auto i) { return mkdirat(at, first_[i].c_str(), kMode) == 0; }) &&
           each("rmdir", [&](auto i) { return unlinkat(at, first_[i].c_str(), AT_REMOVEDIR) == 0; });
  }

  const Names& names_;
  Times& times_;
  std::vector<int> open_;
  std::vector<std::string> first_, second_;
};

Result<Figures> run(const Options& options) {
  const Names names(options);
  if (!names.are_there()) return nvmemu::failure("--folder: " + options.folder + ": " + std::strerror(errno));
  Times times;
  for (std::uint64_t round = 0; round < options.rounds; ++round) {
    if (!Round(names, times, round, options.calls).run())
      return nvmemu::failure("in " + options.folder + ": " + std::strerror(errno),
                             "the folder must be empty, and hold files of its own");
  }
  return times.figures();
}

}  // namespace

int main(int argc, char** argv) {
  using namespace nvmemu::programs;
  Options options;
  nvmemu::Parser app(kDescription, "nvmemu-files");
  app.add_option("--folder", options.folder, "where: an empty one [.]").type_name("DIR");
  app.add_option(
         "--names", options.names,
         "how files are named: by whole paths, from the working directory,\nor from a descriptor of the "
         "folder [whole]")
      .type_name("whole|relative|at")
      .one_of({"whole", "relative", "at"})
      .option_text("whole|relative|at");
  constexpr std::uint64_t kMostCalls = 900;  // whose files are open at once
  add_count(app, "--calls", options.calls, 1, kMostCalls, "of a kind in a round");
  add_count(app, "--rounds", options.rounds, 1, 1000, "of which the fastest counts");
  return run_program(app, argc, argv, [&] { return run(options); });
}
