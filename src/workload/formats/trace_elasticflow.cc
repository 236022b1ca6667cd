#include <fmt/format.h>

#include <array>

#include "workload/formats/simulator_table.h"
#include "workload/formats/trace_reader.h"
#include "workload/generators/elasticflow_models.h"
#include "workload/text/csv.h"

namespace orrery {
namespace {

// Four columns have two spellings: that of the public traces and that of the generator.
enum Column : std::size_t {
  kJob,
  kGpus,
  kDuration,
  kModel,
  kBatch,
  kBestEffort,
  kRealIteration,
  kRealDuration,
  kSubmission,
  kSubmit,
  kNumIteration,
  kIteration,
  kDeadline,
  kDdl,
};
constexpr auto kColumns = std::to_array<std::string_view>(
    {"job_id", "num_gpu", "duration", "model_name", "batch_size", "best_effort", "real_iteration",
     "real_duration", "submission_time", "submit_time", "num_iteration", "iteration", "deadline",
     "ddl"});
constexpr std::array<std::size_t, 3> kRequired = {kJob, kGpus, kDuration};
constexpr int kNanoDigits = 9;

std::string refusal(std::string_view first_line) {
  static constexpr auto kSignature =
      std::to_array<std::string_view>({"job_id", "num_gpu", "duration"});
  std::string missing = missing_column(first_line, kSignature);
  const auto either = [&](std::size_t first, std::size_t second) {
    const std::array<std::string_view, 2> names = {kColumns[first], kColumns[second]};
    if (!missing.empty() || missing_column(first_line, std::span(names).first(1)).empty() ||
        missing_column(first_line, std::span(names).last(1)).empty()) {
      return;
    }
    missing = fmt::format("no column '{}' or '{}'", names[0], names[1]);
  };
  either(kSubmission, kSubmit);
  either(kNumIteration, kIteration);
  return missing;
}

// Which of the two spellings the header has.
Result<std::size_t> spelling(const CsvTable& table, const LineReader& lines, std::size_t first,
                             std::size_t second) {
  if (table.has(first) && table.has(second)) {
    return lines.wrong(fmt::format("columns '{}' and '{}' say the same; keep one", kColumns[first],
                                   kColumns[second]));
  }
  return table.has(first) ? first : second;
}

struct Spellings {
  std::size_t submit = kSubmit;
  std::size_t iterations = kIteration;
  std::size_t deadline = kDdl;
};

Result<Spellings> spellings(const CsvTable& table, const LineReader& lines) {
  Spellings columns;
  TRY_ASSIGN(columns.submit, spelling(table, lines, kSubmission, kSubmit));
  TRY_ASSIGN(columns.iterations, spelling(table, lines, kNumIteration, kIteration));
  TRY_ASSIGN(columns.deadline, spelling(table, lines, kDeadline, kDdl));
  for (const std::size_t column : {columns.submit, columns.iterations}) {
    if (!table.has(column)) {
      return lines.wrong(fmt::format("the header has no column '{}'", kColumns[column]));
    }
  }
  return columns;
}

// A deadline that has passed at submission is read as it is: refusing it is the policy's business.
Status read_deadline(const Row& row, const Spellings& columns, JobSpec& job) {
  bool best_effort = false;
  if (row.given(kBestEffort)) {
    TRY_ASSIGN(const std::int64_t flag, row.integer(kBestEffort, 0, 1));
    best_effort = flag == 1;
  }
  if (!row.given(columns.deadline)) return {};
  TRY_ASSIGN(const std::int64_t deadline_ns, row.fixed(columns.deadline, kNanoDigits, kTimeMax_s));
  if (!best_effort) job.deadline = Time(Duration(deadline_ns));
  return {};
}

Result<JobSpec> read_job(const Row& row, const Spellings& columns, WorkloadBuilder& builder) {
  TRY_ASSIGN(JobSpec job,
             read_work(row, {kJob, kGpus, columns.submit, columns.iterations, kDuration}));
  if (row.given(kRealIteration)) TRY(row.number(kRealIteration, 0, kIterationsMax));
  if (row.given(kRealDuration)) TRY(row.number(kRealDuration, 0, kTimeMax_s));
  TRY(read_deadline(row, columns, job));
  TRY_ASSIGN(const std::string_view model, read_model(row, kModel, builder, job));
  job.start_cost = elasticflow_start_cost(model);
  TRY(read_batch_size(row, kBatch, job));
  return job;
}

Status read(LineReader& lines, WorkloadBuilder& builder) {
  TRY_ASSIGN(CsvTable table, CsvTable::open(lines, kColumns, kRequired));
  TRY_ASSIGN(const Spellings columns, spellings(table, lines));
  return add_jobs(table, lines, builder,
                  [&](const Row& row) { return read_job(row, columns, builder); });
}

}  // namespace

const TraceReader kElasticFlowTrace = {
    .format = {.name = "elasticflow",
               .summary = "ElasticFlow's simulator: times in seconds, deadlines, best effort",
               .columns = "job_id,submit_time|submission_time,iteration|num_iteration,"
                          "[model_name],[ddl|deadline],[batch_size],num_gpu,duration,"
                          "[best_effort],[real_iteration],[real_duration]"},
    .refusal = refusal,
    .read = read};

}  // namespace orrery
