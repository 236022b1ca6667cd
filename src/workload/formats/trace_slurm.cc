#include <algorithm>
#include <array>

#include "workload/formats/logged_jobs.h"
#include "workload/text/csv.h"
#include "workload/text/date_text.h"
#include "workload/text/slurm_text.h"

namespace orrery {
namespace {

enum Column : std::size_t {
  kJob,
  kJobRaw,
  kUser,
  kSubmit,
  kStart,
  kEnd,
  kElapsed,
  kElapsedRaw,
  kState,
  kReqTres,
  kAllocTres,
  kReqGres,
  kAllocCpus,
  kReqCpus,
  kNCpus,
  kReqMem,
  kNNodes,
  kAllocNodes,
};
constexpr auto kColumns = std::to_array<std::string_view>(
    {"JobID", "JobIDRaw", "User", "Submit", "Start", "End", "Elapsed", "ElapsedRaw", "State",
     "ReqTRES", "AllocTRES", "ReqGRES", "AllocCPUS", "ReqCPUS", "NCPUS", "ReqMem", "NNodes",
     "AllocNodes"});
constexpr char kSeparator = '|';
constexpr int kNanoDigits = 9;
constexpr auto kCpuCountMax = static_cast<std::int64_t>(kCpusMax);
constexpr std::int64_t kNodesMax = 1'000'000;

std::string refusal(std::string_view first_line) {
  CsvLine cut(kSeparator);
  const auto fields = cut.split(first_line);
  if (!fields.ok() || fields.value().size() < 2) return "no columns between |";
  for (const std::string_view name : fields.value()) {
    if (name == kColumns[kJob] || name == kColumns[kJobRaw]) return {};
  }
  return "no column 'JobID' between |";
}

Status check_header(const CsvTable& table, const LineReader& lines) {
  const auto any = [&](std::initializer_list<Column> columns) {
    return std::ranges::any_of(columns, [&](Column column) { return table.has(column); });
  };
  if (!any({kReqTres, kAllocTres, kReqGres})) {
    return lines.wrong(
        "no column says how many GPUs a job has: let sacct print ReqTRES or AllocTRES");
  }
  if (!any({kSubmit, kStart})) {
    return lines.wrong("no column says when a job was submitted: let sacct print Submit");
  }
  if (any({kElapsed, kElapsedRaw}) || (table.has(kStart) && table.has(kEnd))) return {};
  return lines.wrong(
      "no column says how long a job ran: let sacct print Elapsed, or Start and End");
}

Result<std::optional<Duration>> read_elapsed(const Row& row) {
  if (!is_no_value(row[kElapsedRaw])) {
    TRY_ASSIGN(const std::int64_t value_ns, row.fixed(kElapsedRaw, kNanoDigits, kTimeMax_s));
    return std::optional(Duration(value_ns));
  }
  if (is_no_value(row[kElapsed])) return std::optional<Duration>();
  auto elapsed = parse_clock(row[kElapsed]);
  if (!elapsed.ok()) return row.wrong(kElapsed, elapsed.error().message);
  return std::optional(elapsed.value());
}

// Elapsed is the better figure where it is there: it leaves out how long the job was suspended.
Status read_times(const Row& row, const CsvTable& table, WorkloadBuilder& builder,
                  LoggedJob& logged) {
  TRY_ASSIGN(logged.submitted, read_date(row, kSubmit));
  TRY_ASSIGN(logged.started, read_date(row, kStart));
  TRY_ASSIGN(logged.ended, read_date(row, kEnd));
  TRY_ASSIGN(const auto elapsed, read_elapsed(row));
  if (!logged.submitted && logged.started) {
    builder.note_kept("has no time of submission; taken from its start", row.line());
    logged.submitted = logged.started;
  }
  const bool waits = row[kState].starts_with("PENDING");
  const bool runs = row[kState].starts_with("RUNNING") || row[kState].starts_with("SUSPENDED");
  if (!table.has(kStart) && !waits) logged.started = logged.submitted;
  if (!logged.started || !elapsed || waits || runs) return {};
  const bool went_back = logged.ended && *logged.ended < *logged.started;
  const bool goes_on = table.has(kEnd) && !logged.ended;
  if (!went_back && !goes_on) logged.ended = *logged.started + *elapsed;
  return {};
}

Result<SlurmResources> read_tres(const Row& row, Column column) {
  if (is_no_value(row[column])) return SlurmResources();
  auto resources = parse_tres(row[column]);
  if (!resources.ok()) return row.wrong(column, resources.error().message);
  return resources;
}

// The first of the columns that has a count.
Result<std::int64_t> first_count(const Row& row, std::initializer_list<Column> columns,
                                 std::int64_t max) {
  for (const Column column : columns) {
    TRY_ASSIGN(const std::int64_t count, read_count(row, column, max));
    if (count > 0) return count;
  }
  return 0;
}

// What was asked for, and where that is not recorded, what was given.
Result<SlurmResources> read_resources(const Row& row) {
  TRY_ASSIGN(SlurmResources asked, read_tres(row, kReqTres));
  TRY_ASSIGN(SlurmResources given, read_tres(row, kAllocTres));
  if (asked.gpus == 0) {
    asked.gpus = given.gpus;
    asked.several_types = given.several_types;
  }
  if (asked.gpu_type.empty() && !asked.several_types) asked.gpu_type = given.gpu_type;
  if (asked.nodes == 0) asked.nodes = given.nodes;
  if (asked.nodes == 0) {
    TRY_ASSIGN(asked.nodes, first_count(row, {kNNodes, kAllocNodes}, kNodesMax));
  }
  if (asked.gpus == 0 && !is_no_value(row[kReqGres])) {
    auto gpus = parse_gres(row[kReqGres]);
    if (!gpus.ok()) return row.wrong(kReqGres, gpus.error().message);
    asked.gpus = std::min(kGpusMax, gpus.value() * std::max<std::int64_t>(1, asked.nodes));
  }
  if (asked.cpus == 0) {
    TRY_ASSIGN(asked.cpus, first_count(row, {kReqCpus, kAllocCpus, kNCpus}, kCpuCountMax));
  }
  if (asked.cpus == 0) asked.cpus = given.cpus;
  if (asked.memory_bytes == 0 && !is_no_value(row[kReqMem])) {
    auto memory = parse_required_memory(row[kReqMem], asked.nodes, asked.cpus);
    if (!memory.ok()) return row.wrong(kReqMem, memory.error().message);
    asked.memory_bytes = memory.value();
  }
  if (asked.memory_bytes == 0) asked.memory_bytes = given.memory_bytes;
  return asked;
}

Result<bool> read_job(const Row& row, const CsvTable& table, WorkloadBuilder& builder,
                      JobSpec& job) {
  const Column id = table.has(kJob) ? kJob : kJobRaw;
  TRY_ASSIGN(job.name, row.name(id));
  if (job.name.find('.') != std::string::npos) return false;  // a step of a job
  LoggedJob logged;
  TRY(read_times(row, table, builder, logged));
  TRY_ASSIGN(const SlurmResources resources, read_resources(row));
  logged.gpus = resources.gpus;
  if (!accept(logged, row.line(), builder, job)) return false;
  if (resources.several_types) {
    builder.note_kept("asks for several GPU types; taken to run on any", row.line());
  }
  job.cpu_milli = 1000 * resources.cpus;
  job.memory_bytes = resources.memory_bytes;
  job.gpu_type = builder.name_id(resources.gpu_type);
  TRY_ASSIGN(job.user, read_name(row, kUser, builder));
  return true;
}

Status read(LineReader& lines, WorkloadBuilder& builder) {
  TRY_ASSIGN(CsvTable table,
             CsvTable::open(lines, kColumns, {}, {.separator = kSeparator, .other_columns = true}));
  if (!table.has(kJob) && !table.has(kJobRaw))
    return lines.wrong("the header has no column 'JobID'");
  TRY(check_header(table, lines));
  builder.begin_at_first_submission();
  return add_logged_jobs(table, builder, [&](const Row& row, JobSpec& job) {
    return read_job(row, table, builder, job);
  });
}

}  // namespace

const TraceReader kSlurmTrace = {
    .format = {.name = "slurm",
               .summary = "what `sacct -P` prints: any columns in any order, these are read",
               .columns = "JobID|JobIDRaw,[User],Submit,Start,End,Elapsed|ElapsedRaw,[State],"
                          "ReqTRES|AllocTRES|ReqGRES,[ReqCPUS|AllocCPUS|NCPUS],[ReqMem],[NNodes]"},
    .refusal = refusal,
    .read = read};

}  // namespace orrery
