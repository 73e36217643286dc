// SPDX-License-Identifier: Apache-2.0
// What NullBlock asks of the kernel: its files below a root folder, folders in configfs, and the driver. A
// test has a folder of its own, in which it plays the driver.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "system/caretaker.h"

namespace nvmemu::pmbench {

class NullBlockKernel {
 public:
  NullBlockKernel() = default;
  virtual ~NullBlockKernel() = default;
  NullBlockKernel(const NullBlockKernel&) = delete;
  NullBlockKernel& operator=(const NullBlockKernel&) = delete;

  // The file that the kernel has at `path`.
  std::string at(const std::string& path) const { return root_ + path; }
  bool has(const std::string& path) const;
  std::string read(const std::string& path) const;  // its first line; empty where it cannot be read

  virtual Result<void> write(const std::string& path, std::string_view text);
  // 0, or an errno.
  virtual int make_folder(const std::string& path);
  virtual int remove_folder(const std::string& path);

  virtual Result<void> load_driver(Caretaker& caretaker);
  virtual void unload_driver();

 protected:
  explicit NullBlockKernel(std::string root) : root_(std::move(root)) {}

 private:
  std::string root_;
};

}  // namespace nvmemu::pmbench
