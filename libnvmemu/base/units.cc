// SPDX-License-Identifier: Apache-2.0
#include "base/units.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <system_error>

#include "base/quote.h"

namespace nvmemu {
namespace {

struct Unit {
  std::string_view name;
  double factor;  // whole, below 2^53
};

// A kind of quantity: its units and what it may be.
struct Quantity {
  std::span<const Unit> units;
  double lowest;
  double highest;
  std::string_view range;
  std::string_view examples;
};

constexpr double kKi = 1024;
constexpr double kMi = 1024 * kKi;
constexpr double kGi = 1024 * kMi;
constexpr double kTi = 1024 * kGi;
constexpr double kEi = 1024 * 1024 * kTi;

constexpr std::array<Unit, 4> kTimes{{{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}};
// Those of 1000 first: kDecimalUnits of them.
constexpr std::array<Unit, 9> kRates{{{"B/s", 1},
                                      {"kB/s", 1e3},
                                      {"MB/s", 1e6},
                                      {"GB/s", 1e9},
                                      {"TB/s", 1e12},
                                      {"KiB/s", kKi},
                                      {"MiB/s", kMi},
                                      {"GiB/s", kGi},
                                      {"TiB/s", kTi}}};
constexpr std::size_t kDecimalUnits = 5;
// A letter alone is of 1024, as for ulimit(1), dd(1) and the kernel.
constexpr std::array<Unit, 13> kSizes{{{"B", 1},
                                       {"K", kKi},
                                       {"M", kMi},
                                       {"G", kGi},
                                       {"T", kTi},
                                       {"kB", 1e3},
                                       {"MB", 1e6},
                                       {"GB", 1e9},
                                       {"TB", 1e12},
                                       {"KiB", kKi},
                                       {"MiB", kMi},
                                       {"GiB", kGi},
                                       {"TiB", kTi}}};
// What sizes are formatted in.
constexpr std::array<Unit, 5> kBinarySizes{
    {{"B", 1}, {"KiB", kKi}, {"MiB", kMi}, {"GiB", kGi}, {"TiB", kTi}}};

constexpr Quantity kLatency{kTimes, 1, 1e9, "1 ns to 1 s", "300ns or 1.2us"};
constexpr Quantity kDuration{kTimes, 1e3, 3600e9, "1 us to 1 h (3600s)", "50ms or 1.5s"};
constexpr Quantity kBandwidth{kRates, 1e6, 100e12, "1 MB/s to 100 TB/s", "8GB/s or 6.5GiB/s"};
constexpr Quantity kSize{kSizes, 1, kEi, "1 B to 1 EiB (1048576TiB)", "512MiB or 4GiB"};

tl::unexpected<Error> refuse(std::string_view text, std::string_view what, const Quantity& quantity) {
  std::string message = quote(text).append(": ").append(what).append("; write ").append(quantity.examples);
  message.append(" (units");
  for (const Unit& unit : quantity.units) message.append(" ").append(unit.name);
  return failure(message.append("; ").append(quantity.range).append(")"));
}

std::size_t count_digits(std::string_view text) {
  std::size_t count = 0;
  while (count < text.size() && text[count] >= '0' && text[count] <= '9') ++count;
  return count;
}

// "12.5ms" in its parts. `number` is digits, or digits, a point and digits.
struct Parts {
  std::string_view number;
  std::string_view whole;
  std::string_view fraction;
  const Unit* unit;
};

// Scans by itself what std::from_chars() would also take but nobody means here: exponents, "inf", "nan",
// ".5", "5.".
Result<Parts> split(std::string_view text, const Quantity& quantity) {
  if (text.empty()) return refuse(text, "nothing given", quantity);
  if (text.front() == '-') return refuse(text, "negative", quantity);
  if (text.front() == '+') return refuse(text, "a sign", quantity);

  Parts parts{};
  parts.whole = text.substr(0, count_digits(text));
  if (parts.whole.empty()) return refuse(text, "not a number", quantity);
  std::string_view rest = text.substr(parts.whole.size());
  if (!rest.empty() && rest.front() == '.') {
    rest.remove_prefix(1);
    parts.fraction = rest.substr(0, count_digits(rest));
    if (parts.fraction.empty()) return refuse(text, "no digit after the point", quantity);
    rest.remove_prefix(parts.fraction.size());
  }
  parts.number = text.substr(0, text.size() - rest.size());

  if (rest.empty()) return refuse(text, "no unit", quantity);
  for (const Unit& unit : quantity.units) {
    if (rest == unit.name) parts.unit = &unit;
  }
  if (parts.unit == nullptr) {
    const bool blank = rest.front() == ' ' || rest.back() == ' ';
    return refuse(text, blank ? std::string("a blank in it") : "unknown unit " + quote(rest), quantity);
  }
  if (parts.number.find_first_not_of("0.") == std::string_view::npos) {
    return refuse(text, "zero", quantity);
  }
  return parts;
}

Result<double> parse(std::string_view text, const Quantity& quantity) {
  const Result<Parts> parts = split(text, quantity);
  if (!parts) return tl::unexpected(parts.error());
  double number = 0;
  const std::string_view digits = parts->number;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number, std::chars_format::fixed);
  const double value = number * parts->unit->factor;
  // std::from_chars() fails here only where the number is beyond a double's range, at either end.
  if (error != std::errc{} || value < quantity.lowest || value > quantity.highest) {
    return refuse(text, "out of range", quantity);
  }
  return value;
}

// "0.fraction" times `factor`, in whole numbers, by the multiplication learnt at school; no value where it is
// not whole. Exact for any number of digits, which doubles are not ("1.001kB" would not be whole).
bool multiply_fraction(std::string_view fraction, std::uint64_t factor, std::uint64_t& product) {
  product = 0;
  for (std::size_t i = fraction.size(); i-- > 0;) {
    product += static_cast<std::uint64_t>(fraction[i] - '0') * factor;
    if (product % 10 != 0) return false;
    product /= 10;
  }
  return true;
}

// `value` with three significant digits, or all those of its whole part, and no zeros after them.
std::string three_digits(double value) {
  const double magnitude = std::fabs(value);
  int decimals = magnitude >= 100 ? 0 : magnitude >= 10 ? 1 : 2;
  for (double least = 1; magnitude < least && magnitude > 0 && decimals < 12; least /= 10) ++decimals;
  std::array<char, std::numeric_limits<double>::max_exponent10 + 32> buffer{};
  const auto [end, error] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed, decimals);
  if (error != std::errc{}) return "?";
  std::string text(buffer.data(), end);
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return text == "-0" ? "0" : text;
}

// In the largest unit of which there is at least one, once rounded: 999.7 ns is "1 us".
std::string format(double value, std::span<const Unit> units, double step) {
  std::size_t unit = 0;
  const double limit = step - 0.5;
  while (unit + 1 < units.size() && std::isfinite(value) && std::fabs(value) / units[unit].factor >= limit) {
    ++unit;
  }
  return three_digits(value / units[unit].factor).append(" ").append(units[unit].name);
}

}  // namespace

Result<double> parse_latency_ns(std::string_view text) { return parse(text, kLatency); }
Result<double> parse_duration_ns(std::string_view text) { return parse(text, kDuration); }
Result<double> parse_bandwidth_bps(std::string_view text) { return parse(text, kBandwidth); }

Result<std::uint64_t> parse_size_bytes(std::string_view text) {
  const Result<Parts> parts = split(text, kSize);
  if (!parts) return tl::unexpected(parts.error());
  constexpr auto kHighest = static_cast<std::uint64_t>(kSize.highest);
  const auto factor = static_cast<std::uint64_t>(parts->unit->factor);
  std::uint64_t whole = 0;
  const auto [end, error] =
      std::from_chars(parts->whole.data(), parts->whole.data() + parts->whole.size(), whole);
  if (error != std::errc{} || whole > kHighest / factor) return refuse(text, "out of range", kSize);
  std::uint64_t rest = 0;
  if (!multiply_fraction(parts->fraction, factor, rest)) {
    return refuse(text, "not a whole number of bytes", kSize);
  }
  if (whole * factor > kHighest - rest) return refuse(text, "out of range", kSize);
  return whole * factor + rest;
}

std::string format_latency(double ns) { return format(ns, kTimes, 1000); }
std::string format_duration(double ns) { return format(ns, kTimes, 1000); }

std::string format_bandwidth(double bytes_per_second) {
  return format(bytes_per_second, std::span(kRates).first(kDecimalUnits), 1000);
}

std::string format_size(std::uint64_t bytes) { return format(static_cast<double>(bytes), kBinarySizes, kKi); }

}  // namespace nvmemu
