#include <fmt/format.h>

#include <ostream>
#include <streambuf>

#include "commands/input_files.h"
#include "commands/live_commands.h"
#include "commands/simulate.h"
#include "experiments/runs/output.h"
#include "workload/generators/synergy_models.h"
#include "workload/trace.h"

namespace orrery {
namespace {

// The jobs that came, in the order they did: those of the trace, as far as the run went.
class Submissions final : public EventSink {
 public:
  void write(const Event& event) override {
    if (event.kind == EventKind::Submitted) jobs_.push_back(event.job);
  }

  Workload of(const Workload& workload) const {
    Workload came = workload;
    came.jobs.clear();
    for (const JobId job : jobs_) came.jobs.push_back(workload.jobs[index(job)]);
    return came;
  }

 private:
  std::vector<JobId> jobs_;
};

Status write_jobs(const Workload& workload, std::ostream& out, RecordFormat format,
                  const std::string& path) {
  if (format == RecordFormat::Synergy) return write_synergy_trace(workload, out);
  return write_trace(workload, out,
                     path.ends_with(".jsonl") ? TraceSyntax::Jsonl : TraceSyntax::Csv);
}

// Fails if the format cannot hold these jobs. Checked before a long run.
Status check_jobs(const Workload& workload, RecordFormat format, const std::string& path) {
  class Nowhere final : public std::streambuf {
    int overflow(int c) override { return c == traits_type::eof() ? 0 : c; }
    std::streamsize xsputn(const char*, std::streamsize size) override { return size; }
  };
  // That format gives the speed of a job by its model.
  for (const JobSpec& job : workload.jobs) {
    if (format != RecordFormat::Synergy || job.model == kNoName) break;
    const std::string_view model = workload.name_of(job.model);
    if (find_synergy_model(model) != nullptr) continue;
    return invalid(fmt::format(
        "{}: job '{}' cannot be written: '{}' is none of Synergy's models; use --format orrery or "
        "events",
        path, job.name, model));
  }
  Nowhere nowhere;
  std::ostream out(&nowhere);
  Status written = write_jobs(workload, out, format, path);
  if (written.ok()) return {};
  return std::move(written).error().at(path);
}

Status save_jobs(const Workload& workload, RecordFormat format, const std::string& path) {
  TRY_ASSIGN(OutputFile file, OutputFile::open(path));
  OutputStream out(std::move(file));
  Status written = write_jobs(workload, out, format, path);
  if (!written.ok() && out.good()) return written;
  return out.finish();
}

Result<RunRequest> request_of(const RecordArguments& arguments, RecordFormat format) {
  if (format == RecordFormat::Events && !arguments.run.events.empty()) {
    return invalid("--events and --out name the same log twice; leave out --events");
  }
  const NamedFile outputs[] = {{"--out", arguments.output},
                               {"--report", arguments.run.report},
                               {"--jobs-csv", arguments.run.jobs_csv},
                               {"--events", arguments.run.events}};
  TRY(check_outputs(outputs, inputs_of(arguments.run)));
  SimulateArguments run = arguments.run;
  if (format == RecordFormat::Events) run.events = arguments.output;
  TRY_ASSIGN(std::vector<RunRequest> requests, simulate_requests(run));
  if (requests.size() != 1) {
    return invalid(fmt::format(
        "a record is that of one run, and these are {}: name one trace, policy and seed",
        requests.size()));
  }
  return std::move(requests[0]);
}

}  // namespace

Result<RecordFormat> record_format(const RecordArguments& arguments) {
  if (arguments.format == "events") return RecordFormat::Events;
  if (arguments.format == "orrery") return RecordFormat::Orrery;
  if (arguments.format == "synergy") return RecordFormat::Synergy;
  if (!arguments.format.empty()) {
    return invalid(fmt::format("--format {}: write events, orrery or synergy", arguments.format));
  }
  return arguments.output.ends_with(".csv") ? RecordFormat::Orrery : RecordFormat::Events;
}

Status record_command(const RecordArguments& arguments) {
  TRY_ASSIGN(const Format shown, format_of(arguments.run.json, arguments.run.csv));
  TRY_ASSIGN(const RecordFormat format, record_format(arguments));
  TRY_ASSIGN(RunRequest request, request_of(arguments, format));
  if (format != RecordFormat::Events) TRY(check_jobs(*request.workload, format, arguments.output));
  Submissions submissions;
  request.listener = &submissions;
  TRY_ASSIGN(const RunsResult result,
             make_runs({&request, 1}, {.threads = 1, .progress = !arguments.run.quiet}));
  if (format != RecordFormat::Events) {
    TRY(save_jobs(submissions.of(*request.workload), format, arguments.output));
  }
  if (!arguments.run.jobs_csv.empty()) {
    TRY(write_jobs_csv(arguments.run.jobs_csv, result.runs, request.run.window));
  }
  return show_runs(result,
                   {.format = shown, .quiet = arguments.run.quiet, .report = arguments.run.report});
}

}  // namespace orrery
