#pragma once

#include <string>
#include <vector>

#include "cloud/analysis/analysis.h"
#include "report/page/html.h"

namespace orrery {

// The figures of the ICAC'19 paper from the published data, and those that go beyond them. A figure
// without data is left out.
std::vector<ReportFigure> transient_figures(const PublishedData& data, const Analysis& analysis);
// These figures as a page that begins with the verdict.
std::string transient_page(const PublishedData& data, const Analysis& analysis);

}  // namespace orrery
