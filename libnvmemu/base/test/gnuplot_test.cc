// SPDX-License-Identifier: Apache-2.0
#include "base/gnuplot.h"

#include <gtest/gtest.h>

namespace nvmemu {
namespace {

TEST(Gnuplot, QuotesStrings) { EXPECT_EQ(gnuplot_string("it's\n\"$a\\"), "'it''s?\"$a\\'"); }

TEST(Gnuplot, ThatIsNotInstalledIsAnError) {
  const auto drawn = draw("", "gnuplot-that-is-not-there");
  ASSERT_FALSE(drawn);
  EXPECT_EQ(drawn.error().message, "cannot draw: gnuplot is not installed");
  EXPECT_EQ(drawn.error().hint, "apt-get install gnuplot-nox");
}

TEST(Gnuplot, ReturnsWhatItDrawsAndNothingElse) {
  EXPECT_EQ(draw("printf 'a\\0picture'; echo remark >&2\n", "sh").value_or("none"),
            std::string("a\0picture", 9));
}

TEST(Gnuplot, SaysWhyItFails) {
  const auto drawn = draw("echo half a picture; printf 'wrong \\033[2J' >&2; exit 3\n", "sh");
  ASSERT_FALSE(drawn);
  EXPECT_EQ(drawn.error().message, "gnuplot failed: wrong ?[2J");
}

}  // namespace
}  // namespace nvmemu
