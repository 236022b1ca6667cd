#include <array>

#include "workload/formats/simulator_table.h"
#include "workload/formats/trace_reader.h"
#include "workload/profiles/muri_models.h"
#include "workload/text/csv.h"

namespace orrery {
namespace {

enum Column : std::size_t { kJob, kGpus, kSubmit, kIterations, kModel, kDuration, kInterval };
constexpr auto kColumns = std::to_array<std::string_view>(
    {"job_id", "num_gpu", "submit_time", "iterations", "model_name", "duration", "interval"});
constexpr std::array<std::size_t, 5> kRequired = {kJob, kGpus, kSubmit, kIterations, kDuration};

constexpr auto kSignature =
    std::to_array<std::string_view>({"job_id", "num_gpu", "submit_time", "iterations", "duration"});

Result<JobSpec> read_job(const Row& row, WorkloadBuilder& builder) {
  TRY_ASSIGN(JobSpec job, read_work(row, {kJob, kGpus, kSubmit, kIterations, kDuration}));
  job.start_cost = std::chrono::seconds(kUnknownModelStart_s);
  TRY(read_model(row, kModel, builder, job));
  return job;
}

Status read(LineReader& lines, WorkloadBuilder& builder) {
  TRY_ASSIGN(CsvTable table, CsvTable::open(lines, kColumns, kRequired));
  return add_jobs(table, lines, builder, [&](const Row& row) { return read_job(row, builder); });
}

}  // namespace

const TraceReader kTiresiasTrace = {
    .format = {.name = "tiresias",
               .summary = "Tiresias' simulator: times in seconds, duration and iterations",
               .columns = "job_id,num_gpu,submit_time,iterations,[model_name],duration,[interval]"},
    .signature = kSignature,
    .read = read};

}  // namespace orrery
