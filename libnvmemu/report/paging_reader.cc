// SPDX-License-Identifier: Apache-2.0
// From the board to what the report says of paging.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "paging/page_device.h"
#include "report/number_ranges.h"
#include "report/paging_fields.h"
#include "report/run_report.h"

namespace nvmemu {
namespace {

std::uint64_t count(const PagingTally::Count& word) { return std::min(word.load(), kMostOnBoard); }

double bytes(const PagingTally::Count& pages) {
  return std::min(kBytes.most, static_cast<double>(pages.load()) * kPageBytes);
}

double faults_in(const std::vector<TimeBucket>& histogram) {
  double all = 0;
  for (const TimeBucket& bucket : histogram) all += static_cast<double>(bucket.faults);
  return all;
}

// Below which a share of them lies: the middle of the bucket.
double quantile(const std::vector<TimeBucket>& histogram, double share) {
  const double all = faults_in(histogram);
  double below = 0;
  for (const TimeBucket& bucket : histogram) {
    below += static_cast<double>(bucket.faults);
    if (below >= share * all) return (bucket.begin_ns + bucket.end_ns) / 2;
  }
  return 0;
}

FaultReport faults_of(std::vector<TimeBucket> histogram, std::uint64_t faults, double mean_ns) {
  FaultReport report{.faults = faults,
                     .mean_ns = mean_ns,
                     .median_ns = quantile(histogram, 0.5),
                     .p99_ns = quantile(histogram, 0.99),
                     .p999_ns = quantile(histogram, 0.999)};
  report.histogram = std::move(histogram);
  return report;
}

std::vector<TimeBucket> histogram_of(const TimeHistogram& times) {
  std::vector<TimeBucket> histogram;
  for (std::size_t bucket = 0; bucket < TimeHistogram::kBuckets; ++bucket) {
    const std::uint64_t some = std::min(times.buckets[bucket].load(), kMostOnBoard);
    if (some == 0) continue;
    histogram.push_back({static_cast<double>(TimeHistogram::begin_of(bucket)),
                         static_cast<double>(TimeHistogram::begin_of(bucket + 1)), some});
  }
  return histogram;
}

FaultReport read_faults(const TimeHistogram& times, std::uint64_t faults, double sum_ns) {
  const double mean_ns = faults > 0 ? std::min(kNanoseconds.most, sum_ns / static_cast<double>(faults)) : 0;
  return faults_of(histogram_of(times), faults, mean_ns);
}

// Waits that only their histogram counts.
FaultReport read_waits(const TimeHistogram& times, double sum_ns) {
  const double waits = faults_in(histogram_of(times));
  return read_faults(times, static_cast<std::uint64_t>(std::min(waits, static_cast<double>(kMostOnBoard))),
                     sum_ns);
}

// Of several runs: their buckets are the same ones.
std::vector<TimeBucket> sum_of(const std::vector<TimeBucket>& one, const std::vector<TimeBucket>& other) {
  std::map<double, TimeBucket> sums;
  for (const auto* histogram : {&one, &other}) {
    for (const TimeBucket& bucket : *histogram) {
      TimeBucket& sum = sums[bucket.begin_ns];
      sum = {bucket.begin_ns, bucket.end_ns, sum.faults + bucket.faults};
    }
  }
  std::vector<TimeBucket> all;
  for (const auto& [begin_ns, sum] : sums) all.push_back(sum);
  return all;
}

double nanoseconds(const PagingTally::Count& word) {
  return std::min(kNanoseconds.most, static_cast<double>(word.load()));
}

constexpr struct {
  std::uint64_t PagingReport::*count;
  const char* text;
} kWarnings[] = {
    {&PagingReport::failed_writes,
     "the file for pages could not be written to at times (is its file system full?): more was in DRAM than "
     "there should have been"},
    {&PagingReport::failed_reads, "the file for pages could not be read at times: the program got SIGBUS"},
    {&PagingReport::surprises,
     "the kernel had a page where the pager knew of none, or none where it knew of one: what the program "
     "computed is not to be trusted. This is a bug of nvmemu's, please report it"},
};

void warn(RunReport& report) {
  for (const auto& [count, text] : kWarnings) {
    if (report.paging.*count > 0) report.warnings.emplace_back(text);
  }
}

}  // namespace

PagingReport asked_for(const PagingReport& paging) {
  PagingReport asked{.page_to = paging.page_to};
  for (const auto& [name, member] : kPagingTexts) asked.*member = paging.*member;
  return asked;
}

void add_paging(const PagingReport& more, PagingReport& sum) {
  for (const auto& [name, member, is_newer] : kPagingFaults) {
    const FaultReport& one = more.*member;
    FaultReport& all = sum.*member;
    const auto before = static_cast<double>(all.faults), now = static_cast<double>(one.faults);
    const double mean_ns = before + now > 0 ? (before * all.mean_ns + now * one.mean_ns) / (before + now) : 0;
    all = faults_of(sum_of(all.histogram, one.histogram), all.faults + one.faults, mean_ns);
  }
  for (const auto& [name, member] : kPagingCounts) sum.*member += more.*member;
  for (const auto& [name, member] : kPagingSizes) sum.*member = std::max(sum.*member, more.*member);
  sum.device_ns = std::min(kNanoseconds.most, sum.device_ns + more.device_ns);
}

void read_paging(const Board& board, RunReport& report) {
  PagingReport& paging = report.paging;
  if (paging.dram_bytes <= 0) return;
  const PagingTally& tally = board.paging();
  paging.first = read_faults(tally.first, count(tally.first_touches), nanoseconds(tally.first_ns));
  paging.soft = read_faults(tally.soft, count(tally.soft_faults), nanoseconds(tally.soft_ns));
  paging.hard = read_faults(tally.hard, count(tally.hard_faults), nanoseconds(tally.hard_ns));
  paging.device_waits = read_waits(tally.device, nanoseconds(tally.device_ns));
  paging.write_faults = count(tally.write_faults);
  paging.write = read_faults(tally.write, paging.write_faults, nanoseconds(tally.write_ns));
  paging.touched_pages = count(tally.touched_pages);
  paging.device_ns = nanoseconds(tally.device_ns);
  paging.written_pages = count(tally.written_pages);
  paging.dropped_pages = count(tally.dropped_pages);
  paging.zero_pages = count(tally.zero_pages);
  paging.cleaned_pages = count(tally.cleaned_pages);
  paging.ahead_pages = count(tally.ahead_pages);
  paging.ahead_used = count(tally.ahead_used);
  paging.ahead_dropped = count(tally.ahead_dropped);
  paging.sequential_read_pages = count(tally.sequential_reads);
  paging.random_read_pages = count(tally.random_reads);
  paging.sequential_written_pages = count(tally.sequential_writes);
  paging.random_written_pages = count(tally.random_writes);
  paging.erases = count(tally.erases);
  paging.trapped_calls = count(tally.trapped_calls);
  paging.forks = count(tally.forks);
  paging.fork_copied_pages = count(tally.fork_copied_pages);
  paging.failed_writes = count(tally.failed_writes);
  paging.failed_reads = count(tally.failed_reads);
  paging.surprises = count(tally.surprises);
  paging.most_dram_bytes = bytes(tally.most_dram_pages);
  paging.most_store_bytes = bytes(tally.most_store_pages);
  paging.unpaged_bytes = std::min(kBytes.most, static_cast<double>(tally.unpaged_bytes.load()));
  warn(report);
}

}  // namespace nvmemu
