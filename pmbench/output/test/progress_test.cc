// SPDX-License-Identifier: Apache-2.0
#include "output/progress.h"

#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include "example_run.h"

namespace nvmemu::pmbench {
namespace {

TEST(ProgressLine, SaysHowFarAndHowFast) {
  EXPECT_EQ(progress_line(example_point(15, "uniform", 2340000), 60, 120),
            "[#####...............] 15 / 60 s  2.3 M accesses/s  p50 150 ns  p99 9 us  500 major faults/s");
}

TEST(ProgressLine, FitsTheTerminal) {
  EXPECT_EQ(progress_line(example_point(90, "uniform", 23400), 60, 32), "[####################] 90 / 60 s");
}

std::string shown_on(int reader, std::FILE* stream, bool quiet) {
  {
    Progress progress(stream, 60, quiet);
    progress.show(example_point(15, "uniform", 23400));
  }
  std::fputs("end\n", stream);
  std::fflush(stream);
  std::string shown;
  std::array<char, 1024> buffer;
  while (!shown.ends_with('\n')) {  // a terminal may hand over the line in parts
    const ssize_t count = read(reader, buffer.data(), buffer.size());
    if (count <= 0) break;
    shown.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return shown;
}

TEST(Progress, IsALineOfATerminalThatGoesAway) {
  int master = -1;
  int terminal = -1;
  ASSERT_EQ(openpty(&master, &terminal, nullptr, nullptr, nullptr), 0);
  std::FILE* stream = fdopen(terminal, "w");
  const std::string shown = shown_on(master, stream, false);
  EXPECT_TRUE(shown.starts_with("\r\033[K[#####...")) << shown;
  EXPECT_TRUE(shown.ends_with("\r\033[Kend\r\n")) << shown;
  EXPECT_EQ(shown_on(master, stream, true), "end\r\n");
  std::fclose(stream);
  close(master);
}

TEST(Progress, IsSilentElsewhere) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  std::FILE* stream = fdopen(ends[1], "w");
  EXPECT_EQ(shown_on(ends[0], stream, false), "end\n");
  std::fclose(stream);
  close(ends[0]);
}

}  // namespace
}  // namespace nvmemu::pmbench
