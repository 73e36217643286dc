// SPDX-License-Identifier: Apache-2.0
#include "throttle/thermal_throttle.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <set>

#include "base/log.h"
#include "host/cpu.h"
#include "throttle/files.h"
#include "throttle/resctrl.h"

namespace nvmemu {
namespace {

std::string place(const SavedRegister& at) { return fmt::format("{} {:#x}", to_text(at.channel), at.offset); }

struct Controllers {
  PciConfig pci;
  std::vector<Channel> channels;
};

Result<Controllers> find_controllers(const std::string& root) {
  auto pci = PciConfig::open(root);
  if (!pci) return tl::unexpected(pci.error());
  auto channels = find_channels(*pci, root);
  if (!channels) return tl::unexpected(channels.error());
  if (channels->empty()) return tl::unexpected(no_thermal_registers(root));
  for (const Channel& channel : *channels) {
    if (auto allowed = pci->check_writable(channel.address); !allowed) return tl::unexpected(allowed.error());
  }
  return Controllers{*std::move(pci), *std::move(channels)};
}

}  // namespace

std::string throttle_folder(const std::string& root) { return root + "/var/lib/nvmemu"; }
std::string throttle_lock_path(const std::string& root) { return throttle_folder(root) + "/throttle.lock"; }
std::string recovery_path(const std::string& root) { return throttle_folder(root) + "/throttle-recovery"; }

std::string nodes_of(const std::vector<Channel>& channels) {
  std::set<int> nodes;
  for (const Channel& channel : channels) nodes.insert(channel.node);
  return fmt::format("{}", fmt::join(nodes, ", "));
}

ThermalThrottle::ThermalThrottle(std::string root, StepHook step, PciConfig pci,
                                 std::vector<Channel> channels, ThrottleLock lock)
    : root_(std::move(root)),
      step_(std::move(step)),
      pci_(std::move(pci)),
      channels_(std::move(channels)),
      lock_(std::move(lock)) {}

Result<void> ThermalThrottle::check(const std::string& root) {
  const auto controllers = find_controllers(root);
  if (!controllers) return tl::unexpected(controllers.error());
  return {};
}

Result<std::unique_ptr<ThermalThrottle>> ThermalThrottle::open(const std::string& root, StepHook step) {
  auto controllers = find_controllers(root);
  if (!controllers) return tl::unexpected(controllers.error());
  auto lock = ThrottleLock::take(throttle_lock_path(root));
  if (!lock) return tl::unexpected(lock.error());
  after_step(step, "locked");
  std::unique_ptr<ThermalThrottle> throttle(
      new ThermalThrottle(root, std::move(step), std::move(controllers->pci),
                          std::move(controllers->channels), *std::move(lock)));
  if (auto recovered = throttle->recover(); !recovered) return tl::unexpected(recovered.error());
  return throttle;
}

ThermalThrottle::~ThermalThrottle() {
  if (record_.registers.empty() || record_.kept) return;
  if (const auto restored = restore(); !restored) log_warning(restored.error().message);
}

Result<void> ThermalThrottle::recover() {
  const std::string path = recovery_path(root_);
  const auto text = read_file(path);
  if (!text) {
    if (errno == ENOENT) return {};
    return failure("cannot read " + path + ": " + std::strerror(errno), "run it as root");
  }
  auto record = parse_recovery(*text);
  if (!record || !is_of_this_machine(*record)) return lift_limits();
  record_ = *std::move(record);
  if (record_.boot_id != read_boot_id(root_)) return recover_from_other_boot();
  if (record_.kept) return {};
  const auto restored = restore();
  if (!restored) {
    record_.kept = true;  // the destructor shall not try, and warn, once more
    return tl::unexpected(restored.error());
  }
  leftover_ = Leftover::kRestored;
  return {};
}

bool ThermalThrottle::is_controller(const SavedRegister& at) const {
  return std::ranges::any_of(channels_, [&at](const Channel& channel) {
    return channel.address == at.channel && channel.vendor == at.vendor && channel.device == at.device;
  });
}

// What is gone cannot be written to; what is another device now must not be.
bool ThermalThrottle::is_of_this_machine(const RecoveryRecord& record) const {
  return std::ranges::all_of(record.registers, [this](const SavedRegister& at) {
    return is_controller(at) || !pci_.is_present(at.channel);
  });
}

// A reboot made the firmware set the registers anew; but kexec(8) boots without the firmware. Those that
// still hold what was set were not touched since.
Result<void> ThermalThrottle::recover_from_other_boot() {
  std::erase_if(record_.registers, [this](const SavedRegister& at) {
    const auto now = pci_.read_word(at.channel, at.offset);
    return !now || *now != at.set;
  });
  const auto restored = restore();
  if (!restored) {
    record_.kept = true;
    return tl::unexpected(restored.error());
  }
  leftover_ = Leftover::kRebooted;
  return {};
}

// What the registers held is not known, so they get the limit that they have after a reset, which is none.
Result<void> ThermalThrottle::lift_limits() {
  for (const Channel& channel : channels_) {
    const auto words = read_thermal(pci_, channel.address);
    if (!words) return tl::unexpected(words.error());
    for (std::size_t slot = 0; slot < words->size(); ++slot) {
      const auto unlimited = static_cast<std::uint16_t>((*words)[slot] | kThrottleLimit);
      auto written = pci_.write_word(channel.address, kThermalRegisters[slot], unlimited);
      if (!written) return written;
      after_step(step_, "lifted the limit");
    }
  }
  const std::string path = recovery_path(root_);
  if (std::rename(path.c_str(), (path + ".damaged").c_str()) != 0)
    return failure("cannot rename " + path + ": " + std::strerror(errno));
  leftover_ = Leftover::kLifted;
  return {};
}

Result<std::vector<Channel>> ThermalThrottle::channels_of(int node) const {
  std::vector<Channel> found;
  std::copy_if(channels_.begin(), channels_.end(), std::back_inserter(found),
               [node](const Channel& channel) { return channel.node == node; });
  if (found.empty())
    return failure(fmt::format("there is no node {} with memory channels", node),
                   "this machine has: " + nodes_of(channels_));
  return found;
}

// The record with the node's registers in it, those that were set before with what they held at first.
Result<RecoveryRecord> ThermalThrottle::planned(const std::vector<Channel>& channels,
                                                std::uint16_t value) const {
  RecoveryRecord record = record_;
  record.boot_id = read_boot_id(root_);
  record.pid = getpid();
  record.kept = false;
  for (const Channel& channel : channels) {
    const auto words = read_thermal(pci_, channel.address);
    if (!words) return tl::unexpected(words.error());
    for (std::size_t slot = 0; slot < words->size(); ++slot) {
      const int offset = kThermalRegisters[slot];
      const std::uint16_t set = with_limit((*words)[slot], value);
      const auto known = std::find_if(
          record.registers.begin(), record.registers.end(),
          [&](const SavedRegister& at) { return at.channel == channel.address && at.offset == offset; });
      if (known != record.registers.end()) {
        known->set = set;
      } else {
        record.registers.push_back(
            {channel.address, channel.vendor, channel.device, offset, (*words)[slot], set});
      }
    }
  }
  return record;
}

Result<void> ThermalThrottle::store() {
  return write_durably(recovery_path(root_), serialize(record_), step_);
}

Result<void> ThermalThrottle::write_set(const std::vector<Channel>& channels) {
  for (const SavedRegister& at : record_.registers) {
    const bool asked = std::any_of(channels.begin(), channels.end(),
                                   [&at](const Channel& channel) { return channel.address == at.channel; });
    if (!asked) continue;
    if (!is_controller(at)) return failure(place(at) + " is no memory controller's");
    if (auto written = pci_.write_word(at.channel, at.offset, at.set); !written) return written;
    after_step(step_, "set " + place(at));
  }
  return {};
}

Result<void> ThermalThrottle::set(int node, int value) {
  if (value < 0 || value > kThrottleLimit)
    return failure(fmt::format("{:#x} does not fit into the register: 0 to {:#x}", value, kThrottleLimit));
  const auto channels = channels_of(node);
  if (!channels) return tl::unexpected(channels.error());
  auto record = planned(*channels, static_cast<std::uint16_t>(value));
  if (!record) return tl::unexpected(record.error());
  std::swap(record_, *record);
  auto done = store();
  if (!done) {
    std::swap(record_, *record);  // nothing was changed, on the disk neither
    return done;
  }
  done = write_set(*channels);
  if (done) return done;
  if (const auto restored = restore(); !restored)
    return failure(done.error().message + "; and then: " + restored.error().message, restored.error().hint);
  return done;
}

Result<void> ThermalThrottle::keep() {
  if (record_.registers.empty()) return {};
  record_.kept = true;
  auto stored = store();
  if (!stored) record_.kept = false;
  return stored;
}

Result<int> ThermalThrottle::restore() {
  std::string failed, hint;
  int restored = 0;
  for (const SavedRegister& at : record_.registers) {
    if (!pci_.is_present(at.channel)) {  // there is nothing left that could be throttled
      log_warning(place(at) + " cannot be restored: the device is gone");
      continue;
    }
    if (!is_controller(at)) {
      failed += fmt::format("{}{} is no memory controller's any more", failed.empty() ? "" : "; ", place(at));
      continue;
    }
    // What already holds it is not written: that is no failure where writing is refused.
    const auto now = pci_.read_word(at.channel, at.offset);
    const auto written =
        now && *now == at.saved ? Result<void>{} : pci_.write_word(at.channel, at.offset, at.saved);
    if (written) {
      ++restored;
      after_step(step_, "restored " + place(at));
      continue;
    }
    failed += fmt::format("{}{} was {:#06x}: {}", failed.empty() ? "" : "; ", place(at), at.saved,
                          written.error().message);
    hint = written.error().hint;
  }
  if (!failed.empty())
    return failure("registers that could not be restored: " + failed,
                   hint + (hint.empty() ? "" : "; then: ") +
                       "'nvmemu throttle restore' tries again, and a reboot restores them in any case");
  if (auto removed = remove_durably(recovery_path(root_), step_); !removed)
    return tl::unexpected(removed.error());
  record_ = {};
  after_step(step_, "restored all");
  return restored;
}

}  // namespace nvmemu
