// SPDX-License-Identifier: Apache-2.0
// Limits the bandwidth of a NUMA node's memory by its controllers' thermal registers, and puts these back
// however the process ends: at its end, and after a crash or a SIGKILL by the next process that opens this.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "throttle/channels.h"
#include "throttle/pci_config.h"
#include "throttle/recovery_file.h"
#include "throttle/step.h"
#include "throttle/throttle_lock.h"

namespace nvmemu {

// Where the lock, the recovery file and the curves are: the machine's registers are one for all of its users.
std::string throttle_folder(const std::string& root);
std::string throttle_lock_path(const std::string& root);
std::string recovery_path(const std::string& root);

// What was found to be put back when the throttle was opened.
enum class Leftover {
  kNone,
  kRestored,  // another process ended without restoring: done now
  kLifted,    // likewise, and what it had saved is damaged: limits were taken away, as after a reset
  kRebooted,  // from before the last boot: registers that still hold what was set then were restored (kexec)
};

// Not thread-safe. Signals are the caller's: see StopSignals in tools/.
class ThermalThrottle {
 public:
  // Fails where this machine has no such controllers (the hint says what it has instead), or where this
  // process may not write to them (the message says which, the hint what that takes).
  static Result<void> check(const std::string& root);

  // `root`: what stands for /. Fails where check() does, where another process throttles, and where what that
  // left behind cannot be put back.
  static Result<std::unique_ptr<ThermalThrottle>> open(const std::string& root, StepHook step = {});

  // Restores, unless what is set is kept.
  ~ThermalThrottle();
  ThermalThrottle(const ThermalThrottle&) = delete;
  ThermalThrottle& operator=(const ThermalThrottle&) = delete;

  const std::vector<Channel>& channels() const { return channels_; }
  Leftover leftover() const { return leftover_; }

  // At least one; fails where the node has none.
  Result<std::vector<Channel>> channels_of(int node) const;

  // All registers of the node's channels to `value`, 0 to 0xfff. Where a
  // register cannot be written everything is restored.
  Result<void> set(int node, int value);

  // What is set stays when this object, and the process, is gone; until restore() of any process.
  Result<void> keep();

  // All registers that were ever set, here or by a process that kept them, hold what they held before.
  // Returns how many there were. Where one cannot be written the others are, and the error names it; it can
  // be tried again.
  Result<int> restore();

 private:
  ThermalThrottle(std::string root, StepHook step, PciConfig pci, std::vector<Channel> channels,
                  ThrottleLock lock);
  Result<void> recover();
  Result<void> recover_from_other_boot();
  bool is_controller(const SavedRegister& at) const;
  bool is_of_this_machine(const RecoveryRecord& record) const;
  Result<void> lift_limits();
  Result<RecoveryRecord> planned(const std::vector<Channel>& channels, std::uint16_t value) const;
  Result<void> write_set(const std::vector<Channel>& channels);
  Result<void> store();

  std::string root_;
  StepHook step_;
  PciConfig pci_;
  std::vector<Channel> channels_;
  ThrottleLock lock_;
  RecoveryRecord record_;  // as on the disk; no registers: there is no file
  Leftover leftover_ = Leftover::kNone;
};

// "0, 1": the nodes that have channels.
std::string nodes_of(const std::vector<Channel>& channels);

}  // namespace nvmemu
