#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "workload/text/csv.h"
#include "workload/text/line_reader.h"
#include "workload/trace.h"
#include "workload/workload_builder.h"

namespace orrery {

// Where a trace comes from, for readers that look at other files too.
struct TraceSource {
  std::string path;  // empty: a stream, with nothing beside it
  const TraceOptions& options;
  bool profiles_used = false;  // the reader has made use of options.profiles itself
};

// One trace format. A new one is a file that defines a TraceReader, and a line in trace.cc.
struct TraceReader {
  TraceFormat format;
  // A file whose first line names these columns is in the format, unless `refusal` is set.
  std::span<const std::string_view> signature{};
  // Why a file with this first line is not in the format; empty: it may be.
  std::string (*refusal)(std::string_view first_line) = nullptr;
  // Adds every job of the file, from its first line on.
  Status (*read)(LineReader& lines, WorkloadBuilder& builder) = nullptr;
  // Instead of read(), where other files matter.
  Status (*read_with)(LineReader& lines, TraceSource& source, WorkloadBuilder& builder) = nullptr;
  std::string_view file_in_folder{};  // which file is meant when a folder is given
};

extern const TraceReader kMuriTrace;
extern const TraceReader kChronusTrace;
extern const TraceReader kTiresiasTrace;
extern const TraceReader kElasticFlowTrace;
extern const TraceReader kOrreryTrace;
extern const TraceReader kSynergyTrace;
extern const TraceReader kElasticFlowRawTrace;
extern const TraceReader kPhillyTrace;
extern const TraceReader kHeliosTrace;
extern const TraceReader kAcmeTrace;
extern const TraceReader kPaiTrace;
extern const TraceReader kOpenbTrace;
extern const TraceReader kGavelTrace;
extern const TraceReader kSiaTrace;
extern const TraceReader kGenParallelTrace;
extern const TraceReader kSlurmTrace;
extern const TraceReader kPhillyCsvTrace;
extern const TraceReader kDlrmTrace;
extern const TraceReader kDurationsTrace;

// Adds the job that read_job(row) makes of every row that is left in the table.
template <class ReadJob>
Status add_jobs(CsvTable& table, const LineReader& lines, WorkloadBuilder& builder,
                ReadJob read_job) {
  while (true) {
    TRY_ASSIGN(const bool more, table.next());
    if (!more) return {};
    TRY_ASSIGN(JobSpec job, read_job(table.row()));
    if (auto added = builder.add(std::move(job)); !added.ok()) {
      return lines.wrong(added.error().message);
    }
  }
}

// Names the first of the columns that the header row lacks; empty: none.
std::string missing_column(std::string_view header, std::span<const std::string_view> columns);

}  // namespace orrery
