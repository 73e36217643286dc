// SPDX-License-Identifier: Apache-2.0
#include "preparation.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

namespace nvmemu {
namespace {

constexpr const char* kLibrary = "libnvmemu-preload.so";

std::string directory_of_this_binary() {
  std::array<char, 4096> path{};
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  const std::string_view text(path.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  return std::string(text.substr(0, text.rfind('/')));
}

Result<std::string> find_library() {
  std::vector<std::string> candidates;
  const char* given = std::getenv("NVMEMU_PRELOAD");
  if (given != nullptr && *given != '\0') {
    candidates.emplace_back(given);
  } else {
    const std::string here = directory_of_this_binary();
    for (const char* directory : {".", "../preload", NVMEMU_LIBRARY_FROM_BINARY}) {
      candidates.push_back(fmt::format("{}/{}/{}", here, directory, kLibrary));
    }
  }
  for (const std::string& candidate : candidates) {
    const std::unique_ptr<char, decltype(&std::free)> path(realpath(candidate.c_str(), nullptr), &std::free);
    if (path == nullptr) continue;
    if (std::strpbrk(path.get(), ": ") == nullptr) return std::string(path.get());
    return failure(
        fmt::format("LD_PRELOAD cannot hold {}: its path has a blank or a colon in it", path.get()),
        "install nvmemu elsewhere");
  }
  return failure(fmt::format("{} is missing: looked for {}", kLibrary, fmt::join(candidates, ", ")),
                 "set NVMEMU_PRELOAD to its path");
}

tl::unexpected<Refusal> failed(const Error& error) { return tl::unexpected(Refusal{kNvmemuFailed, error}); }

}  // namespace

tl::expected<Prepared, Refusal> prepare(const RunOptions& options, const std::vector<std::string>& command,
                                        TemporaryFiles& temporary) {
  Prepared prepared;
  auto request = check_options(options);
  if (!request) return failed(request.error());
  prepared.request = *std::move(request);
  if (command.empty()) return failed({"no command to run", "nvmemu run [OPTIONS] -- COMMAND [ARG...]"});

  auto path = resolve_command(command.front());
  if (!path) return tl::unexpected(path.error());
  prepared.path = *std::move(path);

  auto library = find_library();
  if (!library) return failed(library.error());
  prepared.library = *std::move(library);

  auto machine = read_machine(prepared.request.base_latency_ns, options.quiet);
  if (!machine) return failed(machine.error());
  prepared.machine = *std::move(machine);
  if (prepared.machine.calibration_is_temporary) temporary.add(prepared.machine.calibration_file);

  const auto target_ns = target_latency_ns(prepared.request, prepared.machine.base_latency_ns);
  if (!target_ns) return failed(target_ns.error());
  prepared.target_ns = *target_ns;
  return prepared;
}

}  // namespace nvmemu
