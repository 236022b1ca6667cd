#include "training/result/training_result.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace orrery {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

// Whole numbers of the JSON object: one list to write and to read them by.
template <class Tally, class Each>
void each_count(Tally& tally, Each&& each) {
  each("gradients", tally.counts.gradients);
  each("updates", tally.counts.updates);
  each("mode_switches", tally.counts.mode_switches);
  each("tasks", tally.counts.tasks);
  each("dropped", tally.counts.dropped);
  each("spoiled", tally.counts.spoiled);
  each("lost", tally.counts.lost);
  each("refused", tally.counts.refused);
  each("refused_connections", tally.refused_connections);
  each("deaths", tally.deaths);
  each("restarts", tally.restarts);
  each("checkpoints", tally.checkpoints);
  each("rings_on_gpus", tally.rings_on_gpus);
  each("limits_moved", tally.limits_moved);
  each("evaluations_skipped", tally.evaluations_skipped);
}

template <class Value>
ordered_json or_null(const std::optional<Value>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json or_null(const std::string& text) {
  return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}

// What is missing or of another kind is `otherwise`: results of earlier
// versions lack some.
template <class Value>
Value value_of(const json& object, const char* key, Value otherwise) {
  const auto found = object.find(key);
  if (found == object.end()) return otherwise;
  if constexpr (std::is_same_v<Value, std::string>) {
    return found->is_string() ? found->template get<Value>() : otherwise;
  } else if constexpr (std::is_same_v<Value, bool>) {
    return found->is_boolean() ? found->template get<Value>() : otherwise;
  } else {
    return found->is_number() ? found->template get<Value>() : otherwise;
  }
}

std::optional<double> number_of(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

ordered_json best_json(const TrainingResult& result) {
  if (!result.best) return nullptr;
  return {{"accuracy", result.best->accuracy}, {"loss", result.best->loss},
          {"version", result.best->version},   {"samples", result.best->samples},
          {"time_s", result.best->at_s},       {"file", or_null(result.best_file)}};
}

ordered_json machine_json(const TrainingResult& result) {
  if (!result.load) return nullptr;
  return {{"cores", result.load->cores},
          {"others", result.load->others},
          {"starved", result.load->starved},
          {"overfull", result.load->overfull},
          {"why", result.load->why}};
}

ordered_json modes_json(const TrainingResult& result) {
  ordered_json modes = ordered_json::array();
  for (const ModeChange& change : result.tally.modes) {
    modes.push_back({{"at_s", change.at_s}, {"mode", change.mode}, {"reason", change.reason}});
  }
  return modes;
}

void take_best(const json& object, TrainingResult& result) {
  const auto best = object.find("best");
  if (best == object.end() || !best->is_object()) return;
  result.best = EvaluatedVersion{.at_s = value_of(*best, "time_s", 0.0),
                                 .version = value_of(*best, "version", ParameterVersion{0}),
                                 .samples = value_of(*best, "samples", std::int64_t{0}),
                                 .accuracy = value_of(*best, "accuracy", 0.0),
                                 .loss = value_of(*best, "loss", 0.0)};
  result.best_file = value_of(*best, "file", std::string());
}

void take_load(const json& object, TrainingResult& result) {
  const auto trusted = object.find("trusted");
  if (trusted == object.end() || !trusted->is_boolean()) return;
  result.load = MachineLoad{.trusted = trusted->get<bool>()};
  const auto machine = object.find("machine");
  if (machine == object.end() || !machine->is_object()) return;
  result.load->cores = value_of(*machine, "cores", 0.0);
  result.load->others = value_of(*machine, "others", 0.0);
  result.load->starved = value_of(*machine, "starved", 0.0);
  result.load->overfull = value_of(*machine, "overfull", 0.0);
  result.load->why = value_of(*machine, "why", std::string());
}

void take_modes(const json& object, TrainingResult& result) {
  const auto modes = object.find("modes");
  if (modes == object.end() || !modes->is_array()) return;
  for (const json& change : *modes) {
    if (!change.is_object()) continue;
    result.tally.modes.push_back({.at_s = value_of(change, "at_s", 0.0),
                                  .mode = value_of(change, "mode", std::string()),
                                  .reason = value_of(change, "reason", std::string())});
  }
}

// "cpu MEANS, link MEANS"
void take_injector(const std::string& text, TrainingResult& result) {
  const auto comma = text.find(", link ");
  if (!text.starts_with("cpu ") || comma == std::string::npos) return;
  result.cpu_means = text.substr(4, comma - 4);
  result.link_means = text.substr(comma + 7);
}

}  // namespace

ConductorCounts operator+(const ConductorCounts& a, const ConductorCounts& b) {
  return {.tasks = a.tasks + b.tasks,
          .gradients = a.gradients + b.gradients,
          .updates = a.updates + b.updates,
          .dropped = a.dropped + b.dropped,
          .spoiled = a.spoiled + b.spoiled,
          .lost = a.lost + b.lost,
          .refused = a.refused + b.refused,
          .samples_cut = a.samples_cut + b.samples_cut,
          .staleness_sum = a.staleness_sum + b.staleness_sum,
          .mode_switches = a.mode_switches + b.mode_switches};
}

double TrainingResult::mean_staleness() const {
  const ConductorCounts& counts = tally.counts;
  return counts.gradients == 0
             ? 0
             : static_cast<double>(counts.staleness_sum) / static_cast<double>(counts.gradients);
}

std::string TrainingResult::injector() const {
  if (cpu_means == "none" && link_means == "none") return "none";
  return fmt::format("cpu {}, link {}", cpu_means, link_means);
}

double TrainingResult::task_cpu_s() const {
  if (tally.counts.gradients == 0) return 0;
  return worker_cpu_s.value_or(0) * workers / static_cast<double>(tally.counts.gradients);
}

std::string training_result_json(const TrainingResult& result) {
  const RunTally& tally = result.tally;
  ordered_json object = {{"time_to_target_s", or_null(result.time_to_target_s)},
                         {"final_accuracy", or_null(result.final_accuracy)},
                         {"final_loss", or_null(result.final_loss)},
                         {"best", best_json(result)},
                         {"wall_s", result.wall_s},
                         {"training_s", result.training_s},
                         {"director_cpu_s", tally.director_cpu_s},
                         {"worker_cpu_s", or_null(result.worker_cpu_s)}};
  each_count(tally, [&](const char* key, std::int64_t count) { object[key] = count; });
  object["mean_staleness"] =
      tally.counts.gradients > 0 ? ordered_json(result.mean_staleness()) : ordered_json(nullptr);
  object["injector"] = result.injector();
  object["trusted"] = result.load ? ordered_json(result.load->trusted) : ordered_json(nullptr);
  object["machine"] = machine_json(result);
  object["modes"] = modes_json(result);
  object["workers"] = result.workers;
  object["warnings"] = tally.warnings;
  object["ended"] = tally.ended;
  object["failure"] = or_null(result.failure);
  object["folder"] = or_null(result.folder);
  return object.dump() + "\n";
}

Result<TrainingResult> parse_training_result(const std::string& text) {
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object() || !object.contains("time_to_target_s")) {
    return invalid("this is not what `orrery-train run --json` prints");
  }
  TrainingResult result{.time_to_target_s = number_of(object, "time_to_target_s"),
                        .final_accuracy = number_of(object, "final_accuracy"),
                        .final_loss = number_of(object, "final_loss"),
                        .training_s = value_of(object, "training_s", 0.0),
                        .wall_s = value_of(object, "wall_s", 0.0),
                        .workers = value_of(object, "workers", 0),
                        .worker_cpu_s = number_of(object, "worker_cpu_s"),
                        .folder = value_of(object, "folder", std::string()),
                        .failure = value_of(object, "failure", std::string())};
  RunTally& tally = result.tally;
  each_count(tally, [&](const char* key, std::int64_t& count) {
    count = value_of(object, key, std::int64_t{0});
  });
  tally.counts.staleness_sum = std::llround(value_of(object, "mean_staleness", 0.0) *
                                            static_cast<double>(tally.counts.gradients));
  tally.director_cpu_s = value_of(object, "director_cpu_s", 0.0);
  tally.ended = value_of(object, "ended", std::string());
  if (const auto warnings = object.find("warnings");
      warnings != object.end() && warnings->is_array()) {
    for (const json& warning : *warnings) {
      if (warning.is_string()) tally.warnings.push_back(warning.get<std::string>());
    }
  }
  take_best(object, result);
  take_load(object, result);
  take_modes(object, result);
  take_injector(value_of(object, "injector", std::string()), result);
  return result;
}

std::string training_result_text(const TrainingResult& result) {
  const RunTally& tally = result.tally;
  const ConductorCounts& counts = tally.counts;
  std::string text = fmt::format("{} after {:.1f} s of training: {} gradients in {} updates\n",
                                 tally.ended, result.training_s, counts.gradients, counts.updates);
  if (result.final_accuracy && result.final_loss) {
    text += fmt::format("last accuracy {:.4f}, loss {:.4f}\n", *result.final_accuracy,
                        *result.final_loss);
  }
  if (result.best) {
    text += fmt::format("best accuracy {:.4f} at version {}, {}\n", result.best->accuracy,
                        result.best->version,
                        result.best_file.empty() ? "not kept: the run has no folder"
                                                 : "kept in " + result.best_file);
  }
  if (result.target > 0) {
    text += result.time_to_target_s
                ? fmt::format("the mean of {} evaluations reached {} after {:.2f} s\n",
                              result.target_over, result.target, *result.time_to_target_s)
                : fmt::format("{} was not reached\n", result.target);
  }
  text += fmt::format("staleness {:.2f}, {} mode switches, {} lost, {} dropped, {} spoiled\n",
                      result.mean_staleness(), counts.mode_switches, counts.lost, counts.dropped,
                      counts.spoiled);
  if (result.worker_cpu_s) {
    text += fmt::format("mode selection took {:.3f} s of CPU, a worker {:.3f} s\n",
                        tally.director_cpu_s, *result.worker_cpu_s);
  }
  if (!result.trusted()) {
    text += fmt::format("the machine was too busy for these times to mean anything: {}\n",
                        result.load->why);
  }
  return text;
}

}  // namespace orrery
