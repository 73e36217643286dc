// SPDX-License-Identifier: Apache-2.0
// Whatever the bytes of /proc/thread-self/status, and in pieces of whatever length: the same number, of a
// line that has that name, the first such line's. Tried as they are, and as lines of a text that is in order.
#include <optional>

#include "fuzzing.h"
#include "thread_status.h"

using namespace nvmemu::preload;
using namespace nvmemu::fuzzing;

namespace {

const std::string& status() {
  static const std::string text =
      "Name:\tnginx\nState:\tR (running)\nGroups:\t4 24 27 30 46 100\nCapEff:\t000001ffffffffff\n"
      "NoNewPrivs:\t0\nSeccomp:\t2\nSeccomp_filters:\t1\nCpus_allowed_list:\t0-3\n";
  return text;
}

std::optional<std::uint64_t> find(std::string_view name, std::string_view text, std::size_t piece_bytes) {
  StatusSearch search(name);
  for (; !text.empty(); text.remove_prefix(std::min(piece_bytes, text.size()))) {
    if (search.take(text.substr(0, piece_bytes))) return search.number();
  }
  return std::nullopt;
}

void check(std::string_view name, const std::string& text, std::size_t piece_bytes) {
  const auto found = find(name, text, piece_bytes);
  require(found == find(name, text, text.size()));
  const std::string label = std::string(name) + ":\t";
  require(!found || ("\n" + text).find("\n" + label) != std::string::npos);
  const std::string line = label + "2a\n";
  require(find(name, line + text, piece_bytes) == 0x2a);
  const std::string whole = text + "\n";  // its last line is one, too
  require(find(name, whole + line, piece_bytes) == find(name, whole, piece_bytes).value_or(0x2a));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t piece_bytes = 1 + *data;
  const std::string_view text = text_of(data + 1, size - 1);
  for (const char* name : {"Seccomp", "NoNewPrivs", "CapEff"}) {
    check(name, std::string(text), piece_bytes);
    check(name, with_lines_of(text, status()), piece_bytes);
  }
  return 0;
}
