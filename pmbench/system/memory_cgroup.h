// SPDX-License-Identifier: Apache-2.0
// A memory cgroup for this process alone, so that it pages without the machine running short of memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "system/caretaker.h"

namespace nvmemu::pmbench {

// What is done to the cgroup file systems; a fake in tests. Results are 0 or an errno.
class CgroupFiles {
 public:
  virtual ~CgroupFiles() = default;
  virtual std::string read(const std::string& path) = 0;  // empty where there is none
  virtual bool is_folder(const std::string& path) = 0;
  virtual int make_folder(const std::string& path) = 0;
  virtual int remove_folder(const std::string& path) = 0;
  virtual int write(const std::string& path, std::string_view text) = 0;
};

class RealCgroupFiles final : public CgroupFiles {
 public:
  // `caretaker`: is told of groups before they are made; it, or none, must outlive this.
  explicit RealCgroupFiles(Caretaker* caretaker = nullptr) : caretaker_(caretaker) {}
  std::string read(const std::string& path) override;
  bool is_folder(const std::string& path) override;
  int make_folder(const std::string& path) override;
  int remove_folder(const std::string& path) override;
  int write(const std::string& path, std::string_view text) override;

 private:
  Caretaker* caretaker_;
};

struct CgroupRequest {
  std::uint64_t limit_bytes = 0;
  std::uint64_t set_bytes = 0;  // what will be used inside
  bool needs_swap = true;       // false for files, which page to themselves
};

// The limit of the memory cgroup that this process is in; none: it has none, or there are no cgroups.
std::optional<std::uint64_t> own_memory_limit(CgroupFiles& files);

// Made with this process in it; at the end the process is back where it was, and the group is gone.
class MemoryCgroup {
 public:
  // Version 2 where it controls memory, else version 1. Refuses where there is no swap, or less than what
  // exceeds the limit; where no group may be made, it says why. `files` must outlive it.
  static Result<MemoryCgroup> create(const CgroupRequest& request, CgroupFiles& files);

  MemoryCgroup(MemoryCgroup&& other) noexcept;
  MemoryCgroup& operator=(MemoryCgroup&&) = delete;
  ~MemoryCgroup();

  const std::string& folder() const noexcept { return folder_; }

 private:
  MemoryCgroup(CgroupFiles& files, std::string folder, std::string home)
      : files_(&files), folder_(std::move(folder)), home_(std::move(home)) {}
  Result<void> limit_and_enter(const char* limit_file, std::uint64_t limit_bytes);

  CgroupFiles* files_;
  std::string folder_;
  std::string home_;  // the group that the process came from
};

}  // namespace nvmemu::pmbench
