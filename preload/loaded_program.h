// SPDX-License-Identifier: Apache-2.0
// What the dynamic loader has loaded. Not for signal handlers: the loader's lock is taken.
#pragma once

#include <cstdint>

namespace nvmemu::preload {

struct CodeRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

// The executable segment that this address lies in.
CodeRange code_around(const void* address);

// Whether the program was linked with any library. One that was not makes its threads and handles its signals
// by itself (Go's, without cgo): a sample that comes after it has taken the thread pointer and before it has
// taken the signal ends it. 2 of 200 starts of such a program did.
bool program_needs_libraries();

}  // namespace nvmemu::preload
