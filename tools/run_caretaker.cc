// SPDX-License-Identifier: Apache-2.0
#include "run_caretaker.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/close_descriptors.h"
#include "base/message_words.h"
#include "base/read_file.h"
#include "report/board.h"

namespace nvmemu {
namespace {

// Each told with a path behind it, and a zero behind that.
constexpr char kFile = 'f', kBoard = 'b', kDone = 'd';

constexpr int kTold = STDIN_FILENO;

// Who waits for the end of the run's output must not wait for this process.
void keep_nothing_but(int told) {
  dup2(told, kTold);
  const int nothing = open("/dev/null", O_WRONLY);
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) dup2(nothing, fd);
  close_descriptors_from(STDERR_FILENO + 1);
}

// Until the run's end.
std::vector<std::string> listen() {
  std::string all;
  char piece[4096];
  for (ssize_t got = 0; (got = TEMP_FAILURE_RETRY(read(kTold, piece, sizeof piece))) > 0;)
    all.append(piece, static_cast<std::size_t>(got));
  return words_of_messages(all);
}

bool has_mapped(std::uint32_t pid, const std::string& path) {
  const std::string mappings = read_text_or_nothing("/proc/" + std::to_string(pid) + "/maps");
  return mappings.find(path + "\n") != std::string::npos;
}

bool is_used(const Board& board) {
  for (std::uint32_t i = 0; i < board.process_count(); ++i) {
    const std::uint32_t pid = board.process(i).pid.load();
    if (pid != 0 && pid != BoardProcess::kReleased && has_mapped(pid, board.path())) return true;
  }
  return false;
}

// Who is just becoming another program has it mapped again a moment later: so it is looked for several times.
void wait_until_unused(const std::string& path) {
  constexpr int kLooks = 4;
  const timespec a_while{.tv_sec = 0, .tv_nsec = 50'000'000};
  const Result<Board> board = Board::open(path.c_str());
  if (!board) return;
  for (int looks = 0; looks < kLooks; looks = is_used(*board) ? 0 : looks + 1) nanosleep(&a_while, nullptr);
}

void take_away(const std::vector<std::string>& told) {
  for (const std::string& one : told) {
    if (one[0] == kBoard) wait_until_unused(one.substr(1));
  }
  std::error_code ignored;
  for (const std::string& one : told) std::filesystem::remove_all(one.substr(1), ignored);
}

[[noreturn]] void take_care(int told_by) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  prctl(PR_SET_NAME, "nvmemu-care");
  keep_nothing_but(told_by);
  static_cast<void>(chdir("/"));  // no file system is kept from being unmounted
  const std::vector<std::string> told = listen();
  if (!told.empty() && told.back()[0] != kDone) take_away(told);
  _exit(0);
}

}  // namespace

// A child whose end no signal tells of is seen by no waitpid() but one that asks for such.
RunCaretaker::RunCaretaker() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return;
  const Descriptor theirs(ends[1]);
  ours_ = Descriptor(ends[0]);
  pid_ = static_cast<pid_t>(syscall(SYS_clone, 0L, nullptr, nullptr, nullptr, nullptr));
  if (pid_ == 0) take_care(theirs.get());
  if (pid_ > 0) setpgid(pid_, pid_);  // here, so that it is done when this returns
}

RunCaretaker::~RunCaretaker() {
  if (pid_ <= 0) return;
  tell(kDone, {});
  ours_.close();
  static_cast<void>(TEMP_FAILURE_RETRY(waitpid(pid_, nullptr, __WALL)));
}

void RunCaretaker::will_make(const std::string& path) const { tell(kFile, path); }
void RunCaretaker::will_make_board(const std::string& path) const { tell(kBoard, path); }

// It may have been killed itself: there is nobody to tell then, and no SIGPIPE.
void RunCaretaker::tell(char what, const std::string& path) const {
  if (pid_ <= 0) return;
  std::error_code error;
  std::string text(1, what);
  if (!path.empty()) text += std::filesystem::absolute(path, error).string();
  text += '\0';
  for (std::string_view left = text; !left.empty();) {
    const ssize_t sent = TEMP_FAILURE_RETRY(send(ours_.get(), left.data(), left.size(), MSG_NOSIGNAL));
    if (sent <= 0) return;
    left.remove_prefix(static_cast<std::size_t>(sent));
  }
}

}  // namespace nvmemu
