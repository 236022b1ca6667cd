#include <cmath>

#include "training/libtorch/network.h"

namespace orrery {
namespace {

// Parameters lie in the order in which they are registered. The LSTM's come first, since cuDNN
// takes them as they are only from where their memory begins, and else gathers them in every
// call.
class CharacterLstm : public Network {
 public:
  explicit CharacterLstm(std::int64_t characters)
      : lstm_(register_module(
            "lstm",
            torch::nn::LSTM(torch::nn::LSTMOptions(kEmbedding, kHidden).batch_first(true)))),
        embedding_(register_module("embedding", torch::nn::Embedding(characters, kEmbedding))),
        scores_(register_module("scores", torch::nn::Linear(kHidden, characters))) {}

  torch::Tensor forward(torch::Tensor samples) override {
    return scores_(std::get<0>(lstm_(embedding_(samples))));
  }

 private:
  static constexpr std::int64_t kEmbedding = 32;
  static constexpr std::int64_t kHidden = 64;
  torch::nn::LSTM lstm_;
  torch::nn::Embedding embedding_;
  torch::nn::Linear scores_;
};

// Attention to what came before, then a step of each place by itself; both added to what was there,
// and normalised before.
class TransformerLayer : public torch::nn::Module {
 public:
  TransformerLayer(std::int64_t width, std::int64_t heads)
      : heads_(heads),
        norm1_(register_module("norm1", torch::nn::LayerNorm(norm_options(width)))),
        norm2_(register_module("norm2", torch::nn::LayerNorm(norm_options(width)))),
        attention_(register_module("attention", torch::nn::Linear(width, 3 * width))),
        mixing_(register_module("mixing", torch::nn::Linear(width, width))),
        hidden_(register_module("hidden", torch::nn::Linear(width, 2 * width))),
        back_(register_module("back", torch::nn::Linear(2 * width, width))) {}

  torch::Tensor forward(torch::Tensor x, const torch::Tensor& mask) {
    x = x + mixing_(attend(norm1_(x), mask));
    return x + back_(torch::relu(hidden_(norm2_(x))));
  }

 private:
  static torch::nn::LayerNormOptions norm_options(std::int64_t width) {
    return torch::nn::LayerNormOptions({width});
  }

  torch::Tensor attend(const torch::Tensor& x, const torch::Tensor& mask) {
    const std::int64_t batch = x.size(0), length = x.size(1), part = x.size(2) / heads_;
    const auto all = attention_(x).view({batch, length, 3, heads_, part}).permute({2, 0, 3, 1, 4});
    const auto scores =
        torch::matmul(all[0], all[1].transpose(-2, -1)) / std::sqrt(static_cast<double>(part));
    return torch::matmul(torch::softmax(scores + mask, -1), all[2])
        .transpose(1, 2)
        .reshape({batch, length, heads_ * part});
  }

  std::int64_t heads_;
  torch::nn::LayerNorm norm1_, norm2_;
  torch::nn::Linear attention_, mixing_, hidden_, back_;
};

class Transformer : public Network {
 public:
  Transformer(std::int64_t characters, std::int64_t length)
      : embedding_(register_module("embedding", torch::nn::Embedding(characters, kWidth))),
        places_(register_module("embedded_places", torch::nn::Embedding(length, kWidth))),
        layer1_(register_module("layer1", std::make_shared<TransformerLayer>(kWidth, kHeads))),
        layer2_(register_module("layer2", std::make_shared<TransformerLayer>(kWidth, kHeads))),
        norm_(register_module("norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({kWidth})))),
        scores_(register_module("scores", torch::nn::Linear(kWidth, characters))) {}

  torch::Tensor forward(torch::Tensor samples) override {
    if (!mask_.defined() || mask_.device() != samples.device()) prepare(samples);
    const auto x = embedding_(samples) + places_(numbers_);
    return scores_(norm_(layer2_->forward(layer1_->forward(x, mask_), mask_)));
  }

 private:
  static constexpr std::int64_t kWidth = 64;
  static constexpr std::int64_t kHeads = 4;

  void prepare(const torch::Tensor& samples) {
    const std::int64_t length = samples.size(1);
    const auto here = torch::TensorOptions().device(samples.device());
    mask_ = torch::full({length, length}, -1e9, here).triu(1);
    numbers_ = torch::arange(length, here.dtype(torch::kInt64));
  }

  torch::nn::Embedding embedding_, places_;
  std::shared_ptr<TransformerLayer> layer1_, layer2_;
  torch::nn::LayerNorm norm_;
  torch::nn::Linear scores_;
  torch::Tensor mask_, numbers_;
};

}  // namespace

std::shared_ptr<Network> make_lstm(const Dataset& data) {
  return std::make_shared<CharacterLstm>(data.classes);
}
std::shared_ptr<Network> make_transformer(const Dataset& data) {
  return std::make_shared<Transformer>(data.classes, data.shape.front());
}

}  // namespace orrery
