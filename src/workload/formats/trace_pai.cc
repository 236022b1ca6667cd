#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <unordered_map>

#include "workload/formats/logged_jobs.h"
#include "workload/text/csv.h"

namespace orrery {
namespace {

enum Column : std::size_t {
  kJob,
  kTask,
  kInstances,
  kStatus,
  kStart,
  kEnd,
  kPlanCpu,
  kPlanMemory,
  kPlanGpu,
  kGpuType,
};
constexpr auto kColumns =
    std::to_array<std::string_view>({"job_name", "task_name", "inst_num", "status", "start_time",
                                     "end_time", "plan_cpu", "plan_mem", "plan_gpu", "gpu_type"});
constexpr std::array<std::size_t, 5> kRequired = {kJob, kInstances, kStart, kEnd, kPlanGpu};

// The table of jobs, which holds their users and times of submission.
enum JobColumn : std::size_t { kName, kInstance, kUser, kJobStatus, kJobStart, kJobEnd };
constexpr auto kJobColumns = std::to_array<std::string_view>(
    {"job_name", "inst_id", "user", "status", "start_time", "end_time"});
constexpr std::array<std::size_t, 2> kJobRequired = {kName, kJobStart};
constexpr std::string_view kJobTable = "pai_job_table.csv";

constexpr auto kStatuses =
    std::to_array<std::string_view>({"Terminated", "Failed", "Running", "Waiting"});
constexpr double kPercent = 100;

bool is_status(std::string_view text) {
  return std::ranges::find(kStatuses, text) != kStatuses.end();
}

// The tables are published without their headers.
std::string refusal(std::string_view first_line) {
  static constexpr auto kSignature =
      std::to_array<std::string_view>({"job_name", "task_name", "plan_gpu"});
  std::string missing = missing_column(first_line, kSignature);
  if (missing.empty()) return {};
  const std::vector<std::string> fields = csv_names(first_line);
  if (fields.size() == kColumns.size() && is_status(fields[kStatus])) return {};
  if (fields.size() == kJobColumns.size() && is_status(fields[kJobStatus])) {
    return "this is the table of jobs; give that of tasks, which has the sizes";
  }
  return missing + ", nor ten fields with a status in the fourth";
}

// What the tasks of a job say together.
struct PaiJob {
  std::string name;
  std::int64_t line = 0;  // of the first task
  double gpu_percent = 0;
  double cpu_percent = 0;
  double memory_gb = 0;
  bool parts = false;  // some instance asks for part of a GPU
  std::optional<Duration> submitted{};
  std::optional<Duration> started{};
  std::optional<Duration> ended{};
  NameId gpu_type = kNoName;
  bool several_types = false;
  NameId user = kNoName;
};

class PaiJobs {
 public:
  PaiJob& of(std::string_view name, std::int64_t line) {
    key_.assign(name);
    const auto [at, added] = index_.try_emplace(key_, jobs_.size());
    if (added) jobs_.push_back({.name = key_, .line = line});
    return jobs_[at->second];
  }
  PaiJob* find(std::string_view name) {
    key_.assign(name);
    const auto found = index_.find(key_);
    return found == index_.end() ? nullptr : &jobs_[found->second];
  }
  std::vector<PaiJob>& all() { return jobs_; }

 private:
  std::string key_;
  std::unordered_map<std::string, std::size_t> index_;
  std::vector<PaiJob> jobs_;
};

Result<double> read_plan(const Row& row, std::size_t column, double max) {
  if (!row.given(column)) return 0.0;
  return row.number(column, 0, max);
}

Status read_task(const Row& row, WorkloadBuilder& builder, PaiJobs& jobs) {
  TRY_ASSIGN(const std::string_view name, row.name(kJob));
  TRY_ASSIGN(const std::int64_t instances, read_count(row, kInstances, kGpusMax));
  TRY_ASSIGN(const double gpu, read_plan(row, kPlanGpu, kPercent * static_cast<double>(kGpusMax)));
  TRY_ASSIGN(const double cpu, read_plan(row, kPlanCpu, kPercent * kCpusMax));
  TRY_ASSIGN(const double memory, read_plan(row, kPlanMemory, kMemoryMax_gb));
  TRY_ASSIGN(const auto started, read_seconds(row, kStart));
  TRY_ASSIGN(const auto ended, read_seconds(row, kEnd));
  TRY_ASSIGN(const NameId type, read_name(row, kGpuType, builder));
  PaiJob& job = jobs.of(name, row.line());
  const auto count = static_cast<double>(instances);
  job.gpu_percent += count * gpu;
  job.cpu_percent += count * cpu;
  job.memory_gb += count * memory;
  job.parts |= std::fmod(gpu, kPercent) > 0;
  if (started) job.started = std::min(job.started.value_or(*started), *started);
  if (ended) job.ended = std::max(job.ended.value_or(*ended), *ended);
  if (gpu > 0 && type != kNoName) {
    job.several_types |= job.gpu_type != kNoName && job.gpu_type != type;
    job.gpu_type = type;
  }
  return {};
}

Result<CsvTable> open_table(LineReader& lines, std::span<const std::string_view> columns,
                            std::span<const std::size_t> required) {
  TRY_ASSIGN(const bool any, lines.next());
  if (!any) return lines.wrong_file("is empty");
  lines.hold();
  const std::vector<std::string> first = csv_names(lines.line());
  if (std::ranges::find(first, columns[0]) == first.end()) {
    return CsvTable::without_header(lines, columns, ',');
  }
  return CsvTable::open(lines, columns, required, {.other_columns = true});
}

// Jobs that the table does not know keep what their tasks say.
Status read_job_table(const std::string& path, WorkloadBuilder& builder, PaiJobs& jobs) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return {};
  LineReader lines(path, in);
  TRY_ASSIGN(CsvTable table, open_table(lines, kJobColumns, kJobRequired));
  while (true) {
    TRY_ASSIGN(const bool more, table.next());
    if (!more) return {};
    const Row& row = table.row();
    TRY_ASSIGN(const std::string_view name, row.name(kName));
    PaiJob* job = jobs.find(name);
    if (job == nullptr) continue;
    TRY_ASSIGN(job->submitted, read_seconds(row, kJobStart));
    TRY_ASSIGN(job->user, read_name(row, kUser, builder));
  }
}

Status add(PaiJob& tasks, const LineReader& lines, WorkloadBuilder& builder) {
  const double gpus = std::ceil(tasks.gpu_percent / kPercent);
  const double cpus = tasks.cpu_percent / kPercent;
  if (gpus > static_cast<double>(kGpusMax) || cpus > kCpusMax || tasks.memory_gb > kMemoryMax_gb) {
    return lines.wrong_file(fmt::format(
        "job '{}', first at line {}: asks for {:.6g} GPUs, {:.6g} CPUs and {:.6g} GB in all; the "
        "most are {:.6g}, {:.6g} and {:.6g}",
        tasks.name, tasks.line, gpus, cpus, tasks.memory_gb, static_cast<double>(kGpusMax),
        kCpusMax, kMemoryMax_gb));
  }
  if (!tasks.submitted && tasks.started) {
    builder.note_kept("is not in the table of jobs; submitted when its first task starts",
                      tasks.line);
    tasks.submitted = tasks.started;
  }
  JobSpec job;
  // A job that never started has no time at all without the table of jobs.
  if (!tasks.submitted) tasks.submitted = Duration{};
  const LoggedJob logged{.gpus = static_cast<std::int64_t>(gpus),
                         .submitted = tasks.submitted,
                         .started = tasks.started,
                         .ended = tasks.ended};
  if (!accept(logged, tasks.line, builder, job)) return {};
  if (tasks.parts) builder.note_kept("asks for parts of GPUs; the sum is rounded up", tasks.line);
  if (tasks.several_types) {
    builder.note_kept("runs on several GPU types; taken to run on any", tasks.line);
  }
  job.name = std::move(tasks.name);
  job.cpu_milli = std::llround(1000 * cpus);
  job.memory_bytes = std::llround(1e9 * tasks.memory_gb);
  job.gpu_type = tasks.several_types ? kNoName : tasks.gpu_type;
  job.user = tasks.user;
  return add_logged(std::move(job), tasks.line, builder);
}

Status read_with(LineReader& lines, TraceSource& source, WorkloadBuilder& builder) {
  TRY_ASSIGN(CsvTable table, open_table(lines, kColumns, kRequired));
  PaiJobs jobs;
  while (true) {
    TRY_ASSIGN(const bool more, table.next());
    if (!more) break;
    TRY(read_task(table.row(), builder, jobs));
  }
  if (!source.path.empty()) {
    const auto beside = std::filesystem::path(source.path).parent_path() / kJobTable;
    TRY(read_job_table(beside.string(), builder, jobs));
  }
  for (PaiJob& job : jobs.all()) TRY(add(job, lines, builder));
  return {};
}

}  // namespace

const TraceReader kPaiTrace = {
    .format = {.name = "pai2020",
               .summary = "Alibaba's PAI of 2020, tables of tasks and jobs, with or without header",
               .columns = "job_name,[task_name],inst_num,[status],start_time,end_time,[plan_cpu],"
                          "[plan_mem],plan_gpu,[gpu_type]"},
    .refusal = refusal,
    .read_with = read_with,
    .file_in_folder = "pai_task_table.csv"};

}  // namespace orrery
