// SPDX-License-Identifier: Apache-2.0
#include "carried_out.h"

#include <elf.h>
#include <sys/auxv.h>

#include <cstddef>
#include <cstdint>

#include "base/read_file.h"

namespace nvmemu::preload {

// Who carries a program out makes its first stack, and leaves the kernel's vDSO out of the vector there or
// gives one of its own, as the code in it would not be carried out. By /proc/self it shows the program what
// it has made; not, so far, by /proc/thread-self. An explicit `ld.so PROGRAM` leaves both the same.
bool is_carried_out_by_another() noexcept {
  Elf64_auxv_t told_by_kernel[64];
  const std::size_t size =
      read_start_of("/proc/thread-self/auxv", reinterpret_cast<char*>(told_by_kernel), sizeof told_by_kernel);
  for (std::size_t i = 0; i < size / sizeof *told_by_kernel; ++i) {
    if (told_by_kernel[i].a_type == AT_SYSINFO_EHDR)
      return told_by_kernel[i].a_un.a_val != getauxval(AT_SYSINFO_EHDR);
  }
  return false;
}

}  // namespace nvmemu::preload
