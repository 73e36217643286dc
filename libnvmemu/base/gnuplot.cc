// SPDX-License-Identifier: Apache-2.0
#include "base/gnuplot.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "base/output_file.h"
#include "base/quote.h"

extern char** environ;

namespace nvmemu {
namespace {

struct Closer {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Closer>;

// A file without a name, rather than a pipe: gnuplot may stop before it has read all, and a pipe would raise
// SIGPIPE.
File file_of(const std::string& content) {
  File file(std::tmpfile());
  if (!file) return nullptr;
  if (std::fwrite(content.data(), 1, content.size(), file.get()) != content.size()) return nullptr;
  if (std::fflush(file.get()) != 0) return nullptr;
  std::rewind(file.get());
  return file;
}

std::string content_of(const File& file) {
  std::string content;
  std::array<char, 4096> buffer;
  std::rewind(file.get());
  while (const std::size_t read = std::fread(buffer.data(), 1, buffer.size(), file.get())) {
    content.append(buffer.data(), read);
  }
  return content;
}

// 0, or an error number.
int spawn(const std::string& program, const File& in, const File& out, const File& err, pid_t& pid) {
  posix_spawn_file_actions_t actions;
  if (const int error = posix_spawn_file_actions_init(&actions)) return error;
  posix_spawn_file_actions_adddup2(&actions, fileno(in.get()), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fileno(out.get()), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fileno(err.get()), STDERR_FILENO);
  std::string name = program;
  std::array<char*, 2> arguments{name.data(), nullptr};
  const int error = posix_spawnp(&pid, program.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

}  // namespace

std::string gnuplot_string(std::string_view text) {
  std::string quoted = "'";
  for (const char c : printable(text)) quoted += c == '\'' ? std::string("''") : std::string(1, c);
  return quoted + "'";
}

Result<std::string> draw(const std::string& script, const std::string& program) {
  const File in = file_of(script);
  const File out = file_of("");
  const File err = file_of("");
  if (!in || !out || !err)
    return failure(std::string("cannot make a temporary file for gnuplot: ") + std::strerror(errno));
  pid_t pid = 0;
  if (const int error = spawn(program, in, out, err, pid)) {
    if (error == ENOENT)
      return failure("cannot draw: gnuplot is not installed", "apt-get install gnuplot-nox");
    return failure(std::string("cannot run gnuplot: ") + std::strerror(error));
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return failure(std::string("cannot wait for gnuplot: ") + std::strerror(errno));
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return content_of(out);
  return failure("gnuplot failed: " + printable_lines(content_of(err)));
}

Result<void> draw_into(const std::string& path, const std::string& script) {
  const Result<std::string> picture = draw(script);
  if (!picture) return tl::unexpected(picture.error());
  return write_whole_file(path, *picture);
}

}  // namespace nvmemu
