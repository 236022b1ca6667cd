#include <fmt/format.h>

#include <array>

#include "workload/formats/simulator_table.h"
#include "workload/formats/trace_reader.h"
#include "workload/generators/elasticflow_models.h"
#include "workload/text/csv.h"

namespace orrery {
namespace {

enum Column : std::size_t {
  kJob,
  kUser,
  kGpus,
  kBatch,
  kSubmit,
  kIterations,
  kModel,
  kDuration,
  kInterval,
  kExpectTime,
  kExpectValue,
  kBestEffort,
  kJobType,
};
constexpr auto kColumns = std::to_array<std::string_view>(
    {"job_id", "user", "num_gpu", "batch_size", "submit_time", "iterations", "model_name",
     "duration", "interval", "expect_time_list", "expect_value_list", "best_effort", "job_type"});
constexpr std::array<std::size_t, 6> kRequired = {kJob,        kGpus,     kSubmit,
                                                  kIterations, kDuration, kExpectTime};
constexpr int kNanoDigits = 9;

constexpr auto kSignature = std::to_array<std::string_view>(
    {"job_id", "num_gpu", "submit_time", "iterations", "duration", "expect_time_list"});

enum class Type { Strict, Soft, Best };

Result<Type> read_type(const Row& row) {
  if (row.given(kBestEffort)) {
    TRY_ASSIGN(const std::int64_t flag, row.integer(kBestEffort, 0, 1));
    if (flag == 1) return Type::Best;
  }
  const std::string_view text = row[kJobType];
  if (text.empty() || text == "strict") return Type::Strict;
  if (text == "soft") return Type::Soft;
  if (text == "best") return Type::Best;
  return row.wrong(kJobType, "must be strict, soft or best");
}

// The first of the numbers between the hyphens; every one must be right.
template <class Parse>
auto first_of(const Row& row, std::size_t column, std::size_t& count, Parse parse)
    -> decltype(parse(std::string_view())) {
  if (!row.given(column)) return row.wrong(column, "is empty");
  std::string_view rest = row[column];
  auto first = parse(rest.substr(0, rest.find('-')));
  count = 0;
  while (true) {
    const std::size_t end = rest.find('-');
    auto value = parse(rest.substr(0, end));
    if (!value.ok()) return row.wrong(column, value.error().message);
    ++count;
    if (end == std::string_view::npos) return first;
    rest.remove_prefix(end + 1);
  }
}

Status read_deadline(const Row& row, JobSpec& job) {
  TRY_ASSIGN(const Type type, read_type(row));
  std::size_t times = 0;
  TRY_ASSIGN(const std::int64_t expect_ns,
             first_of(row, kExpectTime, times, [](std::string_view text) {
               return parse_fixed(text, kNanoDigits, kTimeMax_s);
             }));
  if (row.given(kExpectValue)) {
    std::size_t values = 0;
    TRY_ASSIGN(const double value, first_of(row, kExpectValue, values, [](std::string_view text) {
                 return parse_number(text, 0, kDeadlineValueMax);
               }));
    if (values != times) {
      return row.wrong(kExpectValue,
                       fmt::format("has {} values for {} expected times", values, times));
    }
    if (type == Type::Soft) job.deadline_value = value;
  }
  if (type == Type::Best) return {};
  job.deadline = job.submitted + Duration(expect_ns);
  if (std::chrono::duration<double>(job.deadline->time_since_epoch()).count() > kTimeMax_s) {
    return row.wrong(kExpectTime, "is more than 100 years later");
  }
  job.deadline_kind = type == Type::Soft ? DeadlineKind::Soft : DeadlineKind::Hard;
  return {};
}

Result<JobSpec> read_job(const Row& row, WorkloadBuilder& builder) {
  TRY_ASSIGN(JobSpec job, read_work(row, {kJob, kGpus, kSubmit, kIterations, kDuration}));
  TRY(read_deadline(row, job));
  if (row.given(kUser)) {
    TRY_ASSIGN(const std::string_view user, row.name(kUser));
    job.user = builder.name_id(user);
  }
  TRY_ASSIGN(const std::string_view model, read_model(row, kModel, builder, job));
  job.start_cost = elasticflow_start_cost(model);
  TRY(read_batch_size(row, kBatch, job));
  return job;
}

Status read(LineReader& lines, WorkloadBuilder& builder) {
  TRY_ASSIGN(CsvTable table, CsvTable::open(lines, kColumns, kRequired));
  return add_jobs(table, lines, builder, [&](const Row& row) { return read_job(row, builder); });
}

}  // namespace

const TraceReader kChronusTrace = {
    .format = {.name = "chronus",
               .summary = "Chronus' simulator: times in seconds, expected times and their values",
               .columns = "job_id,[user],num_gpu,[batch_size],submit_time,iterations,"
                          "[model_name],duration,[interval],expect_time_list,"
                          "[expect_value_list],[best_effort],[job_type]"},
    .signature = kSignature,
    .read = read};

}  // namespace orrery
