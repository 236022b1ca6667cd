#include "workload/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <vector>

#include "workload/formats/trace_reader.h"
#include "workload/profiles/speed_profiles.h"
#include "workload/text/csv.h"

namespace orrery {
namespace {

constexpr std::string_view kStandardInput = "standard input";

// Chronus' columns are those of Tiresias and more, so it is tried first; Synergy's traces have no
// header, so they come last.
const auto kReaders = std::to_array<const TraceReader*>({
    &kMuriTrace,           &kChronusTrace, &kTiresiasTrace,  &kElasticFlowTrace, &kOrreryTrace,
    &kElasticFlowRawTrace, &kPhillyTrace,  &kHeliosTrace,    &kAcmeTrace,        &kPaiTrace,
    &kOpenbTrace,          &kGavelTrace,   &kSiaTrace,       &kGenParallelTrace, &kSlurmTrace,
    &kPhillyCsvTrace,      &kDlrmTrace,    &kDurationsTrace, &kSynergyTrace,
});

// Why a file with this first line is not in the format; empty: it may be.
std::string refusal(const TraceReader& reader, std::string_view first_line) {
  if (reader.refusal != nullptr) return reader.refusal(first_line);
  return missing_column(first_line, reader.signature);
}

Result<const TraceReader*> recognise(LineReader& lines) {
  // A list in JSON may stand on one line, however long.
  TRY_ASSIGN(const std::string_view start, lines.peek());
  if (refusal(kPhillyTrace, start).empty()) return &kPhillyTrace;
  TRY_ASSIGN(const bool any, lines.next());
  if (!any) return lines.wrong_file("is empty");
  std::vector<std::string> refusals;
  for (const TraceReader* reader : kReaders) {
    const std::string why = refusal(*reader, lines.line());
    if (why.empty()) {
      lines.hold();
      return reader;
    }
    refusals.push_back(fmt::format("{} ({})", reader->format.name, why));
  }
  const std::string_view header = lines.line();
  if (std::ranges::count(header, ';') > 0 && std::ranges::count(header, ',') == 0) {
    return lines.wrong("separates its columns by ';'; separate them by ',', for example: tr ';' ,");
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

std::string file_in_folder(const std::string& folder) {
  std::error_code error;
  for (const TraceReader* reader : kReaders) {
    const auto file = std::filesystem::path(folder) / reader->file_in_folder;
    if (!reader->file_in_folder.empty() && std::filesystem::is_regular_file(file, error)) {
      return file.string();
    }
  }
  return {};
}

Error no_jobs(const LineReader& lines, const Workload& workload) {
  if (workload.oddities.empty()) return lines.wrong_file("has a header but no jobs");
  std::vector<std::string> why;
  for (const Oddity& oddity : workload.oddities) {
    why.push_back(fmt::format("{} that {}", oddity.count, oddity.what));
  }
  return lines.wrong_file(fmt::format("has no job that can be run: {}", fmt::join(why, ", ")));
}

Result<Workload> parse(std::string_view name, std::istream& in, TraceSource source) {
  const TraceOptions& options = source.options;
  if (options.limit < 0) {
    return invalid(fmt::format("a limit of {} jobs makes no sense; 0 means all", options.limit));
  }
  LineReader lines(name, in);
  WorkloadBuilder builder(std::filesystem::path(name).stem().string());
  TRY_ASSIGN(const TraceReader* const reader,
             options.format == "auto" ? recognise(lines) : reader_named(options.format));
  if (reader->read_with != nullptr) {
    TRY(reader->read_with(lines, source, builder));
  }
  // A reader may take the profiles for a file of its own format.
  TRY_ASSIGN(const Profiles profiles,
             read_all_profiles(source.profiles_used ? std::string() : options.profiles));
  if (reader->read_with == nullptr) {
    builder.know(profiles.sensitivities, options.gpu_type);
    TRY(reader->read(lines, builder));
  }
  Workload workload = std::move(builder).finish(options.limit);
  workload.format = reader->format.name;
  if (workload.jobs.empty()) return no_jobs(lines, workload);
  TRY(attach(profiles, options.gpu_type, name, workload));
  return workload;
}

Result<Workload> read_standard_input(const TraceOptions& options) {
  return parse(kStandardInput, std::cin, {.path = "", .options = options});
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
  return parse(name, in, {.path = "", .options = options});
}

std::string file_of_trace(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error) ? file_in_folder(path) : path;
}

Result<Workload> read_trace(const std::string& path, const TraceOptions& options) {
  if (path == "-") return read_standard_input(options);
  std::error_code error;
  std::string file = path;
  if (std::filesystem::is_directory(path, error)) {
    file = file_in_folder(path);
    if (file.empty()) {
      return invalid(fmt::format("{}: is a directory; name a trace file in it", path));
    }
  }
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    return invalid(fmt::format("{}: cannot be opened: {}", file, std::strerror(errno)));
  }
  return parse(file, in, {.path = file, .options = options});
}

}  // namespace orrery
