#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "workload/formats/logged_jobs.h"
#include "workload/text/csv.h"

namespace orrery {
namespace {

enum Column : std::size_t { kName, kTime, kApplication, kReplicas, kBatch };
constexpr auto kColumns =
    std::to_array<std::string_view>({"name", "time", "application", "num_replicas", "batch_size"});
constexpr std::array<std::size_t, 4> kRequired = {kName, kTime, kApplication, kReplicas};

// The trace says what is trained, not how long it takes. These are the hours that one of the GPUs
// measured for Pollux needs for the training in its data: its iterations at the smallest batch,
// times the length of one.
struct Application {
  std::string_view name;
  double gpu_hours;
};
constexpr auto kApplications = std::to_array<Application>({{"bert", 3.78},
                                                           {"cifar10", 1.12},
                                                           {"deepspeech2", 5.40},
                                                           {"imagenet", 147.9},
                                                           {"ncf", 0.40},
                                                           {"yolov3", 9.37}});
constexpr double kOtherGpuHours = 10;

constexpr auto kSignature =
    std::to_array<std::string_view>({"name", "time", "application", "num_replicas"});

double gpu_hours(const Row& row, WorkloadBuilder& builder) {
  const auto* found = std::ranges::find(kApplications, row[kApplication], &Application::name);
  if (found != kApplications.end()) {
    builder.note_kept("has no duration; its application's GPU hours are shared out evenly",
                      row.line());
    return found->gpu_hours;
  }
  builder.note_kept("is of an application nothing is known of; taken for 10 GPU hours", row.line());
  return kOtherGpuHours;
}

Result<bool> read_job(const Row& row, WorkloadBuilder& builder, JobSpec& job) {
  LoggedJob logged;
  TRY_ASSIGN(job.name, row.name(kName));
  TRY_ASSIGN(const std::string_view application, row.name(kApplication));
  TRY_ASSIGN(logged.gpus, read_count(row, kReplicas, kGpusMax));
  TRY_ASSIGN(logged.submitted, read_seconds(row, kTime));
  TRY_ASSIGN(const std::int64_t batch, read_count(row, kBatch, kBatchMax));
  if (logged.submitted && logged.gpus > 0) {
    const double duration_s = gpu_hours(row, builder) * 3600 / static_cast<double>(logged.gpus);
    logged.started = logged.submitted;
    logged.ended = *logged.submitted + from_seconds(duration_s);
  }
  if (!accept(logged, row.line(), builder, job)) return false;
  job.model = builder.name_id(application);
  job.batch_size = static_cast<int>(batch);
  return true;
}

Status read(LineReader& lines, WorkloadBuilder& builder) {
  return read_log(lines, {kColumns, kRequired, read_job}, builder);
}

}  // namespace

const TraceReader kSiaTrace = {
    .format = {.name = "sia",
               .summary = "Sia's and Pollux' workloads: applications without durations",
               .columns = "name,time,application,num_replicas,[batch_size]"},
    .signature = kSignature,
    .read = read};

}  // namespace orrery
