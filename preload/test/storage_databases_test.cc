// SPDX-License-Identifier: Apache-2.0
// Databases that make each transaction durable, whoever runs them: root, an ordinary user, and either where
// the calls that Docker's default profile keeps back are refused. What they hold is as natively.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "base/test/notified_command.h"
#include "host/test/needs.h"
#include "storage_cli.h"

namespace nvmemu {
namespace {

using ::testing::HasSubstr;

struct Whose {
  const char* name;
  bool is_ordinary, is_contained;
};

class Databases : public Storage, public testing::WithParamInterface<Whose> {
 protected:
  void SetUp() override {
    Storage::SetUp();
    if (GetParam().is_ordinary) NVMEMU_NEEDS(geteuid() == 0, "root, to be another user");
    if (GetParam().is_contained) NVMEMU_NEEDS(can_be_notified(), "a seccomp notifier of its own");
    if (GetParam().is_contained) whose_ = {NVMEMU_TEST_LESSER_MACHINE, "docker"};
    if (GetParam().is_ordinary) {
      const std::vector<std::string> user = as_ordinary_user();
      whose_.insert(whose_.end(), user.begin(), user.end());
    }
    environment_["DIR"] = stored_;
    environment_["OTHER"] = elsewhere_;
  }
  // A shell's command.
  Outcome natively(const std::string& command) { return as_whose({"/bin/sh", "-c", command}); }
  Outcome emulated(const std::string& command, const std::string& profile = "ssd-sata") {
    return as_whose({NVMEMU_TEST_BINARY, "run", "--base-latency", "100ns", "--quiet", "--storage",
                     stored_ + "=" + profile, "--report", folder_.file("report.json"), "--", "/bin/sh", "-c",
                     command});
  }
  void expect_as_natively(const Outcome& native, const Outcome& emulated, int transactions) {
    ASSERT_EQ(native.status, 0) << native.err;
    EXPECT_EQ(emulated.status, 0) << emulated.err;
    EXPECT_EQ(emulated.out, native.out) << emulated.err;
    const Json storage = report()["storage"][0];
    EXPECT_GE(storage["syncs"], transactions) << "each is synchronised";
    EXPECT_GE(storage["commits"], 1);
    EXPECT_EQ(storage["left_out"], 0);
  }

 private:
  Outcome as_whose(const std::vector<std::string>& command) {
    std::vector<std::string> words = whose_;
    words.insert(words.end(), command.begin(), command.end());
    return finish(start_program(words));
  }

  std::vector<std::string> whose_;
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

TEST_P(Databases, SqliteKeepsTheSameByEitherJournal) {
  NVMEMU_NEEDS(natively("command -v sqlite3").status == 0, "sqlite3");
  for (const char* const journal : {"wal", "delete"}) {
    SCOPED_TRACE(journal);
    const Outcome native = natively(sqlite(journal));
    EXPECT_THAT(native.out, HasSubstr("10|55|row 1,row 2!"));
    expect_as_natively(native, emulated(sqlite(journal)), 12);
  }
}

// A server that appends to its file, one that has read that file, and what each is told of 10 keys.
constexpr const char* kRedis = R"(
  ask() { redis-cli -s $DIR/socket "$@"; }
  serve() {
    redis-server --port 0 --unixsocket $DIR/socket --save '' --appendonly yes --appendfsync always \
      --dir $DIR --logfile $DIR/log &
    for i in $(seq 200); do ask ping >/dev/null 2>&1 && return; sleep 0.1; done
    cat $DIR/log >&2; exit 1
  }
  rm -rf $DIR/appendonlydir
  serve; for i in $(seq 10); do echo "SET key:$i value-$i"; done | ask; ask shutdown nosave; wait
  serve; for i in $(seq 10); do echo "GET key:$i"; done | ask; ask shutdown nosave; wait
)";

TEST_P(Databases, RedisReadsWhatItHasAppended) {
  NVMEMU_NEEDS(natively("command -v redis-server && command -v redis-cli").status == 0, "redis");
  const Outcome native = natively(kRedis);
  EXPECT_THAT(native.out, HasSubstr("value-10\n"));
  expect_as_natively(native, emulated(kRedis), 10);
}

// Blocks in no order, each synchronised, then read again and held against what they are to be: fio ends with
// an error otherwise. What it prints are times.
std::string fio(const std::string& engine) {
  return "rm -f $DIR/blocks; cd $OTHER && fio --name=blocks --filename=$DIR/blocks --size=40k --bs=4k "
         "--rw=randwrite"
         " --randrepeat=1 --fsync=1 --verify=pattern --verify_pattern=%o --do_verify=1 --verify_fatal=1 " +
         engine + " >&2 && cksum <$DIR/blocks";
}

// Each of ten blocks is synchronised: but for the last; by libaio four at a time, at the least in two goes.
TEST_P(Databases, FioFindsWhatItHasWritten) {
  NVMEMU_NEEDS(natively("command -v fio").status == 0, "fio");
  for (const auto& [engine, syncs] :
       {std::pair("--ioengine=psync", 9), std::pair("--ioengine=libaio --iodepth=4 --direct=1", 2)}) {
    const Outcome native = natively(fio(engine));
    for (const char* const profile : {"optane-dax", "ssd-sata", "hdd-7200"}) {
      SCOPED_TRACE(std::string(profile) + ", " + engine);
      expect_as_natively(native, emulated(fio(engine), profile), syncs);
    }
  }
}

// By itself, without a server: a line is a transaction. It does not run as root.
class DatabasesOfUsers : public Databases {};

constexpr const char* kPostgres = "PATH=$PATH:$(echo /usr/lib/postgresql/*/bin); ";
constexpr const char* kPostgresMade =
    "initdb -D $DIR/data --no-sync -A trust -E UTF8 --locale=C >&2 && cp -r $DIR/data $OTHER/data";

std::string postgres(const std::string& folder) {
  return std::string(kPostgres) +
         "{ echo 'create table t(a int primary key);'; for i in 1 2 3 4 5; do"
         " echo \"insert into t values($i);\"; done; echo 'delete from t where a = 3;'; } |"
         " postgres --single -D " +
         folder + "/data postgres && echo 'select count(*), sum(a) from t;' | postgres --single -D " +
         folder + "/data postgres";
}

TEST_P(DatabasesOfUsers, PostgresKeepsTheSame) {
  NVMEMU_NEEDS(natively(std::string(kPostgres) + "command -v initdb && command -v postgres").status == 0,
               "PostgreSQL");
  const Outcome made = natively(std::string(kPostgres) + kPostgresMade);
  ASSERT_EQ(made.status, 0) << made.err;
  const Outcome native = natively(postgres("$OTHER"));
  EXPECT_THAT(native.out, HasSubstr("sum = \"12\""));
  expect_as_natively(native, emulated(postgres("$DIR")), 7);
}

constexpr Whose kUsers{"AnOrdinaryUsers", true, false},
    kContainedUsers{"AnOrdinaryUsersInAContainer", true, true};
std::string name_of(const testing::TestParamInfo<Whose>& whose) { return whose.param.name; }

INSTANTIATE_TEST_SUITE_P(Whose, Databases,
                         testing::Values(Whose{"AsTheyAre", false, false}, kUsers,
                                         Whose{"InAContainer", false, true}, kContainedUsers),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Whose, DatabasesOfUsers, testing::Values(kUsers, kContainedUsers), name_of);

}  // namespace
}  // namespace nvmemu
