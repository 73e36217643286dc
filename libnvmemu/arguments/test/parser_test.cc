// SPDX-License-Identifier: Apache-2.0
#include "arguments/parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nvmemu {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class ParserTest : public testing::Test {
 protected:
  // What is wrong with the arguments; empty: nothing.
  std::string error_of(std::vector<std::string> arguments) {
    const auto parsed = app_.parse(std::move(arguments));
    return parsed ? "" : parsed.error().message;
  }
  // What is to be printed in place of what the program does.
  std::string answer_to(std::vector<std::string> arguments) {
    const auto parsed = app_.parse(std::move(arguments));
    return parsed && *parsed ? **parsed : "";
  }

  Parser app_{"Describes.", "program"};
};

TEST_F(ParserTest, ReadsEachKindOfValue) {
  std::string text;
  std::vector<std::string> list;
  std::uint64_t count = 0;
  int number = 0;
  std::optional<int> node;
  double share = 0;
  bool flag = false;
  std::string read;
  app_.add_option("FILE", text, "");
  app_.add_option("--list", list, "").delimiter(',');
  app_.add_option("--count", count, "");
  app_.add_option("--number", number, "");
  app_.add_option("--node", node, "");
  app_.add_option("--share", share, "");
  app_.add_flag("-f,--flag", flag, "");
  app_.add_option_function(
      "--read", [&](const std::string& word) { read = word; }, "");
  EXPECT_EQ("", error_of({"name", "--list=a,b", "--count", "18446744073709551615", "--number", "-2", "--node",
                          "1", "--share", "0.5", "-f", "--read", "word"}));
  EXPECT_EQ("name", text);
  EXPECT_THAT(list, ElementsAre("a", "b"));
  EXPECT_EQ(18446744073709551615U, count);
  EXPECT_EQ(-2, number);
  EXPECT_EQ(1, node);
  EXPECT_DOUBLE_EQ(0.5, share);
  EXPECT_TRUE(flag);
  EXPECT_EQ("word", read);
  EXPECT_EQ(1U, app_.count("--read"));
}

TEST_F(ParserTest, LeavesAloneWhatIsNotGiven) {
  std::string text = "before";
  std::optional<int> node;
  app_.add_option("--text", text, "");
  app_.add_option("--node", node, "");
  EXPECT_EQ("", error_of({}));
  EXPECT_EQ("before", text);
  EXPECT_EQ(std::nullopt, node);
  EXPECT_EQ(0U, app_.count("--text"));
}

TEST_F(ParserTest, RefusesWhatIsOutsideOfBoundsOrNoNumber) {
  std::uint64_t count = 0;
  app_.add_option("--count", count, "").within(std::uint64_t{1}, std::uint64_t{10}, "[1 to 10]");
  EXPECT_EQ("", error_of({"--count", "10"}));
  EXPECT_THAT(error_of({"--count", "11"}), HasSubstr("--count"));
  EXPECT_THAT(error_of({"--count", "-1"}), HasSubstr("--count"));
  EXPECT_THAT(error_of({"--count", "many"}), HasSubstr("--count"));
}

TEST_F(ParserTest, RefusesWhatIsNotOneOfTheNames) {
  std::string name;
  app_.add_option("--name", name, "").one_of({"one", "two"});
  EXPECT_EQ("", error_of({"--name", "two"}));
  EXPECT_THAT(error_of({"--name", "three"}), HasSubstr("--name"));
}

TEST_F(ParserTest, RefusesOptionsThatExcludeOrNeedEachOther) {
  bool json = false, csv = false, png = false;
  const Option json_option = app_.add_flag("--json", json, "");
  app_.add_flag("--csv", csv, "").excludes(json_option);
  app_.add_flag("--png", png, "").needs("--csv");
  EXPECT_NE("", error_of({"--json", "--csv"}));
  EXPECT_NE("", error_of({"--png"}));
  EXPECT_EQ("", error_of({"--png", "--csv"}));
}

TEST_F(ParserTest, TakesTheLastOfSeveralWhereToldTo) {
  std::string once, last;
  app_.add_option("--once", once, "");
  app_.add_option("--last", last, "").take_last();
  EXPECT_EQ("", error_of({"--last", "a", "--last", "b"}));
  EXPECT_EQ("b", last);
  EXPECT_NE("", error_of({"--once", "a", "--once", "b"}));
}

TEST_F(ParserTest, SaysWhatAValuesReaderAndACallbackFoundWrong) {
  app_.add_option_function(
      "--size", [](const std::string&) { throw UsageError("--size", "too small"); }, "");
  EXPECT_EQ("--size: too small", error_of({"--size", "1"}));
  app_.callback([] { throw UsageError("not together"); });
  EXPECT_EQ("not together", error_of({}));
}

TEST_F(ParserTest, RequiresWhatIsRequired) {
  std::string file;
  app_.add_option("FILE", file, "").required();
  EXPECT_THAT(error_of({}), HasSubstr("FILE"));
}

TEST_F(ParserTest, CallsTheChosenSubcommandOnly) {
  std::string called;
  for (const char* name : {"one", "two"})
    app_.add_subcommand(name, "").callback([&called, name] { called += name; });
  app_.require_subcommand();
  EXPECT_THAT(app_.subcommand_names(), ElementsAre("one", "two"));
  EXPECT_NE("", error_of({}));
  EXPECT_EQ("", error_of({"two"}));
  EXPECT_EQ("two", called);
  EXPECT_EQ("two", app_.chosen_subcommand());
}

TEST_F(ParserTest, AnswersHelpOfTheProgramAndOfASubcommand) {
  std::string file;
  app_.footer("Last words.");
  Parser part = app_.add_subcommand("part", "One line.");
  part.add_option("--file", file, "where to").type_name("PATH").group("Output");
  EXPECT_THAT(answer_to({"--help"}),
              testing::AllOf(HasSubstr("Describes."), HasSubstr("part"), HasSubstr("Last words.")));
  EXPECT_THAT(answer_to({"part", "--help"}), testing::AllOf(HasSubstr("One line."), HasSubstr("Output:"),
                                                            HasSubstr("--file PATH"), HasSubstr("where to")));
}

TEST_F(ParserTest, DescribesASubcommandInItsOwnHelpInWordsOfItsOwn) {
  Parser part = app_.add_subcommand("part", "One line.");
  Parser other = app_.add_subcommand("other", "Another.");
  part.long_description("Several lines.\n");
  part.usage("[OPTIONS] COMMAND");
  part.column_width(50);
  EXPECT_THAT(answer_to({"--help"}), HasSubstr("One line."));
  EXPECT_THAT(answer_to({"part", "--help"}),
              testing::AllOf(HasSubstr("Several lines."), HasSubstr("program part [OPTIONS] COMMAND"),
                             Not(HasSubstr("One line."))));
  EXPECT_THAT(answer_to({"other", "--help"}),
              testing::AllOf(HasSubstr("Another."), Not(HasSubstr("COMMAND"))));
}

TEST_F(ParserTest, AnswersTheVersion) {
  app_.set_version_flag("--version", "program 1.2");
  EXPECT_EQ("program 1.2\n", answer_to({"--version"}));
}

TEST_F(ParserTest, KnowsWhichOptionsTakeAValue) {
  std::string text;
  bool flag = false;
  app_.add_option("-t,--text", text, "");
  app_.add_flag("--flag", flag, "");
  EXPECT_TRUE(app_.takes_value("-t"));
  EXPECT_TRUE(app_.takes_value("--text"));
  EXPECT_FALSE(app_.takes_value("--flag"));
  EXPECT_FALSE(app_.takes_value("--other"));
}

}  // namespace
}  // namespace nvmemu
