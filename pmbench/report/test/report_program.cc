// SPDX-License-Identifier: Apache-2.0
// `pmbench report` and nothing else of pmbench.
#include "report/report_main.h"

int main(int argc, char** argv) { return nvmemu::pmbench::report_main(argc, argv); }
