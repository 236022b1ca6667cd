#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/output_file.h"
#include "base/result.h"
#include "model/job.h"
#include "report/page/html.h"
#include "report/terminal/standard_output.h"

namespace orrery {

enum class Format { Table, Json, Csv };

Status print_runs(std::span<const ReportRun> runs, Format format, bool ratios);

// Says on standard error what makes figures of these runs less than they seem.
void tell_warnings(std::span<const ReportRun> runs);

// Says on standard error in one line what was odd in the trace, if anything.
void tell_oddities(const std::string& trace, const Workload& workload);

}  // namespace orrery
