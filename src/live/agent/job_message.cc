#include "live/agent/job_message.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

namespace orrery {
namespace {

using Json = nlohmann::json;
using Kind = JobWord::Kind;

// Beyond 2^53 other languages round.
constexpr std::int64_t kLargestNumber = std::int64_t{1} << 53;

constexpr std::array<std::pair<std::string_view, Kind>, 5> kKinds{
    {{"hello", Kind::Hello},
     {"progress", Kind::Progress},
     {"checkpointed", Kind::Checkpointed},
     {"can_stop_at", Kind::CanStopAt},
     {"bye", Kind::Bye}}};

Result<Json> parse(std::string_view line) {
  try {
    Json json = Json::parse(line);
    if (!json.is_object()) return invalid("a message is a JSON object, {\"kind\":...}");
    return json;
  } catch (const Json::parse_error& fault) {
    return invalid("not JSON, from byte " + std::to_string(fault.byte) + " on");
  } catch (const Json::exception&) {
    return invalid("not JSON that can be read: a number is out of range");
  }
}

std::string quoted(std::string_view key) { return "\"" + std::string(key) + "\""; }

Result<std::int64_t> whole(const Json& json, std::string_view key, std::int64_t least,
                           std::int64_t most) {
  const auto found = json.find(key);
  if (found == json.end()) return invalid("needs " + quoted(key));
  const bool fits = found->is_number_unsigned()
                        ? found->get<std::uint64_t>() <= static_cast<std::uint64_t>(kLargestNumber)
                        : found->is_number_integer();
  if (fits) {
    const auto number = found->get<std::int64_t>();
    if (number >= least && number <= most) return number;
  }
  return invalid(quoted(key) + " must be a whole number from " + std::to_string(least) + " to " +
                 std::to_string(most));
}

// Null is what is left of a number that is none.
Result<std::optional<double>> number(const Json& json, std::string_view key) {
  const auto found = json.find(key);
  if (found == json.end() || found->is_null()) return std::optional<double>();
  if (!found->is_number()) return invalid(quoted(key) + " must be a number or null");
  return std::optional<double>(found->get<double>());
}

Status read_progress(const Json& json, JobWord& word) {
  TRY_ASSIGN(word.iteration, whole(json, "iteration", 0, kLargestNumber));
  if (json.contains("of")) {
    TRY_ASSIGN(word.of, whole(json, "of", 0, kLargestNumber));
  }
  if (word.of > 0 && word.iteration > word.of) {
    return invalid("iteration " + std::to_string(word.iteration) + " is beyond the " +
                   std::to_string(word.of) + " in all; leave \"of\" out if it is not known");
  }
  TRY_ASSIGN(word.loss, number(json, "loss"));
  TRY_ASSIGN(word.samples, number(json, "samples"));
  return {};
}

Status read_fields_of(const Json& json, JobWord& word) {
  switch (word.kind) {
    case Kind::Hello: {
      TRY_ASSIGN(const auto version, whole(json, "version", 1, 1'000'000));
      TRY_ASSIGN(const auto rank, whole(json, "rank", 0, 1'000'000'000));
      word.version = static_cast<int>(version);
      word.rank = static_cast<int>(rank);
      return {};
    }
    case Kind::Progress:
      return read_progress(json, word);
    case Kind::Checkpointed:
    case Kind::CanStopAt: {
      TRY_ASSIGN(word.iteration, whole(json, "iteration", 0, kLargestNumber));
      return {};
    }
    case Kind::Bye: {
      const auto finished = json.find("finished");
      if (finished == json.end()) return {};
      if (!finished->is_boolean()) return invalid("\"finished\" must be true or false");
      word.finished = finished->get<bool>();
      return {};
    }
    default:
      return {};
  }
}

// A path may hold bytes that are no text; the job has it in its environment as well.
std::string line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json json_of(const PrepareStop&) { return {{"kind", "prepare_stop"}}; }
Json json_of(const StopAt& stop) {
  return {{"kind", "stop_at"},
          {"iteration", stop.iteration},
          {"reason", stop_reason_name(stop.reason)}};
}
Json json_of(const ResizeNotice& resize) {
  return {{"kind", "resize"}, {"gpus", resize.gpus}, {"ranks", resize.ranks}};
}

}  // namespace

std::string_view job_word_name(JobWord::Kind kind) {
  for (const auto& [name, known] : kKinds) {
    if (known == kind) return name;
  }
  if (kind == Kind::Gone) return "gone";
  return kind == Kind::Silenced ? "silenced" : "unknown";
}

StopReason parse_stop_reason(std::string_view name) {
  for (const StopReason reason : {StopReason::Resize, StopReason::Drain, StopReason::Cancel}) {
    if (name == stop_reason_name(reason)) return reason;
  }
  return StopReason::Preempt;
}

std::string_view stop_reason_name(StopReason reason) {
  switch (reason) {
    case StopReason::Preempt:
      return "preempt";
    case StopReason::Resize:
      return "resize";
    case StopReason::Drain:
      return "drain";
    case StopReason::Cancel:
      return "cancel";
  }
  return "preempt";
}

Result<JobWord> read_job_line(std::string_view line) {
  TRY_ASSIGN(const Json json, parse(line));
  const auto kind = json.find("kind");
  if (kind == json.end() || !kind->is_string()) {
    return invalid("needs \"kind\", one of hello, progress, checkpointed, can_stop_at, bye");
  }
  const auto& name = kind->get_ref<const std::string&>();
  JobWord word;
  const auto known = std::ranges::find(kKinds, name, &std::pair<std::string_view, Kind>::first);
  if (known == kKinds.end()) return word;
  word.kind = known->second;
  if (Status status = read_fields_of(json, word); !status.ok()) {
    return std::move(status).error().at(name);
  }
  return word;
}

std::string message_line(const JobMessage& message) {
  return line(std::visit([](const auto& said) { return json_of(said); }, message));
}

std::string welcome_line(const Launch& launch) {
  return line({{"kind", "welcome"},
               {"version", kJobProtocol},
               {"checkpoint_dir", launch.checkpoint_directory},
               {"epoch", launch.epoch},
               {"ranks", launch.gang.ranks},
               {"resume", launch.resumed}});
}

std::string error_line(std::string_view why) { return line({{"kind", "error"}, {"message", why}}); }

}  // namespace orrery
