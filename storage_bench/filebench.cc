// SPDX-License-Identifier: Apache-2.0
#include "storage_bench/filebench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/quote.h"

namespace nvmemu::storage_bench {
namespace {

struct Phrase {
  Action action;
  const char* keyword;
  const char* arguments;
};

// Sets have names that are no words of the language, as "files" and "log" are.
constexpr Phrase kPhrases[] = {
    {Action::kOpen, "openfile", ",filesetname=dataset,fd=1"},
    {Action::kCreate, "createfile", ",filesetname=dataset,fd=1"},
    {Action::kRead, "readwholefile", ",fd=1,iosize=$io"},
    {Action::kWrite, "writewholefile", ",srcfd=1,fd=1,iosize=$io"},
    {Action::kAppend, "appendfilerand", ",fd=1,iosize=$append"},
    {Action::kLog, "appendfilerand", ",filesetname=weblog,fd=2,iosize=$append"},
    {Action::kSync, "fsync", ",fd=1"},
    {Action::kClose, "closefile", ",fd=1"},
    {Action::kDelete, "deletefile", ",filesetname=dataset"},
    {Action::kStat, "statfile", ",filesetname=dataset"},
    {Action::kLimit, "opslimit", ""},
};

constexpr const char* kNameCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-";

std::string line_of(const Operation& operation) {
  const auto* phrase = std::ranges::find(kPhrases, operation.action, &Phrase::action);
  return fmt::format("    flowop {} name={}{}\n", phrase->keyword, operation.name, phrase->arguments);
}

std::string sets_of(const Flow& flow, const Parameters& parameters) {
  const std::string common = fmt::format("path=$dir,size=$size,dirwidth={}", parameters.files_in_folder);
  std::string text =
      fmt::format("define fileset name=dataset,{},entries={},prealloc={}{}\n", common, parameters.files,
                  flow.present_percent, flow.changes_files() || flow.has(Action::kAppend) ? "" : ",readonly");
  if (flow.has(Action::kLog))
    text += fmt::format("define fileset name=weblog,{},entries=1,prealloc=100\n", common);
  return text;
}

}  // namespace

Result<std::string> filebench_text(const Flow& flow, const Parameters& parameters,
                                   const std::string& directory) {
  if (!directory.starts_with('/') || directory.find_first_not_of(kNameCharacters) != std::string::npos) {
    return failure(quote(directory) + " is no directory that Filebench could read",
                   "name one by its whole path, of letters, digits, and /._- only");
  }
  std::string text = fmt::format(
      "# {}: {}. Made by nvmemu bench storage.\n"
      "# Filebench hangs where addresses are randomised: setarch -R filebench -f FILE\n"
      "set $dir={}\n"
      "set $size=cvar(type=cvar-gamma,parameters=mean:{};gamma:1.5)\n"
      "set $io={}\n"
      "set $append={}\n",
      flow.name, flow.purpose, directory, parameters.mean_file_bytes, parameters.io_bytes,
      parameters.append_bytes);
  text += sets_of(flow, parameters);
  text += fmt::format(
      "define process name={},instances=1\n{{\n  thread name=flow,memsize={},instances={}\n  {{\n", flow.name,
      2 * std::max(parameters.io_bytes, parameters.append_bytes), parameters.threads);
  for (const Operation& operation : flow.operations) text += line_of(operation);
  return text + fmt::format("  }}\n}}\nrun {:.0f}\n", std::max(1.0, std::ceil(parameters.seconds)));
}

}  // namespace nvmemu::storage_bench
