// SPDX-License-Identifier: Apache-2.0
// Interposed: how processes, and threads too, wait for one another through the kernel; reads, writes and
// what closes are in storage/. What a file descriptor stands for is not looked at: paying before a write to a
// plain file is merely early.
#include <mqueue.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "edge.h"

NVMEMU_EDGE(ssize_t, send, (int fd, const void* from, size_t size, int flags), , (fd, from, size, flags));
NVMEMU_EDGE(ssize_t, sendto,
            (int fd, const void* from, size_t size, int flags, const sockaddr* to, socklen_t length), ,
            (fd, from, size, flags, to, length));
NVMEMU_EDGE(ssize_t, sendmsg, (int fd, const msghdr* message, int flags), , (fd, message, flags));
NVMEMU_EDGE(int, sendmmsg, (int fd, mmsghdr* messages, unsigned count, int flags), ,
            (fd, messages, count, flags));
NVMEMU_EDGE(ssize_t, recv, (int fd, void* to, size_t size, int flags), , (fd, to, size, flags));
NVMEMU_EDGE(ssize_t, recvfrom, (int fd, void* to, size_t size, int flags, sockaddr* from, socklen_t* length),
            , (fd, to, size, flags, from, length));
NVMEMU_EDGE(ssize_t, recvmsg, (int fd, msghdr* message, int flags), , (fd, message, flags));
NVMEMU_EDGE(int, recvmmsg, (int fd, mmsghdr* messages, unsigned count, int flags, timespec* timeout), ,
            (fd, messages, count, flags, timeout));
NVMEMU_EDGE(int, accept, (int fd, sockaddr* from, socklen_t* length), , (fd, from, length));
NVMEMU_EDGE(int, accept4, (int fd, sockaddr* from, socklen_t* length, int flags), ,
            (fd, from, length, flags));
NVMEMU_EDGE(int, connect, (int fd, const sockaddr* to, socklen_t length), , (fd, to, length));
NVMEMU_EDGE(int, shutdown, (int fd, int how), noexcept, (fd, how));

NVMEMU_EDGE(int, poll, (pollfd * fds, nfds_t count, int timeout_ms), , (fds, count, timeout_ms));
NVMEMU_EDGE(int, ppoll, (pollfd * fds, nfds_t count, const timespec* timeout, const sigset_t* mask), ,
            (fds, count, timeout, mask));
NVMEMU_EDGE(int, select, (int count, fd_set* readable, fd_set* writable, fd_set* failed, timeval* timeout), ,
            (count, readable, writable, failed, timeout));
NVMEMU_EDGE(int, pselect,
            (int count, fd_set* readable, fd_set* writable, fd_set* failed, const timespec* timeout,
             const sigset_t* mask),
            , (count, readable, writable, failed, timeout, mask));
NVMEMU_EDGE(int, epoll_wait, (int fd, epoll_event* events, int count, int timeout_ms), ,
            (fd, events, count, timeout_ms));
NVMEMU_EDGE(int, epoll_pwait, (int fd, epoll_event* events, int count, int timeout_ms, const sigset_t* mask),
            , (fd, events, count, timeout_ms, mask));

NVMEMU_EDGE(int, eventfd_write, (int fd, eventfd_t value), , (fd, value));
NVMEMU_EDGE(int, eventfd_read, (int fd, eventfd_t* value), , (fd, value));
NVMEMU_EDGE(int, mq_send, (mqd_t queue, const char* from, size_t size, unsigned priority), ,
            (queue, from, size, priority));
NVMEMU_EDGE(int, mq_timedsend,
            (mqd_t queue, const char* from, size_t size, unsigned priority, const timespec* until), ,
            (queue, from, size, priority, until));
NVMEMU_EDGE(ssize_t, mq_receive, (mqd_t queue, char* to, size_t size, unsigned* priority), ,
            (queue, to, size, priority));
NVMEMU_EDGE(ssize_t, mq_timedreceive,
            (mqd_t queue, char* to, size_t size, unsigned* priority, const timespec* until), ,
            (queue, to, size, priority, until));
NVMEMU_EDGE(int, msgsnd, (int queue, const void* message, size_t size, int flags), ,
            (queue, message, size, flags));
NVMEMU_EDGE(ssize_t, msgrcv, (int queue, void* message, size_t size, long type, int flags), ,
            (queue, message, size, type, flags));

NVMEMU_EDGE(int, kill, (pid_t process, int signal), noexcept, (process, signal));
NVMEMU_EDGE(int, killpg, (pid_t group, int signal), noexcept, (group, signal));
NVMEMU_EDGE(int, sigqueue, (pid_t process, int signal, const union sigval value), noexcept,
            (process, signal, value));
NVMEMU_EDGE(int, tgkill, (pid_t process, pid_t thread, int signal), , (process, thread, signal));
NVMEMU_EDGE(int, pause, (), , ());
NVMEMU_EDGE(int, sigsuspend, (const sigset_t* mask), , (mask));
NVMEMU_EDGE(int, sigwait, (const sigset_t* set, int* signal), , (set, signal));
NVMEMU_EDGE(int, sigwaitinfo, (const sigset_t* set, siginfo_t* info), , (set, info));
NVMEMU_EDGE(int, sigtimedwait, (const sigset_t* set, siginfo_t* info, const timespec* timeout), ,
            (set, info, timeout));

NVMEMU_EDGE(pid_t, wait, (int* status), , (status));
NVMEMU_EDGE(pid_t, waitpid, (pid_t process, int* status, int options), , (process, status, options));
NVMEMU_EDGE(int, waitid, (idtype_t type, id_t id, siginfo_t* info, int options), , (type, id, info, options));
NVMEMU_EDGE(pid_t, wait3, (int* status, int options, rusage* usage), noexcept, (status, options, usage));
NVMEMU_EDGE(pid_t, wait4, (pid_t process, int* status, int options, rusage* usage), noexcept,
            (process, status, options, usage));

NVMEMU_EDGE(unsigned, sleep, (unsigned seconds), , (seconds));
NVMEMU_EDGE(int, usleep, (useconds_t microseconds), , (microseconds));
NVMEMU_EDGE(int, nanosleep, (const timespec* duration, timespec* left), , (duration, left));
NVMEMU_EDGE(int, clock_nanosleep, (clockid_t clock, int flags, const timespec* time, timespec* left), ,
            (clock, flags, time, left));

// What the C library's headers make of some of these where sizes are checked (_FORTIFY_SOURCE).
NVMEMU_EDGE(ssize_t, __recv_chk, (int fd, void* to, size_t size, size_t room, int flags), ,
            (fd, to, size, room, flags));
NVMEMU_EDGE(ssize_t, __recvfrom_chk,
            (int fd, void* to, size_t size, size_t room, int flags, sockaddr* from, socklen_t* length), ,
            (fd, to, size, room, flags, from, length));
NVMEMU_EDGE(int, __poll_chk, (pollfd * fds, nfds_t count, int timeout_ms, size_t room), ,
            (fds, count, timeout_ms, room));
NVMEMU_EDGE(int, __ppoll_chk,
            (pollfd * fds, nfds_t count, const timespec* timeout, const sigset_t* mask, size_t room), ,
            (fds, count, timeout, mask, room));
