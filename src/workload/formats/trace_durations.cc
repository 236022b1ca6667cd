#include <fmt/format.h>

#include <array>

#include "workload/formats/logged_jobs.h"
#include "workload/text/csv.h"

namespace orrery {
namespace {

enum Column : std::size_t { kDuration };
constexpr auto kColumns = std::to_array<std::string_view>({"duration"});
constexpr std::array<std::size_t, 1> kRequired = {kDuration};

std::string refusal(std::string_view first_line) {
  const std::vector<std::string> names = csv_names(first_line);
  if (names.size() == 1 && names[0] == "duration") return {};
  return "not the one column 'duration'";
}

Result<bool> read_job(const Row& row, WorkloadBuilder& builder, JobSpec& job) {
  job.name = fmt::format("line-{}", row.line());
  TRY_ASSIGN(const std::optional<Duration> duration, read_seconds(row, kDuration));
  const LoggedJob logged = {
      .gpus = 1, .submitted = Duration(), .started = Duration(), .ended = duration};
  if (!accept(logged, row.line(), builder, job)) return false;
  builder.note_kept("states its length only; taken to be submitted at 0 with one GPU", row.line());
  return true;
}

Status read(LineReader& lines, WorkloadBuilder& builder) {
  TRY_ASSIGN(CsvTable table, CsvTable::open(lines, kColumns, kRequired));
  return add_logged_jobs(table, builder,
                         [&](const Row& row, JobSpec& job) { return read_job(row, builder, job); });
}

}  // namespace

const TraceReader kDurationsTrace = {
    .format = {.name = "durations",
               .summary = "lengths of jobs alone, such as Tiresias' yarn-gput1000.csv",
               .columns = "duration"},
    .refusal = refusal,
    .read = read};

}  // namespace orrery
