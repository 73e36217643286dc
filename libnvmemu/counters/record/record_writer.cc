// SPDX-License-Identifier: Apache-2.0
#include "counters/record/record_writer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "base/clock.h"
#include "base/mapped.h"
#include "base/ownership.h"
#include "base/private_file.h"
#include "base/raw_syscall.h"
#include "base/relaxed.h"

namespace nvmemu {
namespace {

using namespace record_format;

tl::unexpected<Error> system_failure(const char* what, const std::string& path, int error,
                                     std::string hint = {}) {
  return failure(std::string(what) + " " + path + ": " + std::strerror(error), std::move(hint));
}

// Cut off at the end of the field, whose last byte stays 0.
template <std::size_t kBytes>
void put_text(char (&field)[kBytes], std::string_view text) {
  std::copy_n(text.data(), std::min(text.size(), kBytes - 1), field);
}

bool is_file(int fd, struct stat& status) noexcept {
  return fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

void write_header(Header& header, const RecordInfo& info) {
  header.slot_bytes = kSlotBytes;
  header.claimed.store(kHeaderSlots, kRelaxed);
  header.counts = info.counts;
  header.base_ns = info.base_ns;
  header.base_spread = info.base_spread;
  header.cache_ns = info.cache_ns;
  header.remote_ns = info.remote_ns;
  header.epoch_ns = info.epoch_ns;
  header.start_ns = static_cast<double>(monotonic_raw_ns());
  header.tells_blocks = info.tells_blocks ? 1 : 0;
  header.nodes = info.nodes;
  put_text(header.source, info.source);
  put_text(header.cpu_model, info.cpu_model);
  put_text(header.command, info.command);
  put_text(header.figures, record_figures());
  header.version = kVersion;
  header.magic = kMagic;
}

}  // namespace

std::string record_figures() {
  std::string names;
  for_each_quantity<kInRecords>([&](const QuantityRow& row, std::size_t column) {
    names += (column > 0 ? " " : "") + std::string(row.name);
  });
  return names;
}

RecordWriter::RecordWriter(std::string path, std::byte* first_window) : path_(std::move(path)) {
  windows_[0].store(first_window, kRelaxed);
}

RecordWriter::RecordWriter(RecordWriter&& other) noexcept
    : path_(std::move(other.path_)),
      device_(other.device_),
      inode_(other.inode_),
      file_(std::move(other.file_)) {
  for (std::size_t i = 0; i < kWindows; ++i) windows_[i].store(other.windows_[i].exchange(nullptr));
}

RecordWriter::~RecordWriter() {
  for (const auto& window : windows_) unmap(window.load(kRelaxed), kWindowBytes);
}

Header& RecordWriter::header() const noexcept {
  return *std::launder(reinterpret_cast<Header*>(windows_[0].load(kRelaxed)));
}

// Maps the first window of the file on `fd`.
Result<RecordWriter> RecordWriter::map(const std::string& path, int fd) {
  struct stat status {};
  const bool right = is_file(fd, status) && status.st_size >= static_cast<off_t>(kWindowBytes);
  void* memory = right ? mmap(nullptr, kWindowBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
  const int error = errno;
  if (!right) return failure(path + " is no record that is being made: it has the wrong size");
  if (memory == MAP_FAILED) return system_failure("cannot map", path, error);
  EmulatorMemory::get().note(memory, kWindowBytes);
  RecordWriter writer(path, static_cast<std::byte*>(memory));
  writer.device_ = status.st_dev;
  writer.inode_ = status.st_ino;
  return writer;
}

Result<RecordWriter> RecordWriter::create(const std::string& path, const RecordInfo& info) {
  struct stat status {};
  if (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    return failure("cannot record into " + path + ": it is not a file");
  }
  if (!files_may_hold(kWindowBytes)) {
    return failure("cannot record into " + path + ": the limit on file size is below 4 MiB",
                   "raise it: ulimit -f unlimited");
  }
  std::string temporary = path + ".XXXXXX";
  Descriptor file(mkostemp(temporary.data(), O_CLOEXEC));  // mode 0600
  if (!file) return system_failure("cannot record into", path, errno);
  give_to_owner_of(folder_of(path), file.get());
  // Room is reserved: where the disk is full, the first touch of a hole would kill the program with SIGBUS.
  if (const int error = posix_fallocate(file.get(), 0, kWindowBytes); error != 0) {
    unlink(temporary.c_str());
    return system_failure("cannot reserve 4 MiB for", path, error,
                          error == ENOSPC ? "make room on the disk" : "");
  }
  Result<RecordWriter> writer = map(path, file.get());
  if (writer) write_header(writer->header(), info);
  if (writer) writer->file_ = std::move(file);
  if (!writer || rename(temporary.c_str(), path.c_str()) != 0) {
    const int error = errno;
    unlink(temporary.c_str());
    if (writer) return system_failure("cannot record into", path, error);
  }
  return writer;
}

Result<RecordWriter> RecordWriter::open(const std::string& path) {
  // It was renamed to that name, so a link is somebody else's.
  const Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  if (!file) return system_failure("cannot open", path, errno);
  Result<RecordWriter> writer = map(path, file.get());
  if (!writer) return writer;
  const Header& header = writer->header();
  if (header.magic != kMagic) return failure(path + " is no record");
  if (header.version != kVersion || header.slot_bytes != kSlotBytes) {
    return failure(path + " is a record of another version of nvmemu",
                   "use the nvmemu and the libnvmemu-preload.so of one installation");
  }
  return writer;
}

std::byte* RecordWriter::window(std::uint64_t index) noexcept {
  if (index >= kWindows) return nullptr;
  std::byte* memory = windows_[index].load(std::memory_order_acquire);
  return memory != nullptr ? memory : map_window(index);
}

// The one time in a window that a descriptor is needed. By system calls that touch nothing thread-local: see
// base/raw_syscall.h.
std::byte* RecordWriter::map_window(std::uint64_t index) noexcept {
  const std::uint64_t begin = index * kWindowBytes;
  if (!files_may_hold(begin + kWindowBytes)) return nullptr;
  const long fd = raw_syscall(SYS_openat, AT_FDCWD, path_.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (is_error(fd)) return nullptr;
  struct stat status {};
  const bool same = raw_syscall(SYS_fstat, fd, &status) == 0 && status.st_dev == device_ &&
                    status.st_ino == inode_ && raw_syscall(SYS_fallocate, fd, 0, begin, kWindowBytes) == 0;
  const long mapped = same ? map_noted(kWindowBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, begin) : -EIO;
  raw_syscall(SYS_close, fd);
  if (is_error(mapped)) return nullptr;
  auto* memory = reinterpret_cast<std::byte*>(mapped);
  std::byte* expected = nullptr;
  if (windows_[index].compare_exchange_strong(expected, memory)) return memory;
  unmap(memory, kWindowBytes);  // another thread was quicker
  return expected;
}

// A slot of one's own, or null. One that is claimed can be written: its window is mapped before.
std::byte* RecordWriter::claim() noexcept {
  Header& shared = header();
  std::uint64_t slot = shared.claimed.load(kRelaxed);
  for (;;) {
    std::byte* memory = window(slot / kSlotsPerWindow);
    if (memory == nullptr) {
      shared.lost.fetch_add(1, kRelaxed);
      return nullptr;
    }
    if (shared.claimed.compare_exchange_weak(slot, slot + 1, kRelaxed)) {
      return memory + slot % kSlotsPerWindow * kSlotBytes;
    }
  }
}

std::uint32_t RecordWriter::add_process(std::uint32_t pid, std::uint32_t ppid, const char* command) noexcept {
  const std::uint32_t number = header().processes.fetch_add(1, kRelaxed);
  std::byte* memory = claim();
  if (memory == nullptr) return number;
  auto* slot = reinterpret_cast<ProcessSlot*>(memory);
  slot->process = number;
  slot->pid = pid;
  slot->ppid = ppid;
  std::copy_n(command, strnlen(command, sizeof slot->command - 1), slot->command);
  slot->kind.store(static_cast<std::uint32_t>(SlotKind::kProcess), std::memory_order_release);
  return number;
}

std::uint32_t RecordWriter::add_thread(bool foreign) noexcept {
  if (foreign) return kForeignThread | header().foreign_threads.fetch_add(1, kRelaxed);
  return header().threads.fetch_add(1, kRelaxed) & ~kForeignThread;
}

double RecordWriter::now_ns() const noexcept {
  return std::max(0.0, static_cast<double>(monotonic_raw_ns()) - header().start_ns);
}

bool RecordWriter::add_epoch(const ThreadPlace& place, double begin_ns, double end_ns,
                             const EpochCounts& counts) noexcept {
  std::byte* memory = claim();
  if (memory == nullptr) return false;
  auto* slot = reinterpret_cast<EpochSlot*>(memory);
  slot->process = place.process;
  slot->thread = place.thread;
  slot->tid = place.tid;
  slot->begin_ns = begin_ns;
  slot->end_ns = end_ns;
  for_each_quantity<kInRecords>(
      [&](const QuantityRow& row, std::size_t column) { slot->figures[column] = row.value(counts); });
  slot->kind.store(static_cast<std::uint32_t>(SlotKind::kEpoch), std::memory_order_release);
  return true;
}

RegionSlot* RecordWriter::add_region(std::uint32_t process, std::uintptr_t address) noexcept {
  std::byte* memory = claim();
  if (memory == nullptr) return nullptr;
  auto* slot = reinterpret_cast<RegionSlot*>(memory);
  slot->process = process;
  slot->address = address;
  slot->kind.store(static_cast<std::uint32_t>(SlotKind::kRegion), std::memory_order_release);
  return slot;
}

void RecordWriter::add_elsewhere(std::uint64_t weight) noexcept {
  header().elsewhere.fetch_add(weight, kRelaxed);
}

std::uint32_t RecordWriter::add_call_list() noexcept {
  return header().call_lists.fetch_add(1, kRelaxed) + 1;
}

void RecordWriter::add_call(std::uint32_t calls, std::string_view library,
                            std::string_view function) noexcept {
  std::byte* memory = claim();
  if (memory == nullptr) return;
  auto* slot = reinterpret_cast<CallSlot*>(memory);
  slot->calls = calls;
  put_text(slot->library, library);
  put_text(slot->function, function);
  slot->kind.store(static_cast<std::uint32_t>(SlotKind::kCall), std::memory_order_release);
}

OwnerSlot* RecordWriter::add_owner(std::uint32_t process, std::uint32_t calls, std::uint32_t node) noexcept {
  std::byte* memory = claim();
  if (memory == nullptr) return nullptr;
  auto* slot = reinterpret_cast<OwnerSlot*>(memory);
  slot->process = process;
  slot->calls = calls;
  slot->node = node;
  slot->kind.store(static_cast<std::uint32_t>(SlotKind::kOwner), std::memory_order_release);
  return slot;
}

void RecordWriter::add_unowned() noexcept { header().unowned.fetch_add(1, kRelaxed); }

Result<void> RecordWriter::finish(double wall_ns, int exit_status, const std::string& warnings,
                                  bool all_ended) {
  Header& shared = header();
  shared.wall_ns = wall_ns;
  shared.exit_status = exit_status;
  put_text(shared.warnings, warnings);
  if (!all_ended) return {};
  // The file that was written, whatever has that name by now.
  struct stat status {};
  if (!is_file(file_.get(), status)) return system_failure("cannot finish", path_, EBADF);
  const std::uint64_t used =
      std::clamp(shared.claimed.load(), kHeaderSlots, kWindows * kSlotsPerWindow) * kSlotBytes;
  const off_t size = std::min(static_cast<off_t>(used), status.st_size);
  if (ftruncate(file_.get(), size) != 0 || fsync(file_.get()) != 0)
    return system_failure("cannot finish", path_, errno);
  return {};
}

void RecordWriter::discard() noexcept {
  struct stat status {};
  if (stat(path_.c_str(), &status) == 0 && status.st_dev == device_ && status.st_ino == inode_)
    unlink(path_.c_str());
}

std::uint64_t RecordWriter::lost() const noexcept { return header().lost.load(kRelaxed); }

std::uint64_t RecordWriter::epochs() const noexcept { return header().claimed.load(kRelaxed) - kHeaderSlots; }

}  // namespace nvmemu
