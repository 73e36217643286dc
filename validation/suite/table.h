// SPDX-License-Identifier: Apache-2.0
// Rows and summaries as text.
#pragma once

#include <string>
#include <vector>

#include "suite/row.h"
#include "suite/summary.h"

namespace nvmemu::suite {

// The rows, by truth.
std::string rows_table(const std::vector<Row>& rows);

// Of each truth and of all, beside the papers' figures.
std::string summary_table(const std::vector<Summary>& summaries);

// What failed and was skipped, and why; empty where nothing was.
std::string remarks(const std::vector<Row>& rows);

}  // namespace nvmemu::suite
