// SPDX-License-Identifier: Apache-2.0
// Runs a command with the preload library, whose system calls fail, told from the dynamic loader's and the
// program's own by where they are made: those of the library and of the C library for it, and for the
// program.
//   failing_calls CALL ERRNO WHEN [NAME=VALUE...] COMMAND...
// CALL and ERRNO by number; WHEN: "3", the third one; "3+", it and all after. Says how many there were.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>

#include "base/test/notified_command.h"

namespace {

// Whether the library is loaded into that process, and this is neither where the dynamic loader's code lies
// nor the program's.
bool is_librarys(const seccomp_notif& request) {
  const std::string process = "/proc/" + std::to_string(request.pid);
  char program[4096];
  const ssize_t length = readlink((process + "/exe").c_str(), program, sizeof program);
  const std::string_view path(program, length > 0 ? static_cast<std::size_t>(length) : 0);
  std::ifstream maps(process + "/maps");
  bool is_loaded = false;
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx", &begin, &end) != 2) continue;
    is_loaded |= line.find("/libnvmemu-preload.so") != std::string::npos;
    const std::uint64_t at = request.data.instruction_pointer;
    if (at < begin || at >= end) continue;
    if (line.find("/ld-linux") != std::string::npos || line.ends_with(path)) return false;
  }
  return is_loaded;
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
  char** command = argv + 4;
  for (; *command != nullptr && std::strchr(*command, '=') != nullptr; ++command) putenv(*command);
  int seen = 0;
  const auto answer = [&](const seccomp_notif& request, seccomp_notif_resp& response) {
    response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    if (!is_librarys(request)) return;
    ++seen;
    if (seen != first && !(onwards && seen > first)) return;
    response.flags = 0;
    response.error = -error;
  };
  const int status = nvmemu::run_notified(calls, command, answer);
  std::fprintf(stderr, "failing_calls: %d seen\n", seen);
  return status;
}
