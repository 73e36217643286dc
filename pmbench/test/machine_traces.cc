// SPDX-License-Identifier: Apache-2.0
#include "machine_traces.h"

#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <system_error>

#include "system/kernel_files.h"

namespace nvmemu::pmbench {
namespace {

std::set<std::string> names_in(const char* folder, const char* prefix) {
  std::set<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (std::string name = entry.path().filename(); name.starts_with(prefix)) names.insert(std::move(name));
  }
  return names;
}

std::set<std::string> groups_of_pmbench() {
  std::set<std::string> groups;
  std::error_code error;
  const auto options = std::filesystem::directory_options::skip_permission_denied;
  for (const auto& entry : std::filesystem::recursive_directory_iterator("/sys/fs/cgroup", options, error)) {
    if (entry.path().filename().string().starts_with("pmbench-")) groups.insert(entry.path());
  }
  return groups;
}

}  // namespace

MachineTraces machine_traces() {
  return {.swaps = read_text("/proc/swaps"),
          .page_cluster = read_line("/proc/sys/vm/page-cluster"),
          .zram_devices = names_in("/sys/block", "zram"),
          .groups = groups_of_pmbench()};
}

void PrintTo(const MachineTraces& traces, std::ostream* out) {
  *out << "page-cluster " << traces.page_cluster << ", swap " << traces.swaps;
  for (const auto* const names : {&traces.zram_devices, &traces.groups}) {
    for (const std::string& name : *names) *out << ", " << name;
  }
}

std::set<unsigned> bpf_objects() {
  constexpr unsigned kLinks = 1U << 31;  // programs and links have numbers of their own
  std::set<unsigned> objects;
  for (const bpf_cmd command : {BPF_PROG_GET_NEXT_ID, BPF_LINK_GET_NEXT_ID}) {
    bpf_attr attributes;
    std::memset(&attributes, 0, sizeof attributes);
    while (syscall(SYS_bpf, command, &attributes, sizeof attributes) == 0) {
      objects.insert(attributes.next_id | (command == BPF_LINK_GET_NEXT_ID ? kLinks : 0));
      attributes.start_id = attributes.next_id;
    }
  }
  return objects;
}

}  // namespace nvmemu::pmbench
