// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>

#include "host/calibration.h"
#include "host/cpu.h"
#include "host/test/fake_root.h"
#include "host/test/sample_calibration.h"

namespace nvmemu {
namespace {

Calibration of_this_machine() {
  Calibration calibration = sample_calibration();
  calibration.cpu_model = read_cpu().model;
  calibration.boot_id = read_boot_id();
  return calibration;
}

// A variable of the environment, as it was again at the end.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    set(value);
  }
  ~Variable() { set(before_ ? before_->c_str() : nullptr); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void set(const char* value) { value != nullptr ? setenv(name_, value, 1) : unsetenv(name_); }
  const char* name_;
  std::optional<std::string> before_;
};

TEST(CalibrationCache, ReturnsWhatWasStored) {
  const FakeRoot root;
  const std::string path = root.path() + "/a/b/calibration.toml";
  const auto stored = store_calibration(of_this_machine(), path);
  ASSERT_TRUE(stored) << stored.error().message;
  const auto loaded = load_calibration(path);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(serialize(*loaded), serialize(of_this_machine()));
}

TEST(CalibrationCache, MakesFoldersForThisUserOnly) {
  const FakeRoot root;
  ASSERT_TRUE(store_calibration(of_this_machine(), root.path() + "/a/b/c.toml"));
  struct stat status {};
  ASSERT_EQ(stat((root.path() + "/a/b").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0700U);
}

TEST(CalibrationCache, ReplacesWithoutLeavingOtherFiles) {
  const FakeRoot root;
  const std::string path = root.path() + "/c.toml";
  Calibration calibration = of_this_machine();
  ASSERT_TRUE(store_calibration(calibration, path));
  calibration.base_latency_ns = 200;
  ASSERT_TRUE(store_calibration(calibration, path));
  EXPECT_EQ(load_calibration(path)->base_latency_ns, 200);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(root.path()), {}), 1);
}

TEST(CalibrationCache, AFailedStoreLeavesNothingBehind) {
  const FakeRoot root;
  std::filesystem::create_directories(root.path() + "/c.toml/full");  // cannot be replaced by a file
  const auto stored = store_calibration(of_this_machine(), root.path() + "/c.toml");
  ASSERT_FALSE(stored);
  EXPECT_NE(stored.error().message.find("c.toml"), std::string::npos);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(root.path()), {}), 1);
}

TEST(CalibrationCache, RefusesAnotherProcessors) {
  const FakeRoot root;
  Calibration calibration = of_this_machine();
  calibration.cpu_model = "Some other processor";
  ASSERT_TRUE(store_calibration(calibration, root.path() + "/c.toml"));
  const auto loaded = load_calibration(root.path() + "/c.toml");
  ASSERT_FALSE(loaded);
  EXPECT_NE(loaded.error().message.find("Some other processor"), std::string::npos);
}

TEST(CalibrationCache, RefusesAnotherBoots) {
  const FakeRoot root;
  Calibration calibration = of_this_machine();
  calibration.boot_id = "another";
  ASSERT_TRUE(store_calibration(calibration, root.path() + "/c.toml"));
  const auto loaded = load_calibration(root.path() + "/c.toml");
  ASSERT_FALSE(loaded);
  EXPECT_NE(loaded.error().message.find("boot"), std::string::npos);
}

TEST(CalibrationCache, AMissingFileHintsAtTheMend) {
  const auto loaded = load_calibration("/nonexistent/c.toml");
  ASSERT_FALSE(loaded);
  EXPECT_NE(loaded.error().hint.find("nvmemu calibrate"), std::string::npos);
}

TEST(CalibrationCache, AMalformedFileIsNamed) {
  const FakeRoot root;
  root.write("/c.toml", "base_latency_ns = fast\n");
  const auto loaded = load_calibration(root.path() + "/c.toml");
  ASSERT_FALSE(loaded);
  EXPECT_NE(loaded.error().message.find("c.toml"), std::string::npos);
  EXPECT_NE(loaded.error().message.find("base_latency_ns"), std::string::npos);
}

TEST(CalibrationPath, FollowsTheXdgConvention) {
  const Variable home("HOME", "/home/somebody");
  {
    const Variable cache("XDG_CACHE_HOME", "/var/cache/x");
    EXPECT_TRUE(calibration_path().starts_with("/var/cache/x/nvmemu/calibration-")) << calibration_path();
  }
  const Variable cache("XDG_CACHE_HOME", nullptr);
  EXPECT_TRUE(calibration_path().starts_with("/home/somebody/.cache/nvmemu/calibration-"))
      << calibration_path();
  EXPECT_TRUE(calibration_path().ends_with(".toml"));
  const Variable homeless("HOME", nullptr);
  EXPECT_TRUE(calibration_path().starts_with("/tmp/nvmemu-")) << calibration_path();
}

TEST(CalibrationPath, IgnoresARelativeCacheFolder) {
  const Variable cache("XDG_CACHE_HOME", "here");
  const Variable home("HOME", "/home/somebody");
  EXPECT_TRUE(calibration_path().starts_with("/home/somebody/"));
}

}  // namespace
}  // namespace nvmemu
