// SPDX-License-Identifier: Apache-2.0
#include "storage_bench/flow_thread.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/clock.h"
#include "storage_bench/call_failure.h"
#include "storage_bench/file_calls.h"
#include "storage_bench/preparation.h"

namespace nvmemu::storage_bench {

FlowThread::FlowThread(const Flow& flow, const Parameters& parameters, const DataSet& set, std::string folder,
                       unsigned index)
    : flow_(flow),
      set_(set),
      folder_(std::move(folder)),
      io_bytes_(parameters.io_bytes),
      append_bytes_(parameters.append_bytes),
      pool_(set, index),
      random_(parameters.seed, index + 1),
      buffer_(make_content(std::max(io_bytes_, append_bytes_))),
      tallies_(flow.operations.size()) {}

Result<void> FlowThread::step() {
  const Action action = flow_.operations[next_].action;
  tally_ = &tallies_[next_];
  next_ = (next_ + 1) % flow_.operations.size();
  return perform(action);
}

Result<void> FlowThread::perform(Action action) {
  switch (action) {
    case Action::kOpen:
      return open_file(pool_.pick(random_), O_RDWR);
    case Action::kCreate:
      return open_file(pool_.add(random_), O_RDWR | O_CREAT | O_EXCL);
    case Action::kRead:
      return timed("read", path_, [this] { return read_to_end(file_.get(), buffer_); });
    case Action::kWrite:
      return write_whole();
    case Action::kAppend:
      return append(append_bytes(), file_, path_);
    case Action::kLog:
      return log();
    case Action::kSync:
      return timed("synchronise", path_, [this] { return fsync(file_.get()); });
    case Action::kClose:
      return close_file();
    case Action::kDelete:
      name(pool_.take(random_));
      return timed("delete", path_, [this] { return unlink(path_.c_str()); });
    case Action::kStat:
      name(pool_.pick(random_));
      return timed("look at", path_, [this] {
        struct stat status {};
        return stat(path_.c_str(), &status);
      });
    case Action::kLimit:
      return {};
  }
  return {};
}

template <typename Call>
Result<void> FlowThread::timed(std::string_view verb, const std::string& path, const Call& call) {
  const std::uint64_t begin_ns = monotonic_raw_ns();
  const ssize_t bytes = call();
  const int error = errno;
  const std::uint64_t end_ns = monotonic_raw_ns();
  if (bytes < 0) return call_failure(verb, path, error);
  tally_->latencies.add(end_ns - begin_ns);
  tally_->bytes += static_cast<std::uint64_t>(bytes);
  return {};
}

void FlowThread::name(std::uint64_t file) {
  number_ = file;
  path_ = folder_ + "/" + set_.path(file);
}

Result<void> FlowThread::open_file(std::uint64_t file, int flags) {
  name(file);
  int fd = -1;
  auto opened = timed((flags & O_CREAT) != 0 ? "make" : "open", path_, [&] {
    fd = open(path_.c_str(), flags | O_CLOEXEC, 0600);
    return fd < 0 ? -1 : 0;
  });
  file_ = Descriptor(fd);
  return opened;
}

Result<void> FlowThread::close_file() {
  return timed("close", path_, [this] {
    errno = file_.close();
    return errno == 0 ? 0 : -1;
  });
}

// In pieces, as it is read.
Result<void> FlowThread::write_whole() {
  return timed("write", path_, [this]() -> ssize_t {
    const std::uint64_t all = set_.bytes_of(number_);
    for (std::uint64_t done = 0; done < all; done += io_bytes_) {
      if (write_bytes(file_.get(), buffer_, std::min(io_bytes_, all - done)) < 0) return -1;
    }
    return static_cast<ssize_t>(all);
  });
}

// By seeking, and not by O_APPEND, as Filebench does. Two that append to the log at once may so write to the
// same place.
Result<void> FlowThread::append(std::uint64_t bytes, const Descriptor& file, const std::string& path) {
  return timed("append to", path, [&]() -> ssize_t {
    if (lseek(file.get(), 0, SEEK_END) < 0) return -1;
    return write_bytes(file.get(), buffer_, bytes);
  });
}

Result<void> FlowThread::log() {
  const std::string path = folder_ + "/" + DataSet::kLog;
  if (!log_) log_ = Descriptor(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!log_) return call_failure("open", path, errno);
  return append(append_bytes(), log_, path);
}

}  // namespace nvmemu::storage_bench
