#include "training/step_trace/perfetto_trace.h"

#include <algorithm>
#include <array>

#include "base/json_text.h"

namespace orrery {
namespace {

// Operations of one stream follow each other; those of different streams overlap.
constexpr std::array<std::string_view, 6> kStreams = {
    "compute", "forward-send", "forward-recv", "backward-send", "backward-recv", "data parallel"};

std::size_t stream_of(OperationKind kind) {
  switch (kind) {
    case OperationKind::ForwardSend:
      return 1;
    case OperationKind::ForwardReceive:
      return 2;
    case OperationKind::BackwardSend:
      return 3;
    case OperationKind::BackwardReceive:
      return 4;
    case OperationKind::ParamsAllGather:
    case OperationKind::GradsReduceScatter:
      return 5;
    default:
      return 0;
  }
}

class PerfettoWriter {
 public:
  PerfettoWriter(const RecordedSteps& recorded, const TextSink& out)
      : recorded_(recorded), out_(out) {
    append(text_, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[");
  }

  // The steps one after the other, as long as each took.
  Status recorded_steps();
  Status ideal_step(const StepTimes& ideal);
  Status finish() {
    append(text_, "\n]}\n");
    return out_({text_.data(), text_.size()});
  }

 private:
  void names(std::size_t process, std::string_view suffix);
  void name(std::size_t process, std::string_view what, std::string_view value);
  Status operation(std::size_t process, std::size_t row, std::int64_t step, double from_s,
                   double took_s);
  std::size_t thread(const StepOperation& operation) const {
    return static_cast<std::size_t>(operation.stage) * kStreams.size() + stream_of(operation.kind);
  }
  void begin() {
    append(text_, first_ ? "\n" : ",\n");
    first_ = false;
  }

  const RecordedSteps& recorded_;
  const TextSink& out_;
  fmt::memory_buffer text_;
  bool first_ = true;
};

void PerfettoWriter::name(std::size_t process, std::string_view what, std::string_view value) {
  begin();
  fmt::format_to(fmt::appender(text_),
                 "{{\"ph\":\"M\",\"pid\":{},\"name\":\"{}\",\"args\":{{\"name\":", process, what);
  append_string(text_, value);
  append(text_, "}}");
}

void PerfettoWriter::names(std::size_t process, std::string_view suffix) {
  const std::size_t worker = process % recorded_.workers();
  name(process, "process_name", fmt::format("worker {}{}", worker, suffix));
  std::vector<std::size_t> seen;
  for (const StepOperation& operation : recorded_.operations) {
    const std::size_t number = thread(operation);
    if (std::ranges::find(seen, number) != seen.end()) continue;
    seen.push_back(number);
    begin();
    fmt::format_to(fmt::appender(text_),
                   "{{\"ph\":\"M\",\"pid\":{},\"tid\":{},\"name\":\"thread_name\",\"args\":{{"
                   "\"name\":\"stage {} {}\"}}}}",
                   process, number, operation.stage, kStreams[stream_of(operation.kind)]);
  }
}

Status PerfettoWriter::operation(std::size_t process, std::size_t row, std::int64_t step,
                                 double from_s, double took_s) {
  constexpr double kMicroseconds = 1e6;
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  const StepOperation& each = recorded_.operations[row];
  begin();
  fmt::format_to(
      fmt::appender(text_),
      "{{\"ph\":\"X\",\"pid\":{},\"tid\":{},\"name\":\"{}\",\"ts\":{:.3f},\"dur\":{:.3f},"
      "\"args\":{{\"step\":{},\"seq_id\":{},\"mb_id\":{}}}}}",
      process, thread(each), traits(each.kind).name, from_s * kMicroseconds, took_s * kMicroseconds,
      step, each.sequence, each.microbatch);
  if (text_.size() < kPiece) return {};
  const Status written = out_({text_.data(), text_.size()});
  text_.clear();
  return written;
}

Status PerfettoWriter::recorded_steps() {
  const std::size_t workers = recorded_.workers();
  for (std::size_t worker = 0; worker < workers; ++worker) names(worker, "");
  double begins = 0;
  for (std::size_t step = 0; step < recorded_.steps.size(); ++step) {
    double ends = 0;
    for (std::size_t row = 0; row < recorded_.operations.size(); ++row) {
      for (std::size_t worker = 0; worker < workers; ++worker) {
        const std::size_t lane = step * workers + worker;
        const double from = recorded_.starts.of(row)[lane];
        const double took = recorded_.durations.of(row)[lane];
        ends = std::max(ends, from + took);
        TRY(operation(worker, row, recorded_.steps[step], begins + from, took));
      }
    }
    begins += ends;
  }
  return {};
}

Status PerfettoWriter::ideal_step(const StepTimes& ideal) {
  const std::size_t workers = recorded_.workers();
  for (std::size_t worker = 0; worker < workers; ++worker) {
    names(workers + worker, ", without slowness");
    for (std::size_t row = 0; row < recorded_.operations.size(); ++row) {
      const double from = ideal.starts.of(row)[worker];
      TRY(operation(workers + worker, row, recorded_.steps.front(), from,
                    ideal.ends.of(row)[worker] - from));
    }
  }
  return {};
}

}  // namespace

Status write_perfetto_trace(const RecordedSteps& recorded, const StepTimes& ideal,
                            const TextSink& out) {
  PerfettoWriter writer(recorded, out);
  TRY(writer.recorded_steps());
  TRY(writer.ideal_step(ideal));
  return writer.finish();
}

}  // namespace orrery
