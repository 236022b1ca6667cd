#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "live/api/job_request.h"
#include "live/api/job_request_object.h"

namespace orrery {
namespace {

using Json = nlohmann::json;

constexpr double kSpeedMax = 1e12;
constexpr std::int64_t kHostMax = std::int64_t{1} << 60;

// Thrown and caught in this file alone, beside what the library throws.
struct WrongNumber {
  const char* key;
};

// What a reader finds under a key, or what was there before.
class Reader {
 public:
  explicit Reader(const Json& object) : object_(object) {}

  void text(const char* key, std::string& value) { take<std::string>(key, value); }
  void flag(const char* key, bool& value) { take<bool>(key, value); }
  template <class Number>
  void number(const char* key, Number& value) {
    const auto found = object_.find(key);
    if (found == object_.end()) return;
    if (!found->is_number_integer()) throw WrongNumber{key};
    const auto whole = found->template get<std::int64_t>();
    const bool negative = found->is_number_unsigned() && whole < 0;  // past the end of 64 bits
    if (negative || !std::in_range<Number>(whole)) throw WrongNumber{key};
    value = static_cast<Number>(whole);
  }
  void duration(const char* key, Duration& value) {
    std::int64_t count = value.count();
    number(key, count);
    value = Duration(count);
  }
  template <class List>
  void list(const char* key, List& value) {
    take<List>(key, value);
  }
  // Numbers, and [first, last] for those that follow each other.
  void runs(const char* key, std::vector<int>& value) {
    const auto found = object_.find(key);
    if (found == object_.end()) return;
    if (!found->is_array()) throw WrongNumber{key};
    const auto whole = [key](const Json& number) {
      if (!number.is_number_integer()) throw WrongNumber{key};
      return number.get<std::int64_t>();
    };
    value.clear();
    for (const Json& item : *found) {
      const std::int64_t first = whole(item.is_array() ? item.at(0) : item);
      const std::int64_t last = whole(item.is_array() ? item.at(1) : item);
      const auto left = static_cast<std::int64_t>(kArrayMax - value.size());
      if (!std::in_range<int>(first) || !std::in_range<int>(last) || last < first ||
          last - first >= left) {
        throw WrongNumber{key};
      }
      for (std::int64_t i = first; i <= last; ++i) value.push_back(static_cast<int>(i));
    }
  }
  bool has(const char* key) const { return object_.contains(key); }
  void speeds(const char* key, std::optional<SpeedCurve>& value) {
    const auto found = object_.find(key);
    if (found == object_.end()) return;
    SpeedCurve& curve = value.emplace();
    for (const auto& [gpus, speed] : found->at("points").get<std::vector<std::pair<int, double>>>())
      curve.points.push_back({gpus, speed});
    for (const Json& spread : found->value("spreads", Json::array())) {
      const auto [gpus, nodes, speed] = spread.get<std::tuple<int, int, double>>();
      curve.spreads.push_back({gpus, nodes, speed});
    }
    curve.widest = found->at("widest").get<int>();
  }
  void sensitivity(const char* key, std::optional<Sensitivity>& value) {
    const auto found = object_.find(key);
    if (found == object_.end()) return;
    Sensitivity& table = value.emplace();
    found->at("cpu_milli").get_to(table.cpu_milli);
    found->at("memory_bytes").get_to(table.memory_bytes);
    found->at("speed").get_to(table.speed);
    const auto [cpu_milli, memory_bytes] =
        found->at("ideal").get<std::pair<std::int64_t, std::int64_t>>();
    table.ideal = {cpu_milli, memory_bytes};
  }

 private:
  template <class Value>
  void take(const char* key, Value& value) {
    const auto found = object_.find(key);
    if (found != object_.end()) value = found->get<Value>();
  }

  const Json& object_;
};

void read(Reader& reader, JobRequest& request) {
  reader.list("argv", request.argv);
  reader.list("environment", request.environment);
  reader.text("directory", request.directory);
  reader.text("name", request.name);
  reader.text("user", request.user);
  reader.text("tenant", request.tenant);
  reader.number("gpus", request.gpus);
  reader.number("gpus_min", request.gpus_min);
  reader.number("gpus_max", request.gpus_max);
  reader.number("cpu_milli", request.cpu_milli);
  reader.number("memory_bytes", request.memory_bytes);
  reader.text("gpu_type", request.gpu_type);
  reader.text("model", request.model);
  reader.duration("expected_ns", request.expected);
  reader.duration("start_cost_ns", request.start_cost);
  if (reader.has("deadline_ns")) {
    Duration deadline{};
    reader.duration("deadline_ns", deadline);
    request.deadline = deadline;
  }
  reader.flag("deadline_is_soft", request.deadline_is_soft);
  reader.number("priority", request.priority);
  reader.list("after", request.after);
  reader.number("retries", request.retries);
  reader.flag("process_per_gpu", request.process_per_gpu);
  reader.duration("grace_ns", request.grace);
  reader.text("output", request.output);
  reader.text("checkpoint_directory", request.checkpoint_directory);
  reader.runs("array", request.array);
  reader.duration("node_timeout_ns", request.node_timeout);
  reader.text("errors", request.errors);
  reader.duration("time_limit_ns", request.time_limit);
  reader.number("signal", request.signal);
  reader.duration("signal_before_ns", request.signal_before);
  reader.flag("private_tmp", request.private_tmp);
  reader.speeds("speeds", request.speeds);
  reader.sensitivity("sensitivity", request.sensitivity);
}

// Leaves out what is as it would be anyway.
class Writer {
  static constexpr int kMost = std::numeric_limits<int>::max();

 public:
  template <class Value>
  void put(const char* key, const Value& value, const Value& usual) {
    if (value != usual) object_[key] = value;
  }
  void put(const char* key, Duration value, Duration usual) {
    if (value != usual) object_[key] = value.count();
  }
  void put(const char* key, const SpeedCurve& curve) {
    Json& object = object_[key];
    object["widest"] = curve.widest;
    object["points"] = Json::array();
    for (const SpeedCurve::Point& point : curve.points) {
      object["points"].push_back({point.gpus, point.iterations_per_s});
    }
    for (const SpeedCurve::Spread& spread : curve.spreads) {
      object["spreads"].push_back({spread.gpus, spread.nodes, spread.iterations_per_s});
    }
  }
  void put(const char* key, const Sensitivity& table) {
    object_[key] = {{"cpu_milli", table.cpu_milli},
                    {"memory_bytes", table.memory_bytes},
                    {"speed", table.speed},
                    {"ideal", {table.ideal.cpu_milli, table.ideal.memory_bytes}}};
  }
  void put_runs(const char* key, const std::vector<int>& values) {
    if (values.empty()) return;
    Json& list = object_[key] = Json::array();
    for (auto first = values.begin(); first != values.end();) {
      auto last = first;
      while (last + 1 != values.end() && *last < kMost && *(last + 1) == *last + 1) ++last;
      if (last - first < 2) last = first;
      list.push_back(last == first ? Json(*first) : Json{*first, *last});
      first = last + 1;
    }
  }
  std::string text() const { return object_.dump(-1, ' ', false, Json::error_handler_t::replace); }

 private:
  Json object_ = Json::object();
};

bool is_speed(double speed) { return speed > 0 && speed <= kSpeedMax; }

bool is_rising(const std::vector<std::int64_t>& points) {
  return !points.empty() && points.front() >= 0 && points.back() <= kHostMax &&
         std::ranges::adjacent_find(points, std::ranges::greater_equal{}) == points.end();
}

// A log is text that any program may have written.
Status check_measured(const JobRequest& request) {
  if (request.speeds) {
    const SpeedCurve& curve = *request.speeds;
    const auto bad = [](const auto& point) {
      return point.gpus < 1 || !is_speed(point.iterations_per_s);
    };
    const bool falls = std::ranges::adjacent_find(curve.points, std::ranges::greater_equal{},
                                                  &SpeedCurve::Point::gpus) != curve.points.end();
    if (curve.points.empty() || falls || curve.widest < curve.points.back().gpus ||
        std::ranges::any_of(curve.points, bad) || std::ranges::any_of(curve.spreads, bad)) {
      return invalid("speeds: write rising numbers of GPUs, with a speed above 0 for each");
    }
  }
  if (!request.sensitivity) return {};
  const Sensitivity& table = *request.sensitivity;
  if (!is_rising(table.cpu_milli) || !is_rising(table.memory_bytes) ||
      table.speed.size() != table.cpu_milli.size() * table.memory_bytes.size() ||
      !std::ranges::all_of(table.speed, is_speed)) {
    return invalid(
        "sensitivity: write rising CPUs and memory, with a speed above 0 for each pair of them");
  }
  return {};
}

}  // namespace

std::string job_request_json(const JobRequest& request) {
  static const JobRequest usual;
  Writer writer;
  writer.put("argv", request.argv, usual.argv);
  writer.put("environment", request.environment, usual.environment);
  writer.put("directory", request.directory, usual.directory);
  writer.put("name", request.name, usual.name);
  writer.put("user", request.user, usual.user);
  writer.put("tenant", request.tenant, usual.tenant);
  writer.put("gpus", request.gpus, usual.gpus);
  writer.put("gpus_min", request.gpus_min, usual.gpus_min);
  writer.put("gpus_max", request.gpus_max, usual.gpus_max);
  writer.put("cpu_milli", request.cpu_milli, usual.cpu_milli);
  writer.put("memory_bytes", request.memory_bytes, usual.memory_bytes);
  writer.put("gpu_type", request.gpu_type, usual.gpu_type);
  writer.put("model", request.model, usual.model);
  writer.put("expected_ns", request.expected, usual.expected);
  writer.put("start_cost_ns", request.start_cost, usual.start_cost);
  if (request.deadline) writer.put("deadline_ns", *request.deadline, Duration(-1));
  writer.put("deadline_is_soft", request.deadline_is_soft, usual.deadline_is_soft);
  writer.put("priority", request.priority, usual.priority);
  writer.put("after", request.after, usual.after);
  writer.put("retries", request.retries, usual.retries);
  writer.put("process_per_gpu", request.process_per_gpu, usual.process_per_gpu);
  writer.put("grace_ns", request.grace, usual.grace);
  writer.put("output", request.output, usual.output);
  writer.put("checkpoint_directory", request.checkpoint_directory, usual.checkpoint_directory);
  writer.put_runs("array", request.array);
  writer.put("node_timeout_ns", request.node_timeout, usual.node_timeout);
  writer.put("errors", request.errors, usual.errors);
  writer.put("time_limit_ns", request.time_limit, usual.time_limit);
  writer.put("signal", request.signal, usual.signal);
  writer.put("signal_before_ns", request.signal_before, usual.signal_before);
  writer.put("private_tmp", request.private_tmp, usual.private_tmp);
  if (request.speeds) writer.put("speeds", *request.speeds);
  if (request.sensitivity) writer.put("sensitivity", *request.sensitivity);
  return writer.text();
}

Result<JobRequest> read_job_request(const Json& object) {
  JobRequest request;
  if (!object.is_object()) return invalid("a job is written as a JSON object");
  try {
    Reader reader(object);
    read(reader, request);
  } catch (const Json::exception& error) {
    return invalid(error.what());
  } catch (const WrongNumber& wrong) {
    return invalid(fmt::format("{}: write a whole number that fits", wrong.key));
  }
  TRY(check_measured(request));
  return request;
}

Result<JobRequest> read_job_request_json(std::string_view text) {
  const Json object = Json::parse(text, nullptr, false);
  if (object.is_discarded()) return invalid("this is not JSON");
  return read_job_request(object);
}

}  // namespace orrery
