// SPDX-License-Identifier: Apache-2.0
// The one folder that a run makes in the user's directory, with all of its files: removed at the end, or, if
// the process was killed, by the next run.
//
// A file in it, the mark, says whose it is, and is locked for as long as the process lives. A folder is taken
// for a dead run's where its name, its mark and both their owners are what a run makes, and nobody holds the
// lock. Of what is in it only that is removed which has the name and the kind that a run gives; if more is
// there, it stays.
#pragma once

#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/result.h"

namespace nvmemu::storage_bench {

class WorkFolder {
 public:
  // `directory` must be there, and be writable.
  static Result<WorkFolder> make(const std::string& directory);

  WorkFolder(WorkFolder&& other) noexcept;
  WorkFolder& operator=(WorkFolder&&) = delete;
  ~WorkFolder();  // removes it

  const std::string& path() const noexcept { return path_; }  // absolute
  // All of it, now; an error says what stayed.
  Result<void> remove();
  // It stays, and no later run removes it.
  Result<void> keep();

 private:
  WorkFolder(std::string path, Descriptor mark) : path_(std::move(path)), mark_(std::move(mark)) {}

  std::string path_;  // empty: nothing is to be removed
  Descriptor mark_;
};

struct Leftovers {
  std::vector<std::string> removed;
  std::vector<Error> failed;  // could not be, or holds what no run made
};

// Of runs that were killed. Folders that are in use, or were kept, are let be.
Leftovers remove_leftovers(const std::string& directory);

}  // namespace nvmemu::storage_bench
