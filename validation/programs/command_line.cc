// SPDX-License-Identifier: Apache-2.0
#include "programs/command_line.h"

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <map>

#include "base/run_windows.h"
#include "base/units.h"
#include "host/statistics.h"

namespace nvmemu::programs {
namespace {

void print_error(const std::string& program, const std::string& message, const std::string& hint) {
  fmt::print(stderr, "{}: error: {}\n", program, message);
  if (!hint.empty()) fmt::print(stderr, "{}: hint: {}\n", program, hint);
}

std::string as_text(const Figures& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return fmt::format("{:.3f}", value.get<double>());
  return value.dump();
}

void print_figures(const Figures& figures, int depth = 0) {
  for (const auto& [name, value] : figures.items()) {
    if (value.is_object()) {
      fmt::print("{:{}}{}\n", "", 2 * depth, name);
      print_figures(value, depth + 1);
    } else if (value.is_array()) {
      std::string all;
      for (const Figures& element : value) all += (all.empty() ? "" : " ") + as_text(element);
      fmt::print("{:{}}{:<{}} {}\n", "", 2 * depth, name, 22 - 2 * depth, all);
    } else {
      fmt::print("{:{}}{:<{}} {}\n", "", 2 * depth, name, 22 - 2 * depth, as_text(value));
    }
  }
}

Figures rate_figures(const std::vector<RunWindow>& windows, bool has_delays) {
  const std::vector<double> rates = rates_of(windows, has_delays);
  Figures figures;
  if (rates.empty()) return figures;
  figures["median_per_s"] = median(rates);
  figures["per_s"] = rates;
  return figures;
}

// How much of what the program tells of as its progress it got done in each window of --alternate.
void add_windows(Figures& figures) {
  const std::vector<RunWindow> windows = run_windows();
  for (const bool has_delays : {false, true}) {
    Figures rates = rate_figures(windows, has_delays);
    if (!rates.empty())
      figures[has_delays ? "windows_with_delays" : "windows_without_delays"] = std::move(rates);
  }
}

}  // namespace

void add_size(Parser& app, std::uint64_t& size_bytes, std::uint64_t unit_bytes, std::uint64_t max_bytes,
              const std::string& help) {
  add_size(app, "--size", size_bytes, unit_bytes, max_bytes, help);
}

void add_size(Parser& app, const std::string& name, std::uint64_t& size_bytes, std::uint64_t unit_bytes,
              std::uint64_t max_bytes, const std::string& help) {
  const auto read = [name, &size_bytes, unit_bytes, max_bytes](const std::string& text) {
    const auto size = parse_size_bytes(text);
    if (!size) throw UsageError(name, size.error().message);
    if (*size % unit_bytes != 0 || *size > max_bytes)
      throw UsageError(name, fmt::format("{} is not a multiple of {} up to {}", text, format_size(unit_bytes),
                                         format_size(max_bytes)));
    size_bytes = *size;
  };
  Option option = app.add_option_function(name, read, help).type_name("SIZE");
  if (size_bytes == 0) return;
  std::string shown = format_size(size_bytes);
  std::erase(shown, ' ');  // as it is to be typed
  option.default_str(shown);
}

void add_page_size(Parser& app, workloads::PageSize& page_size) {
  static const std::map<std::string, workloads::PageSize> kNames = {{"4KiB", workloads::PageSize::k4KiB},
                                                                    {"2MiB", workloads::PageSize::k2MiB}};
  const auto read = [&page_size](const std::string& text) { page_size = kNames.at(text); };
  app.add_option_function(
         "--page-size", read,
         "4KiB or 2MiB; 2 MiB pages are asked for with madvise(2), and the kernel may refuse")
      .type_name("PAGES")
      .default_str(page_size == workloads::PageSize::k2MiB ? "2MiB" : "4KiB")
      .one_of({"4KiB", "2MiB"});
}

void add_seed(Parser& app, std::uint64_t& seed) {
  app.add_option("--seed", seed, "of the random numbers: the same seed, the same work and checksum")
      .type_name("N")
      .capture_default_str();
}

void add_count(Parser& app, const std::string& name, std::uint64_t& count, std::uint64_t least,
               std::uint64_t most, const std::string& help) {
  app.add_option(name, count, help)
      .type_name("N")
      .within(least, most, fmt::format("[{} to {}]", least, most))
      .capture_default_str();
}

void add_seconds(Parser& app, std::uint64_t& seconds, const std::string& instead_of) {
  app.add_option("--seconds", seconds,
                 "instead of " + instead_of + ": as many as it does in that time, delays included")
      .type_name("N")
      .within(std::uint64_t{1}, std::uint64_t{3600}, "[1 to 3600]");
}

int run_program(Parser& app, int argc, char** argv, const std::function<Result<Figures>()>& body) {
  const std::string program = app.name();
  bool json = false;
  app.add_flag("--json", json, "print one JSON object");
  const auto parsed = app.parse(argc, argv);
  if (!parsed) {
    print_error(program, parsed.error().message, "see " + program + " --help");
    return kBadInput;
  }
  if (*parsed) {
    fmt::print("{}", **parsed);
    return kSuccess;
  }
  try {
    Result<Figures> figures = body();
    if (!figures) {
      print_error(program, figures.error().message, figures.error().hint);
      return kFailed;
    }
    add_windows(*figures);
    if (json)
      fmt::print("{}\n", figures->dump(2));
    else
      print_figures(*figures);
    if (std::fflush(stdout) != 0) {
      print_error(program, "cannot write to stdout", "");
      return kFailed;
    }
  } catch (const std::exception& error) {  // no memory, no thread
    print_error(program, error.what(), "");
    return kFailed;
  }
  return kSuccess;
}

}  // namespace nvmemu::programs
