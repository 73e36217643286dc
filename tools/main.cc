// SPDX-License-Identifier: Apache-2.0
// nvmemu: the command line tool.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/nearest.h"
#include "base/quote.h"
#include "command_line.h"
#include "subcommands.h"
#include "terminal.h"

namespace nvmemu {
namespace {

constexpr const char* kProgramDescription =
    "nvmemu runs an unmodified program as if its memory had another memory's latency: non-volatile,\n"
    "persistent, CXL or far memory. It samples what each thread waits for, where there are no hardware\n"
    "counters too, and says in every report what that rests on and how sure it is.\n";

constexpr const char* kProgramFooter = R"(Examples:
  nvmemu run --read-latency 300ns -- ./app
  nvmemu profiles
  nvmemu record -o app.nvr -- ./app; nvmemu predict app.nvr --read-latency 200ns,400ns,800ns
  nvmemu run --help

Exit status:
  0    done; of nvmemu run and nvmemu record: the command's own
  125  nvmemu failed, or was called wrongly

Environment:
  NO_COLOR  no colours; there are none either where the output is not a terminal)";

int refuse_command_line(const Parser& app, const Error& error) {
  const std::string chosen = app.chosen_subcommand();
  const std::string name = chosen.empty() ? "nvmemu" : "nvmemu " + chosen;
  print_error({error.message, name + " --help explains the options"});
  return kNvmemuFailed;
}

// A first word that is no subcommand gets a better answer than the parser's.
std::optional<Error> check_subcommand(const Parser& app, const std::string& word) {
  if (word.empty() || word.front() == '-') return std::nullopt;
  const std::vector<std::string> subcommands = app.subcommand_names();
  const std::vector<std::string_view> names(subcommands.begin(), subcommands.end());
  if (std::find(names.begin(), names.end(), word) != names.end()) return std::nullopt;
  const std::string_view nearest = nearest_name(word, names);
  return Error{quote(word) + " is not a subcommand of nvmemu",
               nearest.empty() ? "nvmemu --help lists them" : "did you mean " + quote(nearest) + "?"};
}

// Files opened later must not take the place of a standard stream that the caller closed: messages would go
// into them. The command finds it closed all the same.
void hold_places_of_closed_streams() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) < 0) open("/dev/null", O_RDWR | O_CLOEXEC);
  }
}

int tool_main(std::vector<std::string> arguments) {
  Parser app(kProgramDescription, "nvmemu");
  int exit_status = kSuccess;
  std::vector<std::string> command;
  app.set_version_flag("--version", "nvmemu " NVMEMU_VERSION);
  app.footer(kProgramFooter);
  app.require_subcommand();
  add_run(app, command, exit_status);
  add_record(app, command, exit_status);
  add_predict(app, exit_status);
  add_profiles(app, exit_status);
  add_report(app, exit_status);
  add_info(app, exit_status);
  add_events(app, exit_status);
  add_calibrate(app, exit_status);
  add_throttle(app, command, exit_status);
  add_validate(app, command, exit_status);
  add_bench(app, exit_status);

  if (arguments.empty()) {
    std::cerr << app.help();
    return kNvmemuFailed;
  }
  if (const auto error = check_subcommand(app, arguments.front())) {
    print_error(*error);
    return kNvmemuFailed;
  }
  for (const char* name : {"run", "record"}) {
    if (arguments.front() == name) command = cut_off_command(app.subcommand(name), arguments);
  }
  if (arguments.front() == "throttle" || arguments.front() == "validate")
    command = cut_off_after_dashes(arguments);
  const auto parsed = app.parse(std::move(arguments));
  if (!parsed) return refuse_command_line(app, parsed.error());
  if (*parsed) fmt::print("{}", **parsed);
  if (std::fflush(stdout) != 0) {
    print_error({std::string("cannot write to standard output: ") + std::strerror(errno), {}});
    return kNvmemuFailed;
  }
  return exit_status;
}

}  // namespace
}  // namespace nvmemu

int main(int argc, char** argv) {
  nvmemu::hold_places_of_closed_streams();
  try {
    return nvmemu::tool_main({argv + 1, argv + std::max(argc, 1)});
  } catch (const std::exception& error) {  // out of memory, most likely
    nvmemu::print_error({error.what(), {}});
    return nvmemu::kNvmemuFailed;
  }
}
