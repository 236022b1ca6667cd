#include "experiments/twin_fit/twin_model.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "base/nearest_word.h"

namespace orrery {
namespace {

struct Field {
  std::string_view name;
  double* value;
};

std::array<Field, 23> fields_of(TwinModel& model) {
  ConvergenceModel& c = model.convergence;
  return {{{"fixed_s", &model.worker.fixed_s},
           {"per_sample_s", &model.worker.per_sample_s},
           {"block_s", &model.worker.block_s},
           {"cores", &model.worker.cores},
           {"link_bytes_per_s", &model.worker.bytes_per_s},
           {"link_burst_s", &model.worker.burst_s},
           {"shard_gradient_s", &model.shards.gradient_s},
           {"shard_update_s", &model.shards.update_s},
           {"shards_bytes_per_s", &model.shards.bytes_per_s},
           {"parameter_bytes", &model.parameter_bytes},
           {"message_s", &model.message_s},
           {"sum_work_s", &model.sum_work_s},
           {"jitter", &model.jitter},
           {"accuracy_first", &c.accuracy_first},
           {"accuracy_last", &c.accuracy_last},
           {"loss_first", &c.loss_first},
           {"loss_last", &c.loss_last},
           {"scale_samples", &c.scale_samples},
           {"power", &c.power},
           {"staleness_cost", &c.staleness_cost},
           {"rate_cost", &c.rate_cost},
           {"plateau_cost", &c.plateau_cost},
           {"noise_scale", &c.noise_scale}}};
}

bool may_be_negative(std::string_view name) {
  return name == "rate_cost" || name == "plateau_cost";
}

}  // namespace

Result<TwinModel> parse_twin_model(const std::string& text, const std::string& place) {
  const auto json = nlohmann::json::parse(text, nullptr, false, true);
  if (!json.is_object()) {
    return invalid(place + ": is no JSON object; write one with `orrery twin fit`");
  }
  TwinModel model;
  const auto fields = fields_of(model);
  std::vector<std::string_view> names;
  for (const Field& field : fields) names.push_back(field.name);
  for (const auto& [key, value] : json.items()) {
    const auto field = std::ranges::find(fields, key, &Field::name);
    if (field == fields.end()) {
      return invalid(fmt::format("{}: there is no '{}'; did you mean '{}'?", place, key,
                                 nearest_word(key, names)));
    }
    const double number = value.is_number() ? value.get<double>() : std::nan("");
    if (!std::isfinite(number) || (number < 0 && !may_be_negative(key))) {
      return invalid(fmt::format("{}: '{}' has to be a number from 0 on", place, key));
    }
    *field->value = number;
  }
  if (!(model.convergence.scale_samples > 0 && model.convergence.power > 0)) {
    return invalid(place + ": 'scale_samples' and 'power' have to be above 0");
  }
  return model;
}

std::string twin_model_text(const TwinModel& model) {
  TwinModel copy = model;
  nlohmann::ordered_json json;
  for (const Field& field : fields_of(copy)) json[std::string(field.name)] = *field.value;
  return json.dump(2) + "\n";
}

TwinSetup twin_setup(const TwinModel& model, int workers) {
  TwinSetup setup;
  setup.workers.resize(static_cast<std::size_t>(workers), model.worker);
  setup.shards = model.shards;
  setup.parameter_bytes = model.parameter_bytes;
  setup.message_s = model.message_s;
  setup.sum_work_s = model.sum_work_s;
  setup.jitter = model.jitter;
  setup.convergence = model.convergence;
  return setup;
}

}  // namespace orrery
