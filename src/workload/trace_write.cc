#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <ostream>

#include "workload/formats/orrery_columns.h"
#include "workload/formats/row.h"
#include "workload/text/csv.h"
#include "workload/text/fixed_text.h"
#include "workload/trace.h"

namespace orrery {
namespace {

constexpr std::size_t kFlushBytes = 1 << 16;

using Text = fmt::memory_buffer;

void put(Text& out, std::string_view text) { out.append(text.data(), text.data() + text.size()); }

void put_fixed(Text& out, std::int64_t value, int digits) { put(out, fixed_text(value, digits)); }

// JSON spells a whole double "3.0" or "3" alike; the shortest text that reads back is used.
void put_number(Text& out, double value) { fmt::format_to(std::back_inserter(out), "{}", value); }

void put_name(Text& out, std::string_view name, TraceSyntax syntax) {
  if (syntax == TraceSyntax::Csv) return put(out, csv_field(name));
  out.push_back('"');
  for (const char c : name) {
    if (c == '"' || c == '\\') out.push_back('\\');
    out.push_back(c);
  }
  out.push_back('"');
}

template <class Numbers>
void put_list(Text& out, const Numbers& numbers, TraceSyntax syntax) {
  if (syntax == TraceSyntax::Csv) {
    fmt::format_to(std::back_inserter(out), "{}", fmt::join(numbers, ";"));
  } else {
    fmt::format_to(std::back_inserter(out), "[{}]", fmt::join(numbers, ","));
  }
}

// The curve as three lists of one length.
struct SpeedLists {
  std::vector<int> gpus;
  std::vector<int> nodes;
  std::vector<double> speeds;
};

SpeedLists speed_lists(const SpeedCurve& curve) {
  SpeedLists lists;
  const auto add = [&](int gpus, int nodes, double speed) {
    lists.gpus.push_back(gpus);
    lists.nodes.push_back(nodes);
    lists.speeds.push_back(speed);
  };
  auto spread = curve.spreads.begin();
  const auto add_spreads_below = [&](int gpus) {
    for (; spread != curve.spreads.end() && spread->gpus < gpus; ++spread) {
      add(spread->gpus, spread->nodes, spread->iterations_per_s);
    }
  };
  for (const SpeedCurve::Point& point : curve.points) {
    add_spreads_below(point.gpus);
    add(point.gpus, 0, point.iterations_per_s);
  }
  if (curve.widest > curve.points.back().gpus) {
    add_spreads_below(curve.widest);
    add(curve.widest, 0, 0);
  }
  add_spreads_below(std::numeric_limits<int>::max());
  return lists;
}

bool has_value(const JobSpec& job, std::size_t column) {
  switch (column) {
    case kDuration:
      return false;  // follows from iterations and iteration_s
    case kModel:
      return job.model != kNoName;
    case kUser:
      return job.user != kNoName;
    case kBatchSize:
      return job.batch_size != 0;
    case kCpus:
      return job.cpu_milli != 0;
    case kMemory:
      return job.memory_bytes != 0;
    case kGpuMemory:
      return job.gpu_memory_bytes != 0;
    case kGpuType:
      return job.gpu_type != kNoName;
    case kPriority:
      return job.priority != 0;
    case kDeadline:
      return job.deadline.has_value();
    case kDeadlineKind:
      return job.deadline_kind != DeadlineKind::Hard;
    case kDeadlineValue:
      return job.deadline_value != 1;
    case kStartCost:
      return job.start_cost != Duration::zero();
    case kCheckpointCost:
      return job.checkpoint_cost != Duration::zero();
    case kStages:
    case kStageSlots:
      return job.profile != kNoProfile;
    case kSpeeds:
    case kSpeedGpus:
    case kSpeedNodes:
      return job.curve != kNoCurve;
    case kHostSpeeds:
    case kHostCpus:
    case kHostMemory:
    case kIdealCpus:
    case kIdealMemory:
      return job.sensitivity != kNoSensitivity;
    default:
      return true;
  }
}

class Writer {
 public:
  Writer(const Workload& workload, TraceSyntax syntax) : workload_(workload), syntax_(syntax) {
    for (std::size_t column = 0; column < kOrreryColumns; ++column) {
      if (std::ranges::any_of(workload.jobs,
                              [&](const JobSpec& job) { return has_value(job, column); })) {
        columns_.push_back(column);
      }
    }
    const bool spread = std::ranges::any_of(
        workload.curves, [](const SpeedCurve& curve) { return !curve.spreads.empty(); });
    if (!spread) std::erase(columns_, static_cast<std::size_t>(kSpeedNodes));
  }

  void put_header() {
    if (syntax_ == TraceSyntax::Jsonl) return;
    for (const std::size_t column : columns_) {
      if (column != columns_.front()) text.push_back(',');
      put(text, kOrreryNames[column]);
    }
    text.push_back('\n');
  }

  void put_job(const JobSpec& job) {
    const bool csv = syntax_ == TraceSyntax::Csv;
    if (!csv) text.push_back('{');
    for (const std::size_t column : columns_) {
      const bool given = has_value(job, column);
      if (!csv && !given) continue;
      if (column != columns_.front()) text.push_back(',');
      if (!csv) fmt::format_to(std::back_inserter(text), "\"{}\":", kOrreryNames[column]);
      if (given) put_value(job, column);
    }
    put(text, csv ? "\n" : "}\n");
  }

  Text text;

 private:
  void put_value(const JobSpec& job, std::size_t column) {
    switch (column) {
      case kJobId:
        return put_name(text, job.name, syntax_);
      case kSubmit:
        return put_fixed(text, job.submitted.time_since_epoch().count(), kSecondDigits);
      case kGpus:
        return put(text, fmt::format_int(job.gpus).c_str());
      case kIterations:
        return put_number(text, job.iterations);
      case kIteration:
        return put_number(text, job.iteration_s);
      case kModel:
        return put_name(text, workload_.name_of(job.model), syntax_);
      case kUser:
        return put_name(text, workload_.name_of(job.user), syntax_);
      case kBatchSize:
        return put(text, fmt::format_int(job.batch_size).c_str());
      case kCpus:
        return put_fixed(text, job.cpu_milli, kCpuDigits);
      case kMemory:
        return put_fixed(text, job.memory_bytes, kGigabyteDigits);
      case kGpuMemory:
        return put_fixed(text, job.gpu_memory_bytes, kGigabyteDigits);
      case kGpuType:
        return put_name(text, workload_.name_of(job.gpu_type), syntax_);
      case kPriority:
        return put(text, fmt::format_int(job.priority).c_str());
      case kDeadline:
        return put_fixed(text, job.deadline->time_since_epoch().count(), kSecondDigits);
      case kDeadlineKind:
        return put_name(text, job.deadline_kind == DeadlineKind::Soft ? "soft" : "hard", syntax_);
      case kDeadlineValue:
        return put_number(text, job.deadline_value);
      case kStartCost:
        return put_fixed(text, job.start_cost.count(), kSecondDigits);
      case kCheckpointCost:
        return put_fixed(text, job.checkpoint_cost.count(), kSecondDigits);
      case kStages:
        return put_list(text, workload_.profiles[index(job.profile)].stage_s, syntax_);
      case kStageSlots:
        return put_list(text, workload_.profiles[index(job.profile)].slots, syntax_);
      case kSpeeds:
      case kSpeedGpus:
      case kSpeedNodes:
        return put_speeds(speed_lists(workload_.curves[index(job.curve)]), column);
      default:
        return put_sensitivity(workload_.sensitivities[index(job.sensitivity)], column);
    }
  }

  void put_sensitivity(const Sensitivity& sensitivity, std::size_t column) {
    const auto fixed_list = [&](const std::vector<std::int64_t>& values, int digits) {
      std::vector<std::string> texts;
      for (const std::int64_t value : values) texts.push_back(fixed_text(value, digits));
      put_list(text, texts, syntax_);
    };
    switch (column) {
      case kHostSpeeds:
        return put_list(text, sensitivity.speed, syntax_);
      case kHostCpus:
        return fixed_list(sensitivity.cpu_milli, kCpuDigits);
      case kHostMemory:
        return fixed_list(sensitivity.memory_bytes, kGigabyteDigits);
      case kIdealCpus:
        return put_fixed(text, sensitivity.ideal.cpu_milli, kCpuDigits);
      default:
        return put_fixed(text, sensitivity.ideal.memory_bytes, kGigabyteDigits);
    }
  }

  void put_speeds(const SpeedLists& lists, std::size_t column) {
    if (column == kSpeeds) return put_list(text, lists.speeds, syntax_);
    put_list(text, column == kSpeedGpus ? lists.gpus : lists.nodes, syntax_);
  }

  const Workload& workload_;
  TraceSyntax syntax_;
  std::vector<std::size_t> columns_;
};

}  // namespace

Status write_trace(const Workload& workload, std::ostream& out, TraceSyntax syntax) {
  for (const std::string& name : workload.names) TRY(check_name(name));
  Writer writer(workload, syntax);
  writer.put_header();
  for (const JobSpec& job : workload.jobs) {
    if (auto named = check_name(job.name); !named.ok() || job.name.empty()) {
      return invalid(fmt::format("job #{} cannot be written: {}", index(job.id),
                                 named.ok() ? "it has no name" : named.error().message));
    }
    writer.put_job(job);
    if (writer.text.size() > kFlushBytes) {
      out.write(writer.text.data(), static_cast<std::streamsize>(writer.text.size()));
      writer.text.clear();
    }
  }
  out.write(writer.text.data(), static_cast<std::streamsize>(writer.text.size()));
  out.flush();
  if (!out) return Error{Code::Unavailable, "writing the trace failed; is the disk full?"};
  return {};
}

}  // namespace orrery
