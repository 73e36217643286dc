// SPDX-License-Identifier: Apache-2.0
// What a program that is started needs to find in its environment to be emulated too. A program that starts
// another may give it an environment of its own making: what is missing there is put back.
#pragma once

#include <cstddef>
#include <string_view>

namespace nvmemu::preload {

// Not for users: the memory policy of the thread that starts a program, where nodes are emulated, as
// EmulatedNodes::task_policy() has it.
inline constexpr char kTaskPolicy[] = "NVMEMU_TASK_POLICY";

// Takes note of this process' NVMEMU_ variables and of where the library lies, and `beside` it another one;
// empty: none. Once, before the program runs.
void remember_inheritance(std::string_view beside) noexcept;

// As setenv(3), by memory of the library's own: the program's malloc may not be ready.
void set_in_environment(const char* name, const char* value) noexcept;

// The room that complete_environment() needs for `environment`.
struct EnvironmentRoom {
  std::size_t pointers = 0;
  std::size_t characters = 0;
};
EnvironmentRoom room_for(char* const environment[]) noexcept;

// `environment` without this library, for a program that would not start with it. Otherwise as below.
char* const* without_library(char* const environment[], char** pointers, char* characters) noexcept;

// `environment` with what it lacks, and the calling thread's policy, written to `pointers` and `characters`,
// which must have the room; `environment` itself where it lacks nothing. Async-signal-safe, and allocates
// nothing: it may run in the child of a vfork.
char* const* complete_environment(char* const environment[], char** pointers, char* characters) noexcept;

}  // namespace nvmemu::preload
