#pragma once

#include <string>

#include "cloud/analysis/analysis.h"

namespace orrery {

// What the analysis comes to, one sentence a line. A sentence without data is left out.
std::string verdict_text(const Analysis& analysis);

// The analysis for a reader: the verdict, then tables, then the rows that do not agree. Tables
// without data are left out.
std::string summary_text(const PublishedData& data, const Analysis& analysis);

}  // namespace orrery
