// SPDX-License-Identifier: Apache-2.0
// --storage around programs as one finds them: what they do is as natively.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "storage_cli.h"

namespace nvmemu {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

class StorageOfPrograms : public Storage {
 protected:
  // A shell's command, with the folder in $DIR; of files on storage, the first volume in the report.
  Outcome natively(const std::string& command) {
    environment_["DIR"] = stored_;
    return finish(start_program({"/bin/sh", "-c", command}));
  }
  Outcome on(const std::string& profile, const std::string& command) {
    environment_["DIR"] = stored_;
    return run({"--storage", stored_ + "=" + profile, "--report", folder_.file("report.json"), "--",
                "/bin/sh", "-c", command});
  }
};

// What a shell has opened before it started nvmemu.
TEST_F(StorageOfPrograms, ADescriptorFromBeforeIsCharged) {
  const std::string command = "exec '" NVMEMU_TEST_BINARY
                              "' run --base-latency 100ns --read-latency 1x --quiet --storage $DIR=100us "
                              "--report " +
                              folder_.file("report.json") + " -- /bin/cat <$DIR/long";
  const Outcome outcome = natively(command);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, folder_.read("stored/long"));
  const Json storage = report()["storage"][0];
  EXPECT_EQ(storage["read_bytes"], 64 * kPage);
  EXPECT_GE(storage["device_reads"], 1);
}

// However often it is opened, and by a path that looks like one of the folder's own.
TEST_F(StorageOfPrograms, ALinkFromBeforeThatLeadsOutIsNotCharged) {
  std::filesystem::create_symlink(elsewhere_ + "/long", stored_ + "/out");
  const Outcome outcome = on("100us", "cat $DIR/old $DIR/out $DIR/out $DIR/old $DIR/out >/dev/null");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(report()["storage"][0]["read_bytes"], 2 * kPage);
}

TEST_F(StorageOfPrograms, AStaticChildIsToldNotToBeEmulated) {
  const Outcome outcome = on("100us", "'" NVMEMU_TEST_STATIC_PROGRAM "'; cat $DIR/old >/dev/null");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(warnings(), Contains(HasSubstr("static")));
  EXPECT_EQ(report()["storage"][0]["read_bytes"], kPage);
}

}  // namespace
}  // namespace nvmemu
