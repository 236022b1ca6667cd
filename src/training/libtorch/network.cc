#include "training/libtorch/network.h"

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "training/libtorch/learner.h"

namespace orrery {
namespace {

struct ModelEntry {
  const char* name;
  SampleKind wanted;
  std::shared_ptr<Network> (*make)(const Dataset& data);
};

constexpr ModelEntry kModels[] = {
    {"mlp", SampleKind::Vectors, make_mlp},
    {"lenet", SampleKind::Images, make_lenet},
    {"cnn", SampleKind::Images, make_cnn},
    {"resnet20", SampleKind::Images, make_resnet20},
    {"lstm", SampleKind::Characters, make_lstm},
    {"transformer", SampleKind::Characters, make_transformer},
};

const ModelEntry* find_model(const std::string& name) {
  for (const ModelEntry& entry : kModels) {
    if (name == entry.name) return &entry;
  }
  return nullptr;
}

bool holds(const std::string& name, const char* part) {
  return name.find(part) != std::string::npos;
}

// Weights are uniform within what keeps the size of signals on their way through: He's bound before
// a rectifier, the plain one where there is none. The rows of an embedding are looked up, not
// summed, so their bound does not depend on their number.
double bound_of(const std::string& name, const torch::Tensor& weight) {
  if (holds(name, "embed")) return 0.5;
  const auto inputs = static_cast<double>(weight.numel() / weight.size(0));
  return std::sqrt((holds(name, "hidden") ? 6.0 : 1.0) / inputs);
}

void set_first_values(const std::string& name, const torch::Tensor& tensor, Random& random) {
  float* values = tensor.data_ptr<float>();
  const std::int64_t count = tensor.numel();
  if (tensor.dim() > 1) {
    const double bound = bound_of(name, tensor);
    for (std::int64_t i = 0; i < count; ++i) {
      values[i] = static_cast<float>(bound * (2 * random.uniform() - 1));
    }
    return;
  }
  // What the nine blocks of a ResNet-20 add up to is then as large as what goes past them, which
  // keeps the first steps steady.
  const float closing = 1.0F / 3;
  const bool scale = holds(name, "weight") && (holds(name, "norm") || holds(name, "closing"));
  std::fill_n(values, count, scale ? (holds(name, "closing") ? closing : 1.0F) : 0.0F);
  // An LSTM that forgets from the beginning learns late: the second quarter is its forget gate.
  if (holds(name, "bias_ih")) std::fill_n(values + count / 4, count / 4, 1.0F);
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

void set_first_parameters(torch::nn::Module& module, std::uint64_t seed) {
  Random random(seed ^ 0x77656967687473ULL);
  for (const auto& entry : module.named_parameters()) {
    set_first_values(entry.key(), entry.value(), random);
  }
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
  set_first_parameters(*network, seed);
  return network;
}

}  // namespace orrery
