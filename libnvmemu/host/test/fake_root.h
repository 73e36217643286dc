// SPDX-License-Identifier: Apache-2.0
// A folder that stands for /, gone with the object.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

namespace nvmemu {

class FakeRoot {
 public:
  FakeRoot() : FakeRoot(std::filesystem::temp_directory_path()) {}
  explicit FakeRoot(const std::string& parent) {
    std::string name = parent + "/nvmemu-test-XXXXXX";
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  FakeRoot(FakeRoot&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  FakeRoot(const FakeRoot&) = delete;
  FakeRoot& operator=(const FakeRoot&) = delete;
  FakeRoot& operator=(FakeRoot&&) = delete;
  ~FakeRoot() {
    if (!path_.empty()) std::filesystem::remove_all(path_);
  }

  void write(const std::string& file, std::string_view text) const {
    const std::filesystem::path whole = path_ + file;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole) << text;
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace nvmemu
