// SPDX-License-Identifier: Apache-2.0
// The storage that this process's files seem to lie on: which of its descriptors are below a folder of the
// run, what a call on one of them would have taken, and the wait for the rest of that. What is shared with
// other processes is reckoned under a lock, with all signals blocked; nothing is held while the thread waits.
// Async-signal-safe; keeps errno.
#pragma once

#include <fcntl.h>

#include <array>
#include <atomic>
#include <cstdint>

#include "base/result.h"
#include "plan/storage_plan.h"
#include "storage/known_paths.h"
#include "storage/shared_storage.h"

namespace nvmemu::preload {

// A descriptor of a file, or folder, below one of the run's folders.
struct StoredDescriptor {
  static constexpr std::uint32_t kVolumeMask = 0xff;
  static constexpr std::uint32_t kFolder = 1U << 8, kDirect = 1U << 9, kSyncs = 1U << 10,
                                 kDataSyncs = 1U << 11, kAppends = 1U << 13;
  static constexpr std::uint32_t kElsewhere = 1U << 12;  // it was looked at, and is none of ours

  std::atomic<std::uint32_t>
      state;  // the volume's number plus 1, and the above; 0: none of ours, as far as is known
  FileName name;
  std::uint64_t size;             // when it was opened
  Watched<PageCache::File> file;  // where it was in the cache's table
  ReadStream stream;
  // The volume's flag_changes when its flags were looked at; of a folder elsewhere, the folder_moves.
  std::atomic<std::uint32_t> flags_seen;
  std::atomic<std::uint32_t> folder_id;         // of a folder elsewhere: no other open one's, and even
  std::uint64_t told_position;                  // up to where stdio's reads and writes were reckoned
  std::atomic<std::uint64_t> requests_done_ns;  // POSIX aio: one after the other, as the C library has it

  bool is(std::uint32_t bit) const noexcept { return (state.load(std::memory_order_relaxed) & bit) != 0; }
  std::size_t volume() const noexcept { return (state.load(std::memory_order_relaxed) & kVolumeMask) - 1; }
};

struct FilePart {
  std::uint64_t offset = 0, bytes = 0;
};

// A path as a call is given it; no path: not known.
struct NameAt {
  int at = AT_FDCWD;
  const char* path = nullptr;
};
// Whether both are in one folder, as far as their paths say it.
bool is_beside(const NameAt& one, const NameAt& other) noexcept;

class ProcessStorage {
 public:
  // Once. `beside`: the board's path; `is_own`: this process has made it.
  Result<void> open(const StoragePlan& plan, const char* beside, bool is_own);

  // Null: nothing of ours, or no storage at all.
  StoredDescriptor* find(int fd) noexcept {
    StoredDescriptor* const descriptor = slot_of(fd);
    if (descriptor == nullptr) return nullptr;
    const std::uint32_t state = descriptor->state.load(std::memory_order_acquire);
    return (state & StoredDescriptor::kVolumeMask) != 0 ? descriptor : nullptr;
  }
  // With its flags as they are: fcntl(F_SETFL) may have changed them by any descriptor of the same open file,
  // in any process of the run.
  StoredDescriptor* find_as_is(int fd) noexcept {
    StoredDescriptor* const descriptor = find(fd);
    if (descriptor != nullptr &&
        descriptor->flags_seen.load(std::memory_order_relaxed) != flag_changes(descriptor->volume()))
      look_at_flags(fd, *descriptor);
    return descriptor;
  }
  // For what is charged where the system call is seen, too: null where each of them is (paging/traps.h).
  StoredDescriptor* find_named(int fd) noexcept { return calls_are_trapped() ? nullptr : find_as_is(fd); }
  // For a system call that is seen: the descriptor may have been opened by one that was not.
  StoredDescriptor* find_or_look(int fd) noexcept;
  bool calls_are_trapped() const noexcept { return calls_are_trapped_.load(std::memory_order_relaxed); }
  void set_calls_are_trapped(bool they_are) noexcept {
    calls_are_trapped_.store(they_are, std::memory_order_relaxed);
  }
  bool is_open() const noexcept { return descriptors_.load(std::memory_order_relaxed) != nullptr; }
  // From now on nothing is charged: a sandbox does not let through what that takes.
  void give_up() noexcept { descriptors_.store(nullptr, std::memory_order_relaxed); }
  const SharedStorage& shared() const noexcept { return shared_; }

  // The child of a fork has descriptors of its own; one of vfork has its own, and its parent's memory.
  void note_forked() noexcept;
  // `fd` has just been opened so, by that path where it is known, and stands there; is a copy of another, or
  // is about to be closed.
  void note_opened(int fd, int flags, const NameAt& name = {}, std::uint64_t position = 0) noexcept;
  void note_copied(int from, int to) noexcept;
  void note_closed(int fd) noexcept;
  void note_closed_from(unsigned first, unsigned last) noexcept;
  void note_flags_changed(int fd) noexcept;  // fcntl(F_SETFL)
  // A folder, or what stands for one, has another name, or is new, or gone.
  void note_folder_moved() noexcept;
  // The working directory is another; a thread's may be another than the process's from now on.
  void note_working_folder() noexcept { working_folder_.fetch_add(1, std::memory_order_relaxed); }
  void note_working_folders() noexcept { has_working_folders_.store(true, std::memory_order_relaxed); }

  // Whether a read of so many bytes was of all that the file is known to have, which the page cache holds:
  // then it is counted, and has nothing to wait for.
  bool is_read_whole(StoredDescriptor& descriptor, std::uint64_t bytes, std::uint64_t begin_ns) noexcept;
  // The call began at `begin_ns`, of now_ns(), and is over: waits for the rest of what it would have taken.
  void on_read(StoredDescriptor& descriptor, std::uint64_t offset, std::uint64_t bytes,
               std::uint64_t begin_ns) noexcept;
  // `asked`: kSyncs or kDataSyncs, of this one alone.
  void on_write(StoredDescriptor& descriptor, std::uint64_t offset, std::uint64_t bytes,
                std::uint64_t begin_ns, std::uint32_t asked = 0) noexcept;
  void on_sync(StoredDescriptor& descriptor, SyncKind kind, std::uint64_t begin_ns) noexcept;
  void on_write_back(StoredDescriptor& descriptor, const WriteBackCall& call,
                     std::uint64_t begin_ns) noexcept;
  void on_sync_all(int fd, std::uint64_t begin_ns) noexcept;  // -1: of every volume
  // A request that nobody waits for yet: when it will be done, no earlier than `begin_ns`. Of a read as much
  // as there is.
  enum class Request { kRead, kWrite, kSync, kDataSync };
  struct FileRequest {
    Request kind = Request::kRead;
    std::uint64_t offset = 0, bytes = 0;
    std::uint32_t asked = 0;  // kSyncs, kDataSyncs, kAppends: of a write, this one alone
  };
  std::uint64_t on_request(StoredDescriptor& descriptor, const FileRequest& request,
                           std::uint64_t begin_ns) noexcept;
  // One of POSIX aio: behind those that the descriptor has been asked for before.
  std::uint64_t on_request_in_turn(StoredDescriptor& descriptor, const FileRequest& request,
                                   std::uint64_t begin_ns) noexcept;
  // Whether a request is none of the page cache's, but the device's.
  bool is_past_cache(const StoredDescriptor& descriptor) const noexcept;
  // So much of one that writes was not written after all, or nothing; the file is so long.
  void on_unwritten(StoredDescriptor& descriptor, std::uint64_t bytes, bool nothing_was,
                    std::uint64_t size) noexcept;
  // Until then, as a call of that volume, which began at `begin_ns`.
  void wait(std::size_t volume, std::uint64_t begin_ns, std::uint64_t until_ns) noexcept;
  void on_resized(StoredDescriptor& descriptor, std::uint64_t bytes) noexcept;
  // By a path, which may be a symbolic link's.
  void on_resized(const char* path, std::uint64_t bytes) noexcept;
  // The number of the volume that has the folder that the last part of a path is in, or is to come to;
  // kElsewhere: none has; kNowhere: that cannot be told. Of what was elsewhere just now no system call is
  // made.
  static constexpr int kElsewhere = -1, kNowhere = -2;
  int volume_of_name(const NameAt& name) noexcept;
  // Names in its folders have come or gone; none's where the number is below 0.
  void on_names_changed(int volume) noexcept;
  void on_removed(const FileName& name) noexcept;
  // Whether names elsewhere may be of our files, or lead to them; and that they may, from now on.
  bool names_cross() noexcept { return shared_.volume(0).names_cross.load(std::memory_order_relaxed); }
  void note_names_cross() noexcept;
  // A symbolic link was made.
  void on_linked(const NameAt& name) noexcept;
  void on_allocated(StoredDescriptor& descriptor, const FilePart& part, Allocation allocation,
                    std::uint64_t bytes) noexcept;
  // What a program says of a part: that it will need it, or that it will not.
  using Need = void (Volume::*)(const FileRange&, std::uint64_t) noexcept;
  void on_advice(StoredDescriptor& descriptor, const FilePart& part, Need need,
                 std::uint64_t begin_ns) noexcept;
  // The real storage has refused a call.
  void on_failed(const StoredDescriptor& descriptor) noexcept;
  void on_mapped(StoredDescriptor& descriptor, std::uint64_t bytes) noexcept;
  // Whether it may be that files of ours are mapped; and that all mappings in the range were synced.
  bool has_mapped() const noexcept { return has_mapped_.load(std::memory_order_relaxed); }
  void on_mappings_synced(std::uintptr_t address, std::size_t bytes, std::uint64_t begin_ns) noexcept;
  // What is not charged: io_uring, Linux' own aio whose events the program takes from the ring by itself,
  // requests of whose end it is told in a way that cannot wait.
  void on_unseen_ring() noexcept;
  void on_unseen_context() noexcept;
  void on_told_request(const StoredDescriptor& descriptor) noexcept;

  static std::uint64_t now_ns() noexcept;

 private:
  static constexpr unsigned kMostDescriptors = 1U << 16;

  StoredDescriptor* slot_of(int fd) const noexcept {
    StoredDescriptor* const all = descriptors_.load(std::memory_order_relaxed);
    return all == nullptr || static_cast<unsigned>(fd) >= kMostDescriptors ? nullptr : all + fd;
  }
  int volume_of(std::string_view path) const noexcept;
  std::uint32_t folder_moves() noexcept;
  KnownPaths::Key key_of(const NameAt& name) noexcept;
  KnownPaths::Key key_for_a_moment(const NameAt& name) noexcept;
  int volume_of_opened(int fd, const NameAt& path, const FileName& name) noexcept;
  bool is_path_elsewhere(int flags, const NameAt& name, bool is_asked) noexcept;
  bool is_opened_elsewhere(StoredDescriptor& descriptor, int flags, const NameAt& name,
                           const KnownPaths::Key& now) noexcept;
  int volume_of_folder(int fd) noexcept;
  void note_folder_elsewhere(StoredDescriptor& descriptor) noexcept;
  int volume_found(const NameAt& folder) const noexcept;
  bool is_own_name(std::string_view name) const noexcept;
  void add_inherited() noexcept;
  void note_found(int fd, int flags) noexcept;  // it was opened a while ago
  bool is_as_known(StoredDescriptor& descriptor, int volume) noexcept;
  void note_file(StoredDescriptor& descriptor, bool may_be_new) noexcept;
  int likely_volume_of(const NameAt& name) noexcept;
  bool is_read_cached(StoredDescriptor& descriptor, const FilePart& part, std::uint64_t begin_ns) noexcept;
  template <typename Work>
  std::uint64_t reckon(std::size_t volume, Work&& work) noexcept;
  template <typename Work>
  std::uint64_t reckon_file(StoredDescriptor& descriptor, Work&& work) noexcept;
  std::uint64_t read_done_ns(StoredDescriptor& descriptor, std::uint64_t offset, std::uint64_t bytes,
                             std::uint64_t begin_ns) noexcept;
  std::uint64_t write_done_ns(StoredDescriptor& descriptor, std::uint64_t offset, std::uint64_t bytes,
                              std::uint64_t begin_ns, std::uint32_t asked) noexcept;
  std::uint64_t mapping_synced_ns(std::size_t volume, const char* path, std::uint64_t begin_ns) noexcept;
  std::uint64_t sync_done_ns(StoredDescriptor& descriptor, SyncKind kind, std::uint64_t begin_ns) noexcept;
  bool owns_descriptors() const noexcept;
  std::uint32_t flag_changes(std::size_t volume) noexcept;
  void look_at_flags(int fd, StoredDescriptor& descriptor) noexcept;

  StoragePlan plan_;
  SharedStorage shared_;
  std::atomic<StoredDescriptor*> descriptors_{nullptr};
  KnownPaths* paths_ = nullptr;  // beside them
  std::atomic<bool> calls_are_trapped_{false}, has_mapped_{false};
  std::atomic<long> process_{0};                  // whose descriptors they are
  std::atomic<std::uint32_t> working_folder_{0};  // how often it has changed
  std::atomic<std::uint32_t> last_folder_{0};     // how many folders elsewhere have been given an id
  std::atomic<bool> has_working_folders_{false};
};

// This process's; not open where no storage was asked for.
ProcessStorage& process_storage() noexcept;

}  // namespace nvmemu::preload
