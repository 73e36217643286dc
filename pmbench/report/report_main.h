// SPDX-License-Identifier: Apache-2.0
// `pmbench report FILES...`
#pragma once

namespace nvmemu::pmbench {

// `argv[0]` is the subcommand's own name. Returns what the process shall exit with: 0, or 1 after an error
// message on stderr. Throws nothing.
int report_main(int argc, char** argv);

}  // namespace nvmemu::pmbench
