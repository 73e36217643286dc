// SPDX-License-Identifier: Apache-2.0
#include "output/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "base/units.h"

namespace nvmemu::pmbench {
namespace {

constexpr std::size_t kBarWidth = 20;
constexpr std::size_t kColumnsOfOld = 80;

std::size_t columns_of(std::FILE* stream) {
  winsize size{};
  if (ioctl(fileno(stream), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kColumnsOfOld;
  return size.ws_col;
}

std::string bar(double share) {
  const auto full = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * kBarWidth);
  return std::string(full, '#') + std::string(kBarWidth - full, '.');
}

std::string rate(double per_second) {
  if (per_second >= 1e6) return fmt::format("{:.1f} M", per_second / 1e6);
  if (per_second >= 1e4) return fmt::format("{:.0f} k", per_second / 1e3);
  return fmt::format("{:.0f}", per_second);
}

}  // namespace

std::string progress_line(const SeriesPoint& point, double duration_s, std::size_t columns) {
  const double seconds = point.seconds > 0 ? point.seconds : 1;
  std::string line =
      fmt::format("[{}] {:.0f} / {:.0f} s  {} accesses/s  p50 {}  p99 {}  {} major faults/s",
                  bar(duration_s > 0 ? point.at_s / duration_s : 0), point.at_s, duration_s,
                  rate(static_cast<double>(point.accesses) / seconds), format_latency(point.p50_ns),
                  format_latency(point.p99_ns), rate(static_cast<double>(point.major_faults) / seconds));
  if (line.size() > columns) line.resize(columns);
  return line;
}

Progress::Progress(std::FILE* stream, double duration_s, bool quiet)
    : stream_(stream), duration_s_(duration_s), enabled_(!quiet && isatty(fileno(stream)) != 0) {}

void Progress::show(const SeriesPoint& point) {
  if (!enabled_) return;
  // One column is left free, or some terminals go to the next line.
  const std::string line = progress_line(point, duration_s_, columns_of(stream_) - 1);
  std::fputs(("\r\033[K" + line).c_str(), stream_);
  std::fflush(stream_);
  shown_ = true;
}

void Progress::clear() {
  if (!shown_) return;
  std::fputs("\r\033[K", stream_);
  std::fflush(stream_);
  shown_ = false;
}

}  // namespace nvmemu::pmbench
