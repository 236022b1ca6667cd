#include <fmt/format.h>

#include <cmath>
#include <ostream>

#include "workload/formats/row.h"
#include "workload/text/csv.h"
#include "workload/text/fixed_text.h"
#include "workload/trace.h"

namespace orrery {
namespace {

constexpr int kSecondDigits = 9;

std::string seconds_text(Time time) {
  return fixed_text(time.time_since_epoch().count(), kSecondDigits);
}

// Whole seconds where the job's iteration was made of them, so that it comes out the same again.
std::string duration_text(const JobSpec& job) {
  const double whole_s = std::round(job.duration_s());
  return fmt::format("{}",
                     whole_s / job.iterations == job.iteration_s ? whole_s : job.duration_s());
}

// The published simulator wants a deadline of best-effort jobs too, and does not look at it.
std::string deadline_text(const JobSpec& job) {
  if (job.deadline) return seconds_text(*job.deadline);
  return seconds_text(job.submitted +
                      std::chrono::seconds(static_cast<std::int64_t>(job.duration_s())));
}

}  // namespace

Status write_elasticflow_trace(const Workload& workload, std::ostream& out) {
  for (const std::string& name : workload.names) TRY(check_name(name));
  out << "job_id,submit_time,iteration,model_name,ddl,batch_size,num_gpu,duration,best_effort\n";
  for (const JobSpec& job : workload.jobs) {
    if (auto named = check_name(job.name); !named.ok() || job.name.empty()) {
      return invalid(fmt::format("job #{} cannot be written: {}", index(job.id),
                                 named.ok() ? "it has no name" : named.error().message));
    }
    out << fmt::format("{},{},{},{},{},{},{},{},{}\n", csv_field(job.name),
                       seconds_text(job.submitted), job.iterations,
                       csv_field(workload.name_of(job.model)), deadline_text(job), job.batch_size,
                       job.gpus, duration_text(job), job.deadline ? 0 : 1);
  }
  out.flush();
  if (!out) return Error{Code::Unavailable, "writing the trace failed; is the disk full?"};
  return {};
}

}  // namespace orrery
