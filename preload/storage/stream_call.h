// SPDX-License-Identifier: Apache-2.0
// Around calls on stdio's streams: how far the C library has read or written is told by where the descriptor
// stands after the call.
#pragma once

#include <stdio.h>
#include <stdio_ext.h>

#include <algorithm>
#include <cstdint>

#include "storage/stored_call.h"

namespace nvmemu::preload {

// A stream, around a call on it.
class StreamCall {
 public:
  explicit StreamCall(FILE* stream) noexcept
      : stream_(stream),
        descriptor_(stream == nullptr ? nullptr : process_storage().find_named(stream->_fileno)) {
    if (descriptor_ == nullptr) [[likely]]
      return;
    if (stream->_IO_buf_base == nullptr) look_at_position();
    begin_ns_ = ProcessStorage::now_ns();
    pending_ = __fpending(stream);
    had_failed_ = ferror_unlocked(stream) != 0;
  }
  // Whether it is of ours.
  explicit operator bool() const noexcept { return descriptor_ != nullptr; }

  void over() const noexcept {
    if (descriptor_ == nullptr) [[likely]]
      return;
    if (!had_failed_ && ferror_unlocked(stream_) != 0) note_error(*descriptor_, errno);
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
  // Nothing was read or written by the stream yet: its descriptor may have been moved before it was made.
  void look_at_position() noexcept {
    const KeepErrno keep;
    const long position = position_of(stream_->_fileno);
    if (position >= 0) descriptor_->told_position = static_cast<std::uint64_t>(position);
  }
  std::uint64_t buffered(Moves moves) const noexcept {
    if (moves == Moves::kOut) return pending_;
    return static_cast<std::uint64_t>(stream_->_IO_read_end - stream_->_IO_read_base);
  }

  FILE* stream_;
  StoredDescriptor* descriptor_;
  std::uint64_t begin_ns_ = 0;
  std::size_t pending_ = 0;
  bool seeks_ = false, had_failed_ = false;
};

template <typename Call>
auto call_on(FILE* stream, const Call& call) {
  const StreamCall around(stream);
  const auto result = call();
  around.over();
  return result;
}

// The stream is about to be closed, or to become another file's: what it would write then is written before,
// while the descriptor is there to be asked. The error of that, which the C library would find then; 0: none.
int end_stream(FILE* stream) noexcept;

// The process is about to end by exit(3), which writes what is left in streams when nothing of the program
// runs any more: that is charged now, and written then.
void charge_unwritten_streams() noexcept;

}  // namespace nvmemu::preload
