// SPDX-License-Identifier: Apache-2.0
// Which of a system call's arguments are memory that the kernel reads or writes, and how much of it: a page
// that is not there, or may not be written to, it would answer by EFAULT, and some calls lose what they had
// to give (a datagram, a child's status).
#pragma once

#include <cstdint>
#include <span>

namespace nvmemu::preload {

enum class BufferKind : std::uint8_t {
  kIn,        // bytes that the kernel reads,
  kOut,       // and writes
  kInVector,  // struct iovec, of which the kernel reads what they name,
  kOutVector,
  kInMessage,  // struct msghdr,
  kOutMessage,
  kInMessages,  // and struct mmsghdr
  kOutMessages,
  kTexts,     // pointers to strings, up to a null one
  kOutPages,  // a byte for each page of as many bytes as are counted
  kOption,    // of a socket, as setsockopt(2) has it
  kRequest,   // of ioctl(2)
  kFutexes,   // struct futex_waitv, and the words that they name
};

struct CallBuffer {
  BufferKind kind;
  std::int8_t address;     // number of the argument
  std::int8_t count;       // of the argument that says how many; -1: one
  std::uint16_t size;      // bytes of each
  std::uint16_t more = 0;  // and so many beside
};

struct CallBuffers {
  long call;
  std::span<const CallBuffer> buffers;
};

// Of those that are listed. Of others nothing is known: each argument that is an address may be of as much as
// kUnknownBytes, to read and to write.
std::span<const CallBuffer> buffers_of(long call) noexcept;
bool is_listed(long call) noexcept;
inline constexpr std::uint64_t kUnknownBytes = 4096;

}  // namespace nvmemu::preload
