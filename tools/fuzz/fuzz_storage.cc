// SPDX-License-Identifier: Apache-2.0
// Whatever the file holds: storage that has what it needs, and is the same when it is printed and read again;
// or an error with its line. The same text as what a child inherits: folders, or an error.
#include "fuzzing.h"
#include "paging/device_model.h"
#include "plan/storage_plan.h"
#include "storage/storage_file.h"
#include "storage/storage_keys.h"

using namespace nvmemu;
using namespace nvmemu::fuzzing;

namespace {

void check_device(const StorageDevice& device) {
  require(device.device.read.at(0.5) >= 1 && device.device.write.at(0.5) >= 1);
  require(device.device.read_bps >= 1e6 && device.device.write_bps >= 1e6);
  require(device.device.channels >= 1 && device.device.channels <= DeviceModel::kMostChannels);
  require(device.read_ahead_bytes >= kPageBytes);
  const Result<StorageDevice> again = parse_storage_device(format_storage_device(device));
  require(again.has_value() && *again == device);
  DeviceModel model(device.device);
  require(model.submit(PageOperation::kWrite, 1, 1, 1000) >= 1000);
}

void check_file(std::string_view text) {
  const Result<StorageProfile> profile = parse_storage_file(text, "fuzz.toml");
  if (!profile) {
    require(profile.error().message.starts_with("fuzz.toml:"));
    return;
  }
  check_device(profile->device);
  const Result<StorageProfile> again = parse_storage_file(to_toml(*profile), "fuzz.toml");
  require(again.has_value() && again->device == profile->device && again->name == profile->name);
}

void check_inherited(std::string_view text) {
  StoragePlan plan;
  Result<std::vector<StorageFolder>> folders = parse_storage(text);
  if (!folders) return require_error(folders.error());
  plan.folders = *std::move(folders);
  for (const StorageFolder& folder : plan.folders) check_device(folder.device);
  require(parse_storage(format_storage(plan)).has_value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check_file(text_of(data, size));
  check_inherited(text_of(data, size));
  return 0;
}
