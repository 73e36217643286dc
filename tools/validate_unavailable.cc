// SPDX-License-Identifier: Apache-2.0
// `nvmemu validate` where its workloads cannot be built.
#include "subcommands.h"
#include "terminal.h"

namespace nvmemu {

void add_validate(Parser& app, const std::vector<std::string>& /*command*/, int& exit_status) {
  Parser subcommand =
      app.add_subcommand("validate", "compare emulated runs with ground truth: on x86-64 only");
  subcommand.allow_extras();
  subcommand.callback([&exit_status] {
    print_error({"nvmemu validate: its workloads are made for x86-64, and not for this processor yet",
                 "nvmemu record and nvmemu predict work here, where hardware counters do"});
    exit_status = kNvmemuFailed;
  });
}

}  // namespace nvmemu
