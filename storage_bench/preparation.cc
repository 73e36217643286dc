// SPDX-License-Identifier: Apache-2.0
#include "storage_bench/preparation.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/descriptor.h"
#include "base/write_signals.h"
#include "pattern/rng.h"
#include "storage_bench/call_failure.h"
#include "storage_bench/file_calls.h"

namespace nvmemu::storage_bench {
namespace {

constexpr std::uint64_t kPieceBytes = std::uint64_t{1} << 20;

Result<bool> make_file(const std::string& path, std::uint64_t bytes, const std::vector<char>& content,
                       const StopAsked& stop) {
  const WriteSignals signals;  // a file at its limit is an error, and not the process's end
  Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file) return call_failure("make", path, errno);
  while (bytes > 0) {
    if (stop()) return false;
    const std::uint64_t piece = std::min<std::uint64_t>(bytes, content.size());
    if (write_bytes(file.get(), content, piece) < 0) {
      const int error = errno;
      signals.discard(error);
      return call_failure("write", path, error);
    }
    bytes -= piece;
  }
  if (const int error = file.close(); error != 0) return call_failure("write", path, error);
  return true;
}

}  // namespace

std::vector<char> make_content(std::uint64_t bytes) {
  std::vector<char> content(bytes);
  pmbench::Rng random(0);
  for (std::size_t i = 0; i < content.size(); i += sizeof(std::uint64_t)) {
    const std::uint64_t word = random.next();
    std::memcpy(content.data() + i, &word, std::min(sizeof word, content.size() - i));
  }
  return content;
}

Result<bool> make_files(const DataSet& set, const Flow& flow, const std::string& folder,
                        const StopAsked& stop) {
  for (const std::string& name : set.folders()) {
    const std::string path = fmt::format("{}/{}", folder, name);
    if (mkdir(path.c_str(), 0700) != 0) return call_failure("make", path, errno);
    if (stop()) return false;
  }
  const std::vector<char> content = make_content(kPieceBytes);
  if (flow.has(Action::kLog)) {
    if (auto made = make_file(folder + "/" + DataSet::kLog, 0, content, stop); !made) return made;
  }
  for (std::uint64_t file = 0; file < set.files(); ++file) {
    if (!set.exists_at_start(file)) continue;
    auto made = make_file(folder + "/" + set.path(file), set.bytes_of(file), content, stop);
    if (!made || !*made) return made;
  }
  return true;
}

}  // namespace nvmemu::storage_bench
