// SPDX-License-Identifier: Apache-2.0
#include "output/vma_json.h"

#include "output/description_fields.h"
#include "output/json_value.h"

namespace nvmemu::pmbench {

template <>
struct Names<AreaPatternKind> {
  static constexpr auto kAll = names_from(kAreaPatterns, &AreaPatternDescription::kind);
};

template <>
struct Names<SlabSource> {
  static constexpr std::array<std::pair<SlabSource, std::string_view>, 3> kAll{
      {{SlabSource::kNone, "none"}, {SlabSource::kMeminfo, "meminfo"}, {SlabSource::kSlabinfo, "slabinfo"}}};
};

template <typename Archive, Is<VmaOptions> T>
void fields(Archive& archive, T& options) {
  archive("patterns", options.patterns);
  archive("operations", options.operations);
  archive("touch", options.touch);
  archive("unmap", options.unmap);
  archive("fork", options.fork);
  archive("rounds", options.rounds);
  archive("seed", options.seed);
  archive("raise_limit", options.raise_limit);
  archive("faulters", options.faulters);
}

template <typename Archive, Is<AreaBand> T>
void fields(Archive& archive, T& band) {
  archive("from", band.from);
  archive("n", band.to);
  archive("areas", band.areas);
  archive("median_ns", band.median_ns);
  archive("mean_ns", band.mean_ns);
  archive("p99_ns", band.p99_ns);
  archive("p99_9_ns", band.p999_ns);
  archive("max_ns", band.max_ns);
  archive("round_medians_ns", band.round_medians_ns);
}

template <typename Archive, Is<SlopeFit> T>
void fields(Archive& archive, T& fit) {
  archive("a_ns", fit.a_ns);
  archive("b_ns", fit.b_ns);
  archive("b_half_width_95_ns", fit.b_half_width_95);
}

template <typename Archive, Is<AreaCall> T>
void fields(Archive& archive, T& call) {
  archive("name", call.name);
  archive("bands", call.bands);
  archive("fit", call.fit);
  archive("latencies", call.latencies);
}

template <typename Archive, Is<VmaCase> T>
void fields(Archive& archive, T& one) {
  archive("pattern", one.pattern);
  archive("rounds", one.rounds);
  archive("areas_half_way", one.areas_half_way);
  archive("areas_at_end", one.areas_at_end);
  archive("bytes_per_area", one.bytes_per_area);
  archive("bytes_source", one.bytes_source);
  archive("unmap_all_ns", one.unmap_all_ns);
  archive("calls", one.calls);
}

template <typename Archive, Is<FaulterResult> T>
void fields(Archive& archive, T& faulters) {
  archive("beside", faulters.beside);
  archive("seconds", faulters.seconds);
  archive("faults", faulters.faults);
}

template <typename Archive, Is<VmaResult> T>
void fields(Archive& archive, T& result) {
  archive("version", result.version);
  archive("command", result.command);
  archive("options", result.options);
  archive("machine", result.machine);
  archive("management", result.management);
  archive("started", result.started);
  archive("interrupted", result.interrupted);
  archive("timer_ns", result.timer_ns);
  archive("cases", result.cases);
  archive("faulters", result.faulters);
  archive("warnings", result.warnings);
}

std::string to_json(const VmaResult& result) { return json_text(kVmaSchema, result); }

Result<VmaResult> parse_vma_json(std::string_view text) { return parse_json_of<VmaResult>(text, kVmaSchema); }

}  // namespace nvmemu::pmbench
