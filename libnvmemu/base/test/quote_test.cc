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

// What a terminal takes for a command: in ASCII, in Latin 1, in UTF-8; and what is no text at all.
TEST(Quote, LeavesNothingThatATerminalActsOn) {
  EXPECT_EQ(printable("a\033]0;title\007b\r\n\t"), "a?]0;title?b???");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m \x9b"
                      "31m"),
            "??31m ?31m");
  EXPECT_EQ(printable("\xff\xc3 \xed\xa0\x80 \xc0\x9b \xf4\x90\x80\x80"), "?? ??? ?? ????");
  EXPECT_EQ(printable("Gr\u00fc\u00dfe \u20ac \U0001f600"), "Gr\u00fc\u00dfe \u20ac \U0001f600");
  EXPECT_EQ(printable_lines("a\n\tb\033"), "a\n\tb?");
}

TEST(Quote, CutsLongText) {
  EXPECT_EQ(quote(std::string(64, 'x')), "'" + std::string(64, 'x') + "'");
  EXPECT_EQ(quote(std::string(63, 'x') + "\u20ac"), "'" + std::string(63, 'x') + "...'");
  EXPECT_EQ(quote(std::string(65, 'x')), "'" + std::string(64, 'x') + "...'");
}

}  // namespace
}  // namespace nvmemu
