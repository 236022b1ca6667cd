#include "training/libtorch/network.h"

namespace orrery {
namespace {

class Mlp : public Network {
 public:
  Mlp(std::int64_t inputs, std::int64_t classes)
      : hidden1_(register_module("hidden1", torch::nn::Linear(inputs, kWidth))),
        hidden2_(register_module("hidden2", torch::nn::Linear(kWidth, kWidth))),
        scores_(register_module("scores", torch::nn::Linear(kWidth, classes))) {}

  torch::Tensor forward(torch::Tensor samples) override {
    const auto first = torch::relu(hidden1_(samples.flatten(1)));
    return scores_(torch::relu(hidden2_(first)));
  }

 private:
  static constexpr std::int64_t kWidth = 96;
  torch::nn::Linear hidden1_, hidden2_, scores_;
};

}  // namespace

std::shared_ptr<Network> make_mlp(const Dataset& data) {
  std::int64_t inputs = 1;
  for (const std::int64_t side : data.shape) inputs *= side;
  return std::make_shared<Mlp>(inputs, data.classes);
}

}  // namespace orrery
