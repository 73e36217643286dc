// SPDX-License-Identifier: Apache-2.0
#include "output/touch_json.h"

#include "output/description_fields.h"
#include "output/json_value.h"

namespace nvmemu::pmbench {

template <>
struct Names<TouchPattern> {
  static constexpr auto kAll = names_from(kTouchPatterns, &TouchPatternDescription::pattern);
};

template <>
struct Names<TouchClass> {
  static constexpr std::array<std::pair<TouchClass, std::string_view>, kTouchClasses> kAll{
      {{TouchClass::kFast, kTouchClassNames[0]},
       {TouchClass::kSlow, kTouchClassNames[1]},
       {TouchClass::kMajorFault, kTouchClassNames[2]},
       {TouchClass::kPreempted, kTouchClassNames[3]}}};
};

template <typename Archive, Is<TouchOptions> T>
void fields(Archive& archive, T& options) {
  archive("whole_machine", options.whole_machine);
  archive("patterns", options.patterns);
  archive("ratio", options.ratio);
  archive("memory_limit_bytes", options.memory_limit_bytes);
  archive("eat_to_bytes", options.eat_to_bytes);
  archive("huge_pages", options.huge_pages);
  archive("runs", options.runs);
  archive("swap_device", options.swap_device);
  archive("swap_bytes", options.swap_bytes);
  archive("page_cluster", options.page_cluster);
  archive("seed", options.seed);
}

template <typename Archive, Is<SlowTouch> T>
void fields(Archive& archive, T& touch) {
  archive("index", touch.index);
  archive("ns", touch.ns);
  archive("class", touch.touch_class);
}

template <typename Archive, Is<RssPoint> T>
void fields(Archive& archive, T& point) {
  archive("touches", point.touches);
  archive("rss_bytes", point.rss_bytes);
}

template <typename Archive, Is<KswapdTime> T>
void fields(Archive& archive, T& thread) {
  archive("name", thread.name);
  archive("cpu_s", thread.cpu_s);
}

template <typename Archive, Is<ReclaimUse> T>
void fields(Archive& archive, T& use) {
  archive("seconds", use.seconds);
  archive("counters", use.counters);
  archive("kswapd", use.kswapd);
}

// An object with a field for each class.
template <typename T>
struct ClassesOf {
  T& classes;
};
template <typename Archive, typename T>
void fields(Archive& archive, ClassesOf<T>& of) {
  for (std::size_t i = 0; i < kTouchClasses; ++i) archive(kTouchClassNames[i].data(), of.classes[i]);
}
template <typename Archive, typename T>
void fields(Archive& archive, const ClassesOf<T>& of) {
  for (std::size_t i = 0; i < kTouchClasses; ++i) archive(kTouchClassNames[i].data(), of.classes[i]);
}

template <typename Archive, Is<TouchRun> T>
void fields(Archive& archive, T& run) {
  archive("touches", run.touches);
  ClassesOf<decltype((run.classes))> classes{run.classes};
  archive("classes", classes);
  archive("loop_ns", run.loop_ns);
  archive("cpu_ns", run.cpu_ns);
  added(archive, "between_ns", run.between_ns);
  archive("minor_faults", run.minor_faults);
  archive("major_faults", run.major_faults);
  archive("preemptions", run.preemptions);
  archive("slowest", run.slowest);
  archive("rss", run.rss);
  archive("reclaim", run.reclaim);
  archive("was_short_of_swap", run.was_short_of_swap);
}

template <typename Archive, Is<TouchCase> T>
void fields(Archive& archive, T& one) {
  archive("pattern", one.pattern);
  archive("huge_pages", one.huge_pages);
  archive("runs", one.runs);
}

template <typename Archive, Is<TouchResult> T>
void fields(Archive& archive, T& result) {
  archive("version", result.version);
  archive("command", result.command);
  archive("options", result.options);
  archive("machine", result.machine);
  archive("management", result.management);
  archive("started", result.started);
  archive("interrupted", result.interrupted);
  archive("timer_ns", result.timer_ns);
  added(archive, "swap_taken", result.swap_taken);
  archive("memory_bytes", result.memory_bytes);
  archive("touched_bytes", result.touched_bytes);
  archive("cases", result.cases);
  archive("warnings", result.warnings);
}

std::string to_json(const TouchResult& result) { return json_text(kTouchSchema, result); }

Result<TouchResult> parse_touch_json(std::string_view text) {
  return parse_json_of<TouchResult>(text, kTouchSchema);
}

}  // namespace nvmemu::pmbench
