// SPDX-License-Identifier: Apache-2.0
#include "host/elf_check.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <limits>
#include <string_view>

#include "base/test/temporary_folder.h"
#include "host/test/elf_files.h"

namespace nvmemu {
namespace {

ElfVerdict check(std::string_view bytes) {
  return check_elf([bytes](std::uint64_t offset, void* buffer, std::size_t size) {
    if (offset > bytes.size() || size > bytes.size() - offset) return false;
    std::memcpy(buffer, bytes.data() + offset, size);
    return true;
  });
}

TEST(ElfCheck, TakesADynamicallyLinkedProgram) {
  ElfParts parts;
  EXPECT_EQ(check(parts.bytes()), ElfVerdict::kPreloadable);
  parts.header.e_type = ET_EXEC;
  EXPECT_EQ(check(parts.bytes()), ElfVerdict::kPreloadable);
  parts.set_loader("/nix/store/abc-glibc-2.40/lib/ld-linux-x86-64.so.2");
  EXPECT_EQ(check(parts.bytes()), ElfVerdict::kPreloadable);
}

TEST(ElfCheck, SeesThatThereIsNoLoader) {
  ElfParts parts;
  parts.segments[1].p_type = PT_NOTE;
  EXPECT_EQ(check(parts.bytes()), ElfVerdict::kStatic);
}

TEST(ElfCheck, SeesALoaderThatIsNotGlibcs) {
  ElfParts parts;
  parts.set_loader("/lib/ld-musl-x86_64.so.1");
  EXPECT_EQ(check(parts.bytes()), ElfVerdict::kForeignLoader);
  parts.set_loader("/system/bin/linker64");
  EXPECT_EQ(check(parts.bytes()), ElfVerdict::kForeignLoader);
}

TEST(ElfCheck, SeesAnotherKindOfMachine) {
  ElfParts parts;
  parts.header.e_ident[EI_CLASS] = ELFCLASS32;
  EXPECT_EQ(check(parts.bytes()), ElfVerdict::k32Bit);
  parts = {};
  parts.header.e_machine = EM_RISCV;
  EXPECT_EQ(check(parts.bytes()), ElfVerdict::kOtherMachine);
  parts = {};
  parts.header.e_ident[EI_DATA] = ELFDATA2MSB;
  EXPECT_EQ(check(parts.bytes()), ElfVerdict::kOtherMachine);
}

TEST(ElfCheck, SeesWhatIsNoProgram) {
  ElfParts parts;
  parts.header.e_type = ET_REL;
  EXPECT_EQ(check(parts.bytes()), ElfVerdict::kNotExecutable);
  parts.header.e_type = ET_CORE;
  EXPECT_EQ(check(parts.bytes()), ElfVerdict::kNotExecutable);
  for (const std::string_view text : {"", "\x7f",
                                      "\x7f"
                                      "EL",
                                      "hello, world", "#!/bin/sh"}) {
    EXPECT_EQ(check(text), ElfVerdict::kNotElf) << text;
  }
}

TEST(ElfCheck, FindsEveryTruncationBroken) {
  const std::string whole = ElfParts().bytes();
  for (std::size_t size = SELFMAG; size < whole.size(); ++size) {
    EXPECT_EQ(check(std::string_view(whole).substr(0, size)), ElfVerdict::kBroken) << size;
  }
}

TEST(ElfCheck, BelievesNoOffsetOrSize) {
  const std::uint64_t huge = std::numeric_limits<std::uint64_t>::max();
  const auto verdict = [](auto change) {
    ElfParts parts;
    change(parts);
    return check(parts.bytes());
  };
  EXPECT_EQ(verdict([=](ElfParts& p) { p.header.e_phoff = huge; }), ElfVerdict::kBroken);
  EXPECT_EQ(verdict([=](ElfParts& p) { p.header.e_phoff = huge - sizeof p.segments; }), ElfVerdict::kBroken);
  EXPECT_EQ(verdict([](ElfParts& p) { p.header.e_phnum = 0; }), ElfVerdict::kBroken);
  EXPECT_EQ(verdict([](ElfParts& p) { p.header.e_phnum = 0xffff; }), ElfVerdict::kBroken);
  EXPECT_EQ(verdict([](ElfParts& p) { p.header.e_phentsize = 1; }), ElfVerdict::kBroken);
  EXPECT_EQ(verdict([](ElfParts& p) { p.header.e_type = 77; }), ElfVerdict::kBroken);
  EXPECT_EQ(verdict([](ElfParts& p) { p.header.e_ident[EI_CLASS] = 9; }), ElfVerdict::kBroken);
  EXPECT_EQ(verdict([](ElfParts& p) { p.header.e_ident[EI_DATA] = 9; }), ElfVerdict::kBroken);
  EXPECT_EQ(verdict([](ElfParts& p) { p.header.e_ident[EI_VERSION] = 9; }), ElfVerdict::kBroken);
  EXPECT_EQ(verdict([=](ElfParts& p) { p.segments[1].p_offset = huge; }), ElfVerdict::kBroken);
  EXPECT_EQ(verdict([=](ElfParts& p) { p.segments[1].p_filesz = huge; }), ElfVerdict::kBroken);
  EXPECT_EQ(verdict([](ElfParts& p) { p.segments[1].p_filesz = 0; }), ElfVerdict::kBroken);
  EXPECT_EQ(verdict([](ElfParts& p) { p.segments[1].p_filesz -= 1; }), ElfVerdict::kBroken);  // no final zero
}

TEST(ElfCheck, ReadsFiles) {
  const TemporaryFolder folder;
  const auto verdict = [](const std::string& path) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    const ElfVerdict result = check_elf_file(fd);
    close(fd);
    return result;
  };
  EXPECT_EQ(verdict("/proc/self/exe"), ElfVerdict::kPreloadable);
  EXPECT_EQ(verdict(folder.write("elf", ElfParts().bytes())), ElfVerdict::kPreloadable);
  EXPECT_EQ(verdict(folder.write("short", ElfParts().bytes().substr(0, 70))), ElfVerdict::kBroken);
  EXPECT_EQ(verdict(folder.path()), ElfVerdict::kNotElf);
}

TEST(ElfCheck, ExplainsEveryVerdictButTheGoodOne) {
  EXPECT_EQ(explain(ElfVerdict::kPreloadable), "");
  for (const ElfVerdict verdict :
       {ElfVerdict::kNotElf, ElfVerdict::kBroken, ElfVerdict::kNotExecutable, ElfVerdict::k32Bit,
        ElfVerdict::kOtherMachine, ElfVerdict::kStatic, ElfVerdict::kForeignLoader}) {
    EXPECT_NE(explain(verdict), "");
  }
}

}  // namespace
}  // namespace nvmemu
