// SPDX-License-Identifier: Apache-2.0
// Records in a folder that goes away with the test.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "counters/record/record_reader.h"
#include "counters/record/record_writer.h"

namespace nvmemu {

class RecordTest : public testing::Test {
 protected:
  RecordTest() {
    std::string path = (std::filesystem::temp_directory_path() / "nvmemu-test-XXXXXX").string();
    folder_ = mkdtemp(path.data());
  }
  ~RecordTest() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name = "record") const { return folder_ / name; }

  static RecordInfo info() {
    return {.command = "app --input x",
            .cpu_model = "A processor",
            .source = "sampler",
            .counts = kSamplerCounts,
            .base_ns = 163.25,
            .base_spread = 0.04,
            .cache_ns = 30,
            .remote_ns = 0,
            .epoch_ns = 100e6};
  }

  // An epoch with another figure in every field.
  static EpochCounts epoch(double seed) {
    EpochCounts counts;
    double next = seed;
    for_each_quantity<kInRecords>([&](const QuantityRow& row, std::size_t) { row.of(counts) = next++; });
    return counts;
  }
  static void expect_equal(const EpochCounts& found, const EpochCounts& expected) {
    for_each_quantity<kInRecords>([&](const QuantityRow& row, std::size_t) {
      EXPECT_EQ(row.value(found), row.value(expected)) << row.name;
    });
  }

  RecordWriter create(const RecordInfo& what = info()) const {
    auto writer = RecordWriter::create(file(), what);
    if (!writer) throw std::runtime_error(writer.error().message);
    return *std::move(writer);
  }
  Record read() const {
    auto record = read_record(file());
    if (!record) throw std::runtime_error(record.error().message);
    return *std::move(record);
  }
  std::string content() const {
    std::ifstream stream(file(), std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  std::filesystem::path folder_;
};

}  // namespace nvmemu
