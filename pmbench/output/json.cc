// SPDX-License-Identifier: Apache-2.0
#include "output/json.h"

#include "output/files.h"
#include "output/json_fields.h"
#include "output/json_value.h"

namespace nvmemu::pmbench {

std::string to_json(const RunResult& result) { return json_text(kJsonSchema, result); }

Result<void> write_json(const RunResult& result, const std::string& path) {
  return write_file(path, to_json(result));
}

Result<RunResult> parse_json(std::string_view text) { return parse_json_of<RunResult>(text, kJsonSchema); }

Result<RunResult> read_json(const std::string& path) {
  const Result<std::string> text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  Result<RunResult> result = parse_json(*text);
  if (!result) return failure(path + ": " + result.error().message, result.error().hint);
  return result;
}

}  // namespace nvmemu::pmbench
