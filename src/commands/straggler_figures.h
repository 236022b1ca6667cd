#pragma once

#include <string>
#include <vector>

#include "report/page/html.h"
#include "training/step_trace/straggler_analysis.h"

namespace orrery {

// The answer in words: which part slows the training down, and what would be gained.
std::string straggler_verdict(const RecordedSteps& recorded, const StragglerAnalysis& analysis);

// Heat maps of the slow-downs, and the slowest step beside the same step without slowness. With
// many ranks, the slowest. `analysis` has by_rank.
std::vector<ReportFigure> straggler_figures(const RecordedSteps& recorded,
                                            const StragglerAnalysis& analysis,
                                            const StepTimes& ideal);

}  // namespace orrery
