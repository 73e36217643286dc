// SPDX-License-Identifier: Apache-2.0
// The four flows of Filebench as data: what each thread does over and over, and to which set of files.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "storage_bench/parameters.h"

namespace nvmemu::storage_bench {

enum class Action : std::uint8_t {
  kOpen,    // a file that exists
  kCreate,  // one that does not, and opens it
  kRead,    // the open file, from its beginning to its end
  kWrite,   // the open file, as long as the set says that it is
  kAppend,  // to the open file: a random amount
  kLog,     // the same to the set's one log, which each thread has open all the time
  kSync,    // the open file
  kClose,   // it
  kDelete,  // a file that exists
  kStat,    // one, by its name
  kLimit,   // nothing: Filebench's limit of a rate that nobody sets. The flows stay the same lists by it
};

struct NamedAction {
  Action action;
  const char* name;
};
// Each, once: "open", "create", ...
std::span<const NamedAction> actions() noexcept;
const char* name_of(Action action) noexcept;

struct Operation {
  Action action;
  const char* name;  // within the flow
};

struct Flow {
  const char* name;
  const char* purpose;
  std::span<const Operation> operations;
  unsigned present_percent;  // of the files: those that exist at the start
  Parameters paper, small;

  bool has(Action action) const noexcept;
  // Without creating and deleting, threads need no files of their own.
  bool changes_files() const noexcept { return has(Action::kCreate) || has(Action::kDelete); }
};

// fileserver, webserver, webproxy, varmail.
std::span<const Flow> flows() noexcept;

// Null where there is none of that name.
const Flow* find_flow(std::string_view name) noexcept;

}  // namespace nvmemu::storage_bench
