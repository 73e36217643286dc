// SPDX-License-Identifier: Apache-2.0
#include "paging/layered_store.h"

#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/mapped.h"
#include "base/raw_syscall.h"

namespace nvmemu {

int LayeredStore::open(int folder, const char* name, StoreKind kind, std::uint64_t most) noexcept {
  folder_ = folder;
  name_ = name;
  kind_ = kind;
  const int file = make_file();
  if (file < 0) return file;
  layer_of_ = map_zeroed<std::uint8_t>(most + 1);
  if (layer_of_ == nullptr) {
    raw_syscall(SYS_close, file);
    return -ENOMEM;
  }
  set_file(top_, file);
  return 0;
}

// What is refused past the cache all the same is said, and goes through it.
int LayeredStore::make_file() noexcept {
  const int file = FileStore::create(folder_, name_);
  if (file < 0 || kind_ == StoreKind::kCached) return file;
  const bool is_direct = FileStore(file).go_direct();
  const bool is_wanted = kind_ == StoreKind::kDirect || layers_[top_].is_direct();
  if (!is_direct && is_wanted && tell_cached_ != nullptr) tell_cached_();
  return file;
}

void LayeredStore::set_file(std::size_t layer, int file) noexcept {
  layers_[layer].set_file(file);
  layers_[layer].when_cached(tell_cached_);
}

void LayeredStore::drop(std::size_t layer) noexcept {
  if (layers_[layer].file() < 0) return;
  raw_syscall(SYS_close, layers_[layer].file());
  layers_[layer].set_file(-1);
}

void LayeredStore::look_at_limit() noexcept {
  for (FileStore& layer : layers_) layer.look_at_limit();
}

bool LayeredStore::owns(int file) const noexcept {
  const auto is_it = [file](const FileStore& layer) { return layer.file() == file; };
  return file >= 0 && (file == childs_ || file == parents_ || std::ranges::any_of(layers_, is_it));
}

// Of those from `slot` on that lie in one file: the end.
std::uint64_t LayeredStore::same_layer(std::uint64_t slot, std::uint64_t end) const noexcept {
  const std::uint8_t layer = layer_of_[slot];
  while (slot < end && layer_of_[slot] == layer) ++slot;
  return slot;
}

std::size_t LayeredStore::read(std::uint64_t slot, std::byte* const* to, std::size_t pages) noexcept {
  std::size_t done = 0;
  while (done < pages) {
    const std::uint64_t first = slot + done;
    const std::size_t wanted = same_layer(first, slot + pages) - first;
    const std::size_t got = layers_[layer_of_[first]].read(first, to + done, wanted);
    done += got;
    if (got < wanted) break;
  }
  return done;
}

bool LayeredStore::write(std::uint64_t slot, const std::byte* from, std::size_t pages) noexcept {
  is_written_ = true;  // or a part of it
  if (!layers_[top_].write(slot, from, pages)) return false;
  std::fill_n(layer_of_ + slot, pages, static_cast<std::uint8_t>(top_));
  return true;
}

LayeredStore::Counts LayeredStore::count_used(const Slots& slots) const noexcept {
  Counts counts{};
  const std::uint64_t end = slots.highest() + 1;
  for (std::uint64_t slot = 0; (slot = slots.next_used(slot + 1, end)) != Slots::kNone;)
    ++counts[layer_of_[slot]];
  return counts;
}

std::size_t LayeredStore::spare_layer() const noexcept {
  std::size_t layer = 0;
  while (layer < kMostLayers && layers_[layer].file() >= 0) ++layer;
  return layer;
}

// What is needed of that one goes to the top.
bool LayeredStore::move_layer(std::size_t layer, const Slots& slots, std::byte* by, long& written) noexcept {
  const std::uint64_t end = slots.highest() + 1;
  std::array<std::byte*, kAtOnce> to;
  for (std::size_t i = 0; i < kAtOnce; ++i) to[i] = by + i * kPageBytes;
  for (std::uint64_t slot = 0; (slot = slots.next_used(slot + 1, end)) != Slots::kNone;) {
    if (layer_of_[slot] != layer) continue;
    std::size_t pages = 1;
    while (pages < kAtOnce && slot + pages < end && slots.is_used(slot + pages) &&
           layer_of_[slot + pages] == layer)
      ++pages;
    if (read(slot, to.data(), pages) != pages || !write(slot, by, pages)) return false;
    written += static_cast<long>(pages);
    slot += pages - 1;
  }
  return true;
}

// The smaller half of those that are full: so nothing is written anew more often than there are doublings.
bool LayeredStore::write_anew(const Slots& slots, const Counts& counts, std::byte* by,
                              long& written) noexcept {
  std::array<std::size_t, kMostLayers> by_size{};
  for (std::size_t i = 0; i < kMostLayers; ++i) by_size[i] = i;
  std::ranges::sort(by_size, {}, [&](std::size_t layer) { return counts[layer]; });
  std::size_t left = kMostLayers / 2;
  for (const std::size_t layer : by_size) {
    if (layer == top_ || layers_[layer].file() < 0 || left == 0) continue;
    if (!move_layer(layer, slots, by, written)) return false;
    drop(layer);
    --left;
  }
  return true;
}

bool LayeredStore::has_one_layer() const noexcept {
  return std::ranges::count_if(layers_, [](const FileStore& layer) { return layer.file() >= 0; }) <= 1;
}

// One for the child and, where the one that is written to has something that the child is to see, another for
// the parent. An error number, below 0, where there is not.
int LayeredStore::make_fork_files() noexcept {
  next_ = is_written_ ? spare_layer() : top_;
  childs_ = make_file();
  parents_ = childs_ < 0 ? -1 : is_written_ ? make_file() : layers_[top_].file();
  if (parents_ >= 0) return 0;
  const int error = std::min(childs_, parents_);
  if (childs_ >= 0) raw_syscall(SYS_close, childs_);
  childs_ = parents_ = -1;
  return error;
}

long LayeredStore::prepare_fork(const Slots& slots, std::byte* by) noexcept {
  Counts counts = count_used(slots);
  for (std::size_t layer = 0; layer < kMostLayers; ++layer) {
    if (layer != top_ && counts[layer] == 0) drop(layer);
  }
  long written = 0;
  if (is_written_ && spare_layer() == kMostLayers && !write_anew(slots, counts, by, written)) return -EIO;
  int error = make_fork_files();
  // The program has left no descriptors for more: files that there are make room.
  while ((error == -EMFILE || error == -ENFILE) && !has_one_layer()) {
    if (!write_anew(slots, counts, by, written)) return -EIO;
    counts = count_used(slots);
    error = make_fork_files();
  }
  return error < 0 ? error : written;
}

void LayeredStore::end_fork_in_parent() noexcept {
  raw_syscall(SYS_close, std::exchange(childs_, -1));
  go_on_in(std::exchange(parents_, -1));
}

void LayeredStore::end_fork_in_child() noexcept {
  raw_syscall(SYS_close, std::exchange(parents_, -1));
  go_on_in(std::exchange(childs_, -1));
}

void LayeredStore::go_on_in(int file) noexcept {
  set_file(next_, file);
  top_ = next_;
  is_written_ = false;
}

}  // namespace nvmemu
