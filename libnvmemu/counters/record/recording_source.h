// SPDX-License-Identifier: Apache-2.0
// A counter source that keeps a record of what another counts. Async-signal-safe.
#pragma once

#include "counters/counter_source.h"
#include "counters/record/record_writer.h"

namespace nvmemu {

class RecordingSource final : public CounterSource {
 public:
  RecordingSource(CounterSource& counted, RecordWriter& record, const ThreadPlace& place)
      : counted_(counted), record_(record), place_(place), begin_ns_(record.now_ns()) {}

  EpochCounts read() noexcept override {
    const EpochCounts counts = counted_.read();
    const double end_ns = record_.now_ns();
    record_.add_epoch(place_, begin_ns_, end_ns, counts);
    begin_ns_ = end_ns;
    return counts;
  }

  void settle() noexcept override { counted_.settle(); }
  void rest(bool on) noexcept override { counted_.rest(on); }
  bool has_more() noexcept override { return counted_.has_more(); }
  bool has_news() noexcept override { return counted_.has_news(); }
  bool knows_enough(double waited_ns) noexcept override { return counted_.knows_enough(waited_ns); }
  double cpu_ns() noexcept override { return counted_.cpu_ns(); }
  void resume(double injected_ns) noexcept override { counted_.resume(injected_ns); }
  void note_wait(double spun_ns) noexcept override { counted_.note_wait(spun_ns); }
  void keep_warm() noexcept override { counted_.keep_warm(); }

 private:
  CounterSource& counted_;
  RecordWriter& record_;
  ThreadPlace place_;
  double begin_ns_;
};

}  // namespace nvmemu
