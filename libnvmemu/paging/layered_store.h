// SPDX-License-Identifier: Apache-2.0
// Pages in files of which a fork copies nothing: what lay there before is shared, and from then on written to
// by nobody. Each process goes on in a file of its own, and knows of each slot in which file it lies; it has
// the same place in all of them, so that they have holes. When there are too many, what is needed of the
// smaller ones is written anew.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "paging/file_store.h"
#include "paging/page_store.h"
#include "paging/slots.h"

namespace nvmemu {

// read() as PageStore has it; all else one after the other, and no fork while anything is read.
// Async-signal-safe.
class LayeredStore final : public PageStore {
 public:
  static constexpr std::size_t kMostLayers = 8;

  constexpr LayeredStore() noexcept = default;

  // Files are made by `name` in `folder` (FileStore::create), opened as `kind` says; for slots 1 to `most`.
  // An error number, below 0, where no file can be made, or there is no memory.
  int open(int folder, const char* name, StoreKind kind, std::uint64_t most) noexcept;

  // As FileStore has them: of the file that is written to, and of all.
  bool is_direct() const noexcept { return layers_[top_].is_direct(); }
  StoreMedium medium() const noexcept { return layers_[top_].medium(); }
  void look_at_limit() noexcept;
  void when_cached(void (*tell)() noexcept) noexcept { tell_cached_ = tell; }
  bool owns(int file) const noexcept;

  std::size_t read(std::uint64_t slot, std::byte* const* to, std::size_t pages) noexcept override;
  bool write(std::uint64_t slot, const std::byte* from, std::size_t pages) noexcept override;

  // Before a fork, after which end_fork_...() follows in each of the two. `slots`: those in use; `by`: memory
  // for kAtOnce pages of the caller's. How many pages were written anew; an error number, below 0, where a
  // file cannot be made: there must be no fork, and all is as before.
  static constexpr std::size_t kAtOnce = 64;
  long prepare_fork(const Slots& slots, std::byte* by) noexcept;
  void end_fork_in_parent() noexcept;
  void end_fork_in_child() noexcept;

 private:
  using Counts = std::array<std::uint64_t, kMostLayers>;

  int make_file() noexcept;
  void set_file(std::size_t layer, int file) noexcept;
  void drop(std::size_t layer) noexcept;
  void go_on_in(int file) noexcept;
  Counts count_used(const Slots& slots) const noexcept;
  std::size_t spare_layer() const noexcept;
  bool has_one_layer() const noexcept;
  int make_fork_files() noexcept;
  std::uint64_t same_layer(std::uint64_t slot, std::uint64_t end) const noexcept;
  bool write_anew(const Slots& slots, const Counts& counts, std::byte* by, long& written) noexcept;
  bool move_layer(std::size_t layer, const Slots& slots, std::byte* by, long& written) noexcept;

  std::array<FileStore, kMostLayers> layers_{FileStore(-1), FileStore(-1), FileStore(-1), FileStore(-1),
                                             FileStore(-1), FileStore(-1), FileStore(-1), FileStore(-1)};
  std::uint8_t* layer_of_ = nullptr;  // by slot
  std::size_t top_ = 0;               // which is written to
  bool is_written_ = false;
  // While a fork is prepared: where each of the two goes on, and in which file.
  std::size_t next_ = 0;
  int parents_ = -1, childs_ = -1;
  int folder_ = -1;
  const char* name_ = nullptr;
  StoreKind kind_ = StoreKind::kAuto;
  void (*tell_cached_)() noexcept = nullptr;
};

}  // namespace nvmemu
