// SPDX-License-Identifier: Apache-2.0
#include "base/quote.h"

#include <gtest/gtest.h>

namespace nvmemu {
namespace {

TEST(Quote, KeepsOrdinaryText) {
  EXPECT_EQ(quote(""), "''");
  EXPECT_EQ(quote("300 ns"), "'300 ns'");
  EXPECT_EQ(quote("3\u00b5s"), "'3\u00b5s'");
}

TEST(Quote, ReplacesControlCharacters) {
  EXPECT_EQ(quote("\x1b[31m\n\x7f"),
            "'?[31m?"
            "?'");
  EXPECT_EQ(quote(std::string_view("a\0b", 3)), "'a?b'");
}

TEST(Quote, CutsLongText) {
  EXPECT_EQ(quote(std::string(64, 'x')), "'" + std::string(64, 'x') + "'");
  EXPECT_EQ(quote(std::string(65, 'x')), "'" + std::string(64, 'x') + "...'");
}

}  // namespace
}  // namespace nvmemu
