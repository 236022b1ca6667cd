#pragma once

#include <torch/torch.h>

#include <memory>
#include <optional>
#include <vector>

#include "training/libtorch/learner.h"
#include "training/libtorch/network.h"
#include "training/libtorch/sample_order.h"
#include "training/libtorch/samples_on_device.h"

namespace orrery {

// The flat run of floats on its device, and its copy here. On the CPU both are the same memory.
class FlatFloats {
 public:
  FlatFloats() = default;
  explicit FlatFloats(torch::Tensor values) : values_(std::move(values)) {}

  const torch::Tensor& tensor() const { return values_; }
  torch::Tensor& change() {
    fetched_ = false;
    return values_;
  }
  std::span<const float> here() const;

 private:
  torch::Tensor values_;
  mutable torch::Tensor copy_;
  mutable bool fetched_ = false;
};

class TorchLearner : public Learner {
 public:
  // The learner as one of ours: groups and optimisers reach into it. Another kind is refused.
  static Result<TorchLearner*> of(Learner& learner);

  TorchLearner(const Dataset& data, std::shared_ptr<Network> network, torch::Device device,
               const LearnerOptions& options);

  std::int64_t parameter_count() const override { return parameters_.tensor().numel(); }
  const std::vector<TensorPlace>& tensors() const override { return places_; }
  std::int64_t training_samples() const override { return train_.count() - held_out_; }
  std::int64_t held_out_samples() const override { return held_out_; }
  std::int64_t test_samples() const override { return test_.count(); }
  std::string device() const override { return parameters_.tensor().device().str(); }
  std::span<const float> parameters() const override { return parameters_.here(); }
  Status set_parameters(std::span<const float> values) override;
  Result<Computed> compute(Samples samples, int blocks,
                           const std::function<bool()>& go_on) override;
  Result<Computed> compute_held_out(Samples samples) override;
  std::span<const float> gradient() const override { return gradient_.here(); }
  Result<Evaluation> evaluate() override;

  FlatFloats& flat_parameters() { return parameters_; }
  FlatFloats& flat_gradient() { return gradient_; }

 private:
  void lay_flat(torch::Device device);
  torch::Tensor add_block(const std::vector<std::int64_t>& indices, std::int32_t of,
                          bool to_others);

  std::shared_ptr<Network> network_;
  SamplesOnDevice train_, test_;
  // One sample in this many is held out, and the number of those: sets may be sorted by class.
  std::int64_t held_out_step_, held_out_;
  SampleOrder order_;
  std::optional<SampleOrder> held_out_order_;
  std::vector<torch::Tensor> slices_;  // the network's parameters, which lie in parameters_
  std::vector<TensorPlace> places_;
  FlatFloats parameters_, gradient_;
  torch::Tensor block_gradient_;
};

}  // namespace orrery
