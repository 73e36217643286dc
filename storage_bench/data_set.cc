// SPDX-License-Identifier: Apache-2.0
#include "storage_bench/data_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "pattern/rng.h"

namespace nvmemu::storage_bench {
namespace {

using pmbench::Rng;

// Half the square of a normal deviate, by Box and Muller's formula, is the second term.
std::uint64_t draw_size(Rng& random, std::uint64_t mean_bytes) {
  constexpr double kShape = 1.5;
  const double exponential = -std::log(random.unit());
  const double radius = -std::log(random.unit());
  const double cosine = std::cos(2 * std::numbers::pi * random.unit());
  const double size = static_cast<double>(mean_bytes) / kShape * (exponential + radius * cosine * cosine);
  return static_cast<std::uint64_t>(std::max(std::round(size), 1.0));
}

// Folders above a file, so that none holds more than `width` of either.
unsigned depth_of(std::uint64_t files, std::uint64_t width) {
  unsigned depth = 0;
  for (std::uint64_t room = width; room < files; room *= width) ++depth;
  return depth;
}

}  // namespace

DataSet::DataSet(const Flow& flow, const Parameters& parameters)
    : shared_(!flow.changes_files()),
      present_percent_(flow.present_percent),
      threads_(parameters.threads),
      width_(std::max<std::uint64_t>(parameters.files_in_folder, 2)),
      depth_(depth_of(parameters.files, width_)) {
  Rng random(parameters.seed);
  sizes_.reserve(parameters.files);
  for (std::uint64_t i = 0; i < parameters.files; ++i)
    sizes_.push_back(draw_size(random, parameters.mean_file_bytes));
}

// Evenly among each thread's.
bool DataSet::exists_at_start(std::uint64_t file) const noexcept {
  const std::uint64_t number = shared_ ? file : file / threads_;
  return number * present_percent_ / 100 != (number + 1) * present_percent_ / 100;
}

std::string DataSet::path(std::uint64_t file) const {
  std::string path = fmt::format("f{:07}", file);
  std::uint64_t folder = file / width_;
  for (unsigned level = 0; level < depth_; ++level, folder /= width_)
    path.insert(0, fmt::format("d{:02}/", folder % width_));
  return path;
}

std::vector<std::string> DataSet::folders() const {
  std::vector<std::string> folders;
  std::string last;
  for (std::uint64_t file = 0; depth_ > 0 && file < files(); file += width_) {
    const std::string path = this->path(file);
    for (std::size_t end = path.find('/'); end != std::string::npos; end = path.find('/', end + 1)) {
      const std::string folder = path.substr(0, end);
      if (!last.starts_with(folder + "/")) folders.push_back(folder);
    }
    last = path;
  }
  return folders;
}

std::vector<std::uint32_t> DataSet::files_of(unsigned thread) const {
  std::vector<std::uint32_t> own;
  const std::uint64_t step = shared_ ? 1 : threads_;
  for (std::uint64_t file = shared_ ? 0 : thread; file < files(); file += step)
    own.push_back(static_cast<std::uint32_t>(file));
  return own;
}

std::uint64_t DataSet::files_at_start() const noexcept {
  std::uint64_t count = 0;
  for (std::uint64_t file = 0; file < files(); ++file) count += exists_at_start(file) ? 1 : 0;
  return count;
}

std::uint64_t DataSet::bytes_at_start() const noexcept {
  std::uint64_t bytes = 0;
  for (std::uint64_t file = 0; file < files(); ++file) bytes += exists_at_start(file) ? sizes_[file] : 0;
  return bytes;
}

}  // namespace nvmemu::storage_bench
