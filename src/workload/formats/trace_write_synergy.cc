#include <fmt/format.h>

#include <limits>
#include <ostream>

#include "workload/formats/row.h"
#include "workload/text/csv.h"
#include "workload/text/fixed_text.h"
#include "workload/trace.h"

namespace orrery {
namespace {

constexpr int kSecondDigits = 9;

// Why the format has no line for this job; empty: it has.
std::string fault(const JobSpec& job) {
  if (!parse_integer(job.name, 0, std::numeric_limits<std::int64_t>::max()).ok()) {
    return "its name is no whole number, and others have no place in this format";
  }
  if (job.model == kNoName) return "it has no model, and this format gives its speed by the model";
  return {};
}

}  // namespace

Status write_synergy_trace(const Workload& workload, std::ostream& out) {
  for (const std::string& name : workload.names) TRY(check_name(name));
  for (const JobSpec& job : workload.jobs) {
    if (const std::string why = fault(job); !why.empty()) {
      return invalid(fmt::format("job '{}' cannot be written: {}", job.name, why));
    }
    out << fmt::format("{},{},{},{},{}\n", job.name, csv_field(workload.name_of(job.model)),
                       fixed_text(job.submitted.time_since_epoch().count(), kSecondDigits),
                       job.iterations, job.gpus);
  }
  out.flush();
  if (!out) return Error{Code::Unavailable, "writing the trace failed; is the disk full?"};
  return {};
}

}  // namespace orrery
