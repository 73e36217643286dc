// SPDX-License-Identifier: Apache-2.0
// Which operations, in which order, on which share of files that exist: Filebench's personalities of these
// names (V. Tarasov et al., "Filebench: a flexible framework for file system benchmarking", ;login: 41(1),
// 2016). The parameters `paper`: table 1 of "Evaluation of various workloads in Filebench suitable for
// phase-change memory". `small`: a 50th of its files, 4 threads, 2 s.
#include "storage_bench/flow.h"

#include <algorithm>

namespace nvmemu::storage_bench {
namespace {

using enum Action;

constexpr NamedAction kActions[] = {
    {kOpen, "open"},     {kCreate, "create"}, {kRead, "read"},   {kWrite, "write"},
    {kAppend, "append"}, {kLog, "log"},       {kSync, "sync"},   {kClose, "close"},
    {kDelete, "delete"}, {kStat, "stat"},     {kLimit, "limit"},
};

constexpr Operation kFileserver[] = {
    {kCreate, "create1"}, {kWrite, "write1"},   {kClose, "close1"},  //
    {kOpen, "open1"},     {kAppend, "append1"}, {kClose, "close2"},  //
    {kOpen, "open2"},     {kRead, "read1"},     {kClose, "close3"},  //
    {kDelete, "delete1"}, {kStat, "stat1"},
};

constexpr Operation kWebserver[] = {
    {kOpen, "open1"},  {kRead, "read1"},  {kClose, "close1"},   //
    {kOpen, "open2"},  {kRead, "read2"},  {kClose, "close2"},   //
    {kOpen, "open3"},  {kRead, "read3"},  {kClose, "close3"},   //
    {kOpen, "open4"},  {kRead, "read4"},  {kClose, "close4"},   //
    {kOpen, "open5"},  {kRead, "read5"},  {kClose, "close5"},   //
    {kOpen, "open6"},  {kRead, "read6"},  {kClose, "close6"},   //
    {kOpen, "open7"},  {kRead, "read7"},  {kClose, "close7"},   //
    {kOpen, "open8"},  {kRead, "read8"},  {kClose, "close8"},   //
    {kOpen, "open9"},  {kRead, "read9"},  {kClose, "close9"},   //
    {kOpen, "open10"}, {kRead, "read10"}, {kClose, "close10"},  //
    {kLog, "log1"},
};

constexpr Operation kWebproxy[] = {
    {kDelete, "delete1"},                                            //
    {kCreate, "create1"}, {kAppend, "append1"}, {kClose, "close1"},  //
    {kOpen, "open2"},     {kRead, "read2"},     {kClose, "close2"},  //
    {kOpen, "open3"},     {kRead, "read3"},     {kClose, "close3"},  //
    {kOpen, "open4"},     {kRead, "read4"},     {kClose, "close4"},  //
    {kOpen, "open5"},     {kRead, "read5"},     {kClose, "close5"},  //
    {kOpen, "open6"},     {kRead, "read6"},     {kClose, "close6"},  //
    {kLimit, "limit1"},
};

constexpr Operation kVarmail[] = {
    {kDelete, "delete1"},                                                                //
    {kCreate, "create2"}, {kAppend, "append2"}, {kSync, "sync2"},   {kClose, "close2"},  //
    {kOpen, "open3"},     {kRead, "read3"},                                              //
    {kAppend, "append3"}, {kSync, "sync3"},     {kClose, "close3"},                      //
    {kOpen, "open4"},     {kRead, "read4"},     {kClose, "close4"},
};

static_assert(std::size(kFileserver) == 11 && std::size(kWebserver) == 31 && std::size(kWebproxy) == 20 &&
              std::size(kVarmail) == 13);

constexpr std::uint64_t kKibibyte = 1024;

// What differs: files, their mean size, how many a folder holds, and the most of an append.
constexpr Parameters paper(std::uint64_t files, std::uint64_t mean_kib, std::uint64_t files_in_folder,
                           std::uint64_t append_kib) {
  return {.files = files,
          .mean_file_bytes = mean_kib * kKibibyte,
          .files_in_folder = files_in_folder,
          .io_bytes = kKibibyte * kKibibyte,
          .append_bytes = append_kib * kKibibyte,
          .threads = 50,
          .seconds = 60};
}

constexpr Parameters smaller(Parameters parameters) {
  parameters.files /= 50;
  parameters.threads = 4;
  parameters.seconds = 2;
  return parameters;
}

constexpr Flow flow(const char* name, const char* purpose, std::span<const Operation> operations,
                    unsigned present_percent, const Parameters& paper) {
  return {name, purpose, operations, present_percent, paper, smaller(paper)};
}

constexpr Flow kFlows[] = {
    flow("fileserver", "creates, writes, appends, reads, deletes", kFileserver, 80,
         paper(100'000, 128, 20, 16)),
    flow("webserver", "reads ten files, appends to a log", kWebserver, 100, paper(100'000, 64, 20, 8)),
    flow("webproxy", "replaces one file, reads five", kWebproxy, 80, paper(100'000, 32, 1'000'000, 16)),
    flow("varmail", "replaces mail and synchronises it", kVarmail, 80, paper(50'000, 16, 1'000'000, 16)),
};

}  // namespace

bool Flow::has(Action action) const noexcept {
  return std::ranges::any_of(operations, [action](const Operation& own) { return own.action == action; });
}

std::span<const NamedAction> actions() noexcept { return kActions; }

const char* name_of(Action action) noexcept {
  return std::ranges::find(kActions, action, &NamedAction::action)->name;
}

std::span<const Flow> flows() noexcept { return kFlows; }

const Flow* find_flow(std::string_view name) noexcept {
  const auto* found = std::ranges::find_if(kFlows, [name](const Flow& flow) { return flow.name == name; });
  return found == std::end(kFlows) ? nullptr : found;
}

}  // namespace nvmemu::storage_bench
