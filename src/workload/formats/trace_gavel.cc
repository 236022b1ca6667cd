#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "workload/formats/logged_jobs.h"
#include "workload/profiles/gavel_speeds.h"
#include "workload/profiles/muri_models.h"
#include "workload/text/csv.h"

namespace orrery {
namespace {

// The places of what both layouts have.
struct Layout {
  std::span<const std::string_view> columns;
  std::size_t steps;
  std::size_t workers;
  std::size_t arrival;
  std::size_t slo;  // the number of columns: not there
};

constexpr auto kColumns = std::to_array<std::string_view>(
    {"job_type", "command", "working_directory", "num_steps_arg", "needs_data_dir", "total_steps",
     "scale_factor", "priority_weight", "SLO", "arrival_time"});
constexpr auto kOldColumns =
    std::to_array<std::string_view>({"job_type", "command", "num_steps_arg", "needs_data_dir",
                                     "total_steps", "arrival_time", "scale_factor"});
constexpr Layout kLayout = {.columns = kColumns, .steps = 5, .workers = 6, .arrival = 9, .slo = 8};
constexpr Layout kOldLayout = {
    .columns = kOldColumns, .steps = 4, .workers = 6, .arrival = 5, .slo = 7};
constexpr std::size_t kJobType = 0;
constexpr int kNanoDigits = 9;
constexpr double kSloMax = 1e6;

// About the middle of what was measured on a V100.
constexpr double kUnknownStepsPerS = 20;

std::size_t field_count(std::string_view line) {
  return static_cast<std::size_t>(std::ranges::count(line, '\t')) + 1;
}

std::string refusal(std::string_view first_line) {
  const std::size_t fields = field_count(first_line);
  if (fields == kColumns.size() || fields == kOldColumns.size()) return {};
  return fmt::format("{} tabs, not 9 or 6", fields - 1);
}

// "ResNet-18 (batch size 64)" is the model ResNet-18 with 64 samples for each of its workers.
Status read_type(const Row& row, WorkloadBuilder& builder, JobSpec& job) {
  static constexpr std::string_view kBatch = " (batch size ";
  TRY_ASSIGN(std::string_view model, row.name(kJobType));
  if (const std::size_t at = model.find(kBatch); at != std::string_view::npos) {
    std::string_view batch = model.substr(at + kBatch.size());
    if (!batch.ends_with(')')) return row.wrong(kJobType, "has no ) after the batch size");
    batch.remove_suffix(1);
    auto size = parse_integer(batch, 1, kBatchMax / job.gpus);
    if (!size.ok()) return row.wrong(kJobType, size.error().message);
    job.batch_size = static_cast<int>(size.value()) * job.gpus;
    model = model.substr(0, at);
  }
  job.model = builder.name_id(model);
  return {};
}

Status read_slo(const Row& row, const Layout& layout, JobSpec& job) {
  if (layout.slo >= layout.columns.size()) return {};
  TRY_ASSIGN(const double slo, row.number(layout.slo, -kSloMax, kSloMax));
  if (slo < 0) return {};
  const double deadline_s = seconds(job.submitted) + slo * job.duration_s();
  if (deadline_s > kTimeMax_s) return row.wrong(layout.slo, "is more than 100 years later");
  job.deadline = time_from_seconds(deadline_s);
  return {};
}

Status read_job(const Row& row, const Layout& layout, const GavelSpeeds& speeds,
                WorkloadBuilder& builder, JobSpec& job) {
  TRY_ASSIGN(const std::int64_t workers, row.integer(layout.workers, 1, kGpusMax));
  TRY_ASSIGN(job.iterations, row.number(layout.steps, kIterationsMin, kIterationsMax));
  TRY_ASSIGN(const std::int64_t arrival_ns, row.fixed(layout.arrival, kNanoDigits, kTimeMax_s));
  job.gpus = static_cast<int>(workers);
  TRY(read_type(row, builder, job));
  job.submitted = Time(Duration(arrival_ns));
  double steps_per_s = speeds.steps_per_s(row[kJobType], job.gpus);
  if (steps_per_s <= 0) {
    builder.note_kept("has no measured speed; 20 steps a second are assumed", row.line());
    steps_per_s = kUnknownStepsPerS;
  }
  job.iteration_s = 1 / steps_per_s;
  job.start_cost = std::chrono::seconds(kUnknownModelStart_s);
  if (auto work = check_work(job.iterations, job.iteration_s); !work.ok()) {
    return row.wrong(work.error().message);
  }
  return read_slo(row, layout, job);
}

// Where the speeds are: what --profiles names, or beside the trace; empty: nowhere.
std::string speeds_path(TraceSource& source) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path given(source.options.profiles);
  if (fs::is_regular_file(given / kGavelSpeedsFile, error)) {
    source.profiles_used = true;
    return (given / kGavelSpeedsFile).string();
  }
  if (given.extension() == ".json") {
    source.profiles_used = true;
    return given.string();
  }
  if (source.path.empty()) return {};
  const fs::path beside = fs::path(source.path).parent_path() / kGavelSpeedsFile;
  return fs::is_regular_file(beside, error) ? beside.string() : std::string();
}

Status read_with(LineReader& lines, TraceSource& source, WorkloadBuilder& builder) {
  TRY_ASSIGN(const bool any, lines.next());
  if (!any) return lines.wrong_file("is empty");
  lines.hold();
  const bool old = field_count(lines.line()) == kOldColumns.size();
  const Layout& layout = old ? kOldLayout : kLayout;
  GavelSpeeds speeds;
  if (const std::string path = speeds_path(source); !path.empty()) {
    TRY_ASSIGN(speeds, GavelSpeeds::read(path, source.options.gpu_type));
  }
  CsvTable table = CsvTable::without_header(lines, layout.columns, '\t');
  std::int64_t number = 0;
  return add_logged_jobs(table, builder, [&](const Row& row, JobSpec& job) -> Result<bool> {
    TRY(read_job(row, layout, speeds, builder, job));
    job.name = fmt::format_int(number++).str();
    return true;
  });
}

}  // namespace

const TraceReader kGavelTrace = {
    .format = {.name = "gavel",
               .summary = "Gavel's traces, tabs and no header: steps, speeds from a file beside",
               .columns = "job_type,command,[working_directory],num_steps_arg,needs_data_dir,"
                          "total_steps,scale_factor,[priority_weight],[SLO],arrival_time"},
    .refusal = refusal,
    .read_with = read_with};

}  // namespace orrery
