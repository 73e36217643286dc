// SPDX-License-Identifier: Apache-2.0
// A folder that stands for /, gone with the object.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace nvmemu::pmbench {

class FakeRoot {
 public:
  FakeRoot() {
    std::string name = std::filesystem::temp_directory_path().string() + "/pmbench-test-XXXXXX";
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  FakeRoot(const FakeRoot&) = delete;
  FakeRoot& operator=(const FakeRoot&) = delete;
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

}  // namespace nvmemu::pmbench
