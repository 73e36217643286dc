// SPDX-License-Identifier: Apache-2.0
#include "storage_bench/parameters.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"

namespace nvmemu::storage_bench {
namespace {

constexpr unsigned kMostThreads = 4096;
constexpr std::uint64_t kMostFiles = 100'000'000;
constexpr std::uint64_t kMostFileBytes = std::uint64_t{1} << 40;
constexpr std::uint64_t kMostIoBytes = std::uint64_t{1} << 30;  // each thread has a buffer as large
constexpr double kMostSeconds = 86'400;

Result<void> check_counts(const Parameters& parameters) {
  if (parameters.threads < 1 || parameters.threads > kMostThreads) {
    return failure(fmt::format("--threads: {} cannot be", parameters.threads),
                   fmt::format("write a number from 1 to {}", kMostThreads));
  }
  const std::uint64_t least = kLeastFilesOfThread * parameters.threads;
  if (parameters.files < least) {
    return failure(fmt::format("--files: {} are too few for {} threads: each needs {} of its own",
                               parameters.files, parameters.threads, kLeastFilesOfThread),
                   fmt::format("write --files {} or more, or --threads {} or fewer", least,
                               std::max<std::uint64_t>(parameters.files / kLeastFilesOfThread, 1)));
  }
  if (parameters.files > kMostFiles) {
    return failure(fmt::format("--files: {} are too many", parameters.files),
                   fmt::format("write at most {}", kMostFiles));
  }
  if (parameters.files_in_folder < kLeastFilesInFolder) {
    return failure(fmt::format("--files-in-folder: {} cannot be", parameters.files_in_folder),
                   fmt::format("write {} or more", kLeastFilesInFolder));
  }
  return {};
}

}  // namespace

Result<void> check(const Parameters& parameters) {
  if (const auto counted = check_counts(parameters); !counted) return counted;
  if (!(parameters.seconds > 0 && parameters.seconds <= kMostSeconds)) {
    return failure(fmt::format("--seconds: {:g} cannot be", parameters.seconds),
                   fmt::format("write a number above 0, at most {:g}", kMostSeconds));
  }
  if (parameters.mean_file_bytes > kMostFileBytes) {
    return failure("--mean-size: " + format_size(parameters.mean_file_bytes) + " is too much",
                   "write at most " + format_size(kMostFileBytes));
  }
  if (std::max(parameters.io_bytes, parameters.append_bytes) > kMostIoBytes) {
    return failure("--io-size: " + format_size(parameters.io_bytes) + " is too much",
                   "write at most " + format_size(kMostIoBytes));
  }
  return {};
}

// A buffer a thread; a size for each file; and each thread's numbers of files, in the worst case of all.
Result<void> check_memory(const Parameters& parameters, std::uint64_t available_bytes) {
  const double threads = parameters.threads;
  const double files = static_cast<double>(parameters.files);
  const double buffers =
      threads * static_cast<double>(std::max(parameters.io_bytes, parameters.append_bytes));
  const double bytes = buffers + files * (sizeof(std::uint64_t) + threads * sizeof(std::uint32_t));
  if (bytes <= static_cast<double>(available_bytes)) return {};
  return failure(
      fmt::format("{} threads need {:.3g} GB of memory for their buffers and {} files, and {:.3g} GB are "
                  "available",
                  parameters.threads, bytes / 1e9, parameters.files,
                  static_cast<double>(available_bytes) / 1e9),
      "use fewer --threads or --files, or a smaller --io-size");
}

}  // namespace nvmemu::storage_bench
