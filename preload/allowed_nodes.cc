// SPDX-License-Identifier: Apache-2.0
#include "allowed_nodes.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/raw_syscall.h"
#include "base/read_file.h"
#include "host/memory_nodes.h"

namespace nvmemu::preload {
namespace {

constexpr std::string_view kMask = "\nMems_allowed:\t";
constexpr std::string_view kList = "\nMems_allowed_list:\t";

// Characters to a place that may be too small for them.
class Text {
 public:
  Text(char* out, std::size_t capacity) : out_(out), capacity_(capacity) {}

  void add(std::string_view text) noexcept {
    const std::size_t fitting = std::min(text.size(), capacity_ - size_);
    std::copy_n(text.data(), fitting, out_ + size_);
    size_ += fitting;
    is_cut_ |= fitting < text.size();
  }
  void add(std::uint64_t number, int base, std::size_t width) noexcept {
    std::array<char, 20> digits;  // NOLINT(*-member-init): to_chars fills what is read
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, base).ptr;
    for (auto have = static_cast<std::size_t>(end - digits.data()); have < width; ++have) add("0");
    add({digits.data(), static_cast<std::size_t>(end - digits.data())});
  }
  std::size_t size() const noexcept { return is_cut_ ? 0 : size_; }

 private:
  char* out_;
  std::size_t capacity_, size_ = 0;
  bool is_cut_ = false;
};

// As the kernel writes it: 32 nodes in each group, the first in the last. `old` has the groups before.
void add_mask(Text& text, std::string_view old, std::uint64_t nodes) noexcept {
  constexpr std::size_t kGroup = 8, kTwoGroups = 2 * kGroup + 1;
  if (old.size() > kTwoGroups) text.add(old.substr(0, old.size() - kTwoGroups));
  text.add(nodes >> 32, 16, kGroup);
  text.add(",");
  text.add(nodes & 0xffffffff, 16, kGroup);
}

void add_list(Text& text, std::uint64_t nodes) noexcept {
  bool is_first = true;
  for_each_run_of_bits(nodes, [&](int first, int last) {
    if (!is_first) text.add(",");
    is_first = false;
    text.add(static_cast<std::uint64_t>(first), 10, 1);
    if (last == first) return;
    text.add("-");
    text.add(static_cast<std::uint64_t>(last), 10, 1);
  });
}

// Of what follows /proc/.
bool is_own_status(std::string_view path) noexcept {
  constexpr std::string_view kStatus = "/status";
  if (!path.ends_with(kStatus)) return false;
  const std::string_view whose = path.substr(0, path.size() - kStatus.size());
  if (whose == "self" || whose == "thread-self") return true;
  long pid = 0;
  const auto [end, error] = std::from_chars(whose.data(), whose.data() + whose.size(), pid);
  return error == std::errc() && end == whose.data() + whose.size() && pid == raw_syscall(SYS_getpid);
}

bool is_status(std::string_view path) noexcept {
  constexpr std::string_view kProc = "/proc/";
  return path.starts_with(kProc) && is_own_status(path.substr(kProc.size()));
}

bool is_cpuset(std::string_view path) noexcept {
  constexpr std::string_view kLists[] = {"/cpuset.mems", "/cpuset.mems.effective", "/cpuset.effective_mems"};
  return path.starts_with("/sys/fs/cgroup/") &&
         std::ranges::any_of(kLists, [&](std::string_view list) { return path.ends_with(list); });
}

}  // namespace

bool tells_allowed_nodes(std::string_view path) noexcept { return is_status(path) || is_cpuset(path); }

std::size_t allow_in_list(std::uint64_t nodes, char* out, std::size_t capacity) noexcept {
  Text text(out, capacity);
  add_list(text, nodes);
  text.add("\n");
  return text.size();
}

std::size_t allow_in_status(std::string_view status, std::uint64_t nodes, char* out,
                            std::size_t capacity) noexcept {
  Text text(out, capacity);
  while (!status.empty()) {
    const std::size_t mask = status.find(kMask), list = status.find(kList);
    const std::size_t at = std::min(mask, list);
    if (at == std::string_view::npos) break;
    const std::size_t before = at + (at == mask ? kMask : kList).size();
    const std::size_t end = std::min(status.size(), status.find('\n', before));
    text.add(status.substr(0, before));
    if (at == mask) {
      add_mask(text, status.substr(before, end - before), nodes);
    } else {
      add_list(text, nodes);
    }
    status.remove_prefix(end);
  }
  text.add(status);
  return text.size();
}

int open_allowing(const char* path, int flags, std::uint64_t nodes) noexcept {
  constexpr std::size_t kMost = 4096;
  std::array<char, kMost> status;   // NOLINT(*-member-init): filled as far as it is read
  std::array<char, kMost> allowed;  // NOLINT(*-member-init)
  const std::size_t read = read_start_of(path, status.data(), status.size());
  const std::size_t bytes =
      is_status(path) ? allow_in_status({status.data(), read}, nodes, allowed.data(), allowed.size())
                      : allow_in_list(nodes, allowed.data(), allowed.size());
  if (read == 0 || read == kMost || bytes == 0) return -1;
  const unsigned close_on_exec = (flags & O_CLOEXEC) != 0 ? MFD_CLOEXEC : 0;
  const long fd = raw_syscall(SYS_memfd_create, "allowed-nodes", close_on_exec);
  if (is_error(fd)) return -1;
  raw_syscall(SYS_pwrite64, fd, allowed.data(), bytes, 0);
  return static_cast<int>(fd);
}

}  // namespace nvmemu::preload
