// SPDX-License-Identifier: Apache-2.0
#include "swap/null_block_kernel.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "system/kernel_files.h"
#include "system/kernel_module.h"

namespace nvmemu::pmbench {
namespace {

constexpr const char* kModule = "null_blk";

}  // namespace

bool NullBlockKernel::has(const std::string& path) const { return access(at(path).c_str(), F_OK) == 0; }

std::string NullBlockKernel::read(const std::string& path) const { return read_line(at(path)); }

Result<void> NullBlockKernel::write(const std::string& path, std::string_view text) {
  return write_text(at(path), text);
}

int NullBlockKernel::make_folder(const std::string& path) {
  return mkdir(at(path).c_str(), 0755) == 0 ? 0 : errno;
}

int NullBlockKernel::remove_folder(const std::string& path) {
  return rmdir(at(path).c_str()) == 0 ? 0 : errno;
}

// Without the device of 250 GB that it makes unasked.
Result<void> NullBlockKernel::load_driver(Caretaker& caretaker) {
  return load_module(kModule, {"nr_devices=0"}, caretaker);
}

// Another who makes devices of it meanwhile has it stay.
void NullBlockKernel::unload_driver() { static_cast<void>(unload_module(kModule)); }

}  // namespace nvmemu::pmbench
