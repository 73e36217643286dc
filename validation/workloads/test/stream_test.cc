// SPDX-License-Identifier: Apache-2.0
#include "workloads/stream.h"

#include <gtest/gtest.h>

#include <vector>

namespace nvmemu::workloads {
namespace {

struct Arrays {
  std::vector<double> a = std::vector<double>(103), b = a, c = a;
  StreamArrays views() { return {a, b, c}; }
  void run_rounds(int rounds) {
    for (int round = 0; round < rounds; ++round)
      for (const StreamKernel& kernel : kStreamKernels) kernel.run(views());
  }
};

TEST(Stream, KernelsDoWhatTheirNamesSay) {
  Arrays arrays;
  fill(arrays.views());
  kStreamKernels[0].run(arrays.views());
  EXPECT_EQ(arrays.c, std::vector<double>(103, 1));
  kStreamKernels[1].run(arrays.views());
  EXPECT_NEAR(arrays.b[102], 0.4142135624, 1e-9);
  kStreamKernels[2].run(arrays.views());
  EXPECT_NEAR(arrays.c[102], 1.4142135624, 1e-9);
  kStreamKernels[3].run(arrays.views());
  EXPECT_NEAR(arrays.a[102], 1, 1e-9);
}

TEST(Stream, RecognisesItsOwnResult) {
  Arrays arrays;
  fill(arrays.views());
  arrays.run_rounds(5);
  EXPECT_TRUE(holds_result_of(arrays.views(), 5));
}

TEST(Stream, NoticesOneWrongElement) {
  Arrays arrays;
  fill(arrays.views());
  arrays.run_rounds(5);
  arrays.b[57] += 1e-6;
  EXPECT_FALSE(holds_result_of(arrays.views(), 5));
}

TEST(Stream, NeitherOverflowsNorVanishesInManyRounds) {
  Arrays arrays;
  fill(arrays.views());
  arrays.run_rounds(10000);
  EXPECT_NEAR(arrays.a[0], 1, 1e-6);
  EXPECT_TRUE(holds_result_of(arrays.views(), 10000));
}

}  // namespace
}  // namespace nvmemu::workloads
