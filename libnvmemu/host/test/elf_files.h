// SPDX-License-Identifier: Apache-2.0
// Hand-made ELF files: a header, two program headers, and the path of a dynamic loader.
#pragma once

#include <elf.h>

#include <cstring>
#include <string>

namespace nvmemu {

#if defined(__aarch64__)
inline constexpr Elf64_Half kThisMachine = EM_AARCH64;
#else
inline constexpr Elf64_Half kThisMachine = EM_X86_64;
#endif

struct ElfParts {
  ElfParts() {
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_DYN;
    header.e_machine = kThisMachine;
    header.e_version = EV_CURRENT;
    header.e_phoff = sizeof header;
    header.e_ehsize = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = 2;
    segments[0].p_type = PT_LOAD;
    segments[1].p_type = PT_INTERP;
    set_loader("/lib64/ld-linux-x86-64.so.2");
  }

  void set_loader(const std::string& path) {
    loader = path + '\0';
    segments[1].p_offset = sizeof header + sizeof segments;
    segments[1].p_filesz = loader.size();
  }

  std::string bytes() const {
    std::string result(reinterpret_cast<const char*>(&header), sizeof header);
    result.append(reinterpret_cast<const char*>(segments), sizeof segments);
    return result + loader;
  }

  Elf64_Ehdr header{};
  Elf64_Phdr segments[2]{};
  std::string loader;
};

}  // namespace nvmemu
