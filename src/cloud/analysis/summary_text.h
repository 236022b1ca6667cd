#pragma once

#include <string>

#include "cloud/analysis/analysis.h"

namespace orrery {

// The analysis for a reader: the verdict, then tables, then the rows that do not agree. Tables
// without data are left out.
std::string summary_text(const PublishedData& data, const Analysis& analysis);

}  // namespace orrery
