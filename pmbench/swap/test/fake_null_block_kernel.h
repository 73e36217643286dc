// SPDX-License-Identifier: Apache-2.0
// Plays the null_blk driver in a temporary folder, by the names and rules of its source: files come with a
// folder, power makes a device and gives its index, a folder goes with the files that came with it.
#pragma once

#include <cerrno>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "swap/null_block_kernel.h"
#include "system/test/fake_root.h"

namespace nvmemu::pmbench {

class FakeNullBlockKernel final : private FakeRoot, public NullBlockKernel {
 public:
  FakeNullBlockKernel() : NullBlockKernel(FakeRoot::path()) {
    for (const char* folder : {"/sys/module", "/sys/kernel/config", "/sys/block", "/dev"})
      std::filesystem::create_directories(at(folder));
  }
  FakeNullBlockKernel(const FakeNullBlockKernel&) = delete;
  FakeNullBlockKernel& operator=(const FakeNullBlockKernel&) = delete;

  void have_driver() const {
    std::filesystem::create_directory(at(kModule));
    if (has_configfs) std::filesystem::create_directory(at(kDevices));
  }
  std::vector<std::string> devices() const { return names_in(kDevices); }
  std::vector<std::string> nodes() const { return names_in("/dev"); }
  bool has_driver() const { return has(kModule); }
  std::string attribute(const std::string& name) const {
    return read(std::string(kDevices) + "/" + devices().at(0) + "/" + name);
  }

  Result<void> write(const std::string& path, std::string_view text) override {
    const std::string name = path.substr(path.rfind('/') + 1);
    before_step("write " + name);
    if (refuses == name) return failure("cannot write " + name);
    if (!has_files) return {};
    if (auto written = NullBlockKernel::write(path, text); !written) return written;
    if (name == "power") set_power(std::filesystem::path(path).parent_path(), text == "1");
    return {};
  }
  int make_folder(const std::string& path) override {
    before_step("mkdir");
    if (refuses == "mkdir") return ENOMEM;
    if (const int error = NullBlockKernel::make_folder(path); error != 0) return error;
    if (!has_files) return 0;
    for (const std::string& name : attributes) FakeRoot::write(path + "/" + name, "0");
    return 0;
  }
  int remove_folder(const std::string& path) override {
    set_power(path, false);
    std::filesystem::remove_all(at(path));
    return 0;
  }
  Result<void> load_driver(Caretaker&) override {
    before_step("load");
    if (refuses == "load") return failure("modprobe null_blk: FATAL: Module null_blk not found");
    have_driver();
    return {};
  }
  void unload_driver() override {
    std::filesystem::remove_all(at(kDevices));
    std::filesystem::remove_all(at(kModule));
  }

  std::string refuses;    // "load", "mkdir", or a file's name
  bool has_files = true;  // else what is written is taken as written
  bool has_configfs = true, makes_nodes = true;
  bool is_named_by_folder = true;  // as not yet in Linux 5.15
  std::set<std::string> attributes{
      "size",  "memory_backed",  "blocksize", "queue_mode", "submit_queues", "irqmode",  "completion_nsec",
      "power", "hw_queue_depth", "mbps",      "cache_size", "zoned",         "no_sched", "index"};
  std::function<void(const std::string&)> before_step = [](const std::string&) {};

 private:
  static constexpr const char* kModule = "/sys/module/null_blk";
  static constexpr const char* kDevices = "/sys/kernel/config/nullb";

  std::vector<std::string> names_in(const std::string& folder) const {
    std::vector<std::string> names;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(at(folder), error))
      names.push_back(entry.path().filename());
    return names;
  }
  void set_power(const std::filesystem::path& folder, bool is_on) const {
    const std::string device = is_named_by_folder ? folder.filename().string() : "nullb3";
    std::filesystem::remove(at("/dev/" + device));
    std::filesystem::remove(at("/sys/block/" + device));
    if (!is_on) return;
    FakeRoot::write(folder.string() + "/index", "3\n");
    FakeRoot::write("/sys/block/" + device, "");
    if (makes_nodes) FakeRoot::write("/dev/" + device, "");
  }
};

}  // namespace nvmemu::pmbench
