#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <sstream>

#include "commands/whatif.h"
#include "experiments/runs/run_texts.h"
#include "model/duration_text.h"
#include "workload/profiles/speed_profiles.h"
#include "workload/text/csv.h"
#include "workload/trace.h"

namespace orrery {
namespace {

// A key of --job and the column of our trace format that it becomes.
struct Key {
  std::string_view key;
  std::string_view column;
  bool is_duration = false;
};
constexpr std::array kKeys = {Key{"name", "job_id"},
                              Key{"submit", "submit_s", true},
                              Key{"gpus", "gpus"},
                              Key{"deadline", "deadline_s", true},
                              Key{"model", "model"},
                              Key{"batch", "batch_size"},
                              Key{"iterations", "iterations"},
                              Key{"iteration", "iteration_s", true},
                              Key{"duration", "duration_s", true},
                              Key{"start", "start_cost_s", true},
                              Key{"kind", "deadline_kind"},
                              Key{"value", "deadline_value"},
                              Key{"user", "user"},
                              Key{"priority", "priority"},
                              Key{"cpus", "cpus"},
                              Key{"memory", "memory_gb"},
                              Key{"gpu-memory", "gpu_memory_gb"},
                              Key{"gpu-type", "gpu_type"}};

using Cells = std::map<std::string_view, std::string>;  // by column

std::string seconds_text(Duration duration) {
  const auto count = duration.count();
  return fmt::format("{}.{:09}", count / 1'000'000'000, count % 1'000'000'000);
}

Result<Duration> duration_of(std::string_view key, const std::string& text) {
  auto parsed = parse_duration(text);
  if (!parsed.ok()) return std::move(parsed).error().at(fmt::format("--job: {}", key));
  return parsed.value();
}

Result<Cells> split_keys(const std::string& text) {
  Cells cells;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    auto pair = split_pair(part);
    if (!pair.ok()) return invalid(fmt::format("--job: '{}': write key=value", part));
    const auto& [name, value] = pair.value();
    const auto key = std::ranges::find(kKeys, name, &Key::key);
    if (key == kKeys.end()) {
      std::vector<std::string_view> names;
      for (const Key& known : kKeys) names.push_back(known.key);
      return invalid(
          fmt::format("--job: there is no key '{}'; there are {}", name, fmt::join(names, ", ")));
    }
    std::string cell = value;
    if (key->is_duration) {
      TRY_ASSIGN(const Duration duration, duration_of(name, value));
      cell = seconds_text(duration);
    }
    if (!cells.emplace(key->column, std::move(cell)).second) {
      return invalid(fmt::format("--job: '{}' comes twice", name));
    }
  }
  return cells;
}

bool has(const Cells& cells, std::string_view column) { return cells.contains(column); }

std::string cell_of(const Cells& cells, std::string_view column) {
  const auto cell = cells.find(column);
  return cell == cells.end() ? "" : cell->second;
}

std::string free_name(const Workload& trace) {
  std::string name = "new-job";
  const auto taken = [&] {
    return std::ranges::find(trace.jobs, name, &JobSpec::name) != trace.jobs.end();
  };
  for (int number = 2; taken(); ++number) name = fmt::format("new-job-{}", number);
  return name;
}

bool same_kind(const Workload& trace, const JobSpec& job, const Cells& cells) {
  return job.model != kNoName && trace.name_of(job.model) == cell_of(cells, "model") &&
         fmt::to_string(job.batch_size) == cell_of(cells, "batch_size");
}

// How long an iteration takes on the GPUs asked for, if nothing was said about it: as measured, or
// as a job of that kind in the trace states it.
Result<double> iteration_of(const JobText& job, const Workload& trace, const Cells& cells) {
  const std::string model = cell_of(cells, "model");
  std::string why = "give duration or iteration";
  if (!job.profiles.empty() && !model.empty()) {
    TRY_ASSIGN(const SpeedProfiles profiles, read_profiles(job.profiles));
    const std::string own = cell_of(cells, "gpu_type");
    TRY_ASSIGN(const std::string type, profiles.choose_type(own.empty() ? job.gpu_type : own));
    auto batch = parse_integer(cell_of(cells, "batch_size"), 0, kBatchMax);
    const SpeedCurve* curve =
        batch.ok() ? profiles.find(model, static_cast<int>(batch.value()), type) : nullptr;
    if (curve != nullptr) {
      std::vector<int> counts;
      for (const SpeedCurve::Point& point : curve->points) {
        if (fmt::to_string(point.gpus) == cell_of(cells, "gpus")) return 1 / point.iterations_per_s;
        counts.push_back(point.gpus);
      }
      why = fmt::format("{} was measured on {} GPUs", model, fmt::join(counts, ", "));
    }
  }
  for (const JobSpec& other : trace.jobs) {
    if (same_kind(trace, other, cells) && fmt::to_string(other.gpus) == cell_of(cells, "gpus")) {
      return other.iteration_s;
    }
  }
  return invalid(fmt::format("--job: how long an iteration takes is not known; {}", why));
}

std::optional<Duration> start_of(const Workload& trace, const Cells& cells) {
  for (const JobSpec& other : trace.jobs) {
    const bool same =
        other.model != kNoName && trace.name_of(other.model) == cell_of(cells, "model");
    if (same) return other.start_cost;
  }
  return std::nullopt;
}

Status complete(const JobText& job, const Workload& trace, Cells& cells) {
  if (!has(cells, "submit_s")) {
    return invalid("--job: say when it comes, such as submit=10h on the clock of the trace");
  }
  cells.emplace("job_id", free_name(trace));
  cells.emplace("gpus", "1");
  if (has(cells, "deadline_s")) {
    TRY_ASSIGN(const Duration submit, duration_of("submit", cells["submit_s"]));
    TRY_ASSIGN(const Duration deadline, duration_of("deadline", cells["deadline_s"]));
    cells["deadline_s"] = seconds_text(submit + deadline);
  }
  if (!has(cells, "duration_s") && !has(cells, "iteration_s")) {
    TRY_ASSIGN(const double iteration_s, iteration_of(job, trace, cells));
    if (!has(cells, "iterations")) {
      return invalid("--job: say how much work it is: iterations or duration");
    }
    cells.emplace("iteration_s", fmt::format("{}", iteration_s));
  }
  if (const auto start = start_of(trace, cells); start) {
    cells.emplace("start_cost_s", seconds_text(*start));
  }
  return {};
}

}  // namespace

Result<Workload> parse_job(const JobText& job, const Workload& trace) {
  TRY_ASSIGN(Cells cells, split_keys(job.text));
  TRY(complete(job, trace, cells));
  std::string header;
  std::string row;
  for (const auto& [column, cell] : cells) {
    header += fmt::format("{}{}", header.empty() ? "" : ",", column);
    row += fmt::format("{}{}", row.empty() ? "" : ",", csv_field(cell));
  }
  std::istringstream lines(fmt::format("{}\n{}\n", header, row));
  auto parsed = parse_trace(
      "--job", lines, {.format = "orrery", .profiles = job.profiles, .gpu_type = job.gpu_type});
  if (parsed.ok()) return parsed;
  // The line was made here and means nothing to the user.
  Error error = std::move(parsed).error();
  constexpr std::string_view kLine = "--job:2:";
  if (error.message.starts_with(kLine)) error.message.replace(0, kLine.size(), "--job:");
  return error;
}

}  // namespace orrery
