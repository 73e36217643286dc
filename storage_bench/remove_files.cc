// SPDX-License-Identifier: Apache-2.0
#include "storage_bench/remove_files.h"

#include <fts.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <string_view>

#include "base/quote.h"
#include "storage_bench/call_failure.h"
#include "storage_bench/data_set.h"

namespace nvmemu::storage_bench {
namespace {

bool is_numbered(std::string_view name, char first) {
  return name.size() >= 2 && name[0] == first &&
         std::all_of(name.begin() + 1, name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_file_of_run(std::string_view name) { return is_numbered(name, 'f') || name == DataSet::kLog; }

struct Close {
  void operator()(FTS* walk) const { fts_close(walk); }
};

// What was found on the way, and whether it could be removed where it is to be.
class Remover {
 public:
  void visit(const FTSENT& entry) {
    const std::string_view name(entry.fts_name, entry.fts_namelen);
    switch (entry.fts_info) {
      case FTS_D:  // as FTS_DP, once it is empty
        return;
      case FTS_DP:
        return is_numbered(name, 'd') ? remove(rmdir(entry.fts_path), entry.fts_path) : leave(entry.fts_path);
      case FTS_F:
        if (entry.fts_level == 1 && name == kMarkName) return;
        return is_file_of_run(name) ? remove(unlink(entry.fts_path), entry.fts_path) : leave(entry.fts_path);
      case FTS_DNR:
      case FTS_ERR:
      case FTS_NS:
        return fail(call_failure("read", entry.fts_path, entry.fts_errno).value());
      default:
        return leave(entry.fts_path);
    }
  }

  Result<void> outcome() const {
    if (error_.message.empty()) return {};
    return tl::unexpected(error_);
  }

 private:
  void remove(int result, const char* path) {
    if (result != 0) fail(call_failure("remove", path, errno).value());
  }
  void leave(const char* path) {
    fail({"left " + printable(path) + ", which no run of nvmemu made, and the folders that it is in",
          "move it elsewhere; the next run removes the rest"});
  }
  // The first one tells; a folder that is not empty follows from it.
  void fail(Error error) {
    if (error_.message.empty()) error_ = std::move(error);
  }

  Error error_;
};

}  // namespace

Result<void> remove_folder(const std::string& folder) {
  std::string root = folder;
  std::array<char*, 2> roots{root.data(), nullptr};
  const std::unique_ptr<FTS, Close> walk(
      fts_open(roots.data(), FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, nullptr));
  if (!walk) return call_failure("read", folder, errno);
  Remover remover;
  while (const FTSENT* entry = fts_read(walk.get())) {
    if (entry->fts_level > 0) remover.visit(*entry);
  }
  if (const auto removed = remover.outcome(); !removed) return removed;
  const std::string mark = folder + "/" + kMarkName;
  if (unlink(mark.c_str()) != 0 && errno != ENOENT) return call_failure("remove", mark, errno);
  if (rmdir(folder.c_str()) != 0) return call_failure("remove", folder, errno);
  return {};
}

}  // namespace nvmemu::storage_bench
