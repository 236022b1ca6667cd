#include "workload/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "workload/csv.h"
#include "workload/speed_profiles.h"
#include "workload/trace_reader.h"

namespace orrery {
namespace {

// Chronus' columns are those of Tiresias and more, so it is tried first; Synergy's traces have no
// header, so they come last.
const std::array<const TraceReader*, 6> kReaders = {&kMuriTrace,     &kChronusTrace,
                                                    &kTiresiasTrace, &kElasticFlowTrace,
                                                    &kOrreryTrace,   &kSynergyTrace};

Result<const TraceReader*> recognise(LineReader& lines) {
  TRY_ASSIGN(const bool any, lines.next());
  if (!any) return lines.wrong_file("is empty");
  std::vector<std::string> refusals;
  for (const TraceReader* reader : kReaders) {
    const std::string refusal = reader->refusal(lines.line());
    if (refusal.empty()) {
      lines.hold();
      return reader;
    }
    refusals.push_back(fmt::format("{} ({})", reader->format.name, refusal));
  }
  return lines.wrong(
      fmt::format("is no trace in a known format; tried {}", fmt::join(refusals, ", ")));
}

Result<const TraceReader*> reader_named(std::string_view name) {
  std::vector<std::string_view> known;
  for (const TraceReader* reader : kReaders) {
    if (reader->format.name == name) return reader;
    known.push_back(reader->format.name);
  }
  return invalid(fmt::format("unknown trace format '{}'; the known ones are auto, {}", name,
                             fmt::join(known, ", ")));
}

}  // namespace

std::span<const TraceFormat> trace_formats() {
  static const auto formats = [] {
    std::array<TraceFormat, kReaders.size()> result;
    std::ranges::transform(kReaders, result.begin(), &TraceReader::format);
    return result;
  }();
  return formats;
}

std::string missing_column(std::string_view header, std::span<const std::string_view> columns) {
  const std::vector<std::string> names = csv_names(header);
  for (const std::string_view column : columns) {
    if (std::ranges::find(names, column) == names.end()) {
      return fmt::format("no column '{}'", column);
    }
  }
  return {};
}

Result<Workload> parse_trace(std::string_view name, std::istream& in, const TraceOptions& options) {
  if (options.limit < 0) {
    return invalid(fmt::format("a limit of {} jobs makes no sense; 0 means all", options.limit));
  }
  TRY_ASSIGN(const Profiles profiles, read_all_profiles(options.profiles));
  LineReader lines(name, in);
  WorkloadBuilder builder(std::filesystem::path(name).stem().string());
  builder.know(profiles.sensitivities, options.gpu_type);
  TRY_ASSIGN(const TraceReader* const reader,
             options.format == "auto" ? recognise(lines) : reader_named(options.format));
  TRY(reader->read(lines, builder));
  Workload workload = std::move(builder).finish(options.limit);
  if (workload.jobs.empty()) return lines.wrong_file("has a header but no jobs");
  TRY(attach(profiles, options.gpu_type, name, workload));
  return workload;
}

Result<Workload> read_trace(const std::string& path, const TraceOptions& options) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    return invalid(fmt::format("{}: is a directory; name a trace file in it", path));
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    return invalid(fmt::format("{}: cannot be opened: {}", path, std::strerror(errno)));
  }
  return parse_trace(path, in, options);
}

}  // namespace orrery
