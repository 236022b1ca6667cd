#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "training/libtorch/dataset.h"

namespace orrery {

// A model: samples in, one score for each class out (for text, for each character).
class Network : public torch::nn::Module {
 public:
  virtual torch::Tensor forward(torch::Tensor samples) = 0;
};

// What a model of that name can be fed with; an error names the models there are.
Result<SampleKind> samples_wanted(const std::string& model);

// First parameters from our own random numbers, so that they are the same with every version of
// torch. Layers are known by name: "hidden" stands before a rectifier, "embed", "lstm" and "norm"
// are what they say, "closing" is the normalisation that ends a residual block.
void set_first_parameters(torch::nn::Module& module, std::uint64_t seed);

// The model of that name for these samples, with its first parameters.
Result<std::shared_ptr<Network>> make_network(const std::string& model, const Dataset& data,
                                              std::uint64_t seed);

// One maker for each model; used by make_network alone.
std::shared_ptr<Network> make_mlp(const Dataset& data);
std::shared_ptr<Network> make_lenet(const Dataset& data);
std::shared_ptr<Network> make_cnn(const Dataset& data);
std::shared_ptr<Network> make_resnet20(const Dataset& data);
std::shared_ptr<Network> make_lstm(const Dataset& data);
std::shared_ptr<Network> make_transformer(const Dataset& data);

}  // namespace orrery
