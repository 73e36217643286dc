// SPDX-License-Identifier: Apache-2.0
// DRAM as a cache of a slower device, and slower itself: what is in DRAM is waited for by loads, what is out
// by faults, and neither is taken for the other.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "paging_cli.h"

namespace nvmemu {
namespace {

class DramCache : public Paging {
 protected:
  // The guest does the same each time, and most of it in DRAM.
  void run_guest(std::vector<std::string> options) {
    options.insert(options.begin(), {"--quiet", "--dram", "160M", "--report", folder_.file("report.json")});
    options.insert(options.end(), {"--", NVMEMU_TEST_GUEST, "dram-and-device"});
    const Outcome outcome = run(options);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "ok\n");
    EXPECT_EQ(outcome.err, "");
    EXPECT_EQ(paging()["surprises"], 0) << paging();
  }
  double total(const char* which) const { return report()["totals"][which].get<double>(); }
  double faults(const char* kind) const { return paging()[kind]["faults"].get<double>(); }
};

// A sample or a walk that touched a page which is out would bring it in, and push another out: there would be
// more hard faults, by each of them.
TEST_F(DramCache, SamplesAndWalksTouchNoPageThatIsOut) {
  run_guest({"--page-device", "optane-ssd", "--no-walks"});
  const double alone = faults("hard_faults");
  EXPECT_GT(alone, 10'000);
  EXPECT_EQ(report()["walks"]["walks"], 0);
  run_guest({"--page-device", "optane-ssd", "--read-latency", "5x", "--epoch", "10ms"});
  const Json walks = report()["walks"];
  EXPECT_GT(walks["walks"], 10) << walks;
  EXPECT_GT(walks["ended_by"].value("fault", 0), 0) << "walks came to pages that are out: " << walks;
  EXPECT_EQ(faults("hard_faults"), alone);
}

// The guest waits for so many loads; what else misses caches is little beside them. The base is given, 100
// ns. By POSIX timers a tick that falls due amid a fault comes behind it, and finds the load that faulted:
// such a tick is of the fault.
class DramCacheSampled : public DramCache, public testing::WithParamInterface<const char*> {};

TEST_P(DramCacheSampled, IsChargedForLoadsAndTheDeviceForFaults) {
  if (GetParam() == std::string("perf")) NVMEMU_NEEDS_PERF_EVENTS();
  constexpr double kLoads = 800'000, kSlowerNs = 400;
  run_guest({"--page-latency", "80us", "--read-latency", "5x", "--epoch", "10ms", "--ticker", GetParam()});
  const Json totals = report()["totals"], waits = paging()["device_waits"];
  const double delay_ns = total("delay_ns"), injected_ns = total("injected_ns");
  const double device_ns = paging()["device_ns"], hard_faults = faults("hard_faults");
  EXPECT_GT(delay_ns, 0.4 * kLoads * kSlowerNs) << totals;
  EXPECT_LT(delay_ns, 2.5 * kLoads * kSlowerNs) << totals;
  // What is waited for the device is told by itself, and no stall, of which it would be most.
  EXPECT_GT(device_ns, 0.5 * 80e3 * hard_faults) << waits;
  EXPECT_GT(waits["faults"], 0.5 * hard_faults) << waits;
  EXPECT_GT(waits["median_ns"], 60e3) << waits;
  EXPECT_LT(total("stall_ns"), 0.5 * device_ns) << totals;
  // Both are injected time: that of the device is what is not slept of it.
  EXPECT_GT(injected_ns, 0.7 * delay_ns + 0.1 * device_ns) << totals;
  EXPECT_LT(injected_ns, delay_ns + device_ns) << totals;
  EXPECT_LE(total("cpu_ns") + injected_ns, 1e9 * report()["wall_seconds"].get<double>()) << totals;
}

INSTANTIATE_TEST_SUITE_P(Tickers, DramCacheSampled, testing::Values("perf", "timer"));

}  // namespace
}  // namespace nvmemu
