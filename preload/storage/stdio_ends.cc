// SPDX-License-Identifier: Apache-2.0
// Interposed: what has stdio write all that it has, of one stream or of all.
#include <stdio.h>
#include <stdio_ext.h>

#include <array>
#include <cerrno>
#include <cstddef>

#include "edge.h"
#include "storage/stream_call.h"

// The C library's list of streams, which debuggers use; null where it has none.
extern "C" {
extern FILE* _IO_list_all __attribute__((weak));
void _IO_list_lock() noexcept __attribute__((weak));
void _IO_list_unlock() noexcept __attribute__((weak));
}

namespace nvmemu::preload {
namespace {

NVMEMU_HOOK(int, fflush, (FILE*));
NVMEMU_HOOK(int, fclose, (FILE*));
NVMEMU_HOOK(int, fcloseall, ());

// Calls `each` with streams that have something to write to a file of ours, and its descriptor. Streams
// themselves are not locked: their holder may wait in a read.
template <typename Each>
void for_each_unwritten(const Each& each) noexcept {
  ProcessStorage& storage = process_storage();
  const bool is_known = &_IO_list_all != nullptr && _IO_list_lock != nullptr && _IO_list_unlock != nullptr;
  if (!storage.is_open() || storage.calls_are_trapped() || !is_known) return;
  _IO_list_lock();
  for (FILE* stream = _IO_list_all; stream != nullptr; stream = stream->_chain) {
    if (stream->_IO_write_ptr <= stream->_IO_write_base) continue;
    if (StoredDescriptor* const descriptor = storage.find(stream->_fileno)) each(*stream, *descriptor);
  }
  _IO_list_unlock();
}

std::uint64_t unwritten_bytes(const FILE& stream) noexcept {
  return static_cast<std::uint64_t>(stream._IO_write_ptr - stream._IO_write_base);
}

// Streams that `call` is to write, by their descriptors: a stream may be gone by then.
class AllStreams {
 public:
  AllStreams() noexcept : begin_ns_(ProcessStorage::now_ns()) {
    for_each_unwritten([this](const FILE& stream, StoredDescriptor&) {
      if (count_ < files_.size()) files_[count_++] = stream._fileno;
    });
  }
  void over() const noexcept {
    const KeepErrno keep;
    for (std::size_t i = 0; i < count_; ++i) charge(files_[i]);
  }

 private:
  void charge(int fd) const noexcept {
    StoredDescriptor* const descriptor = process_storage().find(fd);
    const long position = descriptor == nullptr ? -1 : position_of(fd);
    if (position < 0) return;
    const auto now = static_cast<std::uint64_t>(position), told = descriptor->told_position;
    descriptor->told_position = now;
    if (now > told) note_moved(*descriptor, Moves::kOut, told, now - told, begin_ns_);
  }

  std::uint64_t begin_ns_;
  std::array<int, 256> files_{};
  std::size_t count_ = 0;
};

template <typename Call>
int call_on_all(const Call& call) {
  if (!process_storage().is_open()) return call();
  const AllStreams all;
  const int result = call();
  all.over();
  return result;
}

}  // namespace

int end_stream(FILE* stream) noexcept {
  const StreamCall last(stream);
  if (!last) return 0;
  const KeepErrno keep;
  const int error = __fpending(stream) > 0 && real_fflush(stream) != 0 ? errno : 0;
  last.over();
  process_storage().note_closed(stream->_fileno);
  return error;
}

void charge_unwritten_streams() noexcept {
  struct Unwritten {
    StoredDescriptor* descriptor;
    std::uint64_t offset, bytes;
  };
  constexpr std::size_t kMost = 256;
  std::array<Unwritten, kMost> all;
  std::size_t count = 0;
  const std::uint64_t begin_ns = ProcessStorage::now_ns();
  for_each_unwritten([&](const FILE& stream, StoredDescriptor& descriptor) {
    const long position = position_of(stream._fileno);
    if (position < 0 || count == kMost) return;
    const auto offset = static_cast<std::uint64_t>(position);
    all[count++] = {&descriptor, offset, unwritten_bytes(stream)};
    descriptor.told_position = offset + unwritten_bytes(stream);
  });
  for (std::size_t i = 0; i < count; ++i)
    note_moved(*all[i].descriptor, Moves::kOut, all[i].offset, all[i].bytes, begin_ns);
}

}  // namespace nvmemu::preload

using namespace nvmemu::preload;

NVMEMU_EXPORT int fflush(FILE* stream) {
  this_thread().reach_edge(__builtin_return_address(0));
  if (stream == nullptr) return call_on_all([] { return real_fflush(nullptr); });
  return call_on(stream, [&] { return real_fflush(stream); });
}
NVMEMU_EXPORT int fclose(FILE* stream) {
  this_thread().reach_edge(__builtin_return_address(0));
  const int error = end_stream(stream);
  const int result = real_fclose(stream);
  if (error == 0) return result;
  errno = error;
  return EOF;
}
NVMEMU_EXPORT int fcloseall() {
  return call_on_all([] { return real_fcloseall(); });
}
