// SPDX-License-Identifier: Apache-2.0
#include "resolve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include <cstdlib>
#include <filesystem>

#include "base/test/temporary_folder.h"
#include "host/test/elf_files.h"

namespace nvmemu {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr mode_t kExecutable = 0755;

class Resolve : public testing::Test {
 protected:
  void SetUp() override {
    if (const char* path = std::getenv("PATH")) path_before_ = path;
  }
  void TearDown() override { setenv("PATH", path_before_.c_str(), 1); }

  // A file that looks like a program to be preloaded into.
  std::string program(const std::string& name) const {
    return folder_.write(name, ElfParts().bytes(), kExecutable);
  }
  std::string script(const std::string& name, const std::string& first_line) const {
    return folder_.write(name, first_line + "\necho\n", kExecutable);
  }

  static void expect_refused(const std::string& command, ExitStatus exit_status, const std::string& message) {
    const auto resolved = resolve_command(command);
    ASSERT_FALSE(resolved) << command << " is " << *resolved;
    EXPECT_EQ(resolved.error().exit_status, exit_status) << resolved.error().error.message;
    EXPECT_THAT(resolved.error().error.message, HasSubstr(message));
  }
  static void expect_resolved(const std::string& command, const std::string& path) {
    const auto resolved = resolve_command(command);
    ASSERT_TRUE(resolved) << resolved.error().error.message;
    EXPECT_EQ(*resolved, path);
  }

  TemporaryFolder folder_;
  std::string path_before_;
};

TEST_F(Resolve, TakesAPathAsItIs) { expect_resolved(program("app"), folder_.file("app")); }

TEST_F(Resolve, TakesTheFirstExecutableInPath) {
  std::filesystem::create_directories(folder_.file("a/app"));  // a directory is no command
  std::filesystem::create_directories(folder_.file("b"));
  std::filesystem::create_directories(folder_.file("c"));
  folder_.write("b/app", "not executable", 0644);
  program("c/app");
  setenv("PATH", (folder_.file("a") + ":" + folder_.file("b") + ":" + folder_.file("c")).c_str(), 1);
  expect_resolved("app", folder_.file("c/app"));
}

TEST_F(Resolve, SaysThatACommandIsNotFound) {
  setenv("PATH", folder_.path().c_str(), 1);
  expect_refused("app", kNotFound, "command not found");
  expect_refused(folder_.file("app"), kNotFound, "No such file");
  expect_refused("", kNotFound, "empty");
  expect_refused(folder_.write("file", "") + "/app", kNotFound, "Not a directory");
}

TEST_F(Resolve, SaysThatACommandIsNotExecutable) {
  folder_.write("app", ElfParts().bytes(), 0644);
  expect_refused(folder_.file("app"), kNotExecutable, "is not executable");
  setenv("PATH", folder_.path().c_str(), 1);
  expect_refused("app", kNotExecutable, "is not executable");
  expect_refused(folder_.path(), kNotExecutable, "is a directory");
}

TEST_F(Resolve, SaysThatAFileIsNoProgram) {
  expect_refused(folder_.write("text", "echo\n", kExecutable), kNotExecutable, "exec format error");
  expect_refused(folder_.write("empty", "", kExecutable), kNotExecutable, "exec format error");
  expect_refused(folder_.write("cut", ElfParts().bytes().substr(0, 80), kExecutable), kNotExecutable,
                 "exec format error");
  ElfParts object;
  object.header.e_type = ET_REL;
  expect_refused(folder_.write("object.o", object.bytes(), kExecutable), kNotExecutable, "exec format error");
}

TEST_F(Resolve, RefusesWhatCannotBePreloaded) {
  ElfParts parts;
  parts.header.e_ident[EI_CLASS] = ELFCLASS32;
  expect_refused(folder_.write("small", parts.bytes(), kExecutable), kNvmemuFailed, "32-bit");
  parts = {};
  parts.header.e_machine = EM_RISCV;
  expect_refused(folder_.write("riscv", parts.bytes(), kExecutable), kNvmemuFailed, "another processor");
  parts = {};
  parts.set_loader("/lib/ld-musl-x86_64.so.1");
  expect_refused(folder_.write("musl", parts.bytes(), kExecutable), kNvmemuFailed, "glibc");
  expect_refused(NVMEMU_TEST_STATIC_PROGRAM, kNvmemuFailed, "statically linked");
}

TEST_F(Resolve, RefusesSetUserIdAndSetGroupId) {
  const std::string path = program("app");
  chmod(path.c_str(), 04755);
  struct stat status {};
  if (stat(path.c_str(), &status) != 0 || (status.st_mode & S_ISUID) == 0) {
    GTEST_SKIP() << "needs a file system with set-user-id bits";
  }
  expect_refused(path, kNvmemuFailed, "set-user-id");
  chmod(path.c_str(), 02755);
  expect_refused(path, kNvmemuFailed, "set-group-id");
  chmod(path.c_str(), 0755);
  expect_resolved(path, path);
}

TEST_F(Resolve, RefusesFileCapabilities) {
  const std::string path = program("app");
  // Revision 2 (struct vfs_cap_data of linux/capability.h), effective, CAP_NET_RAW permitted.
  const std::uint32_t capabilities[5] = {0x02000001, 1U << 13, 0, 0, 0};
  if (setxattr(path.c_str(), "security.capability", capabilities, sizeof capabilities, 0) != 0) {
    GTEST_SKIP() << "needs file capabilities";
  }
  expect_refused(path, kNvmemuFailed, "file capabilities");
}

TEST_F(Resolve, FollowsAScriptToItsInterpreter) {
  const std::string interpreter = program("interpreter");
  expect_resolved(script("plain", "#!" + interpreter), folder_.file("plain"));
  expect_resolved(script("spaced", "#! \t" + interpreter + "  -x -y "), folder_.file("spaced"));
  expect_refused(script("static", std::string("#!") + NVMEMU_TEST_STATIC_PROGRAM), kNvmemuFailed,
                 "statically linked");
  expect_refused(script("missing", "#!" + folder_.file("none")), kNotExecutable, "No such file");
  expect_refused(script("nothing", "#!  "), kNotExecutable, "exec format error");
  expect_refused(script("itself", "#!" + folder_.file("itself")), kNotExecutable, "too many scripts");
}

TEST_F(Resolve, FollowsAScriptOfAScript) {
  script("inner", std::string("#!") + NVMEMU_TEST_STATIC_PROGRAM);
  expect_refused(script("outer", "#!" + folder_.file("inner")), kNvmemuFailed, "statically linked");
}

TEST_F(Resolve, FollowsAScriptThroughEnv) {
  program("env");
  program("good");
  std::filesystem::create_symlink(NVMEMU_TEST_STATIC_PROGRAM, folder_.file("bad"));
  setenv("PATH", folder_.path().c_str(), 1);
  const std::string env = "#!" + folder_.file("env");
  expect_resolved(script("a", env + " good"), folder_.file("a"));
  expect_refused(script("b", env + " bad"), kNvmemuFailed, "statically linked");
  expect_refused(script("c", env + " -S VARIABLE=1 bad --option"), kNvmemuFailed, "statically linked");
  expect_refused(script("d", env + " none"), kNotFound, "command not found");
}

TEST_F(Resolve, NamesScriptAndInterpreter) {
  const std::string path = script("script", std::string("#!") + NVMEMU_TEST_STATIC_PROGRAM);
  const auto resolved = resolve_command(path);
  ASSERT_FALSE(resolved);
  EXPECT_THAT(resolved.error().error.message, AllOf(HasSubstr(path), HasSubstr(NVMEMU_TEST_STATIC_PROGRAM)));
}

}  // namespace
}  // namespace nvmemu
