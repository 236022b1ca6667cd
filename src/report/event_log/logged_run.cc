#include "report/event_log/logged_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/json_text.h"

namespace orrery {
namespace {

using nlohmann::json;

void append_list(fmt::memory_buffer& out, std::string_view key, const auto& values) {
  append(out, key);
  out.push_back('[');
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out.push_back(',');
    append_number(out, values[i]);
  }
  out.push_back(']');
}

Status read_options(const LogLine& line, RunDescription& run) {
  if (line.find("options") == nullptr) return {};
  TRY_ASSIGN(const json* options, line.nested("options"));
  for (const auto& [key, value] : options->items()) {
    if (!value.is_string()) return invalid(fmt::format("option \"{}\" is not a string", key));
    run.policy.options.emplace(key, value.get_ref<const std::string&>());
  }
  return {};
}

Status read_window(const LogLine& line, RunDescription& run) {
  if (line.find("window") == nullptr) return {};
  TRY_ASSIGN(const json* window, line.list("window"));
  if (window->size() != 2) return invalid("\"window\" is not a list of 2 numbers");
  TRY_ASSIGN(const std::int64_t first,
             LogLine::whole((*window)[0], "window", 0, kMax<std::int32_t> - 1));
  TRY_ASSIGN(const std::int64_t end,
             LogLine::whole((*window)[1], "window", first + 1, kMax<std::int32_t>));
  run.window = {JobId{static_cast<std::int32_t>(first)}, JobId{static_cast<std::int32_t>(end)}};
  return {};
}

// Seeds use all 64 bits.
Status read_seed(const LogLine& line, RunDescription& run) {
  const json* seed = line.find("seed");
  if (seed == nullptr) return {};
  if (!seed->is_number_unsigned()) return invalid("\"seed\" is not a whole number");
  run.policy.seed = seed->get<std::uint64_t>();
  return {};
}

void append_faults(fmt::memory_buffer& out, const FaultRules& faults) {
  append(out, ",\"faults\":{\"checkpoint_interval\":");
  append_number(out, std::int64_t{faults.checkpoint_interval.count()});
  append(out, ",\"checkpoint_cost\":");
  append_number(out, std::int64_t{faults.checkpoint_cost.count()});
  append(out, ",\"notice\":");
  append_number(out, std::int64_t{faults.notice.count()});
  append(out, ",\"on_demand_price\":");
  append_number(out, faults.on_demand_price);
  append(out, ",\"spot_price\":");
  append_number(out, faults.spot_price);
  append(out, ",\"on_demand_nodes\":");
  append_number(out, std::int64_t{faults.on_demand_nodes});
  out.push_back('}');
}

Status read_price(const LogLine& fields, const char* key, double& price) {
  TRY(fields.number(key, price, Need::Required));
  if (price >= 0 && std::isfinite(price)) return {};
  return invalid(fmt::format("\"{}\" is not a number, 0 or more", key));
}

Status read_faults(const LogLine& line, RunDescription& run) {
  if (line.find("faults") == nullptr) return {};
  TRY_ASSIGN(const json* object, line.nested("faults"));
  const LogLine fields(*object);
  const auto read_duration = [&](const char* key, Duration& duration) -> Status {
    constexpr std::int64_t kLongest = kNever.time_since_epoch().count() / 4;
    std::int64_t count = 0;
    TRY(fields.integer(key, count, Need::Required, 0, kLongest));
    duration = Duration(count);
    return {};
  };
  FaultRules faults;
  TRY(read_duration("checkpoint_interval", faults.checkpoint_interval));
  TRY(read_duration("checkpoint_cost", faults.checkpoint_cost));
  TRY(read_duration("notice", faults.notice));
  TRY(read_price(fields, "on_demand_price", faults.on_demand_price));
  TRY(read_price(fields, "spot_price", faults.spot_price));
  TRY(fields.integer("on_demand_nodes", faults.on_demand_nodes, Need::Required, 0, kMax<int>));
  run.faults = faults;
  return {};
}

Result<std::vector<std::int64_t>> read_points(const LogLine& line, const char* key) {
  TRY_ASSIGN(const json* list, line.list(key));
  std::vector<std::int64_t> points;
  for (const json& entry : *list) {
    TRY_ASSIGN(const std::int64_t point, LogLine::whole(entry, key, 0, kMax<std::int64_t>));
    if (!points.empty() && points.back() >= point) {
      return invalid(fmt::format("the points of \"{}\" do not rise", key));
    }
    points.push_back(point);
  }
  if (points.empty()) return invalid(fmt::format("\"{}\" has no points", key));
  return points;
}

}  // namespace

void append_run(fmt::memory_buffer& out, const RunDescription& run) {
  append(out, ",\"run\":{\"policy\":");
  append_string(out, run.policy.name);
  std::string_view before = ",\"options\":{";
  for (const auto& [key, value] : run.policy.options) {
    append(out, before);
    before = ",";
    append_string(out, key);
    out.push_back(':');
    append_string(out, value);
  }
  if (!run.policy.options.empty()) out.push_back('}');
  append(out, ",\"semantics\":");
  append_string(out, to_string(run.semantics));
  append(out, ",\"seed\":");
  append_number(out, run.policy.seed);
  if (run.policy.round != Duration::zero()) {
    append(out, ",\"round\":");
    append_number(out, std::int64_t{run.policy.round.count()});
  }
  if (run.speed_error != 0) {
    append(out, ",\"speed_error\":");
    append_number(out, run.speed_error);
  }
  if (run.window) {
    append_list(out, ",\"window\":",
                std::vector<std::int64_t>{static_cast<std::int32_t>(run.window->first),
                                          static_cast<std::int32_t>(run.window->end)});
  }
  if (run.faults) append_faults(out, *run.faults);
  append(out, ",\"jobs\":");
  append_number(out, run.jobs);
  out.push_back('}');
}

Status read_run(const LogLine& line, RunDescription& run) {
  if (line.find("run") == nullptr) return {};
  TRY_ASSIGN(const json* object, line.nested("run"));
  const LogLine fields(*object);
  std::int64_t round = 0;
  std::string semantics;
  TRY(fields.text("policy", run.policy.name, Need::Required));
  TRY(fields.text("semantics", semantics, Need::Required));
  TRY_ASSIGN(run.semantics, parse_semantics(semantics));
  TRY(fields.integer("round", round, Need::Optional));
  TRY(fields.number("speed_error", run.speed_error, Need::Optional));
  TRY(fields.integer("jobs", run.jobs, Need::Optional));
  run.policy.round = Duration(round);
  if (!(run.speed_error >= 0 && run.speed_error < 1)) {
    return invalid("\"speed_error\" is not a number from 0 to 1");
  }
  TRY(read_seed(fields, run));
  TRY(read_options(fields, run));
  TRY(read_faults(fields, run));
  return read_window(fields, run);
}

void append_sensitivity(fmt::memory_buffer& out, const Sensitivity& sensitivity) {
  append_list(out, "{\"cpu_milli\":", sensitivity.cpu_milli);
  append_list(out, ",\"memory\":", sensitivity.memory_bytes);
  append_list(out, ",\"speed\":", sensitivity.speed);
  append_list(
      out, ",\"ideal\":", std::vector{sensitivity.ideal.cpu_milli, sensitivity.ideal.memory_bytes});
  out.push_back('}');
}

Result<Sensitivity> read_sensitivity(const LogLine& line) {
  Sensitivity out;
  TRY_ASSIGN(out.cpu_milli, read_points(line, "cpu_milli"));
  TRY_ASSIGN(out.memory_bytes, read_points(line, "memory"));
  TRY_ASSIGN(const json* speeds, line.list("speed"));
  for (const json& entry : *speeds) {
    double& speed = out.speed.emplace_back();
    TRY(LogLine::real(entry, "speed", speed));
    if (!(speed > 0) || std::isinf(speed)) return invalid("a \"speed\" is not a number above 0");
  }
  if (out.speed.size() != out.cpu_milli.size() * out.memory_bytes.size()) {
    return invalid("\"speed\" is not as long as \"cpu_milli\" times \"memory\"");
  }
  TRY_ASSIGN(const json* ideal, line.list("ideal"));
  if (ideal->size() != 2) return invalid("\"ideal\" is not a list of 2 numbers");
  TRY_ASSIGN(out.ideal.cpu_milli, LogLine::whole((*ideal)[0], "ideal", 0, kMax<std::int64_t>));
  TRY_ASSIGN(out.ideal.memory_bytes, LogLine::whole((*ideal)[1], "ideal", 0, kMax<std::int64_t>));
  return out;
}

}  // namespace orrery
