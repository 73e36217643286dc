// SPDX-License-Identifier: Apache-2.0
// The functions behind the interposed ones: what the emulator itself calls.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace nvmemu::preload::hooks {

int sigaction(int signal, const struct sigaction* action, struct sigaction* old) noexcept;
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                   void* argument) noexcept;

}  // namespace nvmemu::preload::hooks
