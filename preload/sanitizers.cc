// SPDX-License-Identifier: Apache-2.0
// What sanitizers' runtimes ask their program for, by these names, and which one that has its own to say
// keeps.
#include "hook.h"

// AddressSanitizer ends a program that it does not come first in. Here it comes behind this library, whose
// functions call its own.
NVMEMU_EXPORT const char* __asan_default_options() { return "verify_asan_link_order=0"; }

// ThreadSanitizer looks at what this library asks of the C library, too, and not at how it is ordered.
NVMEMU_EXPORT const char* __tsan_default_suppressions() {
  return "called_from_lib:libnvmemu-preload.so\nrace:libnvmemu-preload.so\n";
}
