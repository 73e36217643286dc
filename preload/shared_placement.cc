// SPDX-License-Identifier: Apache-2.0
#include "shared_placement.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <utility>

#include "base/folder_entries.h"
#include "base/high_descriptor.h"
#include "base/mapped.h"
#include "base/private_file.h"
#include "file_of_proc.h"

namespace nvmemu::preload {
namespace {

constexpr std::string_view kPrefix = "nvmemu-nodes:";

// The calling thread is about to fork, and has made the child's copy.
__thread bool has_copy;

// One that another process is making has no size yet.
template <typename Shared>
Shared* map_file(int fd) noexcept {
  struct stat status {};
  if (is_error(raw_syscall(SYS_fstat, fd, &status)) || status.st_size < static_cast<off_t>(sizeof(Shared)))
    return nullptr;
  const long mapped = raw_syscall(SYS_mmap, nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_NORESERVE, fd, 0);
  return is_error(mapped) ? nullptr : reinterpret_cast<Shared*>(mapped);
}

// 0: none.
ino_t inode_of(int fd) noexcept {
  struct stat status {};
  return raw_syscall(SYS_fstat, fd, &status) == 0 ? status.st_ino : 0;
}

}  // namespace

SharedName::SharedName(std::string_view run) noexcept {
  char* const end = std::copy(kPrefix.begin(), kPrefix.end(), text_);
  const std::size_t room = sizeof text_ - kPrefix.size() - 1;
  *std::copy_n(run.data(), std::min(run.size(), room), end) = '\0';
}

bool SharedName::is_named_by(std::string_view link) const noexcept {
  constexpr std::string_view kMemory = "/memfd:", kGone = " (deleted)";
  if (!link.starts_with(kMemory) || !link.ends_with(kGone)) return false;
  link.remove_prefix(kMemory.size());
  link.remove_suffix(kGone.size());
  return link == text_;
}

NodePlacement* SharedPlacement::open(const char* run) noexcept {
  run_ = run;
  const Memory made = create();
  memory_ = made.placement;
  keep_file(made.fd);
  take_over();
  return memory_;
}

void SharedPlacement::take_over() noexcept {
  if (memory_ != nullptr) memory_->owner.store(static_cast<pid_t>(raw_syscall(SYS_getpid)));
}

void SharedPlacement::keep_file(int fd) noexcept {
  fd_ = fd;
  inode_ = fd < 0 ? 0 : inode_of(fd);
}

SharedPlacement::Memory SharedPlacement::create() const noexcept {
  const Memory of_file = create_file();
  return of_file.placement != nullptr ? of_file : Memory{map_zeroed<NodePlacement>()};
}

SharedPlacement::Memory SharedPlacement::create_file() const noexcept {
  if (!files_may_hold(sizeof(NodePlacement))) return {};
  const long fd = raw_syscall(SYS_memfd_create, SharedName(run_).c_str(), unsigned{MFD_CLOEXEC});
  if (is_error(fd)) return {};
  const Memory made{raw_syscall(SYS_ftruncate, fd, sizeof(NodePlacement)) == 0
                        ? map_file<NodePlacement>(static_cast<int>(fd))
                        : nullptr,
                    raised(static_cast<int>(fd))};
  if (made.placement == nullptr) raw_syscall(SYS_close, made.fd);
  return made;
}

// Another thread that forks meanwhile finds this one at it, and its child makes the copy itself.
void SharedPlacement::before_fork() noexcept {
  if (memory_ == nullptr || is_forking_.exchange(true)) return;
  has_copy = true;
  childs_ = create();
  if (childs_.placement != nullptr) childs_.placement->copy(*memory_);
}

void SharedPlacement::after_fork() noexcept {
  if (has_copy) drop_copy();
}

// Forgotten first: another thread that forks meanwhile would drop in its child what has come to be there
// since.
void SharedPlacement::drop_copy() noexcept {
  has_copy = false;
  const Memory dropped = std::exchange(childs_, {});
  unmap(dropped.placement);
  if (dropped.fd >= 0) raw_syscall(SYS_close, dropped.fd);
  is_forking_.store(false);
}

void SharedPlacement::begin_child() noexcept {
  if (memory_ == nullptr) return;
  if (fd_ >= 0 && inode_of(fd_) == inode_) raw_syscall(SYS_close, fd_);
  Memory own{};
  if (has_copy) std::swap(own, childs_);
  drop_copy();  // of another thread that the parent has
  if (own.placement == nullptr) {
    own = {map_zeroed<NodePlacement>()};
    if (own.placement != nullptr) own.placement->copy(*memory_);
  }
  keep_file(own.fd);
  constexpr std::size_t kBytes = sizeof(NodePlacement);
  const bool has_moved =
      own.placement != nullptr && !is_error(raw_syscall(SYS_mremap, own.placement, kBytes, kBytes,
                                                        MREMAP_MAYMOVE | MREMAP_FIXED, memory_));
  // Else what the parent has put there is forgotten: to change it would be worse.
  if (has_moved || !is_error(raw_syscall(SYS_mmap, memory_, kBytes, PROT_READ | PROT_WRITE,
                                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0)))
    take_over();
}

NodeHistory* map_history(const char* path) noexcept {
  const long fd = raw_syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
  if (is_error(fd)) return nullptr;
  auto* const history = map_file<NodeHistory>(static_cast<int>(fd));
  raw_syscall(SYS_close, fd);
  return history;
}

PlacementOfAnother::PlacementOfAnother(long pid, const char* run) noexcept {
  const SharedName name(run);
  const FileOfProc folder(pid, "/fd");
  for_each_numbered_entry(folder.c_str(), [&](int number) {
    if (memory_ != nullptr) return;
    std::array<char, 16> entry{"/fd/"};
    *std::to_chars(entry.data() + 4, entry.data() + entry.size() - 1, number).ptr = '\0';
    const FileOfProc path(pid, entry.data());
    std::array<char, 256> link;  // NOLINT(*-member-init): filled as far as it is read
    const long length = raw_syscall(SYS_readlinkat, AT_FDCWD, path.c_str(), link.data(), link.size());
    if (is_error(length) || !name.is_named_by({link.data(), static_cast<std::size_t>(length)})) return;
    const long fd = raw_syscall(SYS_openat, AT_FDCWD, path.c_str(), O_RDWR | O_CLOEXEC);
    if (is_error(fd)) return;
    auto* const found = map_file<NodePlacement>(static_cast<int>(fd));
    raw_syscall(SYS_close, fd);
    if (found != nullptr && found->owner.load() == pid) {
      memory_ = found;
    } else {  // what a child of its is about to go on with, or a child's that is to be another program
      unmap(found);
    }
  });
}

PlacementOfAnother::~PlacementOfAnother() { unmap(memory_); }

}  // namespace nvmemu::preload
