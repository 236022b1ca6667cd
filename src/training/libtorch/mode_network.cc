#include "training/libtorch/mode_network.h"

#include <torch/torch.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "training/libtorch/network.h"
#include "training/libtorch/torch_error.h"
#include "training/libtorch/weights_file.h"

namespace orrery {
namespace {

constexpr const char* kModeKind = "mode-network";
constexpr std::size_t kRuleKinds = 5;
// The rule is a name, not a quantity: each has an input of its own.
constexpr std::size_t kModeInputs = kModeFeatures - 1 + kRuleKinds;
using ModeInputs = std::array<double, kModeInputs>;

ModeInputs inputs_of(const ModeFeatures& features) {
  ModeInputs inputs{features.x_share,   features.unequal_shares, features.gradients_ratio,
                    features.staleness, features.straggling,     features.noise_ratio,
                    features.rate,      features.phase,          features.compute_share};
  const auto kind = static_cast<std::size_t>(std::clamp(features.kind, 0.0, kRuleKinds - 1.0));
  inputs[kModeFeatures - 1 + kind] = 1;
  return inputs;
}

class ModeLayers : public torch::nn::Module {
 public:
  explicit ModeLayers(int hidden)
      : hidden1_(register_module("hidden1", torch::nn::Linear(kModeInputs, hidden))),
        hidden2_(register_module("hidden2", torch::nn::Linear(hidden, hidden))),
        drop_(register_module("drop", torch::nn::Linear(hidden, 1))) {}

  torch::Tensor forward(const torch::Tensor& inputs) {
    return drop_(torch::relu(hidden2_(torch::relu(hidden1_(inputs))))).squeeze(1);
  }

 private:
  torch::nn::Linear hidden1_, hidden2_, drop_;
};

struct MeanAndDeviation {
  double mean = 0, deviation = 1;
};
MeanAndDeviation spread_of(std::span<const SelectorSample> samples, auto value_of) {
  const auto count = static_cast<double>(samples.size());
  double mean = 0, squares = 0;
  for (const SelectorSample& sample : samples) mean += value_of(sample) / count;
  // Not the mean square less the square of the mean: of numbers that are all nearly 7, rounding
  // alone would leave a deviation of 1e-7, and an 8 would be ten million of them away.
  for (const SelectorSample& sample : samples) {
    const double off = value_of(sample) - mean;
    squares += off * off;
  }
  const double deviation = std::sqrt(squares / count);
  // What never changes says nothing, and would say too much if it did.
  return {mean, deviation > 1e-6 * (1 + std::abs(mean)) ? deviation : 1e9};
}

bool usable(const SelectorSample& sample) {
  const ModeInputs inputs = inputs_of(sample.features);
  return std::isfinite(sample.loss_drop) &&
         std::all_of(inputs.begin(), inputs.end(),
                     [](double value) { return std::isfinite(value); });
}

class FittedModeNetwork : public ModeNetwork {
 public:
  explicit FittedModeNetwork(const ModeNetworkOptions& options)
      : options_(options), layers_(std::make_shared<ModeLayers>(options.hidden)) {}

  Status fit(std::span<const SelectorSample> samples) override {
    std::vector<SelectorSample> known;
    std::copy_if(samples.begin(), samples.end(), std::back_inserter(known), usable);
    if (known.size() < kLeastSamples) {
      return Error{Code::FailedPrecondition,
                   "a selector needs at least " + std::to_string(kLeastSamples) +
                       " windows to learn from, and there are " + std::to_string(known.size())};
    }
    const auto older =
        static_cast<std::size_t>(static_cast<double>(known.size()) * (1 - options_.held_out));
    try {
      const std::span<const SelectorSample> all(known);
      if (older < known.size()) {
        learn(all.first(older));
        judge(all.subspan(older));
      }
      learn(all);
    } catch (const std::exception& caught) {
      return torch_error("fitting the selector", caught);
    }
    return {};
  }

  double predict(const ModeFeatures& features) const override {
    try {
      const torch::NoGradGuard no_grad;
      const SelectorSample sample{.features = features};
      const double scaled = layers_->forward(tensor_of_inputs({&sample, 1})).item<double>();
      return drop_.mean + drop_.deviation * scaled;
    } catch (const std::exception&) {
      return drop_.mean;
    }
  }

  double held_out_error() const override { return error_; }
  double held_out_error_of_mean() const override { return error_of_mean_; }

  Status save(const std::string& path) const override {
    std::vector<double> mean, deviation;
    for (const MeanAndDeviation& scale : scales_) {
      mean.push_back(scale.mean);
      deviation.push_back(scale.deviation);
    }
    return save_weights(path, kModeKind,
                        {{"hidden", options_.hidden},
                         {"mean", mean},
                         {"deviation", deviation},
                         {"drop_mean", drop_.mean},
                         {"drop_deviation", drop_.deviation},
                         {"error", error_},
                         {"error_of_mean", error_of_mean_}},
                        *layers_);
  }

  Status restore(const nlohmann::json& file) {
    TRY_ASSIGN(const auto mean, numbers_of(file, "mean", kModeInputs));
    TRY_ASSIGN(const auto deviation, numbers_of(file, "deviation", kModeInputs));
    for (std::size_t i = 0; i < kModeInputs; ++i) {
      if (!(deviation[i] > 0)) return invalid("'deviation' must be above 0");
      scales_[i] = {mean[i], deviation[i]};
    }
    TRY_ASSIGN(drop_.mean, number_of(file, "drop_mean"));
    TRY_ASSIGN(drop_.deviation, number_of(file, "drop_deviation"));
    TRY_ASSIGN(error_, number_of(file, "error"));
    TRY_ASSIGN(error_of_mean_, number_of(file, "error_of_mean"));
    return set_weights(*layers_, file);
  }

 private:
  torch::Tensor tensor_of_inputs(std::span<const SelectorSample> samples) const {
    std::vector<float> values;
    for (const SelectorSample& sample : samples) {
      const ModeInputs inputs = inputs_of(sample.features);
      for (std::size_t i = 0; i < kModeInputs; ++i) {
        values.push_back(static_cast<float>((inputs[i] - scales_[i].mean) / scales_[i].deviation));
      }
    }
    return tensor_of(values, {static_cast<std::int64_t>(samples.size()),
                              static_cast<std::int64_t>(kModeInputs)});
  }

  void learn(std::span<const SelectorSample> samples) {
    for (std::size_t i = 0; i < kModeInputs; ++i) {
      scales_[i] = spread_of(
          samples, [i](const SelectorSample& sample) { return inputs_of(sample.features)[i]; });
    }
    drop_ = spread_of(samples, [](const SelectorSample& sample) { return sample.loss_drop; });
    set_first_parameters(*layers_, options_.seed);
    std::vector<float> wanted;
    for (const SelectorSample& sample : samples) {
      wanted.push_back(static_cast<float>((sample.loss_drop - drop_.mean) / drop_.deviation));
    }
    const auto inputs = tensor_of_inputs(samples);
    const auto targets = tensor_of(wanted, {static_cast<std::int64_t>(wanted.size())});
    torch::optim::Adam optimizer(layers_->parameters(),
                                 torch::optim::AdamOptions(options_.rate).weight_decay(1e-4));
    for (int step = 0; step < options_.steps; ++step) {
      // A window in which the loss jumped must not outweigh the others.
      const auto loss = torch::smooth_l1_loss(layers_->forward(inputs), targets);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
    }
  }

  void judge(std::span<const SelectorSample> held_out) {
    error_ = error_of_mean_ = 0;
    for (const SelectorSample& sample : held_out) {
      error_ += std::abs(predict(sample.features) - sample.loss_drop);
      error_of_mean_ += std::abs(drop_.mean - sample.loss_drop);
    }
    error_ /= static_cast<double>(held_out.size());
    error_of_mean_ /= static_cast<double>(held_out.size());
  }

  ModeNetworkOptions options_;
  std::shared_ptr<ModeLayers> layers_;
  std::array<MeanAndDeviation, kModeInputs> scales_{};
  MeanAndDeviation drop_{};
  double error_ = 0, error_of_mean_ = 0;
};

}  // namespace

std::unique_ptr<ModeNetwork> make_mode_network(const ModeNetworkOptions& options) {
  return std::make_unique<FittedModeNetwork>(options);
}

Result<std::unique_ptr<ModeNetwork>> load_mode_network(const std::string& path) {
  TRY_ASSIGN(const auto file, read_weights(path, kModeKind));
  const auto hidden = whole_of(file, "hidden", 1, 1024);
  if (!hidden.ok()) return Error(hidden.error()).at(path);
  auto network = std::make_unique<FittedModeNetwork>(ModeNetworkOptions{.hidden = hidden.value()});
  Status restored = network->restore(file);
  if (!restored.ok()) return std::move(restored).error().at(path);
  return std::unique_ptr<ModeNetwork>(std::move(network));
}

}  // namespace orrery
