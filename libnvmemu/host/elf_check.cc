// SPDX-License-Identifier: Apache-2.0
#include "host/elf_check.h"

#include <elf.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>

#include "base/raw_syscall.h"

namespace nvmemu {
namespace {

constexpr std::uint64_t kMostProgramHeaderBytes = 65536;  // the kernel refuses more
constexpr std::uint64_t kLongestLoaderPath = 4096;

#if defined(__x86_64__)
constexpr Elf64_Half kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr Elf64_Half kMachine = EM_AARCH64;
#endif
constexpr unsigned char kByteOrder = std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;

// Dynamic loaders that cannot load a library built for glibc: with one in LD_PRELOAD, the program does not
// start.
constexpr std::array<std::string_view, 2> kForeignLoaders{"ld-musl-", "linker64"};

std::optional<ElfVerdict> check_identity(const std::array<unsigned char, EI_NIDENT>& identity) {
  if (std::memcmp(identity.data(), ELFMAG, SELFMAG) != 0) return ElfVerdict::kNotElf;
  if (identity[EI_CLASS] == ELFCLASS32) return ElfVerdict::k32Bit;
  if (identity[EI_CLASS] != ELFCLASS64 || identity[EI_VERSION] != EV_CURRENT) return ElfVerdict::kBroken;
  if (identity[EI_DATA] != kByteOrder) {
    const bool known = identity[EI_DATA] == ELFDATA2LSB || identity[EI_DATA] == ELFDATA2MSB;
    return known ? ElfVerdict::kOtherMachine : ElfVerdict::kBroken;
  }
  return std::nullopt;
}

std::optional<ElfVerdict> check_header(const Elf64_Ehdr& header) {
  if (header.e_machine != kMachine) return ElfVerdict::kOtherMachine;
  if (header.e_type == ET_REL || header.e_type == ET_CORE) return ElfVerdict::kNotExecutable;
  if (header.e_type != ET_EXEC && header.e_type != ET_DYN) return ElfVerdict::kBroken;
  const std::uint64_t bytes = std::uint64_t{header.e_phnum} * sizeof(Elf64_Phdr);
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum == 0 || bytes > kMostProgramHeaderBytes ||
      header.e_phoff > std::numeric_limits<std::uint64_t>::max() - bytes) {
    return ElfVerdict::kBroken;
  }
  return std::nullopt;
}

ElfVerdict check_loader(const Elf64_Phdr& interpreter, const ReadAt& read_at) {
  if (interpreter.p_filesz < 2 || interpreter.p_filesz > kLongestLoaderPath) return ElfVerdict::kBroken;
  std::array<char, kLongestLoaderPath> room;
  if (!read_at(interpreter.p_offset, room.data(), interpreter.p_filesz) ||
      room[interpreter.p_filesz - 1] != '\0')
    return ElfVerdict::kBroken;
  const std::string_view path(room.data(), interpreter.p_filesz);
  const std::string_view name = path.substr(path.rfind('/') + 1);  // npos + 1 is 0
  const bool foreign = std::any_of(kForeignLoaders.begin(), kForeignLoaders.end(),
                                   [name](std::string_view start) { return name.starts_with(start); });
  return foreign ? ElfVerdict::kForeignLoader : ElfVerdict::kPreloadable;
}

}  // namespace

ElfVerdict check_elf(const ReadAt& read_at) {
  std::array<unsigned char, EI_NIDENT> identity{};
  if (!read_at(0, identity.data(), SELFMAG)) return ElfVerdict::kNotElf;
  if (std::memcmp(identity.data(), ELFMAG, SELFMAG) != 0) return ElfVerdict::kNotElf;
  if (!read_at(0, identity.data(), identity.size())) return ElfVerdict::kBroken;
  if (const auto verdict = check_identity(identity)) return *verdict;

  Elf64_Ehdr header{};
  if (!read_at(0, &header, sizeof header)) return ElfVerdict::kBroken;
  if (const auto verdict = check_header(header)) return *verdict;

  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    if (!read_at(header.e_phoff + i * sizeof segment, &segment, sizeof segment)) return ElfVerdict::kBroken;
    if (segment.p_type == PT_INTERP) return check_loader(segment, read_at);
  }
  return ElfVerdict::kStatic;
}

ElfVerdict check_elf_file(int fd) {
  return check_elf([fd](std::uint64_t offset, void* buffer, std::size_t bytes) {
    auto* at = static_cast<char*>(buffer);
    while (bytes > 0) {
      if (offset > static_cast<std::uint64_t>(std::numeric_limits<off_t>::max())) return false;
      const long got = raw_syscall(SYS_pread64, fd, at, bytes, static_cast<off_t>(offset));
      if (got == -EINTR) continue;
      if (got <= 0) return false;
      at += got;
      offset += static_cast<std::uint64_t>(got);
      bytes -= static_cast<std::size_t>(got);
    }
    return true;
  });
}

std::string explain(ElfVerdict verdict) {
  switch (verdict) {
    case ElfVerdict::kPreloadable:
      return {};
    case ElfVerdict::kNotElf:
      return "is neither an ELF program nor a script (exec format error)";
    case ElfVerdict::kBroken:
      return "has a broken ELF header (exec format error)";
    case ElfVerdict::kNotExecutable:
      return "is an object file or a core dump, not a program (exec format error)";
    case ElfVerdict::k32Bit:
      return "is a 32-bit program; the preload library is 64-bit";
    case ElfVerdict::kOtherMachine:
      return "is a program for another processor";
    case ElfVerdict::kStatic:
      return "is statically linked: it has no dynamic loader that could preload the library";
    case ElfVerdict::kForeignLoader:
      return "is linked against a C library other than glibc, which cannot load the preload library";
  }
  return {};
}

}  // namespace nvmemu
