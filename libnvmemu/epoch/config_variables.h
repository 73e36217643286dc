// SPDX-License-Identifier: Apache-2.0
// What the variables of the configuration are called, and the words that some of them take: for what reads
// and what writes them.
#pragma once

#include <array>
#include <string_view>

#include "epoch/config.h"

namespace nvmemu::variables {

inline constexpr std::string_view kReplay = "replay:";

inline constexpr const char* kReadLatency = "NVMEMU_READ_LATENCY";
inline constexpr const char* kReadBandwidth = "NVMEMU_READ_BANDWIDTH";
inline constexpr const char* kWriteBandwidth = "NVMEMU_WRITE_BANDWIDTH";
inline constexpr const char* kStat = "NVMEMU_STAT";
inline constexpr const char* kProfile = "NVMEMU_PROFILE";
inline constexpr const char* kWriteLatency = "NVMEMU_WRITE_LATENCY";
inline constexpr const char* kPersistBandwidth = "NVMEMU_PERSIST_BANDWIDTH";
inline constexpr const char* kPersist = "NVMEMU_PERSIST";
inline constexpr const char* kWriteGranularity = "NVMEMU_WRITE_GRANULARITY";
inline constexpr const char* kWriteQueue = "NVMEMU_WRITE_QUEUE";
inline constexpr const char* kTiers = "NVMEMU_TIERS";
inline constexpr const char* kPolicy = "NVMEMU_POLICY";
inline constexpr const char* kDram = "NVMEMU_DRAM";
inline constexpr const char* kPageTo = "NVMEMU_PAGE_TO";
inline constexpr const char* kPageDevice = "NVMEMU_PAGE_DEVICE";
inline constexpr const char* kStorage = "NVMEMU_STORAGE";
inline constexpr const char* kPageCache = "NVMEMU_PAGE_CACHE";
inline constexpr const char* kPageLayout = "NVMEMU_PAGE_LAYOUT";
inline constexpr const char* kPageReadAhead = "NVMEMU_PAGE_READAHEAD";
inline constexpr const char* kPagePolicy = "NVMEMU_PAGE_POLICY";
inline constexpr const char* kPageHandler = "NVMEMU_PAGE_HANDLER";
inline constexpr const char* kPageStore = "NVMEMU_PAGE_STORE";
inline constexpr const char* kBaseLatency = "NVMEMU_BASE_LATENCY";
inline constexpr const char* kEpoch = "NVMEMU_EPOCH";
inline constexpr const char* kAlternate = "NVMEMU_ALTERNATE";
inline constexpr const char* kClockHz = "NVMEMU_CLOCK_HZ";
inline constexpr const char* kTicker = "NVMEMU_TICKER";
inline constexpr const char* kWalks = "NVMEMU_WALKS";
inline constexpr const char* kAllocationSites = "NVMEMU_ALLOCATION_SITES";
inline constexpr const char* kWithoutRules = "NVMEMU_WITHOUT_RULES";
inline constexpr const char* kSource = "NVMEMU_SOURCE";
inline constexpr const char* kVerdict = "NVMEMU_VERDICT";
inline constexpr const char* kModel = "NVMEMU_MODEL";
inline constexpr const char* kRemoteLatency = "NVMEMU_REMOTE_LATENCY";
inline constexpr const char* kRecord = "NVMEMU_RECORD";
inline constexpr const char* kCalibration = "NVMEMU_CALIBRATION";
inline constexpr const char* kBoard = "NVMEMU_BOARD";
inline constexpr const char* kReport = "NVMEMU_REPORT";
inline constexpr const char* kQuiet = "NVMEMU_QUIET";

// One of a few words, each with what it means.
template <typename T>
struct Word {
  std::string_view word;
  T value;
};

inline constexpr std::array<Word<TickerChoice>, 3> kTickers{{{"auto", TickerChoice::kAuto},
                                                             {"perf", TickerChoice::kPerfEvent},
                                                             {"timer", TickerChoice::kPosixTimer}}};
inline constexpr std::array<Word<SourceChoice>, 3> kSources{
    {{"auto", SourceChoice::kAuto}, {"pmu", SourceChoice::kPmu}, {"sampler", SourceChoice::kSampler}}};
inline constexpr std::array<Word<bool>, 2> kOnOff{{{"on", true}, {"off", false}}};
inline constexpr std::array<Word<bool>, 2> kOneZero{{{"1", true}, {"0", false}}};

}  // namespace nvmemu::variables
