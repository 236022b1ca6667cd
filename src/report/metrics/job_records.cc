#include "report/metrics/job_records.h"

#include "base/invariant.h"
#include "base/json_text.h"
#include "report/csv.h"

namespace orrery {

void JobRecorder::write(const Event& event) {
  if (is_about_node(event.kind)) return;
  if (index(event.job) >= records_.size()) {
    records_.resize(index(event.job) + 1);
    stays_.resize(records_.size());
  }
  JobRecord& record = records_[index(event.job)];
  Stay& stay = stays_[index(event.job)];
  const auto release = [&] {
    if (stay.held_since != kNever) record.held += event.time - stay.held_since;
    stay.held_since = kNever;
  };
  switch (event.kind) {
    case EventKind::Submitted:
      INVARIANT(event.spec != nullptr, "a submission carries the job's spec");
      record.submitted = true;
      stay.place = fairness_.submit(event.time, *event.spec);
      stay.deadline = event.spec->deadline.value_or(kNever);
      return;
    case EventKind::Started:
      record.started = event.time;
      [[fallthrough]];
    case EventKind::Resumed:
      record.state = JobState::Running;
      stay.held_since = event.time;
      return;
    case EventKind::Paused:
      release();
      ++record.preemptions;
      record.state = JobState::Paused;
      return;
    case EventKind::Completed:
      record.state = JobState::Done;
      record.in_time = event.finished <= stay.deadline;
      break;
    case EventKind::Failed:
      record.state = JobState::Failed;
      break;
    case EventKind::Rejected:
      record.state = JobState::Rejected;
      break;
    case EventKind::Cancelled:
      record.state = JobState::Cancelled;
      break;
    default:
      return;
  }
  release();
  record.ended = event.time;
  const std::optional<double> rho = fairness_.leave(event.time, stay.place);
  if (record.state == JobState::Done) record.rho = rho;
}

std::string job_columns() {
  return "job,user,model,gpus,duration_s,submitted_s,started_s,ended_s,state,jct_s,wait_s,"
         "preemptions,deadline_s,in_time,rho";
}

namespace {

void append_time(fmt::memory_buffer& out, Time time) {
  if (time != kNever) append_number(out, seconds(time));
  out.push_back(',');
}

void append_line(fmt::memory_buffer& out, const Workload& workload, const JobSpec& job,
                 const JobRecord& record) {
  const bool done = record.state == JobState::Done;
  append_csv(out, job.name);
  out.push_back(',');
  append_csv(out, workload.name_of(job.user));
  out.push_back(',');
  append_csv(out, workload.name_of(job.model));
  out.push_back(',');
  append_number(out, static_cast<std::int64_t>(job.gpus));
  out.push_back(',');
  append_number(out, job.duration_s());
  out.push_back(',');
  append_time(out, job.submitted);
  append_time(out, record.started);
  append_time(out, record.ended);
  append(out, to_string(record.state));
  out.push_back(',');
  const Duration completion_time = record.ended - job.submitted;
  if (done) append_number(out, seconds(completion_time));
  out.push_back(',');
  if (done) append_number(out, seconds(completion_time - record.held));
  out.push_back(',');
  append_number(out, static_cast<std::int64_t>(record.preemptions));
  out.push_back(',');
  append_time(out, job.deadline.value_or(kNever));
  if (job.deadline && is_final(record.state)) append(out, record.in_time ? "1" : "0");
  out.push_back(',');
  if (record.rho) append_number(out, *record.rho);
  out.push_back('\n');
}

}  // namespace

void append_job_lines(fmt::memory_buffer& out, std::string_view prefix, const Workload& workload,
                      const JobRecords& records, const std::optional<JobWindow>& window) {
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (!records[i].submitted || (window && !window->holds(static_cast<JobId>(i)))) continue;
    append(out, prefix);
    append_line(out, workload, workload.jobs[i], records[i]);
  }
}

}  // namespace orrery
