#pragma once

#include <string>
#include <string_view>

#include "live/api/job_request.h"

namespace orrery {

// What the patterns in the path of an output file stand for, after `sbatch --output`.
struct OutputNames {
  JobNumber job = 0;        // %j
  JobNumber array_job = 0;  // %A: the first job of the array; of another job its own number
  int array_index = -1;     // %a
  int rank = 0;             // %r, %t
  int node = 0;             // %n: among the job's nodes
  std::string node_name{};  // %N
  std::string user{};       // %u
  std::string name{};       // %x: of the job
};

// Refuses a pattern that does not exist, and those of an array where the job is in none.
Status check_output_pattern(std::string_view path, bool is_array);

// A number between % and a numeric pattern pads it with zeros: %4j. "%%" is a percent sign. A slash
// in a name becomes '_'. What is no pattern stays as it is.
std::string expand_output(std::string_view path, const OutputNames& names);

}  // namespace orrery
