#pragma once

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>

#include "base/result.h"
#include "training/step_trace/step_trace.h"

namespace orrery {

inline constexpr int kStepTraceColumns = 11;

// Reads a trace of steps line by line: docs/formats/step-trace.md. Columns may stand in any order,
// and others beside them are ignored. An error names the file and the line.
class StepTraceParser {
 public:
  explicit StepTraceParser(std::string name) { trace_.name = std::move(name); }

  // The next line of the file, without its line end.
  Status add(std::string_view line);
  // The end of the file. A trace without operations is an error.
  Result<StepTrace> finish() &&;

 private:
  Status header(std::string_view line);
  Status row(std::string_view line);
  Error wrong(std::string what) const;
  Result<std::int64_t> whole(int column, std::int64_t low, std::int64_t high) const;
  Result<double> seconds(int column) const;

  StepTrace trace_;
  std::int64_t number_ = 0;                        // of the line
  int fields_ = 0;                                 // of a line; 0: no header yet
  std::array<int, kStepTraceColumns> field_of_{};  // column -> field of a line
  std::array<std::string_view, kStepTraceColumns> texts_{};
};

Result<StepTrace> parse_step_trace(const std::string& name, std::string_view text);

// The lines that the parser reads, with line ends.
std::string step_trace_header();
void append_step_operation(fmt::memory_buffer& out, const StepOperation& operation);

}  // namespace orrery
