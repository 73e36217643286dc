// SPDX-License-Identifier: Apache-2.0
// `nvmemu profiles`: the memories that can be emulated by name.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/quote.h"
#include "base/units.h"
#include "device/device.h"
#include "device/profile_file.h"
#include "storage/storage_device.h"
#include "storage/storage_file.h"
#include "subcommands.h"
#include "terminal.h"

namespace nvmemu {
namespace {

using Json = nlohmann::ordered_json;

struct ProfilesOptions {
  std::string name;
  bool json = false;
  bool storage = false;
};

Json number(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json to_json(const Profile& profile) {
  return {
      {"name", profile.name},
      {"description", profile.description},
      {"read_latency_ns", number(profile.device.read_latency_ns)},
      {"write_latency_ns", number(profile.device.write_latency_ns)},
      {"read_bandwidth_bps", number(profile.device.read_bandwidth_bps)},
      {"write_bandwidth_bps", number(profile.device.write_bandwidth_bps)},
      {"source", profile.source},
  };
}

std::string latency(const std::optional<double>& value) { return value ? format_latency(*value) : "-"; }
std::string bandwidth(const std::optional<double>& value) { return value ? format_bandwidth(*value) : "-"; }

void print_indented(std::string_view text) { print_wrapped("    ", "    ", text); }

void print_row(const std::string& name, const std::string& read, const std::string& write,
               const std::string& read_bandwidth, const std::string& write_bandwidth, bool header) {
  const std::string row =
      fmt::format("{:<16}{:>14}{:>15}{:>17}{:>18}", name, read, write, read_bandwidth, write_bandwidth);
  fmt::print("{}\n", header ? styled(stdout, Style::kBold, row) : row);
}

void print_table(const std::vector<Profile>& profiles) {
  print_row("name", "read latency", "write latency", "read bandwidth", "write bandwidth", true);
  for (const Profile& profile : profiles) {
    const Device& device = profile.device;
    print_row(printable(profile.name), latency(device.read_latency_ns), latency(device.write_latency_ns),
              bandwidth(device.read_bandwidth_bps), bandwidth(device.write_bandwidth_bps), false);
    print_indented(profile.description);
    if (!profile.source.empty()) print_indented("Source: " + profile.source);
  }
}

int show(const ProfilesOptions& options) {
  std::vector<Profile> profiles;
  if (options.name.empty()) {
    const auto built_in = built_in_profiles();
    profiles.assign(built_in.begin(), built_in.end());
  } else {
    Result<Profile> profile = find_profile(options.name);
    if (!profile) {
      print_error(profile.error());
      return kNvmemuFailed;
    }
    profiles.push_back(*std::move(profile));
  }
  if (options.json) {
    Json array = Json::array();
    for (const Profile& profile : profiles) array.push_back(to_json(profile));
    fmt::print("{}\n", array.dump(2, ' ', false, Json::error_handler_t::replace));
  } else {
    print_table(profiles);
  }
  return kSuccess;
}

// A usual request of a page, and what makes all before it durable.
struct StorageRow {
  std::string name, mode, read, write, durable, read_bandwidth, write_bandwidth;
};

StorageRow row_of(const StorageProfile& profile) {
  constexpr double kUsual = 0.5;
  const StorageDevice& storage = profile.device;
  const bool is_block = storage.mode == StorageMode::kBlock;
  return {profile.name,
          std::string(name_of(storage.mode)),
          format_latency(storage.device.read.at(kUsual)),
          format_latency(storage.device.write.at(kUsual)),
          format_latency(is_block ? storage.device.flush_ns : storage.commit_ns),
          format_bandwidth(storage.device.read_bps),
          format_bandwidth(storage.device.write_bps)};
}

void print_storage_row(const StorageRow& row, bool header) {
  const std::string text =
      fmt::format("{:<16}{:<11}{:>9}{:>9}{:>9}{:>12}{:>12}", row.name, row.mode, row.read, row.write,
                  row.durable, row.read_bandwidth, row.write_bandwidth);
  fmt::print("{}\n", header ? styled(stdout, Style::kBold, text) : text);
}

Json to_json(const StorageProfile& profile) {
  constexpr double kUsual = 0.5;
  const StorageDevice& storage = profile.device;
  return {{"name", profile.name},
          {"description", profile.description},
          {"mode", name_of(storage.mode)},
          {"read_latency_ns", storage.device.read.at(kUsual)},
          {"write_latency_ns", storage.device.write.at(kUsual)},
          {"flush_ns", storage.device.flush_ns},
          {"commit_ns", storage.commit_ns},
          {"read_bandwidth_bps", storage.device.read_bps},
          {"write_bandwidth_bps", storage.device.write_bps},
          {"source", profile.source}};
}

int show_storage(const ProfilesOptions& options) {
  std::vector<StorageProfile> profiles(storage_profiles().begin(), storage_profiles().end());
  if (!options.name.empty()) {
    const Result<StorageProfile> found = find_storage_or_file(options.name);
    if (!found) {
      print_error(found.error());
      return kNvmemuFailed;
    }
    profiles = {*found};
  }
  if (options.json) {
    Json array = Json::array();
    for (const StorageProfile& profile : profiles) array.push_back(to_json(profile));
    fmt::print("{}\n", array.dump(2, ' ', false, Json::error_handler_t::replace));
    return kSuccess;
  }
  if (!options.name.empty()) {
    fmt::print("{}", to_toml(profiles.front()));
    return kSuccess;
  }
  print_storage_row({"name", "mode", "read", "write", "flush", "reads", "writes"}, true);
  for (const StorageProfile& profile : profiles) {
    print_storage_row(row_of(profile), false);
    print_indented(profile.description);
    print_indented("Source: " + profile.source);
  }
  return kSuccess;
}

constexpr const char* kProfilesFooter =
    R"(A '-' in the table is a figure that the profile leaves as this machine has it. A file describes a memory so:

  name = "my-memory"           # else the file's name
  read_latency = "300ns"       # at least one of these
  write_latency = "600ns"      # of a persist (docs/persists.md),
  dram_write_latency = "90ns"  # and what DRAM took where that was measured: then their ratio counts
  persist = "queue"            # when a persist is done: in the controller's queue; "sync": in the medium; "cache": at once
  persist_bandwidth = "2GB/s"  # of one thread's flushes,
  write_granularity = "256B"   # by which the medium writes at that rate, whole blocks,
  write_queue = "4KiB"         # behind a queue that takes so much at once
  read_bandwidth = "8GB/s"
  write_bandwidth = "2GB/s"
  source = "where the figures come from"

And one that describes storage, for nvmemu run --storage DIR=FILE.toml:

  name = "my-ssd"              # else the file's name: letters, digits and -_.+
  mode = "block"               # behind a page cache; "dax": memory; "paged dax": a host's page cache
  read_latency = "0.5: 75us, 0.99: 95us"    # of shares of all requests; or "75us"
  write_latency = "20us"       # and sequential_read_latency, sequential_write_latency [as the others]
  read_bandwidth = "2.8GB/s"   # 1 MB/s to 100 TB/s
  write_bandwidth = "2GB/s"
  flush_latency = "20us"       # of block only, 1 ns to 1 s
  commit_latency = "3us"       # of dax and paged dax only: what a sync takes
  channels = 32                # requests that are served at once, 1 to 64 [1]
  write_buffer = "64MB"        # a write is done when it is in there; it empties at
  drain_bandwidth = "200MB/s"
  erase_block = "4MiB"         # what is erased before it is written elsewhere, and what that takes
  erase_latency = "2ms"
  spare = "7%"                 # more blocks than it holds: those with pages that are still valid are collected
  capacity = "480GB"           # what it holds: a new one collects nothing until all of it is written
  erase_cycles = 3000          # that a block endures
  read_ahead = "128KiB"        # of a stream at most, 4 KiB to 64 MiB [128KiB]
  memory = "pcm"               # of dax only: what loads of mapped files come from
  description = "..."
  source = "where the figures come from"

Examples:
  nvmemu profiles
  nvmemu profiles --json optane-dcpmm
  nvmemu profiles ./my-memory.toml
  nvmemu profiles --storage
  nvmemu profiles --storage ssd-nvme > my-ssd.toml   # to be changed, and given to nvmemu run --storage DIR=my-ssd.toml

Exit status:
  0    printed
  125  there is no such profile, or its file is not right)";

}  // namespace

void add_profiles(Parser& app, int& exit_status) {
  Parser subcommand = app.add_subcommand("profiles", "list the memories that can be emulated by name");
  const auto options = std::make_shared<ProfilesOptions>();
  subcommand.add_option("NAME|FILE.toml", options->name, "show this one only");
  subcommand.add_flag("--json", options->json,
                      "as JSON: an array of objects; null where a figure is not given");
  subcommand.add_flag(
      "--storage", options->storage,
      "the storage of nvmemu run --storage instead (docs/storage.md): what a\nrequest, and a flush "
      "or a commit, takes; bytes a second. One alone is printed as a file that\nsays all of it, and can be "
      "read back");
  subcommand.footer(kProfilesFooter);
  subcommand.callback(
      [options, &exit_status] { exit_status = options->storage ? show_storage(*options) : show(*options); });
}

}  // namespace nvmemu
