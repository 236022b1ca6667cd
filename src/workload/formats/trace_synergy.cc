#include <fmt/format.h>

#include <array>
#include <limits>
#include <map>
#include <vector>

#include "workload/formats/trace_reader.h"
#include "workload/generators/synergy_models.h"
#include "workload/profiles/muri_models.h"
#include "workload/text/csv.h"

namespace orrery {
namespace {

enum Column : std::size_t { kJob, kModel, kArrival, kIterations, kGpus };
constexpr auto kColumns = std::to_array<std::string_view>(
    {"job_id", "model_name", "arrival_s", "total_iterations", "gpu_demand"});
constexpr int kNanoDigits = 9;

// No header names the format, so the first job's fields must look like its own.
std::string refusal(std::string_view first_line) {
  const std::vector<std::string> fields = csv_names(first_line);
  if (fields.size() != kColumns.size()) {
    return fmt::format("not the {} fields of a job", kColumns.size());
  }
  if (!parse_integer(fields[kJob], 0, std::numeric_limits<std::int64_t>::max()).ok()) {
    return "the first field is no whole number";
  }
  for (const Column column : {kArrival, kIterations, kGpus}) {
    if (!parse_number(fields[column], std::numeric_limits<double>::lowest(),
                      std::numeric_limits<double>::max())
             .ok()) {
      return fmt::format("field {} is no number", static_cast<std::size_t>(column) + 1);
    }
  }
  return {};
}

// What the trace leaves to the model.
struct Figures {
  NameId model = kNoName;
  int batch_size = 0;
  double iteration_s = 0;
  SensitivityId sensitivity = kNoSensitivity;
};

// The figures of the models met so far.
class Models {
 public:
  explicit Models(WorkloadBuilder& builder) : builder_(builder) {}

  Result<Figures> find(const Row& row) {
    TRY_ASSIGN(const std::string_view name, row.name(kModel));
    if (const auto met = met_.find(name); met != met_.end()) return met->second;
    const auto given = builder_.known(name);
    if (!given.ok()) return row.wrong(kModel, given.error().message);
    Figures figures;
    if (const SensitivityProfiles::Entry* entry = given.value()) {
      figures.batch_size = entry->batch_size;
      figures.iteration_s = entry->iteration_s;
      figures.sensitivity = builder_.sensitivity_id(entry->sensitivity);
    } else if (const SynergyModel* model = find_synergy_model(name)) {
      figures.batch_size = model->batch_size;
      figures.iteration_s = model->iteration_s.front();
      figures.sensitivity = builder_.sensitivity_id(model->sensitivity());
    } else {
      return unknown(row);
    }
    figures.model = builder_.name_id(name);
    met_.emplace(name, figures);
    return figures;
  }

 private:
  static Error unknown(const Row& row) {
    std::vector<std::string_view> known;
    for (const SynergyModel& model : synergy_models()) known.push_back(model.name);
    return row.wrong(
        kModel, fmt::format("no figures of '{}'; the known models are {}, bert, vae, and those of "
                            "--profiles",
                            row[kModel].substr(0, 40), fmt::join(known, ", ")));
  }

  WorkloadBuilder& builder_;
  std::map<std::string, Figures, std::less<>> met_;
};

Result<JobSpec> read_job(const Row& row, Models& models) {
  JobSpec job;
  TRY(row.integer(kJob, 0, std::numeric_limits<std::int64_t>::max()));
  TRY_ASSIGN(job.name, row.name(kJob));
  TRY_ASSIGN(const Figures figures, models.find(row));
  TRY_ASSIGN(const std::int64_t submit_ns, row.fixed(kArrival, kNanoDigits, kTimeMax_s));
  TRY_ASSIGN(job.iterations, row.number(kIterations, kIterationsMin, kIterationsMax));
  TRY_ASSIGN(const std::int64_t gpus, row.integer(kGpus, 1, kGpusMax));
  job.gpus = static_cast<int>(gpus);
  job.submitted = Time(Duration(submit_ns));
  job.start_cost = std::chrono::seconds(kUnknownModelStart_s);
  job.model = figures.model;
  job.batch_size = figures.batch_size;
  job.iteration_s = figures.iteration_s;
  job.sensitivity = figures.sensitivity;
  if (auto work = check_work(job.iterations, job.iteration_s); !work.ok()) {
    return row.wrong(work.error().message);
  }
  return job;
}

Status read(LineReader& lines, WorkloadBuilder& builder) {
  CsvLine cut;
  Row row(lines, kColumns);
  Models models(builder);
  while (true) {
    TRY_ASSIGN(const bool more, lines.next());
    if (!more) return {};
    const auto fields = cut.split(lines.line());
    if (!fields.ok()) return lines.wrong(fields.error().message);
    if (fields.value().size() != kColumns.size()) {
      return lines.wrong(fmt::format("has {} fields, but a job has {}: {}", fields.value().size(),
                                     kColumns.size(), fmt::join(kColumns, ",")));
    }
    for (std::size_t i = 0; i < kColumns.size(); ++i) row.set(i, fields.value()[i]);
    TRY_ASSIGN(JobSpec job, read_job(row, models));
    if (auto added = builder.add(std::move(job)); !added.ok()) {
      return lines.wrong(added.error().message);
    }
  }
}

}  // namespace

const TraceReader kSynergyTrace = {
    .format = {.name = "synergy",
               .summary = "a recorded trace of Synergy's simulator: no header, times in seconds",
               .columns = "job_id,model_name,arrival_s,total_iterations,gpu_demand"},
    .refusal = refusal,
    .read = read};

}  // namespace orrery
