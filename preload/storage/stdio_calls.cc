// SPDX-License-Identifier: Apache-2.0
// Interposed: stdio. The C library reads and writes without the calls that can be interposed; how far it has
// come is told by where the descriptor stands after the call. What other functions move (printf, getc) is
// found at the next of these on the same stream.
#include <stdio.h>
#include <stdio_ext.h>

#include <cstdlib>

#include "edge.h"
#include "storage/stored_call.h"

namespace nvmemu::preload {
namespace {

NVMEMU_HOOK(size_t, fread, (void*, size_t, size_t, FILE*));
NVMEMU_HOOK(size_t, fread_unlocked, (void*, size_t, size_t, FILE*));
NVMEMU_HOOK(size_t, fwrite, (const void*, size_t, size_t, FILE*));
NVMEMU_HOOK(size_t, fwrite_unlocked, (const void*, size_t, size_t, FILE*));
NVMEMU_HOOK(char*, fgets, (char*, int, FILE*));
NVMEMU_HOOK(char*, fgets_unlocked, (char*, int, FILE*));
NVMEMU_HOOK(int, fputs, (const char*, FILE*));
NVMEMU_HOOK(int, fputs_unlocked, (const char*, FILE*));
NVMEMU_HOOK(ssize_t, getline, (char**, size_t*, FILE*));
NVMEMU_HOOK(ssize_t, getdelim, (char**, size_t*, int, FILE*));
NVMEMU_HOOK(int, fseek, (FILE*, long, int));
NVMEMU_HOOK(int, fseeko, (FILE*, off_t, int));
NVMEMU_HOOK(void, rewind, (FILE*));
NVMEMU_HOOK(int, fflush, (FILE*));
NVMEMU_HOOK(int, fclose, (FILE*));

// A stream, around a call on it.
class StreamCall {
 public:
  explicit StreamCall(FILE* stream) noexcept
      : stream_(stream), descriptor_(stream == nullptr ? nullptr : process_storage().find(stream->_fileno)) {
    if (descriptor_ == nullptr) [[likely]]
      return;
    begin_ns_ = ProcessStorage::now_ns();
    pending_ = __fpending(stream);
  }
  // Whether it is of ours.
  explicit operator bool() const noexcept { return descriptor_ != nullptr; }

  void over() const noexcept {
    if (descriptor_ == nullptr) [[likely]]
      return;
    const KeepErrno keep;
    const long position = position_of(stream_->_fileno);
    if (position < 0) return;
    const auto now = static_cast<std::uint64_t>(position), told = descriptor_->told_position;
    if (now == told) return;
    descriptor_->told_position = now;
    const Moves moves = __fwriting(stream_) != 0 ? Moves::kOut : Moves::kIn;
    const std::uint64_t moved = std::min(now, now > told && !seeks_ ? now - told : buffered(moves));
    if (moved > 0) note_moved(*descriptor_, moves, now - moved, moved, begin_ns_);
  }
  // It moves to another place: what it has there in its buffer was read.
  void seeks() noexcept { seeks_ = true; }

 private:
  std::uint64_t buffered(Moves moves) const noexcept {
    if (moves == Moves::kOut) return pending_;
    return static_cast<std::uint64_t>(stream_->_IO_read_end - stream_->_IO_read_base);
  }

  FILE* stream_;
  StoredDescriptor* descriptor_;
  std::uint64_t begin_ns_ = 0;
  std::size_t pending_ = 0;
  bool seeks_ = false;
};

template <typename Call>
auto call_on(FILE* stream, const Call& call) {
  const StreamCall around(stream);
  const auto result = call();
  around.over();
  return result;
}

template <typename Call>
int seek_on(FILE* stream, const Call& call) {
  StreamCall around(stream);
  around.seeks();
  const int result = call();
  around.over();
  return result;
}

}  // namespace
}  // namespace nvmemu::preload

using namespace nvmemu::preload;

NVMEMU_EXPORT size_t fread(void* to, size_t size, size_t count, FILE* stream) {
  return call_on(stream, [&] { return real_fread(to, size, count, stream); });
}
NVMEMU_EXPORT size_t fread_unlocked(void* to, size_t size, size_t count, FILE* stream) {
  return call_on(stream, [&] { return real_fread_unlocked(to, size, count, stream); });
}
NVMEMU_EXPORT size_t fwrite(const void* from, size_t size, size_t count, FILE* stream) {
  return call_on(stream, [&] { return real_fwrite(from, size, count, stream); });
}
NVMEMU_EXPORT size_t fwrite_unlocked(const void* from, size_t size, size_t count, FILE* stream) {
  return call_on(stream, [&] { return real_fwrite_unlocked(from, size, count, stream); });
}
NVMEMU_EXPORT char* fgets(char* to, int size, FILE* stream) {
  return call_on(stream, [&] { return real_fgets(to, size, stream); });
}
NVMEMU_EXPORT char* fgets_unlocked(char* to, int size, FILE* stream) {
  return call_on(stream, [&] { return real_fgets_unlocked(to, size, stream); });
}
NVMEMU_EXPORT int fputs(const char* text, FILE* stream) {
  return call_on(stream, [&] { return real_fputs(text, stream); });
}
NVMEMU_EXPORT int fputs_unlocked(const char* text, FILE* stream) {
  return call_on(stream, [&] { return real_fputs_unlocked(text, stream); });
}
NVMEMU_EXPORT ssize_t getline(char** line, size_t* room, FILE* stream) {
  return call_on(stream, [&] { return real_getline(line, room, stream); });
}
NVMEMU_EXPORT ssize_t getdelim(char** line, size_t* room, int delimiter, FILE* stream) {
  return call_on(stream, [&] { return real_getdelim(line, room, delimiter, stream); });
}
NVMEMU_EXPORT ssize_t __getdelim(char** line, size_t* room, int delimiter, FILE* stream) {
  return getdelim(line, room, delimiter, stream);
}
NVMEMU_EXPORT int fseek(FILE* stream, long offset, int whence) {
  return seek_on(stream, [&] { return real_fseek(stream, offset, whence); });
}
NVMEMU_EXPORT int fseeko(FILE* stream, off_t offset, int whence) {
  return seek_on(stream, [&] { return real_fseeko(stream, offset, whence); });
}
NVMEMU_EXPORT int fseeko64(FILE* stream, off64_t offset, int whence) {
  return fseeko(stream, offset, whence);
}
NVMEMU_EXPORT void rewind(FILE* stream) {
  seek_on(stream, [&] { return real_rewind(stream), 0; });
}

NVMEMU_EXPORT int fflush(FILE* stream) {
  this_thread().reach_edge(__builtin_return_address(0));
  return call_on(stream, [&] { return real_fflush(stream); });
}
// What it would write is written before, while the descriptor is there to be asked.
NVMEMU_EXPORT int fclose(FILE* stream) {
  this_thread().reach_edge(__builtin_return_address(0));
  {
    const StreamCall last(stream);
    if (last) {
      if (__fpending(stream) > 0) real_fflush(stream);
      last.over();
      process_storage().note_closed(stream->_fileno);
    }
  }
  return real_fclose(stream);
}
