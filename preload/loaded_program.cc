// SPDX-License-Identifier: Apache-2.0
#include "loaded_program.h"

#include <link.h>

#include <cstddef>

namespace nvmemu::preload {
namespace {

bool needs_libraries(const ElfW(Dyn) * entry) {
  for (; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_NEEDED) return true;
  }
  return false;
}

}  // namespace

CodeRange code_around(const void* address) {
  struct Search {
    std::uintptr_t address;
    CodeRange range;
  } search{reinterpret_cast<std::uintptr_t>(address), {}};
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* out) {
        auto& [wanted, range] = *static_cast<Search*>(out);
        for (int i = 0; i < object->dlpi_phnum; ++i) {
          const auto& segment = object->dlpi_phdr[i];
          const std::uintptr_t begin = object->dlpi_addr + segment.p_vaddr;
          if (segment.p_type != PT_LOAD || wanted < begin || wanted >= begin + segment.p_memsz) continue;
          range = {begin, begin + segment.p_memsz};
          return 1;
        }
        return 0;
      },
      &search);
  return search.range;
}

bool program_needs_libraries() {
  bool needs = false;
  dl_iterate_phdr(
      [](dl_phdr_info* program, std::size_t, void* out) {
        for (int i = 0; i < program->dlpi_phnum; ++i) {
          const auto& segment = program->dlpi_phdr[i];
          if (segment.p_type != PT_DYNAMIC) continue;
          *static_cast<bool*>(out) =
              needs_libraries(reinterpret_cast<const ElfW(Dyn)*>(program->dlpi_addr + segment.p_vaddr));
        }
        return 1;  // the program is the first of all
      },
      &needs);
  return needs;
}

}  // namespace nvmemu::preload
