// SPDX-License-Identifier: Apache-2.0
#include "memory/numa_policy.h"

#include <fmt/format.h>
#include <numa.h>
#include <numaif.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <memory>
#include <vector>

#include "base/quote.h"

// libnuma's complaints on stderr, which it lets programs replace: the errors below say as much.
extern "C" __attribute__((visibility("default"))) void numa_warn(int /*number*/, char* /*format*/, ...) {}

namespace nvmemu::pmbench {
namespace {

struct FreeBitmask {
  void operator()(bitmask* mask) const { numa_bitmask_free(mask); }
};
using Bitmask = std::unique_ptr<bitmask, FreeBitmask>;

struct Mode {
  const char* name;
  int mode;
  bool takes_nodes;
};
constexpr Mode kModes[] = {{"bind", MPOL_BIND, true},
                           {"preferred", MPOL_PREFERRED, true},
                           {"interleave", MPOL_INTERLEAVE, true},
                           {"local", MPOL_LOCAL, false}};

struct Policy {
  int mode = MPOL_DEFAULT;
  Bitmask nodes;  // null: none
};

Result<Bitmask> parse_nodes(std::string_view text) {
  Bitmask nodes(numa_parse_nodestring_all(std::string(text).c_str()));
  if (nodes == nullptr || numa_bitmask_weight(nodes.get()) == 0)
    return failure(fmt::format("{} is not a list of nodes", quote(text)), "write all, 1, or 0,2-3");
  const Bitmask allowed(numa_get_mems_allowed());
  for (unsigned node = 0; node < nodes->size; ++node) {
    if (numa_bitmask_isbitset(nodes.get(), node) != 0 && numa_bitmask_isbitset(allowed.get(), node) == 0)
      return failure(fmt::format("node {} has no memory that this process may use", node),
                     "numactl -H shows the nodes");
  }
  return nodes;
}

Result<Policy> parse_policy(std::string_view text) {
  if (numa_available() < 0) return failure("this kernel knows no NUMA policies");
  const std::string_view name = text.substr(0, text.find(':'));
  const auto* mode = std::find_if(std::begin(kModes), std::end(kModes),
                                  [&](const Mode& known) { return name == known.name; });
  if (mode == std::end(kModes))
    return failure(
        fmt::format("{} is not one of bind:NODES, preferred:NODE, interleave:NODES, local", quote(text)));
  if (mode->takes_nodes != (name.size() < text.size())) {
    return failure(
        fmt::format("{} {}", name, mode->takes_nodes ? "needs nodes, after a colon" : "takes no nodes"));
  }
  if (!mode->takes_nodes) return Policy{mode->mode, nullptr};
  Result<Bitmask> nodes = parse_nodes(text.substr(name.size() + 1));
  if (!nodes) return tl::unexpected(nodes.error());
  return Policy{mode->mode, *std::move(nodes)};
}

tl::unexpected<Error> in_option(const char* option, Error error) {
  error.message = fmt::format("{}: {}", option, error.message);
  return tl::unexpected(std::move(error));
}

Result<Bitmask> parse_cpus(const std::string& text) {
  Bitmask cpus(numa_parse_cpustring_all(text.c_str()));
  if (cpus == nullptr || numa_bitmask_weight(cpus.get()) == 0)
    return failure(fmt::format("-y: {} is not a list of this machine's processors", quote(text)),
                   "write all, 1, or 0,2-3");
  return cpus;
}

}  // namespace

Result<void> check_policy(std::string_view policy) { return bind_memory(nullptr, 0, policy); }

Result<void> bind_memory(void* memory, std::uint64_t bytes, std::string_view text) {
  if (text.empty()) return {};
  const Result<Policy> policy = parse_policy(text);
  if (!policy) return in_option("--numa", policy.error());
  if (bytes == 0) return {};
  const bitmask* nodes = policy->nodes.get();
  if (mbind(memory, bytes, policy->mode, nodes != nullptr ? nodes->maskp : nullptr,
            nodes != nullptr ? nodes->size + 1 : 0, 0) != 0) {
    return failure(fmt::format("--numa {}: {}", text, std::strerror(errno)));
  }
  return {};
}

Result<Affinity> Affinity::parse(std::string_view text) {
  Affinity affinity;
  if (text.empty()) return affinity;
  const std::size_t colon = text.find(':');
  affinity.cpus_ = text.substr(0, colon);
  if (numa_available() < 0) return failure("-y: this kernel knows no NUMA policies");
  if (const Result<Bitmask> cpus = parse_cpus(affinity.cpus_); !cpus) return tl::unexpected(cpus.error());
  if (colon == std::string_view::npos) return affinity;
  affinity.node_ = text.substr(colon + 1);
  if (const Result<Bitmask> nodes = parse_nodes(affinity.node_); !nodes)
    return in_option("-y", nodes.error());
  return affinity;
}

Result<void> Affinity::place_this_thread(unsigned thread) const {
  if (cpus_.empty()) return {};
  const Result<Bitmask> cpus = parse_cpus(cpus_);
  if (!cpus) return tl::unexpected(cpus.error());
  std::vector<unsigned> numbers;
  for (unsigned cpu = 0; cpu < (*cpus)->size && cpu < CPU_SETSIZE; ++cpu) {
    if (numa_bitmask_isbitset(cpus->get(), cpu) != 0) numbers.push_back(cpu);
  }
  const unsigned cpu = numbers[thread % numbers.size()];
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0)
    return failure(fmt::format("-y: cannot run on processor {}: {}", cpu, std::strerror(errno)));
  return {};
}

}  // namespace nvmemu::pmbench
