// SPDX-License-Identifier: Apache-2.0
#include "host/capabilities.h"

#include <cerrno>
#include <cstring>
#include <sstream>

#include "base/read_file.h"
#include "host/capability_probes.h"
#include "host/cpu.h"

namespace nvmemu {
namespace {

constexpr const char* kWorks = "works";

std::string first_word(const std::string& path) {
  std::istringstream text(read_text_or_nothing(path));
  std::string word;
  text >> word;
  return word;
}

std::string describe(const char* call, int error) { return std::string(call) + ": " + std::strerror(error); }

}  // namespace

// perf_event_open says EACCES where the sysctl forbids and EPERM where a seccomp filter does; kernels and
// filters differ in it, so the sysctl is looked at before the filter is blamed.
Capability explain_forbidden(int error, const std::string& root) {
  const std::string path = "/proc/sys/kernel/perf_event_paranoid";
  const std::string paranoid = first_word(root + path);
  const std::string why = describe("perf_event_open", error);
  if (paranoid.empty()) return {false, why + " (" + path + " is missing: a kernel without perf_event)", ""};
  const bool forbidden = paranoid.size() == 1 && paranoid[0] > '2';
  if (forbidden)
    return {false, why + " (perf_event_paranoid is " + paranoid + ")",
            "sysctl kernel.perf_event_paranoid=2, as root, or give the program CAP_PERFMON"};
  return {false,
          why + " (perf_event_paranoid is " + paranoid + ", which allows it: a seccomp filter refuses)",
          "in a container: --cap-add PERFMON, or a seccomp profile that allows perf_event_open"};
}

Capability explain_no_counters(int error) {
  return {false, describe("perf_event_open", error) + " (this machine exposes no hardware counters)",
          "bare metal, or a virtual machine with a virtual PMU (libvirt: <pmu state='on'/>; QEMU: -cpu "
          "host,pmu=on)"};
}

namespace {

bool is_refusal(int error) { return error == EACCES || error == EPERM; }

Capability explain(int error, const KernelProbes& probes) {
  if (is_refusal(error)) return explain_forbidden(error, probes.root);
  if (error == ENOSYS)
    return {false, describe("perf_event_open", error) + " (a kernel or sandbox without perf_event)", ""};
  if (error == EMFILE || error == ENFILE)
    return {false, describe("perf_event_open", error), "raise the limit of open files: ulimit -n"};
  return {false, describe("perf_event_open", error), ""};
}

Capability probe_pmu(const KernelProbes& probes) {
  const Attempt attempt = probes.instructions();
  if (attempt.error == ENOENT || attempt.error == EOPNOTSUPP || attempt.error == ENODEV)
    return explain_no_counters(attempt.error);
  if (attempt.error != 0) return explain(attempt.error, probes);
  if (attempt.count == 0)
    return {false, "the instruction counter opens but counts zeros (a virtual PMU that does not count)",
            "bare metal, or a virtual machine whose host passes the counters through"};
  return {true, kWorks, ""};
}

Capability probe_task_clock(const KernelProbes& probes) {
  const Attempt attempt = probes.task_clock();
  if (attempt.error != 0) return explain(attempt.error, probes);
  if (attempt.count == 0) return {false, "the software task clock opens but stands still", ""};
  return {true, kWorks, ""};
}

Capability probe_timer(const KernelProbes& probes) {
  const Attempt attempt = probes.thread_cpu_timer();
  if (attempt.error == 0) return {true, kWorks, ""};
  return {false, describe("timer_create(CLOCK_THREAD_CPUTIME_ID)", attempt.error),
          attempt.error == EAGAIN ? "raise the limit of pending signals: ulimit -i" : ""};
}

Capability probe_huge_pages(const KernelProbes& probes) {
  constexpr long long kFewFaults =
      8;  // one, and a little for what else the process does; small pages take 512
  const char* mend = "as root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled";
  const std::string file = "/sys/kernel/mm/transparent_hugepage/enabled";
  const Result<std::string> words = read_whole_file(probes.root + file, kMostOfSmallFile);
  if (!words) return {false, file + " is missing: a kernel without transparent huge pages", ""};
  const Attempt attempt = probes.huge_page_faults();
  if (attempt.error != 0) return {false, describe("madvise(MADV_HUGEPAGE)", attempt.error), mend};
  if (attempt.count <= kFewFaults) return {true, kWorks, ""};
  if (words->find("[never]") != std::string::npos) return {false, file + " says never", mend};
  return {false,
          "the kernel gave small pages after MADV_HUGEPAGE (memory is fragmented, or they are disabled)",
          "as root: echo 1 > /proc/sys/vm/compact_memory"};
}

Capability probe_tsc(const KernelProbes& probes) {
  if (probes.tsc_invariant) return {true, kWorks, ""};
  return {false,
          "the processor or the kernel does not vouch for a constant rate: CLOCK_MONOTONIC_RAW is used", ""};
}

Capability probe_numa(const KernelProbes& probes) {
  const int nodes = read_cpu(probes.root).numa_nodes;
  if (nodes > 1) return {true, std::to_string(nodes) + " nodes with memory", ""};
  return {false, "one node with memory", ""};
}

}  // namespace

Capabilities probe_capabilities(const KernelProbes& probes) {
  return {probe_pmu(probes),        probe_task_clock(probes), probe_timer(probes),
          probe_huge_pages(probes), probe_tsc(probes),        probe_numa(probes)};
}

Capabilities probe_capabilities() { return probe_capabilities(kernel_probes()); }

}  // namespace nvmemu
