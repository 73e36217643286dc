// SPDX-License-Identifier: Apache-2.0
// Preloaded beside the emulator: a kernel that does not allow the instructions which read a thread's pointer,
// as before Linux 5.9. The emulator has system calls for it then.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/auxv.h>

unsigned long getauxval(unsigned long type) {
  unsigned long (*const real)(unsigned long) =
      (unsigned long (*)(unsigned long))dlsym(RTLD_NEXT, "getauxval");
  const unsigned long kFsgsbase = 2;  // HWCAP2_FSGSBASE
  const unsigned long value = real(type);
  return type == AT_HWCAP2 ? value & ~kFsgsbase : value;
}
