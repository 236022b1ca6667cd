#include "training/step_trace/step_trace_text.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "base/json_text.h"
#include "training/step_trace/text_parts.h"
#include "training/step_trace/training_shape.h"

namespace orrery {
namespace {

enum Column {
  kWorker,
  kStage,
  kRank,
  kStep,
  kKind,
  kStart,
  kDuration,
  kSequence,
  kChunk,
  kMicrobatch,
  kGlobalChunk,
};
constexpr std::array<std::string_view, kStepTraceColumns> kNames = {
    "dp_rank",  "stage",  "rank", "step",  "optype", "start_ts",
    "duration", "seq_id", "mc",   "mb_id", "gmc"};

constexpr int kFieldsMost = 64;
constexpr std::int64_t kIntMost = std::numeric_limits<std::int32_t>::max();
constexpr double kSecondsMost = 1e12;

}  // namespace

Error StepTraceParser::wrong(std::string what) const {
  return invalid(fmt::format("{}:{}: {}", trace_.name, number_, what));
}

Status StepTraceParser::add(std::string_view line) {
  ++number_;
  line = without_return(line);
  if (number_ == 1 && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
  if (trimmed(line).empty()) return {};
  return fields_ == 0 ? header(line) : row(line);
}

Status StepTraceParser::header(std::string_view line) {
  field_of_.fill(-1);
  while (true) {
    const std::size_t end = std::min(line.find(','), line.size());
    const std::string_view name = trimmed(line.substr(0, end));
    for (int column = 0; column < kStepTraceColumns; ++column) {
      int& field = field_of_[static_cast<std::size_t>(column)];
      if (name != kNames[static_cast<std::size_t>(column)]) continue;
      if (field >= 0) return wrong(fmt::format("column {} stands there twice; remove one", name));
      field = fields_;
    }
    if (++fields_ > kFieldsMost) {
      return wrong(fmt::format("has more than {} columns; write {}", kFieldsMost,
                               trimmed(step_trace_header())));
    }
    if (end == line.size()) break;
    line.remove_prefix(end + 1);
  }
  for (int column = 0; column < kStepTraceColumns; ++column) {
    if (field_of_[static_cast<std::size_t>(column)] >= 0) continue;
    return wrong(fmt::format("has no column {}; the columns of a step trace are {}",
                             kNames[static_cast<std::size_t>(column)],
                             step_trace_header().substr(0, step_trace_header().size() - 1)));
  }
  return {};
}

Result<std::int64_t> StepTraceParser::whole(int column, std::int64_t low, std::int64_t high) const {
  const std::string_view text = texts_[static_cast<std::size_t>(column)];
  // A chunk that is not known may be left out.
  if (text.empty() && low < 0) return low;
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem == std::errc{} && end == text.data() + text.size() && value >= low && value <= high) {
    return value;
  }
  return wrong(fmt::format("{} is '{}'; write a whole number from {} to {}",
                           kNames[static_cast<std::size_t>(column)], shown(text), low, high));
}

Result<double> StepTraceParser::seconds(int column) const {
  const std::string_view text = texts_[static_cast<std::size_t>(column)];
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem == std::errc{} && end == text.data() + text.size() && std::isfinite(value) &&
      std::abs(value) <= kSecondsMost) {
    return value;
  }
  return wrong(fmt::format("{} is '{}'; write seconds as a number",
                           kNames[static_cast<std::size_t>(column)], shown(text)));
}

Status StepTraceParser::row(std::string_view line) {
  std::array<std::string_view, kFieldsMost> fields;
  int count = 0;
  for (std::string_view rest = line;; ++count) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    if (count < kFieldsMost) fields[static_cast<std::size_t>(count)] = rest.substr(0, end);
    if (end == rest.size()) break;
    rest.remove_prefix(end + 1);
  }
  if (++count != fields_) {
    return wrong(fmt::format("has {} fields where the header has {}; is the file cut off here?",
                             count, fields_));
  }
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    texts_[i] = trimmed(fields[static_cast<std::size_t>(field_of_[i])]);
  }
  TRY_ASSIGN(const std::int64_t worker, whole(kWorker, 0, kWorkersMost));
  TRY_ASSIGN(const std::int64_t stage, whole(kStage, 0, kStagesMost));
  TRY_ASSIGN(const std::int64_t rank, whole(kRank, 0, kIntMost));
  TRY_ASSIGN(const std::int64_t step, whole(kStep, 0, std::int64_t{1} << 53));
  const auto kind = operation_kind(texts_[kKind]);
  if (!kind) {
    return wrong(fmt::format("unknown operation '{}'; the operations are {}", shown(texts_[kKind]),
                             operation_names()));
  }
  TRY_ASSIGN(const double start, seconds(kStart));
  TRY_ASSIGN(const double duration, seconds(kDuration));
  if (duration < 0) {
    return wrong(fmt::format("duration is {}; write seconds, 0 or more", shown(texts_[kDuration])));
  }
  TRY_ASSIGN(const std::int64_t sequence, whole(kSequence, 0, kIntMost));
  TRY_ASSIGN(const std::int64_t chunk, whole(kChunk, -1, kIntMost));
  TRY_ASSIGN(const std::int64_t microbatch, whole(kMicrobatch, -1, kIntMost));
  TRY_ASSIGN(const std::int64_t global_chunk, whole(kGlobalChunk, -1, kIntMost));
  trace_.operations.push_back({.step = step,
                               .worker = static_cast<int>(worker),
                               .stage = static_cast<int>(stage),
                               .rank = static_cast<int>(rank),
                               .kind = *kind,
                               .sequence = static_cast<int>(sequence),
                               .chunk = static_cast<int>(chunk),
                               .microbatch = static_cast<int>(microbatch),
                               .global_chunk = static_cast<int>(global_chunk),
                               .start_s = start,
                               .duration_s = duration});
  trace_.lines.push_back(number_);
  return {};
}

Result<StepTrace> StepTraceParser::finish() && {
  if (fields_ == 0) {
    return invalid(fmt::format("{}: is empty; a step trace begins with the line {}", trace_.name,
                               step_trace_header().substr(0, step_trace_header().size() - 1)));
  }
  if (trace_.operations.empty()) {
    return invalid(fmt::format("{}:{}: holds no step; record at least one", trace_.name, number_));
  }
  return std::move(trace_);
}

Result<StepTrace> parse_step_trace(const std::string& name, std::string_view text) {
  StepTraceParser parser(name);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    TRY(parser.add(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return std::move(parser).finish();
}

std::string step_trace_header() {
  std::string line;
  for (const std::string_view name : kNames) {
    if (!line.empty()) line += ',';
    line += name;
  }
  return line + "\n";
}

void append_step_operation(fmt::memory_buffer& out, const StepOperation& operation) {
  fmt::format_to(fmt::appender(out), "{},{},{},{},{},", operation.worker, operation.stage,
                 operation.rank, operation.step, traits(operation.kind).name);
  append_number(out, operation.start_s);
  out.push_back(',');
  append_number(out, operation.duration_s);
  fmt::format_to(fmt::appender(out), ",{},{},{},{}\n", operation.sequence, operation.chunk,
                 operation.microbatch, operation.global_chunk);
}

}  // namespace orrery
