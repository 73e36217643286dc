// SPDX-License-Identifier: Apache-2.0
// --storage around programs as one finds them: what they do is as natively.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "host/test/needs.h"
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

// Transactions one by one, one that is taken back, and what is in the file afterwards, and in it when it is
// opened again.
std::string sqlite(const std::string& journal) {
  return "rm -f $DIR/x.db*; { echo \"pragma journal_mode=" + journal +
         "; pragma synchronous=full; create table t(a integer primary key, b text);\";"
         " for i in 1 2 3 4 5 6 7 8 9 10; do echo \"insert into t(b) values('row $i');\"; done;"
         " echo \"begin; delete from t where a < 6; rollback; update t set b = b || '!' where a % 2 = 0;\";"
         " echo 'pragma integrity_check; select * from t;'; } | sqlite3 $DIR/x.db &&"
         " sqlite3 $DIR/x.db 'select count(*), sum(a), group_concat(b) from t; pragma integrity_check;'";
}

TEST_F(StorageOfPrograms, SqliteKeepsTheSameByEitherJournal) {
  NVMEMU_NEEDS(natively("command -v sqlite3").status == 0, "sqlite3");
  for (const char* const journal : {"wal", "delete"}) {
    const Outcome native = natively(sqlite(journal));
    ASSERT_EQ(native.status, 0) << native.err;
    EXPECT_THAT(native.out, HasSubstr("10|55|row 1,row 2!"));
    const Outcome emulated = on("ssd-sata", sqlite(journal));
    EXPECT_EQ(emulated.status, 0) << emulated.err;
    EXPECT_EQ(emulated.out, native.out) << journal;
    const Json storage = report()["storage"][0];
    EXPECT_GE(storage["syncs"], 12) << journal << ": each transaction is synchronised";
    EXPECT_GE(storage["commits"], 1) << journal;
    EXPECT_EQ(storage["left_out"], 0) << journal;
  }
}

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

TEST_F(StorageOfPrograms, AStaticChildIsToldNotToBeEmulated) {
  const Outcome outcome = on("100us", "'" NVMEMU_TEST_STATIC_PROGRAM "'; cat $DIR/old >/dev/null");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(warnings(), Contains(HasSubstr("static")));
  EXPECT_EQ(report()["storage"][0]["read_bytes"], kPage);
}

}  // namespace
}  // namespace nvmemu
