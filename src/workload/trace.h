#pragma once

#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/job.h"

namespace orrery {

struct TraceOptions {
  std::string format = "auto";  // a name from trace_formats(), or auto: known from the first line
  std::int64_t limit = 0;       // only this number of jobs, the first to be submitted; 0: all
  std::string profiles{};       // file or folder of profiles; empty: jobs are rigid
  std::string gpu_type{};       // that profiles are read for; empty: the only type there is
  std::int64_t drawn = 0;       // jobs of a generator that goes_on(); 0: its own default
};

struct TraceFormat {
  std::string_view name;
  std::string_view summary;
  std::string_view columns;  // as a header row; [..] may be left out
};

enum class TraceSyntax { Csv, Jsonl };

// Every format read_trace understands, in the order in which auto tries them.
std::span<const TraceFormat> trace_formats();

// Reads the jobs of a trace; the path - is standard input. They come in order of submission, lines
// of one instant in the order of the file, with dense ids in that order; times stay as they are in
// the file, so the first need not be 0, but where a file gives dates, time begins with the first
// submission. The workload is called what the file is called, without folder and extension. Bad
// input is InvalidArgument with a message that begins with file and line. Nothing is guessed or
// skipped but blank lines, and what the workload counts among its oddities: the log of a real
// cluster holds jobs that never ran. For a folder, the file is read that one of the public traces
// has its jobs in. With profiles, jobs of the models they hold are elastic, see make_elastic(),
// or sensitive to CPUs and memory, see make_sensitive().
Result<Workload> read_trace(const std::string& path, const TraceOptions& options = {});

// The file that read_trace() reads for this path: the path itself or, for a folder, the file in it.
std::string file_of_trace(const std::string& path);

// The same from a stream; `name` stands where the path would in messages. Reads line by line, so
// the memory needed is that of the jobs, not of the text.
Result<Workload> parse_trace(std::string_view name, std::istream& in,
                             const TraceOptions& options = {});

// Writes the jobs in the format `orrery`, with the columns that some job has a value for. Reading
// it back gives the same jobs, profiles and names. Fails on a name no trace may hold (control
// characters, broken UTF-8) and when the stream does.
Status write_trace(const Workload& workload, std::ostream& out, TraceSyntax syntax);

// Writes the jobs in the format `elasticflow`, as its generator does. What that format has no
// column for (users, stages, speeds, the kind of a deadline, ...) is left out.
Status write_elasticflow_trace(const Workload& workload, std::ostream& out);

// Writes the jobs in the format `synergy`. Only their names, models, submissions, iterations and
// GPUs have a place in it; a job without a model or with a name that is no whole number is an
// error.
Status write_synergy_trace(const Workload& workload, std::ostream& out);

}  // namespace orrery
