// SPDX-License-Identifier: Apache-2.0
// `pmbench report` as a user would call it, and every mistake that can be made on it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <nlohmann/json.hpp>

#include "base/test/temporary_folder.h"
#include "output/json.h"
#include "output/test/example_run.h"
#include "output/xml.h"

namespace nvmemu::pmbench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

struct Outcome {
  int status;
  std::string out, err;
};

class ReportCli : public testing::Test {
 protected:
  // `environment`: assignments, as a shell has them before a command.
  Outcome report(const std::string& arguments, const std::string& environment = "") {
    const std::string command = environment + " " NVMEMU_TEST_PMBENCH_REPORT " " + arguments + " >" +
                                folder_.file("out") + " 2>" + folder_.file("err") + " </dev/null";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), folder_.read("out"),
            folder_.read("err")};
  }

  void expect_failure(const std::string& arguments, const std::string& message) {
    const Outcome outcome = report(arguments);
    EXPECT_EQ(outcome.status, 1) << arguments;
    EXPECT_EQ(outcome.out, "") << arguments;
    EXPECT_THAT(outcome.err, AllOf(StartsWith("pmbench: error: "), HasSubstr(message)));
  }

  TemporaryFolder folder_;
  std::string json_ = folder_.write("run.json", to_json(example_run()));
  std::string xml_ = folder_.write("run.xml", to_xml(example_run()));
};

TEST_F(ReportCli, ComparesBothKinds) {
  const Outcome outcome = report(json_ + " " + xml_);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(outcome.out, AllOf(StartsWith("run "), HasSubstr("run.json"), HasSubstr("run.xml"),
                                 HasSubstr("mean major fault")));
}

TEST_F(ReportCli, PrintsHelp) {
  const Outcome outcome = report("--help");
  EXPECT_EQ(outcome.status, 0);
  for (const char* text : {"pmbench report", "--medium-latency", "--measure-medium", "--plots", "--json",
                           "--csv", "Examples:", "Exit status:"}) {
    EXPECT_THAT(outcome.out, HasSubstr(text));
  }
}

TEST_F(ReportCli, PrintsJsonAndCsv) {
  const Outcome json = report("--json --medium-latency 80us " + json_);
  EXPECT_EQ(json.status, 0);
  EXPECT_EQ(nlohmann::json::parse(json.out)["medium"]["latency_ns"], 80000);
  EXPECT_THAT(report("--csv " + json_).out, StartsWith("kind,file,"));
  EXPECT_EQ(report("--histograms " + folder_.file("h.csv") + " " + json_).status, 0);
  EXPECT_THAT(folder_.read("h.csv"), StartsWith("begin_ns,end_ns,"));
}

TEST_F(ReportCli, RefusesWrongFiles) {
  expect_failure("/nowhere/run.json", "cannot read /nowhere/run.json: No such file or directory");
  expect_failure(folder_.path(), "Is a directory");
  expect_failure(folder_.write("empty.json", ""), "empty.json: it is empty");
  expect_failure(folder_.write("text", "hello"), "text: it is neither XML nor JSON");
  const std::string whole = to_json(example_run());
  expect_failure(folder_.write("half.json", whole.substr(0, whole.size() / 2)),
                 "half.json: it is no whole JSON");
  expect_failure(folder_.write("other.json", R"({"schema": "nvmemu-run-1"})"),
                 "other.json: its schema is 'nvmemu-run-1'");
  expect_failure(folder_.write("page.xml", "<html/>"), "page.xml: it is XML, but not pmbench's");
  const std::string xml = to_xml(example_run());
  expect_failure(folder_.write("half.xml", xml.substr(0, xml.size() / 2)), "half.xml: it is no XML");
  expect_failure(json_ + " " + folder_.file("missing.xml"), "missing.xml");
}

TEST_F(ReportCli, RefusesWrongArguments) {
  expect_failure("", "FILES");
  expect_failure("--nothing " + json_, "--nothing");
  expect_failure("--json --csv " + json_, "--csv");
  expect_failure("--png " + json_, "--plots");
  expect_failure("--medium-latency 80 " + json_, "--medium-latency: '80': no unit");
  expect_failure("--measure-medium /nowhere " + json_, "--measure-medium: cannot measure /nowhere");
  expect_failure("--medium-latency 1us --measure-medium /dev/sda " + json_, "--m");
}

TEST_F(ReportCli, PrintsNoEscapeSequenceOfAFile) {
  RunResult run = example_run();
  run.machine.hostname = "\033]0;mine\a\nhost";
  run.machine.release =
      "\xc2\x9b"
      "31m";
  const std::string first = folder_.write("a\033[31m/run.json", to_json(run));
  const auto files = [&](const std::string& more) { return "'" + first + "' " + json_ + " " + more; };
  for (const std::string& arguments :
       {files(""), files("--csv"), files("--json"), files(xml_), "'" + first + "x'",
        "'" + folder_.write("b\033[31m.json", "{") + "'"}) {
    const Outcome outcome = report(arguments);
    for (const char* raw : {"\033", "\a"}) {
      EXPECT_THAT(outcome.out, testing::Not(HasSubstr(raw))) << arguments;
      EXPECT_THAT(outcome.err, testing::Not(HasSubstr(raw))) << arguments;
    }
  }
  EXPECT_THAT(report(files("")).out, AllOf(HasSubstr("hostname=?]0;mine??host"), HasSubstr("release=??31m")));
}

TEST_F(ReportCli, NamesThePackageOfWhatDraws) {
  const Outcome outcome = report("--plots " + folder_.file("plots") + " " + json_, "PATH=" + folder_.path());
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("gnuplot is not installed"), HasSubstr("gnuplot-nox")));
}

TEST_F(ReportCli, SaysThatItCannotWrite) {
  const Outcome outcome = report("--histograms /dev/full " + json_);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr("cannot write /dev/full"));
}

}  // namespace
}  // namespace nvmemu::pmbench
