// SPDX-License-Identifier: Apache-2.0
#include "output/files.h"

#include "base/output_file.h"
#include "base/read_file.h"

namespace nvmemu::pmbench {

Result<std::string> read_file(const std::string& path) { return read_whole_file(path, kMostOfResults); }

Result<void> write_file(const std::string& path, std::string_view content) {
  return write_whole_file(path, content);
}

}  // namespace nvmemu::pmbench
