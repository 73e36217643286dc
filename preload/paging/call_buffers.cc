// SPDX-License-Identifier: Apache-2.0
#include "paging/call_buffers.h"

#include <linux/futex.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>

namespace nvmemu::preload {
namespace {

using enum BufferKind;

constexpr std::int8_t kOne = -1;
constexpr std::uint16_t kVector = sizeof(iovec), kMessage = sizeof(msghdr), kMessages = sizeof(mmsghdr);
constexpr std::uint16_t kAddress = sizeof(sockaddr_storage), kLength = sizeof(socklen_t);
constexpr std::uint16_t kText = 4096, kTime = 16, kEvent = sizeof(epoll_event);

constexpr CallBuffer kRead[] = {{kOut, 1, 2, 1}};
constexpr CallBuffer kWrite[] = {{kIn, 1, 2, 1}};
constexpr CallBuffer kReadVector[] = {{kOutVector, 1, 2, kVector}};
constexpr CallBuffer kWriteVector[] = {{kInVector, 1, 2, kVector}};
constexpr CallBuffer kReceiveFrom[] = {{kOut, 1, 2, 1}, {kOut, 4, kOne, kAddress}, {kOut, 5, kOne, kLength}};
constexpr CallBuffer kSendTo[] = {{kIn, 1, 2, 1}, {kIn, 4, kOne, kAddress}};
constexpr CallBuffer kReceiveMessage[] = {{kOutMessage, 1, kOne, kMessage}};
constexpr CallBuffer kSendMessage[] = {{kInMessage, 1, kOne, kMessage}};
constexpr CallBuffer kReceiveMessages[] = {{kOutMessages, 1, 2, kMessages}, {kOut, 4, kOne, kTime}};
constexpr CallBuffer kSendMessages[] = {{kInMessages, 1, 2, kMessages}};
constexpr CallBuffer kFirstOut[] = {{kOut, 0, 1, 1}};
constexpr CallBuffer kReadLink[] = {{kIn, 0, kOne, kText}, {kOut, 1, 2, 1}};
constexpr CallBuffer kReadLinkAt[] = {{kIn, 1, kOne, kText}, {kOut, 2, 3, 1}};
constexpr CallBuffer kPoll[] = {{kOut, 0, 1, sizeof(pollfd)}, {kOut, 2, kOne, kTime}};
constexpr CallBuffer kEpoll[] = {{kOut, 1, 2, kEvent}, {kIn, 4, kOne, sizeof(std::uint64_t)}};
constexpr CallBuffer kFutex[] = {
    {kOut, 0, kOne, sizeof(int)}, {kIn, 3, kOne, kTime}, {kOut, 4, kOne, sizeof(int)}};
constexpr CallBuffer kGetAttribute[] = {{kIn, 0, kOne, kText}, {kIn, 1, kOne, kText}, {kOut, 2, 3, 1}};
constexpr CallBuffer kSetAttribute[] = {{kIn, 0, kOne, kText}, {kIn, 1, kOne, kText}, {kIn, 2, 3, 1}};
constexpr CallBuffer kListAttributes[] = {{kIn, 0, kOne, kText}, {kOut, 1, 2, 1}};
constexpr CallBuffer kQueueIn[] = {{kIn, 1, 2, 1, sizeof(long)}};
constexpr CallBuffer kQueueOut[] = {{kOut, 1, 2, 1, sizeof(long)}};
constexpr CallBuffer kPostIn[] = {{kIn, 1, 2, 1}, {kIn, 4, kOne, kTime}};
constexpr CallBuffer kPostOut[] = {{kOut, 1, 2, 1}, {kOut, 3, kOne, sizeof(unsigned)}, {kIn, 4, kOne, kTime}};
constexpr CallBuffer kOthersRead[] = {{kOutVector, 1, 2, kVector}, {kIn, 3, 4, kVector}};
constexpr CallBuffer kOthersWrite[] = {{kInVector, 1, 2, kVector}, {kIn, 3, 4, kVector}};
constexpr CallBuffer kSetOption[] = {{kOption, 3, 4, 1}};
constexpr CallBuffer kRequests[] = {{kRequest, 2, kOne, kUnknownBytes}};
constexpr CallBuffer kFutexWait[] = {{kFutexes, 0, 1, sizeof(futex_waitv)}, {kIn, 3, kOne, kTime}};
constexpr CallBuffer kPagesThere[] = {{kOutPages, 2, 1, 1}};
constexpr CallBuffer kGroups[] = {{kOut, 1, 0, sizeof(gid_t)}};
constexpr CallBuffer kKey[] = {{kIn, 0, kOne, kText}, {kIn, 1, kOne, kText}, {kIn, 2, 3, 1}};
constexpr CallBuffer kPages[] = {
    {kIn, 2, 1, sizeof(void*)}, {kIn, 3, 1, sizeof(int)}, {kOut, 4, 1, sizeof(int)}};
constexpr CallBuffer kExec[] = {{kIn, 0, kOne, kText}, {kTexts, 1, kOne, 0}, {kTexts, 2, kOne, 0}};
constexpr CallBuffer kExecAt[] = {{kIn, 1, kOne, kText}, {kTexts, 2, kOne, 0}, {kTexts, 3, kOne, 0}};
constexpr CallBuffer kTimeout[] = {{kOut, 0, kOne, kTime}, {kOut, 1, kOne, kTime}};
constexpr CallBuffer kClock[] = {{kOut, 1, kOne, kTime}};
constexpr CallBuffer kSleep[] = {{kIn, 2, kOne, kTime}, {kOut, 3, kOne, kTime}};

// What else takes addresses, but none of memory that the kernel reads or writes; or takes none.
constexpr std::span<const CallBuffer> kNothing{};

constexpr auto kCalls = [] {
  std::array calls = std::to_array<CallBuffers>({
      {SYS_read, kRead},
      {SYS_write, kWrite},
      {SYS_close, kNothing},
      {SYS_poll, kPoll},
      {SYS_lseek, kNothing},
      {SYS_ioctl, kRequests},
      {SYS_pread64, kRead},
      {SYS_pwrite64, kWrite},
      {SYS_readv, kReadVector},
      {SYS_writev, kWriteVector},
      {SYS_sched_yield, kNothing},
      {SYS_msync, kNothing},
      {SYS_mincore, kPagesThere},
      {SYS_nanosleep, kTimeout},
      {SYS_getpid, kNothing},
      {SYS_sendto, kSendTo},
      {SYS_recvfrom, kReceiveFrom},
      {SYS_sendmsg, kSendMessage},
      {SYS_recvmsg, kReceiveMessage},
      {SYS_setsockopt, kSetOption},
      {SYS_exit, kNothing},
      {SYS_kill, kNothing},
      {SYS_execve, kExec},
      {SYS_msgsnd, kQueueIn},
      {SYS_msgrcv, kQueueOut},
      {SYS_fsync, kNothing},
      {SYS_fdatasync, kNothing},
      {SYS_ftruncate, kNothing},
      {SYS_getdents, kRead},
      {SYS_getcwd, kFirstOut},
      {SYS_readlink, kReadLink},
      {SYS_syslog, kRead},
      {SYS_getgroups, kGroups},
      {SYS_setgroups, kGroups},
      {SYS_gettid, kNothing},
      {SYS_setxattr, kSetAttribute},
      {SYS_lsetxattr, kSetAttribute},
      {SYS_fsetxattr, kSetAttribute},
      {SYS_getxattr, kGetAttribute},
      {SYS_lgetxattr, kGetAttribute},
      {SYS_fgetxattr, kGetAttribute},
      {SYS_listxattr, kListAttributes},
      {SYS_llistxattr, kListAttributes},
      {SYS_flistxattr, kListAttributes},
      {SYS_futex, kFutex},
      {SYS_getdents64, kRead},
      {SYS_clock_gettime, kClock},
      {SYS_clock_nanosleep, kSleep},
      {SYS_exit_group, kNothing},
      {SYS_mq_timedsend, kPostIn},
      {SYS_mq_timedreceive, kPostOut},
      {SYS_add_key, kKey},
      {SYS_epoll_wait, kEpoll},
      {SYS_tgkill, kNothing},
      {SYS_readlinkat, kReadLinkAt},
      {SYS_ppoll, kPoll},
      {SYS_vmsplice, kWriteVector},
      {SYS_move_pages, kPages},
      {SYS_epoll_pwait, kEpoll},
      {SYS_fallocate, kNothing},
      {SYS_preadv, kReadVector},
      {SYS_pwritev, kWriteVector},
      {SYS_recvmmsg, kReceiveMessages},
      {SYS_sendmmsg, kSendMessages},
      {SYS_process_vm_readv, kOthersRead},
      {SYS_process_vm_writev, kOthersWrite},
      {SYS_getrandom, kFirstOut},
      {SYS_execveat, kExecAt},
      {SYS_preadv2, kReadVector},
      {SYS_pwritev2, kWriteVector},
      {SYS_futex_waitv, kFutexWait},
  });
  std::ranges::sort(calls, {}, &CallBuffers::call);
  return calls;
}();

const CallBuffers* find(long call) noexcept {
  const auto* const found = std::ranges::lower_bound(kCalls, call, {}, &CallBuffers::call);
  return found != std::end(kCalls) && found->call == call ? found : nullptr;
}

}  // namespace

bool is_listed(long call) noexcept { return find(call) != nullptr; }

std::span<const CallBuffer> buffers_of(long call) noexcept {
  const CallBuffers* const found = find(call);
  return found == nullptr ? std::span<const CallBuffer>() : found->buffers;
}

}  // namespace nvmemu::preload
