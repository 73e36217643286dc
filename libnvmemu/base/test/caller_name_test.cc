// SPDX-License-Identifier: Apache-2.0
#include "base/caller_name.h"

#include <gtest/gtest.h>

namespace nvmemu {
namespace {

TEST(CallerName, OfAFunctionIsItsOwnOrItsLast) {
  for (const char* name : {"_ZN5Index5buildEi", "Index::build(int)", "Index::build", "build"})
    EXPECT_TRUE(is_function_named("_ZN5Index5buildEi", name)) << name;
  EXPECT_TRUE(is_function_named("build", "build"));
  for (const char* name : {"Index", "uild", "build(", ""})
    EXPECT_FALSE(is_function_named("_ZN5Index5buildEi", name)) << name;
  EXPECT_FALSE(is_function_named(nullptr, "build"));
}

TEST(CallerName, OfALibraryIsWithoutItsVersion) {
  for (const char* name : {"libindex.so.2", "libindex"})
    EXPECT_TRUE(is_library_named("/usr/lib/libindex.so.2", name)) << name;
  EXPECT_TRUE(is_library_named("app", "app"));
  EXPECT_FALSE(is_library_named("/usr/lib/libindex.so.2", "libind"));
  EXPECT_FALSE(is_library_named("/usr/libindex/app", "libindex"));
  EXPECT_FALSE(is_library_named(nullptr, "libindex"));
}

}  // namespace
}  // namespace nvmemu
