// SPDX-License-Identifier: Apache-2.0
// In place of libaio, which few machines have: its functions, of its versions (fake_libaio.map).
#include <linux/aio_abi.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

namespace {

template <typename... Words>
int call(long number, Words... words) {
  const int before = errno;
  const long result = syscall(number, words...);
  const int error = errno;
  errno = before;
  return result < 0 ? -error : static_cast<int>(result);
}

}  // namespace

extern "C" {

#define FAKE __attribute__((visibility("default")))

FAKE int io_setup(int most, aio_context_t* context) { return call(SYS_io_setup, most, context); }
FAKE int io_destroy(aio_context_t context) { return call(SYS_io_destroy, context); }
FAKE int io_submit(aio_context_t context, long count, iocb** requests) {
  return call(SYS_io_submit, context, count, requests);
}
FAKE int io_cancel(aio_context_t context, iocb* request, io_event* event) {
  return call(SYS_io_cancel, context, request, event);
}
FAKE int io_getevents(aio_context_t context, long least, long most, io_event* events, timespec* timeout) {
  return call(SYS_io_getevents, context, least, most, events, timeout);
}
FAKE int io_pgetevents(aio_context_t context, long least, long most, io_event* events, timespec* timeout,
                       sigset_t* mask) {
  const struct {
    const sigset_t* mask;
    unsigned long bytes;
  } meanwhile{mask, 8};
  return call(SYS_io_pgetevents, context, least, most, events, timeout, &meanwhile);
}
}
