// SPDX-License-Identifier: Apache-2.0
// All that a run can be written as.
#pragma once

#include "output/csv.h"       // IWYU pragma: export
#include "output/json.h"      // IWYU pragma: export
#include "output/progress.h"  // IWYU pragma: export
#include "output/text.h"      // IWYU pragma: export
#include "output/xml.h"       // IWYU pragma: export
