#include <fmt/format.h>

#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "workload/formats/json_row.h"
#include "workload/formats/orrery_columns.h"
#include "workload/formats/trace_reader.h"
#include "workload/text/csv.h"

namespace orrery {
namespace {

constexpr double kDisagreementMax = 0.01;
constexpr std::int64_t kSlotsMax = 16;
constexpr std::size_t kSpeedsMax = 4096;
constexpr std::array<std::size_t, 3> kRequired = {kJobId, kSubmit, kGpus};

std::string refusal(std::string_view first_line) {
  const std::size_t start = first_line.find_first_not_of(" \t");
  if (start != std::string_view::npos && first_line[start] == '{') return {};
  static constexpr auto kSignature =
      std::to_array<std::string_view>({"job_id", "submit_s", "gpus"});
  const std::string missing = missing_column(first_line, kSignature);
  return missing.empty() ? missing : missing + ", nor a JSON object";
}

// Iterations and the length of one, from whichever two of the three numbers are there. A job known
// only by its duration counts its work in seconds.
Status read_work(const Row& row, JobSpec& job) {
  double duration_s = 0;
  if (row.given(kDuration)) {
    TRY_ASSIGN(duration_s, row.number(kDuration, kTimeMin_s, kTimeMax_s));
  }
  if (row.given(kIterations)) {
    TRY_ASSIGN(job.iterations, row.number(kIterations, kIterationsMin, kIterationsMax));
  }
  if (row.given(kIteration)) {
    TRY_ASSIGN(job.iteration_s, row.number(kIteration, kTimeMin_s, kTimeMax_s));
  }
  if (row.given(kIterations) && row.given(kIteration)) {
    if (row.given(kDuration) &&
        std::abs(job.duration_s() - duration_s) > kDisagreementMax * duration_s) {
      return row.wrong(kDuration, fmt::format("{:.6g} s is not iterations x iteration_s, {:.6g} s",
                                              duration_s, job.duration_s()));
    }
  } else if (!row.given(kDuration)) {
    return row.wrong("the work is not known: give duration_s, or iterations and iteration_s");
  } else if (row.given(kIterations)) {
    job.iteration_s = duration_s / job.iterations;
  } else {
    if (!row.given(kIteration)) job.iteration_s = 1;
    job.iterations = duration_s / job.iteration_s;
  }
  auto work = check_work(job.iterations, job.iteration_s);
  return work.ok() ? std::move(work) : Status(row.wrong(work.error().message));
}

// Calls use(text) for each part between the semicolons.
template <class Use>
Status each_part(const Row& row, std::size_t column, Use use) {
  std::string_view rest = row[column];
  while (true) {
    const std::size_t end = rest.find(';');
    if (auto used = use(rest.substr(0, end)); !used.ok()) {
      return row.wrong(column, used.error().message);
    }
    if (end == std::string_view::npos) return {};
    rest.remove_prefix(end + 1);
  }
}

Result<ProfileId> read_stages(const Row& row, WorkloadBuilder& builder) {
  if (!row.given(kStages)) {
    if (row.given(kStageSlots)) return row.wrong(kStageSlots, "is given without stages_s");
    return kNoProfile;
  }
  std::array<double, kStagesMax> stage_s{};
  std::array<int, kStagesMax> slots{};
  slots.fill(1);
  std::size_t stages = 0;
  double sum = 0;
  TRY(each_part(row, kStages, [&](std::string_view part) -> Status {
    TRY_ASSIGN(const double value, parse_number(part, 0, kTimeMax_s));
    if (stages == kStagesMax) return invalid(fmt::format("more than {} stages", kStagesMax));
    stage_s[stages++] = value;
    sum += value;
    return {};
  }));
  if (sum <= 0) return row.wrong(kStages, "all stages take no time");
  if (row.given(kStageSlots)) {
    std::size_t count = 0;
    TRY(each_part(row, kStageSlots, [&](std::string_view part) -> Status {
      TRY_ASSIGN(const std::int64_t value, parse_integer(part, 1, kSlotsMax));
      if (count == stages) return invalid("has more numbers than stages_s");
      slots[count++] = static_cast<int>(value);
      return {};
    }));
    if (count < stages) return row.wrong(kStageSlots, "has fewer numbers than stages_s");
  }
  return builder.profile_id(std::span(stage_s).first(stages), std::span(slots).first(stages));
}

// One figure of a speed curve as the lists give it; nodes 0: as close together as they go.
struct Speed {
  int gpus = 0;
  int nodes = 0;
  double iterations_per_s = 0;
};

Result<std::vector<Speed>> read_speed_lists(const Row& row) {
  std::vector<Speed> speeds;
  TRY(each_part(row, kSpeeds, [&](std::string_view part) -> Status {
    if (speeds.size() == kSpeedsMax) return invalid(fmt::format("more than {}", kSpeedsMax));
    TRY_ASSIGN(const double value, parse_speed(part));
    speeds.push_back({.iterations_per_s = value});
    return {};
  }));
  const auto fill = [&](std::size_t column, std::int64_t low, int Speed::*member) -> Status {
    if (!row.given(column)) return row.wrong(column, "is empty, but speeds is not");
    std::size_t count = 0;
    TRY(each_part(row, column, [&](std::string_view part) -> Status {
      TRY_ASSIGN(const std::int64_t value, parse_integer(part, low, kGpusMax));
      if (count == speeds.size()) return invalid("has more numbers than speeds");
      speeds[count++].*member = static_cast<int>(value);
      return {};
    }));
    if (count < speeds.size()) return row.wrong(column, "has fewer numbers than speeds");
    return {};
  };
  TRY(fill(kSpeedGpus, 1, &Speed::gpus));
  if (row.given(kSpeedNodes)) TRY(fill(kSpeedNodes, 0, &Speed::nodes));
  return speeds;
}

Result<CurveId> read_speeds(const Row& row, WorkloadBuilder& builder) {
  if (!row.given(kSpeeds)) {
    for (const std::size_t column : {kSpeedGpus, kSpeedNodes}) {
      if (row.given(column)) return row.wrong(column, "is given without speeds");
    }
    return kNoCurve;
  }
  TRY_ASSIGN(const std::vector<Speed> speeds, read_speed_lists(row));
  SpeedCurve curve;
  Speed before;
  for (const Speed& speed : speeds) {
    if (std::pair(speed.gpus, speed.nodes) <= std::pair(before.gpus, before.nodes)) {
      return row.wrong(kSpeedGpus, "must rise, and speed_nodes where it stays");
    }
    before = speed;
    if (speed.nodes == 0) curve.widest = speed.gpus;
    if (speed.iterations_per_s <= 0) continue;
    if (speed.nodes == 0) {
      curve.points.push_back({speed.gpus, speed.iterations_per_s});
    } else {
      curve.spreads.push_back({speed.gpus, speed.nodes, speed.iterations_per_s});
    }
  }
  if (curve.points.empty()) return row.wrong(kSpeeds, "has no GPU count the job can run on");
  return builder.curve_id(std::move(curve));
}

// The points of one axis of a sensitivity.
Result<std::vector<std::int64_t>> read_axis(const Row& row, std::size_t column, int digits,
                                            double max) {
  if (!row.given(column)) return row.wrong(column, "is empty, but host_speeds is not");
  std::vector<std::int64_t> points;
  TRY(each_part(row, column, [&](std::string_view part) -> Status {
    if (points.size() == kHostPointsMax) {
      return invalid(fmt::format("more than {} numbers", kHostPointsMax));
    }
    TRY_ASSIGN(const std::int64_t point, parse_fixed(part, digits, max));
    if (!points.empty() && point <= points.back()) return invalid("must rise");
    points.push_back(point);
    return {};
  }));
  return points;
}

Status check_rising(const Row& row, const Sensitivity& sensitivity) {
  const std::size_t columns = sensitivity.memory_bytes.size();
  const auto& speed = sensitivity.speed;
  for (std::size_t i = 0; i < speed.size(); ++i) {
    if ((i >= columns && speed[i] < speed[i - columns]) ||
        (i % columns > 0 && speed[i] < speed[i - 1])) {
      return row.wrong(kHostSpeeds, "must not fall with more CPUs or memory");
    }
  }
  return {};
}

Result<SensitivityId> read_sensitivity(const Row& row, WorkloadBuilder& builder) {
  if (!row.given(kHostSpeeds)) {
    for (const std::size_t column : {kHostCpus, kHostMemory, kIdealCpus, kIdealMemory}) {
      if (row.given(column)) return row.wrong(column, "is given without host_speeds");
    }
    return kNoSensitivity;
  }
  Sensitivity sensitivity;
  TRY_ASSIGN(sensitivity.cpu_milli, read_axis(row, kHostCpus, kCpuDigits, kCpusMax));
  if (sensitivity.cpu_milli.front() == 0) return row.wrong(kHostCpus, "no job runs without a CPU");
  TRY_ASSIGN(sensitivity.memory_bytes, read_axis(row, kHostMemory, kGigabyteDigits, kMemoryMax_gb));
  const std::size_t cells = sensitivity.cpu_milli.size() * sensitivity.memory_bytes.size();
  TRY(each_part(row, kHostSpeeds, [&](std::string_view part) -> Status {
    TRY_ASSIGN(const double speed, parse_number(part, kHostSpeedMin, kHostSpeedMax));
    sensitivity.speed.push_back(speed);
    return {};
  }));
  if (sensitivity.speed.size() != cells) {
    return row.wrong(kHostSpeeds,
                     fmt::format("has {} numbers; host_cpus and host_memory_gb make {}",
                                 sensitivity.speed.size(), cells));
  }
  TRY(check_rising(row, sensitivity));
  sensitivity.ideal = knee(sensitivity);
  if (row.given(kIdealCpus)) {
    TRY_ASSIGN(sensitivity.ideal.cpu_milli, row.fixed(kIdealCpus, kCpuDigits, kCpusMax));
  }
  if (row.given(kIdealMemory)) {
    TRY_ASSIGN(sensitivity.ideal.memory_bytes,
               row.fixed(kIdealMemory, kGigabyteDigits, kMemoryMax_gb));
  }
  return builder.sensitivity_id(sensitivity);
}

Status read_deadline(const Row& row, JobSpec& job) {
  if (row.given(kDeadline)) {
    TRY_ASSIGN(const std::int64_t deadline_ns, row.fixed(kDeadline, kSecondDigits, kTimeMax_s));
    job.deadline = Time(Duration(deadline_ns));
  }
  if (row.given(kDeadlineKind)) {
    const std::string_view kind = row[kDeadlineKind];
    if (kind != "hard" && kind != "soft") return row.wrong(kDeadlineKind, "must be hard or soft");
    job.deadline_kind = kind == "soft" ? DeadlineKind::Soft : DeadlineKind::Hard;
  }
  if (row.given(kDeadlineValue)) {
    TRY_ASSIGN(job.deadline_value, row.number(kDeadlineValue, 0, kDeadlineValueMax));
  }
  return {};
}

Status read_needs(const Row& row, JobSpec& job) {
  if (row.given(kCpus)) {
    TRY_ASSIGN(job.cpu_milli, row.fixed(kCpus, kCpuDigits, kCpusMax));
  }
  if (row.given(kMemory)) {
    TRY_ASSIGN(job.memory_bytes, row.fixed(kMemory, kGigabyteDigits, kMemoryMax_gb));
  }
  if (row.given(kGpuMemory)) {
    TRY_ASSIGN(job.gpu_memory_bytes, row.fixed(kGpuMemory, kGigabyteDigits, kMemoryMax_gb));
  }
  if (row.given(kBatchSize)) {
    TRY_ASSIGN(const std::int64_t batch, row.integer(kBatchSize, 0, kBatchMax));
    job.batch_size = static_cast<int>(batch);
  }
  if (row.given(kPriority)) {
    TRY_ASSIGN(const std::int64_t priority, row.integer(kPriority, 0, 1));
    job.priority = static_cast<int>(priority);
  }
  if (row.given(kStartCost)) {
    TRY_ASSIGN(const std::int64_t cost_ns, row.fixed(kStartCost, kSecondDigits, kTimeMax_s));
    job.start_cost = Duration(cost_ns);
  }
  if (row.given(kCheckpointCost)) {
    TRY_ASSIGN(const std::int64_t cost_ns, row.fixed(kCheckpointCost, kSecondDigits, kTimeMax_s));
    job.checkpoint_cost = Duration(cost_ns);
  }
  return {};
}

Result<NameId> read_name(const Row& row, std::size_t column, WorkloadBuilder& builder) {
  if (!row.given(column)) return kNoName;
  TRY_ASSIGN(const std::string_view name, row.name(column));
  return builder.name_id(name);
}

Status read_job(const Row& row, WorkloadBuilder& builder) {
  JobSpec job;
  TRY_ASSIGN(job.name, row.name(kJobId));
  TRY_ASSIGN(const std::int64_t submit_ns, row.fixed(kSubmit, kSecondDigits, kTimeMax_s));
  TRY_ASSIGN(const std::int64_t gpus, row.integer(kGpus, 1, kGpusMax));
  job.submitted = Time(Duration(submit_ns));
  job.gpus = static_cast<int>(gpus);
  TRY(read_work(row, job));
  TRY(read_needs(row, job));
  TRY(read_deadline(row, job));
  TRY_ASSIGN(job.model, read_name(row, kModel, builder));
  TRY_ASSIGN(job.user, read_name(row, kUser, builder));
  TRY_ASSIGN(job.gpu_type, read_name(row, kGpuType, builder));
  TRY_ASSIGN(job.profile, read_stages(row, builder));
  TRY_ASSIGN(job.curve, read_speeds(row, builder));
  TRY_ASSIGN(job.sensitivity, read_sensitivity(row, builder));
  auto added = builder.add(std::move(job));
  return added.ok() ? std::move(added) : Status(row.wrong(added.error().message));
}

Status read_csv(LineReader& lines, WorkloadBuilder& builder) {
  TRY_ASSIGN(CsvTable table, CsvTable::open(lines, kOrreryNames, kRequired));
  while (true) {
    TRY_ASSIGN(const bool more, table.next());
    if (!more) return {};
    TRY(read_job(table.row(), builder));
  }
}

Status read_jsonl(LineReader& lines, WorkloadBuilder& builder) {
  Row row(lines, kOrreryNames);
  JsonRow json;
  while (true) {
    TRY_ASSIGN(const bool more, lines.next());
    if (!more) return {};
    TRY(json.parse(lines.line(), row));
    TRY(read_job(row, builder));
  }
}

Status read(LineReader& lines, WorkloadBuilder& builder) {
  TRY_ASSIGN(const bool any, lines.next());
  if (!any) return lines.wrong_file("is empty");
  lines.hold();
  const std::string_view line = lines.line();
  return line[line.find_first_not_of(" \t")] == '{' ? read_jsonl(lines, builder)
                                                    : read_csv(lines, builder);
}

}  // namespace

const TraceReader kOrreryTrace = {
    .format = {.name = "orrery",
               .summary = "our own, CSV or JSON Lines: every property of a job, times in seconds",
               .columns = "job_id,submit_s,gpus,[duration_s],[iterations],[iteration_s],[model],"
                          "[user],[batch_size],[cpus],[memory_gb],[gpu_memory_gb],[gpu_type],"
                          "[priority],[deadline_s],[deadline_kind],[deadline_value],[start_cost_s],"
                          "[stages_s],[stage_slots],[speeds],[speed_gpus],[speed_nodes],"
                          "[host_speeds],[host_cpus],[host_memory_gb],[ideal_cpus],"
                          "[ideal_memory_gb],[checkpoint_cost_s]"},
    .refusal = refusal,
    .read = read};

}  // namespace orrery
