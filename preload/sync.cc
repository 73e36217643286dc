// SPDX-License-Identifier: Apache-2.0
// Interposed: how threads of a process wait for one another.
//
// Before a release (unlock, signal, post) the thread must be as late as the emulated memory would have made
// it, since whoever waits is to wait for that. Before a wait (lock, join) too: what it did until then would
// have taken longer while others went on, and must not be paid later, while it holds them up.
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>

#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#endif

#include "edge.h"

namespace nvmemu::preload {
namespace {

// In a process of one thread a lock lets nobody go on, unless it is shared with others: most programs lock
// all the same, some for each row that they read.
inline bool lets_others_go_on(const pthread_mutex_t* mutex) noexcept {
#if __has_include(<sys/single_threaded.h>)
  constexpr int kProcessShared = 128;  // PTHREAD_MUTEX_PSHARED_BIT of glibc's
  return !__libc_single_threaded || (mutex->__data.__kind & kProcessShared) != 0;
#else
  return true;
#endif
}

}  // namespace
}  // namespace nvmemu::preload

#define NVMEMU_MUTEX_EDGE(name)                                                                       \
  NVMEMU_EDGE_WITH(nvmemu::preload::lets_others_go_on(mutex), , int, name, (pthread_mutex_t * mutex), \
                   noexcept, (mutex))

NVMEMU_MUTEX_EDGE(pthread_mutex_lock);
NVMEMU_MUTEX_EDGE(pthread_mutex_trylock);
NVMEMU_MUTEX_EDGE(pthread_mutex_unlock);
NVMEMU_EDGE(int, pthread_mutex_timedlock, (pthread_mutex_t * mutex, const timespec* until), noexcept,
            (mutex, until));
NVMEMU_EDGE(int, pthread_mutex_clocklock, (pthread_mutex_t * mutex, clockid_t clock, const timespec* until),
            noexcept, (mutex, clock, until));

NVMEMU_EDGE(int, pthread_rwlock_rdlock, (pthread_rwlock_t * lock), noexcept, (lock));
NVMEMU_EDGE(int, pthread_rwlock_tryrdlock, (pthread_rwlock_t * lock), noexcept, (lock));
NVMEMU_EDGE(int, pthread_rwlock_timedrdlock, (pthread_rwlock_t * lock, const timespec* until), noexcept,
            (lock, until));
NVMEMU_EDGE(int, pthread_rwlock_clockrdlock,
            (pthread_rwlock_t * lock, clockid_t clock, const timespec* until), noexcept,
            (lock, clock, until));
NVMEMU_EDGE(int, pthread_rwlock_wrlock, (pthread_rwlock_t * lock), noexcept, (lock));
NVMEMU_EDGE(int, pthread_rwlock_trywrlock, (pthread_rwlock_t * lock), noexcept, (lock));
NVMEMU_EDGE(int, pthread_rwlock_timedwrlock, (pthread_rwlock_t * lock, const timespec* until), noexcept,
            (lock, until));
NVMEMU_EDGE(int, pthread_rwlock_clockwrlock,
            (pthread_rwlock_t * lock, clockid_t clock, const timespec* until), noexcept,
            (lock, clock, until));
NVMEMU_EDGE(int, pthread_rwlock_unlock, (pthread_rwlock_t * lock), noexcept, (lock));

NVMEMU_SPINNING_EDGE(int, pthread_spin_lock, (pthread_spinlock_t * lock), noexcept, (lock));
NVMEMU_EDGE(int, pthread_spin_trylock, (pthread_spinlock_t * lock), noexcept, (lock));
NVMEMU_EDGE(int, pthread_spin_unlock, (pthread_spinlock_t * lock), noexcept, (lock));

NVMEMU_EDGE(int, pthread_cond_signal, (pthread_cond_t * condition), noexcept, (condition));
NVMEMU_EDGE(int, pthread_cond_broadcast, (pthread_cond_t * condition), noexcept, (condition));
NVMEMU_EDGE(int, pthread_cond_wait, (pthread_cond_t * condition, pthread_mutex_t* mutex), ,
            (condition, mutex));
NVMEMU_EDGE(int, pthread_cond_timedwait,
            (pthread_cond_t * condition, pthread_mutex_t* mutex, const timespec* until), ,
            (condition, mutex, until));
NVMEMU_EDGE(int, pthread_cond_clockwait,
            (pthread_cond_t * condition, pthread_mutex_t* mutex, clockid_t clock, const timespec* until), ,
            (condition, mutex, clock, until));

NVMEMU_EDGE(int, pthread_barrier_wait, (pthread_barrier_t * barrier), noexcept, (barrier));

NVMEMU_EDGE(int, sem_post, (sem_t * semaphore), noexcept, (semaphore));
NVMEMU_EDGE(int, sem_wait, (sem_t * semaphore), , (semaphore));
NVMEMU_EDGE(int, sem_trywait, (sem_t * semaphore), noexcept, (semaphore));
NVMEMU_EDGE(int, sem_timedwait, (sem_t * semaphore, const timespec* until), , (semaphore, until));
NVMEMU_EDGE(int, sem_clockwait, (sem_t * semaphore, clockid_t clock, const timespec* until), ,
            (semaphore, clock, until));

NVMEMU_EDGE(int, pthread_join, (pthread_t thread, void** result), , (thread, result));
NVMEMU_EDGE(int, pthread_tryjoin_np, (pthread_t thread, void** result), noexcept, (thread, result));
NVMEMU_EDGE(int, pthread_timedjoin_np, (pthread_t thread, void** result, const timespec* until), ,
            (thread, result, until));
NVMEMU_EDGE(int, pthread_clockjoin_np,
            (pthread_t thread, void** result, clockid_t clock, const timespec* until), ,
            (thread, result, clock, until));
NVMEMU_EDGE(int, pthread_kill, (pthread_t thread, int signal), noexcept, (thread, signal));
NVMEMU_EDGE(int, pthread_sigqueue, (pthread_t thread, int signal, const union sigval value), noexcept,
            (thread, signal, value));

NVMEMU_EDGE(int, mtx_lock, (mtx_t * mutex), , (mutex));
NVMEMU_EDGE(int, mtx_timedlock, (mtx_t * mutex, const timespec* until), , (mutex, until));
NVMEMU_EDGE(int, mtx_trylock, (mtx_t * mutex), , (mutex));
NVMEMU_EDGE(int, mtx_unlock, (mtx_t * mutex), , (mutex));
NVMEMU_EDGE(int, cnd_signal, (cnd_t * condition), , (condition));
NVMEMU_EDGE(int, cnd_broadcast, (cnd_t * condition), , (condition));
NVMEMU_EDGE(int, cnd_wait, (cnd_t * condition, mtx_t* mutex), , (condition, mutex));
NVMEMU_EDGE(int, cnd_timedwait, (cnd_t * condition, mtx_t* mutex, const timespec* until), ,
            (condition, mutex, until));
NVMEMU_EDGE(int, thrd_join, (thrd_t thread, int* result), , (thread, result));
