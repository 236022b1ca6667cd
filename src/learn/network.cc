#include "learn/network.h"

#include <cmath>

#include "base/random.h"
#include "learn/learner.h"

namespace orrery {
namespace {

struct ModelEntry {
  const char* name;
  SampleKind wanted;
  std::shared_ptr<Network> (*make)(const Dataset& data);
};

std::int64_t values_of(const Dataset& data) {
  std::int64_t values = 1;
  for (const std::int64_t side : data.shape) values *= side;
  return values;
}

const ModelEntry kModels[] = {
    {"mlp", SampleKind::Vectors,
     [](const Dataset& data) { return make_mlp(values_of(data), data.classes); }},
};

const ModelEntry* find_model(const std::string& name) {
  for (const ModelEntry& entry : kModels) {
    if (name == entry.name) return &entry;
  }
  return nullptr;
}

// Uniform within what keeps the size of signals on their way through: He's bound before a
// rectifier, and the plain one where there is none.
double bound_of(const std::string& name, const torch::Tensor& weight) {
  const auto inputs = static_cast<double>(weight.numel() / weight.size(0));
  const bool rectified = name.find("hidden") != std::string::npos;
  return std::sqrt((rectified ? 6.0 : 1.0) / inputs);
}

void set_first_values(const std::string& name, const torch::Tensor& tensor, Random& random) {
  float* values = tensor.data_ptr<float>();
  const std::int64_t count = tensor.numel();
  if (tensor.dim() == 1) {
    const bool scale = name.find("weight") != std::string::npos;  // of a normalisation
    std::fill_n(values, count, scale ? 1.0F : 0.0F);
    return;
  }
  const double bound = bound_of(name, tensor);
  for (std::int64_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>(bound * (2 * random.uniform() - 1));
  }
}

}  // namespace

std::vector<std::string> learner_models() {
  std::vector<std::string> names;
  for (const ModelEntry& entry : kModels) names.emplace_back(entry.name);
  return names;
}

Result<SampleKind> samples_wanted(const std::string& model) {
  if (const ModelEntry* entry = find_model(model)) return entry->wanted;
  std::string names;
  for (const std::string& name : learner_models()) names += (names.empty() ? "" : ", ") + name;
  return invalid("no model '" + model + "'; there are: " + names);
}

Result<std::shared_ptr<Network>> make_network(const std::string& model, const Dataset& data,
                                              std::uint64_t seed) {
  TRY_ASSIGN(const SampleKind wanted, samples_wanted(model));
  const bool fits =
      data.kind == wanted || (wanted == SampleKind::Vectors && data.kind == SampleKind::Images);
  if (!fits) {
    return invalid("model " + model + " cannot learn from this data: " +
                   (wanted == SampleKind::Characters ? "it reads text, take grammar or text:FILE"
                                                     : "it does not read text, take gaussian, "
                                                       "teacher, mnist or fashion-mnist"));
  }
  std::shared_ptr<Network> network = find_model(model)->make(data);
  Random random(seed ^ 0x77656967687473ULL);
  for (const auto& entry : network->named_parameters()) {
    set_first_values(entry.key(), entry.value(), random);
  }
  return network;
}

}  // namespace orrery
