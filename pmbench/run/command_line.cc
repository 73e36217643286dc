// SPDX-License-Identifier: Apache-2.0
#include "run/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/quote.h"
#include "measure/timer.h"
#include "paging/page_device.h"
#include "pattern/pattern.h"
#include "run/typed_options.h"

namespace nvmemu::pmbench {
namespace {

constexpr const char* kDescription =
    "pmbench measures paging: it accesses the pages of a piece of memory, times each access by itself, and\n"
    "reports how long accesses took that hit memory, and that faulted.\n";

constexpr const char* kFooter = R"(
Examples:
  pmbench 10                                        10 s over 128 MiB, half of them writes
  pmbench -m 8192 -s 8192 -i -j 2 -c --page-cluster 0 300
                                                    as the paper did, on a machine with 2 GiB
  pmbench --memory-limit 256M -m 512 -s 512 -i 30   pages, without the machine running short
  pmbench --swap-latency 5us --memory-limit 256M -m 512 -s 512 -i --page-cluster 0 30
                                                    to swap that takes 5 us a request (as root)
  pmbench --phase "uniform:10s,zipf@0.99:20s" --series-csv series.csv
  pmbench report a.xml b.json                       compares and averages runs (pmbench report --help)

By themselves, each with a --help of its own:
  pmbench vma                                       what memory areas cost by how many there are
  pmbench touch --memory-limit 256M                 first touches of more memory than there is
  pmbench kswapd --whole-machine                    who reclaims where the machine runs short

Interrupted (SIGINT, SIGTERM, SIGHUP, SIGQUIT), it reports what it has measured by then.

Exit status:
  0    measured, interrupted too
  1    something failed
  2    an option is wrong)";

constexpr const char* kMeasurement = "Measurement";
constexpr const char* kMemory = "Memory";
constexpr const char* kSurroundings = "Surroundings";
constexpr const char* kOutput = "Output";

std::string pattern_help() {
  std::string help = "which pages, in which order [uniform]:";
  for (const PatternDescription& pattern : pattern_descriptions())
    help += fmt::format("\n{}{}: {}", pattern.name, pattern.parameters, pattern.text);
  return help;
}

std::string device_names() {
  std::string names;
  for (const PageDeviceProfile& profile : page_device_profiles())
    names += (names.empty() ? "" : (names.size() - names.rfind('\n') - 1 > 60 ? ",\n" : ", ")) + profile.name;
  return names;
}

// What needs more than one option to be understood.
struct Texts {
  std::string phases, memory;
};

void add_measurement(Parser& app, Options& options, Texts& texts) {
  Phase& phase = options.phases.front();
  add_number(app, "DURATION", "SECONDS", options.duration_s, 1.0, 1e9, "how long to measure", "");
  app.get_option("DURATION").group("Positionals");
  add_text(app, "-p,--pattern", "NAME", phase.pattern, pattern_help(), kMeasurement);
  app.add_option_function(
         "-e,--shape",
         [&phase](const std::string& text) {
           phase.shape = parse_number("-e", text, -1e18, 1e18);
           phase.shape_given = true;
         },
         "the pattern's parameter: stride in pages, sigma in pages, or alpha [1.00001]")
      .type_name("SHAPE")
      .group(kMeasurement)
      .take_last();
  add_text(app, "--phase", "LIST", texts.phases,
           "patterns one after another, each for a time: uniform:10s,zipf@0.99:20s. A shape of\nits own goes "
           "behind "
           "'@'. DURATION is then their sum, and may be left out",
           kMeasurement);
  add_text(app, "--trace", "FILE", options.trace_file,
           "page numbers from 0, between blanks or on lines of their own, for -p trace", kMeasurement);
  add_choice<AccessMode>(app, "-a,--access", options.access,
                         {{"histo", AccessMode::kHisto}, {"touch", AccessMode::kTouch}},
                         "touch: times accesses, but records nothing [histo]", kMeasurement);
  add_number(app, "-r,--ratio", "PERCENT", options.read_percent, 0, 100, "how many of the accesses read [50]",
             kMeasurement);
  add_number(app, "-o,--offset", "WORD", options.offset, -2147483647, (2 << 20) / 4 - 1,
             "which 4-byte word of a page to access, up to 1023 (of 4 KiB); negative: any [-1]",
             kMeasurement);
  add_number<std::uint64_t>(app, "-d,--delay", "CYCLES", options.delay_cycles, 0, std::uint64_t{1} << 50,
                            "to wait between accesses, of the time stamps' clock [0]", kMeasurement);
  add_choice<TimestampKind>(
      app, "-t,--timestamp", options.timestamp,
      {{"rdtscp", TimestampKind::kRdtscp},
       {"rdtsc", TimestampKind::kRdtsc},
       {"perfc", TimestampKind::kPerfCounter},
       {"cntvct", TimestampKind::kArmCounter}},
      "what tells the time: the processor's counter (rdtscp, rdtsc: x86; cntvct: arm64), or\n"
      "the kernel's clock CLOCK_MONOTONIC_RAW (perfc) [rdtscp, or cntvct, or perfc]",
      kMeasurement);
  add_text(app, "--fence", "NAME", options.fence,
           "around the time stamps. lfence: an access starts after the first and is done before the "
           "second;\nmfence: "
           "and earlier stores have drained; none: as the original did it [lfence]",
           kMeasurement);
  add_number(app, "-j,--jobs", "N", options.jobs, 1U, 4096U, "threads [1]", kMeasurement);
  app.add_flag("-c,--cold", options.cold, "do not warm the set up first").group(kMeasurement);
  app.add_flag("-z,--wrneedsrd", options.write_needs_read, "a write is a load and a store")
      .group(kMeasurement);
  add_number<std::uint64_t>(app, "--seed", "N", options.seed, 0, ~std::uint64_t{0},
                            "of all random numbers: the same seed, the same accesses [1]", kMeasurement);
}

void add_memory(Parser& app, Options& options, Texts& texts) {
  constexpr std::uint64_t kMostMib = std::uint64_t{1} << 27;  // 128 TiB
  add_number<std::uint64_t>(app, "-m,--mapsize", "MIB", options.map_mib, 1, kMostMib,
                            "how much to map, in MiB [256]", kMemory);
  add_number<std::uint64_t>(app, "-s,--setsize", "MIB", options.set_mib, 1, kMostMib,
                            "how much of it to access, from its beginning [128]", kMemory);
  app.add_flag("-i,--initialize", options.initialize, "fill the map with random contents first")
      .group(kMemory);
  app.add_option_function(
         "--compressible",
         [&options](const std::string& text) {
           options.compressible_percent = parse_number("--compressible", text, 0U, 100U);
         },
         "with -i: this share of each page is zeros [0]")
      .type_name("PERCENT")
      .group(kMemory)
      .take_last();
  add_text(app, "--memory", "KIND", texts.memory,
           "anonymous, shared, memfd, hugetlb, or file:PATH, which is made and removed; one that\nexists is "
           "read only, "
           "and kept [anonymous]",
           kMemory);
  add_choice<HugePages>(app, "--thp", options.huge_pages,
                        {{"on", HugePages::kOn}, {"off", HugePages::kOff}, {"as-is", HugePages::kAsIs}},
                        "transparent huge pages for the map [as-is: what the system does]", kMemory);
  add_choice<std::uint64_t>(app, "--page-size", options.page_bytes,
                            {{"4KiB", 4096}, {"16KiB", 16384}, {"64KiB", 65536}, {"2MiB", 2 << 20}},
                            "what a page of the pattern is [4KiB]", kMemory);
  add_text(app, "--numa", "POLICY", options.numa,
           "where the map lies: bind:NODES, preferred:NODE, interleave:NODES, local; nodes as 0,2-3 or\nall, "
           "those without "
           "processors too",
           kMemory);
  add_text(app, "-y,--affinity", "CPUS[:N]", options.affinity,
           "processors, as 0-3,8: thread i runs on the i-th; and the node that the map lies on", kMemory);
}

void add_surroundings(Parser& app, Options& options) {
  add_size(app, "--memory-limit", options.memory_limit_bytes,
           "run in a memory cgroup with this limit, made for the time of the run (256M, 2GiB)",
           kSurroundings);
  app.add_option_function(
         "--page-cluster",
         [&options](const std::string& text) {
           options.page_cluster = parse_number("--page-cluster", text, 0, 16);
         },
         "swap readahead: 2^N pages at once, for the time of the run (0: none)")
      .type_name("N")
      .group(kSurroundings)
      .take_last();
  add_text(app, "--swap-device", "auto|zram|null_blk|PATH", options.swap_device,
           "swap to a device in memory, made for the time of the run (auto: null_blk where the kernel\nhas "
           "it, else zram), or to this block device, whose contents are lost; as root",
           kSurroundings);
  add_time(
      app, "--swap-latency", options.swap_latency_ns,
      "have its requests take so long (5us) [as long as they take]; with zram, where no\nother is named; by "
      "null_blk's own timer, else held by BPF",
      kSurroundings);
  add_text(app, "--swap-profile", "NAME", options.swap_profile,
           "or as long as those of another device: " + device_names(), kSurroundings);
  add_size(app, "--swap-size", options.swap_bytes, "of zram or null_blk [as much as the map]", kSurroundings);
  add_size(app, "--eat", options.eater_bytes,
           "take this much memory away from the machine for the time of the run", kSurroundings);
}

void add_output(Parser& app, Options& options) {
  add_text(app, "-f,--file", "FILE", options.xml_file, "write the report as XML", kOutput);
  add_text(app, "--json", "FILE", options.json_file, "write the report as JSON", kOutput);
  add_text(app, "--csv", "FILE", options.csv_file, "write the histogram as CSV", kOutput);
  add_text(app, "--series-csv", "FILE", options.series_csv_file, "write the figures of each second as CSV",
           kOutput);
  add_number(app, "--repeat", "N", options.repeat, 1U, 10000U,
             "run N times; files are numbered: run.xml becomes run-1.xml, run-2.xml, ... [1]", kOutput);
  app.add_flag("-q,--quiet", options.quiet, "no progress on the terminal").group(kOutput);
  add_number<std::uint64_t>(app, "-h,--threshold", "NS", options.threshold_ns, 0, std::uint64_t{1} << 50,
                            "mark the kernel's trace when an access takes longer (0: never) [0]", kOutput);
}

void read_memory_kind(const std::string& text, Options& options) {
  static const std::map<std::string, MemoryKind> kKinds = {{"", MemoryKind::kAnonymous},
                                                           {"anonymous", MemoryKind::kAnonymous},
                                                           {"shared", MemoryKind::kShared},
                                                           {"memfd", MemoryKind::kMemfd},
                                                           {"hugetlb", MemoryKind::kHugetlb}};
  constexpr std::string_view kFile = "file:";
  if (text.starts_with(kFile) && text.size() > kFile.size()) {
    options.memory = MemoryKind::kFile;
    options.backing_file = text.substr(kFile.size());
    return;
  }
  const auto kind = kKinds.find(text);
  if (kind == kKinds.end())
    refuse(
        fmt::format("--memory: {} is not one of anonymous, shared, memfd, hugetlb, file:PATH", quote(text)));
  options.memory = kind->second;
}

Result<void> read_phases(const std::string& text, Options& options) {
  if (text.empty()) return {};
  Result<std::vector<Phase>> phases = parse_phases(text, options.phases.front());
  if (!phases) return tl::unexpected(phases.error());
  options.phases = *std::move(phases);
  return {};
}

}  // namespace

Result<CommandLine> parse_command_line(std::vector<std::string> arguments) {
  CommandLine line;
  Options& options = line.options;
  options.phases.resize(1);
  options.timestamp = default_timestamp();
  Texts texts;
  Parser app(kDescription, "pmbench");
  app.set_help_flag("--help", "print this");
  app.set_version_flag("--version", "pmbench 1.0");
  app.column_width(34);
  app.footer(kFooter);
  add_measurement(app, options, texts);
  add_memory(app, options, texts);
  add_surroundings(app, options);
  add_output(app, options);
  app.callback([&] { read_memory_kind(texts.memory, options); });
  const auto parsed = app.parse(std::move(arguments));
  if (!parsed) return failure(parsed.error().message, "pmbench --help explains the options");
  if (*parsed) {
    line.help = **parsed;
    return line;
  }
  if (!texts.phases.empty() && app.count("-p") > 0) return failure("-p and --phase exclude each other");
  if (const Result<void> read = read_phases(texts.phases, options); !read)
    return tl::unexpected(read.error());
  if (const Result<void> checked = check_options(options); !checked) return tl::unexpected(checked.error());
  return line;
}

}  // namespace nvmemu::pmbench
