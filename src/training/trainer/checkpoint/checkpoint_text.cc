#include "training/trainer/checkpoint/checkpoint_text.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace orrery {
namespace {

using nlohmann::json;

json pairs_of(const std::vector<std::pair<WorkerId, WorkerId>>& pairs) {
  json list = json::array();
  for (const auto& [child, parent] : pairs) {
    list.push_back({static_cast<int>(child), static_cast<int>(parent)});
  }
  return list;
}

json numbers_of(const std::vector<WorkerId>& workers) {
  json list = json::array();
  for (const WorkerId worker : workers) list.push_back(static_cast<int>(worker));
  return list;
}

std::vector<WorkerId> workers_of(const json& list) {
  std::vector<WorkerId> workers;
  for (const json& number : list) workers.push_back(WorkerId{number.get<int>()});
  return workers;
}

json mode_of(const Mode& mode) {
  json groups = json::array();
  for (const auto& group : mode.groups) groups.push_back(numbers_of(group));
  json shares = json::array();
  for (const auto& [worker, share] : mode.shares) {
    shares.push_back({static_cast<int>(worker), share});
  }
  return {{"rule", static_cast<int>(mode.rule)},
          {"x", mode.x},
          {"bound", mode.bound},
          {"groups", groups},
          {"ring", numbers_of(mode.ring)},
          {"parents", pairs_of(mode.parents)},
          {"shares", shares}};
}

Mode read_mode(const json& values) {
  Mode mode;
  const int rule = values.at("rule").get<int>();
  // One that is not known is as good as none.
  const bool known = rule >= 0 && rule <= static_cast<int>(SyncRuleKind::Ring);
  mode.rule = known ? static_cast<SyncRuleKind>(rule) : SyncRuleKind::Static;
  mode.x = values.at("x").get<int>();
  mode.bound = values.at("bound").get<int>();
  for (const json& group : values.at("groups")) mode.groups.push_back(workers_of(group));
  mode.ring = workers_of(values.at("ring"));
  for (const json& pair : values.at("parents")) {
    mode.parents.emplace_back(WorkerId{pair.at(0).get<int>()}, WorkerId{pair.at(1).get<int>()});
  }
  for (const json& pair : values.at("shares")) {
    mode.shares.emplace_back(WorkerId{pair.at(0).get<int>()}, pair.at(1).get<double>());
  }
  return mode;
}

// Not finite numbers are null in JSON.
json number(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }
double number_in(const json& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

json judgement_of(const std::optional<EvaluatedVersion>& judged) {
  if (!judged) return nullptr;
  return {{"version", judged->version},
          {"time_s", number(judged->at_s)},
          {"samples", judged->samples},
          {"accuracy", number(judged->accuracy)},
          {"loss", number(judged->loss)}};
}

EvaluatedVersion read_judgement(const json& values) {
  return {.at_s = number_in(values.at("time_s")),
          .version = values.at("version").get<ParameterVersion>(),
          .samples = values.at("samples").get<std::int64_t>(),
          .accuracy = number_in(values.at("accuracy")),
          .loss = number_in(values.at("loss"))};
}

}  // namespace

std::string checkpoint_text(const Checkpoint& checkpoint) {
  const ConductorState& state = checkpoint.conductor;
  json tensors = json::array();
  for (const TensorPlace& tensor : checkpoint.tensors) {
    tensors.push_back({{"name", tensor.name}, {"first", tensor.first}, {"count", tensor.count}});
  }
  json again = json::array();
  for (const Samples& samples : state.again) again.push_back({samples.first, samples.count});
  return json{{"model", checkpoint.model},
              {"data", checkpoint.data},
              {"seed", checkpoint.seed},
              {"optimizer", checkpoint.optimizer},
              {"optimizer_batches", checkpoint.optimizer_batches},
              {"elapsed_s", checkpoint.elapsed_s},
              {"version", state.version},
              {"next_sample", state.next_sample},
              {"again", again},
              {"next_task", state.next_task},
              {"samples_done", state.samples_done},
              {"gradients_done", state.gradients_done},
              {"mode", mode_of(state.mode)},
              {"kept_as", checkpoint.judged ? "best" : "last"},
              {"judged", judgement_of(checkpoint.judged)},
              {"tensors", tensors}}
      .dump();
}

Result<Checkpoint> parse_checkpoint_text(const std::string& text) {
  Checkpoint checkpoint;
  ConductorState& state = checkpoint.conductor;
  try {
    const json values = json::parse(text);
    checkpoint.model = values.at("model").get<std::string>();
    checkpoint.data = values.at("data").get<std::string>();
    checkpoint.seed = values.at("seed").get<std::uint64_t>();
    checkpoint.optimizer = values.at("optimizer").get<std::string>();
    // Checkpoints of earlier versions counted updates.
    checkpoint.optimizer_batches =
        values.at(values.contains("optimizer_batches") ? "optimizer_batches" : "optimizer_steps")
            .get<double>();
    checkpoint.elapsed_s = values.at("elapsed_s").get<double>();
    state.version = values.at("version").get<ParameterVersion>();
    state.next_sample = values.at("next_sample").get<std::int64_t>();
    for (const json& pair : values.at("again")) {
      state.again.push_back(
          {.first = pair.at(0).get<std::int64_t>(), .count = pair.at(1).get<std::int32_t>()});
    }
    state.next_task = values.at("next_task").get<std::int64_t>();
    state.samples_done = values.at("samples_done").get<std::int64_t>();
    state.gradients_done = values.at("gradients_done").get<std::int64_t>();
    state.mode = read_mode(values.at("mode"));
    for (const json& tensor : values.at("tensors")) {
      checkpoint.tensors.push_back({.name = tensor.at("name").get<std::string>(),
                                    .first = tensor.at("first").get<std::int64_t>(),
                                    .count = tensor.at("count").get<std::int64_t>()});
    }
    const json judged = values.value("judged", json(nullptr));
    if (!judged.is_null()) checkpoint.judged = read_judgement(judged);
  } catch (const json::exception& problem) {
    return Error{Code::DataLoss, problem.what()}.at("its header");
  }
  return checkpoint;
}

}  // namespace orrery
