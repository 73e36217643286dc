// SPDX-License-Identifier: Apache-2.0
#include "storage/storage_values.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "base/quote.h"
#include "base/text.h"
#include "base/units.h"

namespace nvmemu {
namespace {

constexpr StorageMode kModes[] = {StorageMode::kDax, StorageMode::kBlock, StorageMode::kPagedDax};

struct Unit {
  const char* name;
  double factor;
};
constexpr Unit kTimes[] = {{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}};
constexpr Unit kRates[] = {{"GB/s", 1e9}, {"MB/s", 1e6}, {"kB/s", 1e3}, {"B/s", 1}};
constexpr Unit kSizes[] = {{"MiB", 1 << 20}, {"MB", 1e6}, {"KiB", 1 << 10}, {"B", 1}};

// The shortest text that is parsed to the very same value, in the first of the units that it is; none of 0.
template <std::size_t kCount, typename Parse>
std::string exact(double value, const Unit (&units)[kCount], const Parse& parse) {
  if (value == 0) return {};
  std::string best;
  for (const Unit& unit : units) {
    const std::string text = number(value / unit.factor) + unit.name;
    const auto parsed = parse(text);
    const bool is_same = parsed && static_cast<double>(*parsed) == value;
    if (is_same && (best.empty() || text.size() < best.size())) best = text;
  }
  return best;
}

Result<LatencyQuantiles::Point> parse_point(std::string_view text) {
  const std::string_view share = trimmed(take_until(text, ':'));
  LatencyQuantiles::Point point;
  const auto parsed = std::from_chars(share.begin(), share.end(), point.share, std::chars_format::fixed);
  const bool is_share = parsed.ec == std::errc() && parsed.ptr == share.end() && point.share >= 0 &&
                        point.share <= 1 && !std::signbit(point.share);
  if (!is_share) return failure(quote(share) + ": not a share of requests, from 0 to 1");
  const Result<double> ns = parse_latency_ns(trimmed(text));
  if (!ns) return tl::unexpected(ns.error());
  point.ns = *ns;
  return point;
}

}  // namespace

std::string number(double value) {
  char text[512];
  const auto end = std::to_chars(std::begin(text), std::end(text), value, std::chars_format::fixed);
  return {text, end.ptr};
}

std::string text_of_latency(double ns) { return exact(ns, kTimes, parse_latency_ns); }

Result<LatencyQuantiles> parse_quantiles(std::string_view text) {
  if (text.find(':') == std::string_view::npos) {
    const Result<double> ns = parse_latency_ns(text);
    if (!ns) return tl::unexpected(ns.error());
    return LatencyQuantiles(*ns);
  }
  const std::string_view whole = text;
  LatencyQuantiles quantiles;
  while (!text.empty()) {
    const Result<LatencyQuantiles::Point> point = parse_point(trimmed(take_until(text, ',')));
    if (!point) return tl::unexpected(point.error());
    if (!quantiles.append(*point))
      return failure(quote(whole) +
                     ": write 1 to 6 shares, each above the one before, and no latency below it");
  }
  return quantiles;
}

std::string text_of_quantiles(const LatencyQuantiles& quantiles) {
  if (quantiles.size() == 1 && quantiles[0].share == 0) return text_of_latency(quantiles[0].ns);
  std::string text;
  for (std::size_t i = 0; i < quantiles.size(); ++i)
    text += (i == 0 ? "" : ", ") + number(quantiles[i].share) + ": " + text_of_latency(quantiles[i].ns);
  return text;
}

std::string text_of_bandwidth(double bps) { return exact(bps, kRates, parse_bandwidth_bps); }

Result<StorageMode> parse_mode(std::string_view text) {
  for (const StorageMode mode : kModes) {
    if (text == name_of(mode)) return mode;
  }
  return failure(quote(text) + " is not one of dax, block, paged dax");
}

Result<std::uint64_t> parse_size_within(std::string_view text, std::uint64_t least, std::uint64_t most) {
  Result<std::uint64_t> bytes = parse_size_bytes(text);
  if (bytes && (*bytes < least || *bytes > most))
    return failure(quote(text) + " is not within " + format_size(least) + " to " + format_size(most));
  return bytes;
}

Result<unsigned> parse_number_up_to(std::string_view text, unsigned most) {
  unsigned value = 0;
  const auto parsed = std::from_chars(text.begin(), text.end(), value);
  const bool is_whole = parsed.ec == std::errc() && parsed.ptr == text.end();
  if (!is_whole || value < 1 || value > most)
    return failure(quote(text) + " is not a number from 1 to " + std::to_string(most));
  return value;
}

Result<std::string> parse_memory(std::string_view text) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
  if (text.empty() || text.find_first_not_of(kLetters) != std::string_view::npos)
    return failure(quote(text) + " is no name of a memory", "nvmemu profiles lists them");
  return std::string(text);
}

Result<double> parse_spare(std::string_view text) {
  constexpr double kLeast = 1, kMost = 1000;
  double percent = 0;
  const bool has_sign = text.ends_with('%');
  const auto parsed = std::from_chars(text.begin(), text.end() - (has_sign ? 1 : 0), percent);
  const bool is_whole = has_sign && parsed.ec == std::errc() && parsed.ptr == text.end() - 1;
  if (!is_whole || !(percent >= kLeast && percent <= kMost))
    return failure(quote(text) + " is not within 1% to 1000% of what the device holds");
  return percent / 100;
}

std::string text_of_percent(double share) {
  double percent = 100 * share;
  for (const double near : {percent, std::round(percent * 1e6) / 1e6}) {
    if (near / 100 == share) percent = near;
  }
  return number(percent) + "%";
}

std::string text_of_size(double bytes) { return exact(bytes, kSizes, parse_size_bytes); }

}  // namespace nvmemu
