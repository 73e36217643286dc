// SPDX-License-Identifier: Apache-2.0
// Runs a command in which system calls that the dynamic loader does not make fail: of a program that makes
// none itself, those that the preload library makes, and the C library for it.
//   failing_calls CALL ERRNO WHEN COMMAND...    WHEN: "3", the third one; "3+", it and all after
// Both by number. Prints how many there were to stderr.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/test/notified_command.h"

namespace {

struct Range {
  std::uint64_t begin, end;
};

// Where the dynamic loader's code lies in that process.
std::vector<Range> loader_of(unsigned pid) {
  std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
  std::vector<Range> ranges;
  for (std::string line; std::getline(maps, line);) {
    if (line.find("/ld-linux") == std::string::npos) continue;
    Range range{};
    if (std::sscanf(line.c_str(), "%lx-%lx", &range.begin, &range.end) == 2) ranges.push_back(range);
  }
  return ranges;
}

bool is_loaders(const seccomp_notif& request) {
  for (const Range& range : loader_of(request.pid)) {
    if (request.data.instruction_pointer >= range.begin && request.data.instruction_pointer < range.end)
      return true;
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fputs("usage: failing_calls CALL ERRNO WHEN COMMAND [ARG...]\n", stderr);
    return 125;
  }
  const int calls[] = {std::atoi(argv[1])};
  const int error = std::atoi(argv[2]);
  const std::string_view when = argv[3];
  const int first = std::atoi(argv[3]);
  const bool onwards = when.back() == '+';
  int seen = 0;
  bool has_started = false;  // execve(2) of the command itself, by this program
  const int status = nvmemu::run_notified(
      calls, argv + 4, [&](const seccomp_notif& request, seccomp_notif_resp& response) {
        response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
        has_started = has_started || is_loaders(request);
        if (!has_started || is_loaders(request)) return;
        ++seen;
        if (seen != first && !(onwards && seen > first)) return;
        response.flags = 0;
        response.error = -error;
      });
  std::fprintf(stderr, "failing_calls: %d seen\n", seen);
  return status;
}
