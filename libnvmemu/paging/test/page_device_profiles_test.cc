// SPDX-License-Identifier: Apache-2.0
// What the sources' tables say, asked of the model: requests one after the other.
#include <gtest/gtest.h>

#include <functional>
#include <queue>
#include <random>
#include <vector>

#include "paging/device_model.h"
#include "paging/page_device.h"

namespace nvmemu {
namespace {

class ProfileTest : public testing::Test {
 protected:
  // Requests of `pages` a second, one at a time, for ten seconds.
  static double per_second(const char* name, PageOperation operation, bool random, std::uint64_t pages = 1) {
    constexpr std::uint64_t kNs = 10'000'000'000;
    DeviceModel model(find_page_device(name)->device);
    std::mt19937_64 places(1);
    std::uint64_t now_ns = 0, slot = 0, requests = 0;
    for (; now_ns < kNs; ++requests) {
      now_ns = model.submit(operation, random ? places() % (1U << 20) * 7 : slot, pages, now_ns);
      slot += pages;
    }
    return static_cast<double>(requests) / (static_cast<double>(now_ns) / 1e9);
  }
  static double mbps(const char* name, PageOperation operation) {
    constexpr std::uint64_t kPages = 256;
    return per_second(name, operation, false, kPages) * kPages * kPageBytes / 1e6;
  }
  static void expect_near(double found, double told) { EXPECT_NEAR(found, told, 0.02 * told); }

  static constexpr PageOperation kRead = PageOperation::kRead, kWrite = PageOperation::kWrite;
};

TEST_F(ProfileTest, DiskOf2008) {
  expect_near(per_second("hdd-2008", kRead, true), 120);
  expect_near(per_second("hdd-2008", kWrite, true), 120);
  expect_near(mbps("hdd-2008", kRead), 56);
  expect_near(mbps("hdd-2008", kWrite), 45);
}

TEST_F(ProfileTest, UsbFlash) {
  expect_near(per_second("usb-flash", kRead, true), 150);
  expect_near(per_second("usb-flash", kWrite, true), 20);
  expect_near(mbps("usb-flash", kRead), 11.7);
  expect_near(mbps("usb-flash", kWrite), 4.3);
}

TEST_F(ProfileTest, SsdOf2008) {
  expect_near(per_second("ssd-2008", kWrite, true), 66);
  expect_near(per_second("ssd-2008", kWrite, false), 2817);
  expect_near(per_second("ssd-2008", kRead, true), 1e9 / (0.2e6 + 4096 / 69e6 * 1e9));
}

// Some six at once, so that as many as its makers name are served in a second.
TEST_F(ProfileTest, OptaneServesSeveralAtOnce) {
  DeviceModel model(find_page_device("optane-ssd")->device);
  constexpr std::uint64_t kDepth = 16, kRequests = 100'000;
  std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<>> under_way;
  std::uint64_t now_ns = 0;
  for (std::uint64_t i = 0; i < kRequests; ++i) {
    if (under_way.size() == kDepth) {
      now_ns = under_way.top();
      under_way.pop();
    }
    under_way.push(model.submit(kRead, i * 7, 1, now_ns));
  }
  EXPECT_NEAR(kRequests / (static_cast<double>(now_ns) / 1e9), 585e3, 0.1 * 585e3);
}

TEST_F(ProfileTest, EachHasASourceAndTakesTime) {
  double last_ns = 1e12;
  for (const PageDeviceProfile& profile : page_device_profiles()) {
    EXPECT_FALSE(profile.source.empty()) << profile.name;
    const double ns = profile.device.read.at(0.5);
    EXPECT_GT(ns, 0) << profile.name;
    EXPECT_LE(ns, last_ns) << profile.name;
    last_ns = ns;
  }
}

TEST_F(ProfileTest, AMistypedNameIsAnError) {
  const auto found = find_page_device("optane-sdd");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().hint, "did you mean optane-ssd?");
  EXPECT_NE(find_page_device("drum").error().hint.find("one of hdd-2008"), std::string::npos);
}

}  // namespace
}  // namespace nvmemu
