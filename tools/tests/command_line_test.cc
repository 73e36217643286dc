// SPDX-License-Identifier: Apache-2.0
#include "command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run_options.h"

namespace nvmemu {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Words = std::vector<std::string>;

class CutOffCommand : public testing::Test {
 protected:
  CutOffCommand() { add_run_options(run_, options_); }

  // The command; `own_` is what is left.
  Words cut(Words arguments) {
    Words command = cut_off_command(run_, arguments);
    own_ = std::move(arguments);
    return command;
  }

  Parser app_{"", "nvmemu"};
  Parser run_ = app_.add_subcommand("run", "");
  RunOptions options_;
  Words own_;
};

TEST_F(CutOffCommand, BeginsAtTheMark) {
  EXPECT_THAT(cut({"run", "--quiet", "--", "ls", "-l"}), ElementsAre("ls", "-l"));
  EXPECT_THAT(own_, ElementsAre("run", "--quiet"));
  EXPECT_THAT(cut({"run", "--", "--quiet"}), ElementsAre("--quiet"));
}

TEST_F(CutOffCommand, BeginsAtTheFirstWordThatIsNoOption) {
  EXPECT_THAT(cut({"run", "--read-latency", "2x", "ls", "-l"}), ElementsAre("ls", "-l"));
  EXPECT_THAT(own_, ElementsAre("run", "--read-latency", "2x"));
  EXPECT_THAT(cut({"run", "--read-latency=2x", "-q", "ls"}), ElementsAre("ls"));
  EXPECT_THAT(own_, ElementsAre("run", "--read-latency=2x", "-q"));
}

TEST_F(CutOffCommand, LeavesTheCommandsArgumentsAlone) {
  EXPECT_THAT(cut({"run", "ls", "--", "--read-latency", "run"}),
              ElementsAre("ls", "--", "--read-latency", "run"));
  EXPECT_THAT(cut({"run", "info", "[a,b]", "{}", ""}), ElementsAre("info", "[a,b]", "{}", ""));
}

TEST_F(CutOffCommand, TakesAnOptionsValueForNoCommandHoweverItLooks) {
  EXPECT_THAT(cut({"run", "--report", "ls", "cat"}), ElementsAre("cat"));
  EXPECT_THAT(cut({"run", "--report", "--", "cat"}), ElementsAre("cat"));
}

TEST_F(CutOffCommand, LeavesUnknownOptionsToTheParser) {
  EXPECT_THAT(cut({"run", "--bogus", "ls"}), ElementsAre("ls"));
  EXPECT_THAT(own_, ElementsAre("run", "--bogus"));
}

TEST_F(CutOffCommand, IsEmptyWhereThereIsNone) {
  EXPECT_THAT(cut({}), IsEmpty());
  EXPECT_THAT(cut({"run"}), IsEmpty());
  EXPECT_THAT(cut({"run", "--"}), IsEmpty());
  EXPECT_THAT(cut({"run", "--read-latency"}), IsEmpty());
  EXPECT_THAT(cut({"info", "--", "ls"}), IsEmpty());
  EXPECT_THAT(own_, ElementsAre("info", "--", "ls"));
}

TEST_F(CutOffCommand, TakesADashAndAnEmptyWordForCommands) {
  EXPECT_THAT(cut({"run", "-"}), ElementsAre("-"));
  EXPECT_THAT(cut({"run", ""}), ElementsAre(""));
}

}  // namespace
}  // namespace nvmemu
