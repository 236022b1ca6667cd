#include "workload/formats/simulator_table.h"

namespace orrery {
namespace {

constexpr int kNanoDigits = 9;

}  // namespace

Result<JobSpec> read_work(const Row& row, const WorkColumns& columns) {
  JobSpec job;
  TRY_ASSIGN(job.name, row.name(columns.name));
  TRY_ASSIGN(const std::int64_t gpus, row.integer(columns.gpus, 1, kGpusMax));
  TRY_ASSIGN(const std::int64_t submit_ns, row.fixed(columns.submitted, kNanoDigits, kTimeMax_s));
  TRY_ASSIGN(job.iterations, row.number(columns.iterations, kIterationsMin, kIterationsMax));
  TRY_ASSIGN(const double duration_s, row.number(columns.duration, kTimeMin_s, kTimeMax_s));
  job.gpus = static_cast<int>(gpus);
  job.submitted = Time(Duration(submit_ns));
  job.iteration_s = duration_s / job.iterations;
  if (auto work = check_work(job.iterations, job.iteration_s); !work.ok()) {
    return row.wrong(work.error().message);
  }
  return job;
}

Result<std::string_view> read_model(const Row& row, std::size_t column, WorkloadBuilder& builder,
                                    JobSpec& job) {
  if (!row.given(column)) return std::string_view();
  TRY_ASSIGN(const std::string_view model, row.name(column));
  job.model = builder.name_id(model);
  return model;
}

Status read_batch_size(const Row& row, std::size_t column, JobSpec& job) {
  if (!row.given(column)) return {};
  TRY_ASSIGN(const std::int64_t batch, row.integer(column, 0, kBatchMax));
  job.batch_size = static_cast<int>(batch);
  return {};
}

}  // namespace orrery
