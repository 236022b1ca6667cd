#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/standard_output.h"
#include "model/job.h"
#include "report/html.h"

namespace orrery {

enum class Format { Table, Json, Csv };

Status print_runs(std::span<const ReportRun> runs, Format format, bool ratios);

// Says on standard error in one line what was odd in the trace, if anything.
void tell_oddities(const std::string& trace, const Workload& workload);

// All or nothing: the file is written beside its place and then put there.
Status write_file(const std::string& path, std::string_view text);

}  // namespace orrery
