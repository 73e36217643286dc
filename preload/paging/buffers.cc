// SPDX-License-Identifier: Apache-2.0
// What a system call is given the address of, brought in.
#include <linux/filter.h>
#include <linux/futex.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "paging/call_buffers.h"
#include "paging/process_pager.h"
#include "paging/trapped_call.h"

namespace nvmemu::preload {
namespace {

// Of larger ones as much at a time, where that can be told apart from the whole.
constexpr std::uintptr_t kAtOnce = std::uintptr_t{4} << 20;

// Of what is larger still only the begin: a call does with it what it can.
AddressRange range_of(std::uintptr_t begin, std::uintptr_t bytes) noexcept {
  constexpr std::uintptr_t kMost = std::uintptr_t{64} << 20;
  const std::uintptr_t end = begin + std::min(bytes, kMost);
  return {begin, end < begin ? std::numeric_limits<std::uintptr_t>::max() : end};
}

void need_vector(TrappedCall& call, std::uintptr_t at, std::uintptr_t count, bool to_write) noexcept {
  constexpr std::uintptr_t kMostParts = 1024;  // UIO_MAXIOV
  if (count == 0 || count > kMostParts || !call.can_read(at, count * sizeof(iovec))) return;
  const auto* const parts = reinterpret_cast<const iovec*>(at);
  for (std::uintptr_t i = 0; i < count; ++i)
    call.need(range_of(reinterpret_cast<std::uintptr_t>(parts[i].iov_base), parts[i].iov_len), to_write);
}

void need_message(TrappedCall& call, std::uintptr_t at, bool to_write) noexcept {
  call.need({at, at + sizeof(msghdr)}, to_write);
  if (!call.can_read(at, sizeof(msghdr))) return;
  const msghdr message = *reinterpret_cast<const msghdr*>(at);
  call.need(range_of(reinterpret_cast<std::uintptr_t>(message.msg_name), message.msg_namelen), to_write);
  call.need(range_of(reinterpret_cast<std::uintptr_t>(message.msg_control), message.msg_controllen),
            to_write);
  need_vector(call, reinterpret_cast<std::uintptr_t>(message.msg_iov), message.msg_iovlen, to_write);
}

void need_messages(TrappedCall& call, std::uintptr_t at, std::uintptr_t count, bool to_write) noexcept {
  constexpr std::uintptr_t kMostMessages = 1024;
  for (std::uintptr_t i = 0; i < std::min(count, kMostMessages); ++i) {
    call.need(range_of(at + i * sizeof(mmsghdr), sizeof(mmsghdr)), true);
    need_message(call, at + i * sizeof(mmsghdr), to_write);
  }
}

// Of an argument or a variable, which may be of up to 128 KiB: page by page, up to where it ends.
void need_text(TrappedCall& call, std::uintptr_t text) noexcept {
  constexpr std::uintptr_t kMost = 32 * kPageBytes, kLeastRead = 8;
  for (std::uintptr_t at = text, end; at - text < kMost; at = end) {
    end = (at | (kPageBytes - 1)) + 1;
    if (!call.can_read(at, std::max(end - at, kLeastRead))) return;
    if (std::memchr(reinterpret_cast<const void*>(at), 0, end - at) != nullptr) return;
  }
}

void need_texts(TrappedCall& call, std::uintptr_t at) noexcept {
  for (; call.can_read(at, sizeof(std::uintptr_t)); at += sizeof(std::uintptr_t)) {
    const std::uintptr_t text = *reinterpret_cast<const std::uintptr_t*>(at);
    if (text == 0) return;
    need_text(call, text);
  }
}

// A filter is named by where it lies.
void need_option(TrappedCall& call, std::uintptr_t at, std::uintptr_t bytes) noexcept {
  call.need(range_of(at, bytes), false);
  const auto level = static_cast<int>(call.argument(1)), option = static_cast<int>(call.argument(2));
  const bool is_filter =
      level == SOL_SOCKET && (option == SO_ATTACH_FILTER || option == SO_ATTACH_REUSEPORT_CBPF);
  if (!is_filter || bytes != sizeof(sock_fprog) || !call.can_read(at, bytes)) return;
  const sock_fprog filter = *reinterpret_cast<const sock_fprog*>(at);
  call.need(range_of(reinterpret_cast<std::uintptr_t>(filter.filter), filter.len * sizeof *filter.filter),
            false);
}

void need_futexes(TrappedCall& call, std::uintptr_t at, std::uintptr_t count) noexcept {
  if (count == 0 || count > FUTEX_WAITV_MAX || !call.can_read(at, count * sizeof(futex_waitv))) return;
  const auto* const futexes = reinterpret_cast<const futex_waitv*>(at);
  for (std::uintptr_t i = 0; i < count; ++i)
    call.need(range_of(futexes[i].uaddr, sizeof(std::uint32_t)), true);
}

// Nothing is known of what lies there, if it is an address.
void need_some(TrappedCall& call, std::uintptr_t at) noexcept {
  if (!ProcessPager::get()->is_paged(at)) return;
  call.need(intersection(ProcessPager::get()->range_at(at), range_of(at, kUnknownBytes)), true);
}

// Some are given an address in what they are given the address of.
void need_request(TrappedCall& call, std::uintptr_t at) noexcept {
  need_some(call, at);
  if (call.argument(1) != SIOCGIFCONF || !call.can_read(at, sizeof(ifconf))) return;
  const ifconf list = *reinterpret_cast<const ifconf*>(at);
  if (list.ifc_len > 0)
    call.need(
        range_of(reinterpret_cast<std::uintptr_t>(list.ifc_buf), static_cast<std::uintptr_t>(list.ifc_len)),
        true);
}

void need(TrappedCall& call, const CallBuffer& buffer) noexcept {
  using enum BufferKind;
  const std::uintptr_t at = call.argument(buffer.address);
  if (at == 0) return;
  const std::uintptr_t count = buffer.count < 0 ? 1 : call.argument(buffer.count);
  switch (buffer.kind) {
    case kIn:
    case kOut: {
      std::uintptr_t bytes;
      if (__builtin_mul_overflow(count, std::uintptr_t{buffer.size}, &bytes)) return;
      return call.need(range_of(at, bytes + buffer.more), buffer.kind == kOut);
    }
    case kInVector:
    case kOutVector:
      return need_vector(call, at, count, buffer.kind == kOutVector);
    case kInMessage:
    case kOutMessage:
      return need_message(call, at, buffer.kind == kOutMessage);
    case kInMessages:
    case kOutMessages:
      return need_messages(call, at, count, buffer.kind == kOutMessages);
    case kTexts:
      return need_texts(call, at);
    case kOutPages:
      return call.need(range_of(at, whole_pages(count) / kPageBytes), true);
    case kOption:
      return need_option(call, at, count);
    case kRequest:
      return need_request(call, at);
    case kFutexes:
      return need_futexes(call, at, count);
  }
}

bool is_regular_file(std::uintptr_t file) noexcept {
  struct stat status {};
  return raw_syscall(SYS_fstat, file, &status) == 0 && S_ISREG(status.st_mode);
}

// A buffer that may be larger than all of the DRAM. Of a file it is read or written piece by piece, here; of
// anything else a part of it may be as well. Nothing: the call is still to be made.
std::optional<long> make_large(TrappedCall& call) noexcept {
  const long number = call.number();
  const bool at_offset = number == SYS_pread64 || number == SYS_pwrite64;
  const bool reads = number == SYS_read || number == SYS_pread64;
  if (!at_offset && number != SYS_read && number != SYS_write) return std::nullopt;
  const std::uintptr_t at = call.argument(1), bytes = call.argument(2);
  if (bytes <= kAtOnce || !ProcessPager::get()->is_paged(at)) return std::nullopt;
  if (!is_regular_file(call.argument(0))) {
    call.set_argument(2, kAtOnce);
    return std::nullopt;
  }
  std::uintptr_t done = 0;
  while (done < bytes) {
    const std::uintptr_t piece = std::min(bytes - done, kAtOnce);
    const AddressRange range = range_of(at + done, piece);
    const bool is_pinned = ProcessPager::get()->pin(range, reads);
    const long result = raw_syscall(number, call.argument(0), at + done, piece, call.argument(3) + done);
    if (is_pinned) ProcessPager::get()->unpin(range);
    if (result < 0 && done == 0) return result;
    if (result <= 0) break;
    done += static_cast<std::uintptr_t>(result);
    if (static_cast<std::uintptr_t>(result) < piece) break;
  }
  return static_cast<long>(done);
}

void need_whatever_it_is(TrappedCall& call) noexcept {
  for (int i = 0; i < 6; ++i) need_some(call, call.argument(i));
}

void need_all(TrappedCall& call) noexcept {
  if (!is_listed(call.number())) return need_whatever_it_is(call);
  for (const CallBuffer& buffer : buffers_of(call.number())) need(call, buffer);
}

}  // namespace

long make_with_buffers(TrappedCall& call) noexcept {
  if (const std::optional<long> made = make_large(call)) return *made;
  need_all(call);
  return call.make();
}

void prepare_buffers(TrappedCall& call) noexcept {
  if (const std::optional<long> made = make_large(call)) return call.return_with(*made);
  need_all(call);
  // Whoever becomes another program, in memory that is shared until then, makes no call any more that would
  // unpin: what is taken out meanwhile is brought in again when the call has failed.
  const bool becomes_another = call.number() == SYS_execve || call.number() == SYS_execveat;
  if (becomes_another && call.thread() != nullptr) release_pins(*call.thread());
  call.make_in_stub();
}

}  // namespace nvmemu::preload
