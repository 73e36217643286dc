// SPDX-License-Identifier: Apache-2.0
// One run's resctrl group: its threads, and what they are limited to.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "throttle/resctrl.h"
#include "throttle/step.h"

namespace nvmemu {

// A folder nvmemu-PID of the resctrl file system. Its removal, by which the threads go back to the default
// group, is the end of all limits. Not thread-safe.
class ResctrlGroup {
 public:
  // Removes first what processes left behind that are gone. Steps: "made PATH", "limited PATH", "added TID",
  // and, before it is done, "removing PATH".
  static Result<std::unique_ptr<ResctrlGroup>> create(const Resctrl& resctrl, StepHook step = {});
  ~ResctrlGroup();
  ResctrlGroup(const ResctrlGroup&) = delete;
  ResctrlGroup& operator=(const ResctrlGroup&) = delete;

  // Limits one domain. Rounds up to the next step; returns what the kernel then says that holds.
  Result<std::uint64_t> limit(std::string_view resource, int domain, std::uint64_t amount);

  // A thread, and what it starts from now on. False: there is no such thread any more.
  Result<bool> add_thread(pid_t tid);

  // The group is gone when it succeeds. The destructor does it too, and warns where it fails.
  Result<void> remove();

  const std::string& folder() const { return folder_; }

 private:
  ResctrlGroup(Resctrl resctrl, std::string folder, StepHook step)
      : resctrl_(std::move(resctrl)), folder_(std::move(folder)), step_(std::move(step)) {}
  Resctrl resctrl_;
  std::string folder_;  // empty once it is removed
  StepHook step_;
};

}  // namespace nvmemu
