// SPDX-License-Identifier: Apache-2.0
// How scenarios of storage_calls ask for Linux' own aio: by libaio's functions, or by number.
#pragma once

#include <fcntl.h>
#include <linux/aio_abi.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "storage_calls.h"

extern "C" {
int io_setup(int most, aio_context_t* context);
int io_destroy(aio_context_t context);
int io_submit(aio_context_t context, long count, iocb** requests);
int io_cancel(aio_context_t context, iocb* request, io_event* event);
int io_getevents(aio_context_t context, long least, long most, io_event* events, timespec* timeout);
int io_pgetevents(aio_context_t context, long least, long most, io_event* events, timespec* timeout,
                  sigset_t* mask);
}

namespace nvmemu::stored {

inline constexpr auto kPageBytes = static_cast<long>(kPage);

inline bool is_by_number = false;

// With libaio's results; what syscall(2) has is looked at.
template <typename Function, typename... Words>
int call(Function* by_name, long number, Words... words) {
  if constexpr (std::is_invocable_v<Function, Words...>) {
    if (!is_by_number) return by_name(words...);
  }
  const int before = std::exchange(errno, 0);
  const long result = syscall(number, words...);
  check(result >= 0 ? errno == 0 : result == -1 && errno > 0, "what syscall has");
  const int error = std::exchange(errno, before);
  return result < 0 ? -error : static_cast<int>(result);
}
inline int setup(int most, aio_context_t* context) { return call(io_setup, SYS_io_setup, most, context); }
inline int destroy_context(aio_context_t context) { return call(io_destroy, SYS_io_destroy, context); }
inline int submit(aio_context_t context, long count, iocb** requests) {
  return call(io_submit, SYS_io_submit, context, count, requests);
}
inline int cancel(aio_context_t context, iocb* request, io_event* event) {
  return call(io_cancel, SYS_io_cancel, context, request, event);
}
inline int get_events(aio_context_t context, long least, long most, io_event* events, timespec* timeout) {
  return call(io_getevents, SYS_io_getevents, context, least, most, events, timeout);
}
inline int get_events_meanwhile(aio_context_t context, long least, long most, io_event* events,
                                timespec* timeout, sigset_t* mask) {
  if (!is_by_number) return io_pgetevents(context, least, most, events, timeout, mask);
  const struct {
    const sigset_t* mask;
    unsigned long bytes;
  } meanwhile{mask, 8};
  return call(io_getevents, SYS_io_pgetevents, context, least, most, events, timeout, &meanwhile);
}

// A page that O_DIRECT may move.
class Page {
 public:
  Page() : bytes_(static_cast<char*>(std::aligned_alloc(kPage, kPage)), &std::free) {
    std::memset(bytes_.get(), 0, kPage);
  }
  char* data() const { return bytes_.get(); }
  std::string text() const { return {bytes_.get(), kPage}; }

 private:
  std::unique_ptr<char, decltype(&std::free)> bytes_;
};

class Context {
 public:
  explicit Context(int most = 16) { check(setup(most, &id_) == 0 && id_ != 0, "io_setup"); }
  ~Context() { check(destroy_context(id_) == 0, "io_destroy"); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  aio_context_t id() const { return id_; }

  void submit(iocb& request) const {
    iocb* one[] = {&request};
    check(stored::submit(id_, 1, one) == 1, "io_submit");
  }
  // Waits for one, which is this one's.
  long result_of(const iocb& request) const {
    io_event event{};
    check(get_events(id_, 1, 1, &event, nullptr) == 1, "io_getevents");
    check(event.obj == reinterpret_cast<std::uintptr_t>(&request) && event.data == request.aio_data,
          "whose event it is");
    return event.res;
  }

 private:
  aio_context_t id_ = 0;
};

inline iocb request_of(int operation, int fd, const void* memory, std::size_t bytes, long at, long data = 0) {
  iocb request{};
  request.aio_lio_opcode = static_cast<std::uint16_t>(operation);
  request.aio_fildes = static_cast<std::uint32_t>(fd);
  request.aio_buf = reinterpret_cast<std::uintptr_t>(memory);
  request.aio_nbytes = bytes;
  request.aio_offset = at;
  request.aio_data = static_cast<std::uint64_t>(data);
  return request;
}

inline iocb read_of(int fd, const Page& to, long at, long data = 0) {
  return request_of(IOCB_CMD_PREAD, fd, to.data(), kPage, at, data);
}

inline int open_directly(const char* name) {
  const int fd = open(path(name).c_str(), O_RDWR | O_DIRECT);
  check(fd >= 0, "open");
  return fd;
}

}  // namespace nvmemu::stored
