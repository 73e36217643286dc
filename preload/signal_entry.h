// SPDX-License-Identifier: Apache-2.0
// Where the kernel enters the emulator's handlers. All of them are one.
#pragma once

#include <signal.h>
#include <ucontext.h>

extern "C" {
// In place of any signal's handler. Calls nvmemu_handle_signal(), and then goes over to the program's handler
// that it names, as if the kernel had called that: on the same frame, with the same arguments, so that it may
// throw, jump, or look where it is.
void nvmemu_signal_entry(int signal, siginfo_t* info, void* context);

// The program's handler, null where none is to be called. (signal_entry.cc calls it, handlers.cc defines it.)
void* nvmemu_handle_signal(int signal, siginfo_t* info, ucontext_t* context);
}
