#include "training/libtorch/network.h"

namespace orrery {
namespace {

torch::nn::Conv2d convolution(std::int64_t in, std::int64_t out, std::int64_t side,
                              std::int64_t stride, std::int64_t padding) {
  return torch::nn::Conv2d(torch::nn::Conv2dOptions(in, out, side).stride(stride).padding(padding));
}

// LeNet-5's layers with rectifiers and maxima.
class LeNet : public Network {
 public:
  LeNet(const std::vector<std::int64_t>& image, std::int64_t classes)
      : hidden1_(register_module("hidden1", convolution(image[0], 6, 5, 1, 2))),
        hidden2_(register_module("hidden2", convolution(6, 16, 5, 1, 0))),
        hidden3_(register_module("hidden3", torch::nn::Linear(16 * left(image), 120))),
        hidden4_(register_module("hidden4", torch::nn::Linear(120, 84))),
        scores_(register_module("scores", torch::nn::Linear(84, classes))) {}

  torch::Tensor forward(torch::Tensor samples) override {
    auto x = torch::max_pool2d(torch::relu(hidden1_(samples)), 2);
    x = torch::max_pool2d(torch::relu(hidden2_(x)), 2);
    x = torch::relu(hidden4_(torch::relu(hidden3_(x.flatten(1)))));
    return scores_(x);
  }

 private:
  static std::int64_t left(const std::vector<std::int64_t>& image) {
    return ((image[1] / 2 - 4) / 2) * ((image[2] / 2 - 4) / 2);
  }
  torch::nn::Conv2d hidden1_, hidden2_;
  torch::nn::Linear hidden3_, hidden4_, scores_;
};

// Strides instead of pooling, so that a step is a matter of milliseconds on one core.
class SmallCnn : public Network {
 public:
  SmallCnn(const std::vector<std::int64_t>& image, std::int64_t classes)
      : hidden1_(register_module("hidden1", convolution(image[0], 8, 5, 2, 2))),
        hidden2_(register_module("hidden2", convolution(8, 16, 3, 2, 1))),
        hidden3_(register_module("hidden3", torch::nn::Linear(16 * left(image), 64))),
        scores_(register_module("scores", torch::nn::Linear(64, classes))) {}

  torch::Tensor forward(torch::Tensor samples) override {
    const auto maps = torch::relu(hidden2_(torch::relu(hidden1_(samples))));
    return scores_(torch::relu(hidden3_(maps.flatten(1))));
  }

 private:
  static std::int64_t left(const std::vector<std::int64_t>& image) {
    return ((image[1] + 3) / 4) * ((image[2] + 3) / 4);
  }
  torch::nn::Conv2d hidden1_, hidden2_;
  torch::nn::Linear hidden3_, scores_;
};

// Two convolutions and a way past them. Normalised by groups of channels, not by batch: the
// statistics of a batch would have to be kept the same in all workers.
class ResidualBlock : public torch::nn::Module {
 public:
  ResidualBlock(std::int64_t in, std::int64_t out, std::int64_t stride)
      : stride_(stride),
        more_(out - in),
        hidden1_(register_module("hidden1", plain(in, out, stride))),
        hidden2_(register_module("hidden2", plain(out, out, 1))),
        norm1_(register_module("norm1", torch::nn::GroupNorm(kGroups, out))),
        closing_(register_module("closing", torch::nn::GroupNorm(kGroups, out))) {}

  static constexpr std::int64_t kGroups = 8;
  static torch::nn::Conv2d plain(std::int64_t in, std::int64_t out, std::int64_t stride) {
    return torch::nn::Conv2d(
        torch::nn::Conv2dOptions(in, out, 3).stride(stride).padding(1).bias(false));
  }

  torch::Tensor forward(const torch::Tensor& samples) {
    auto past = samples;
    if (stride_ > 1) past = past.slice(2, 0, {}, stride_).slice(3, 0, {}, stride_);
    if (more_ > 0) past = torch::constant_pad_nd(past, {0, 0, 0, 0, more_ / 2, more_ - more_ / 2});
    const auto inside = torch::relu(norm1_(hidden1_(samples)));
    return torch::relu(closing_(hidden2_(inside)) + past);
  }

 private:
  std::int64_t stride_, more_;
  torch::nn::Conv2d hidden1_, hidden2_;
  torch::nn::GroupNorm norm1_, closing_;
};

class ResNet20 : public Network {
 public:
  ResNet20(const std::vector<std::int64_t>& image, std::int64_t classes)
      : hidden_(register_module("hidden", ResidualBlock::plain(image[0], 16, 1))),
        norm_(register_module("norm", torch::nn::GroupNorm(ResidualBlock::kGroups, 16))),
        scores_(register_module("scores", torch::nn::Linear(64, classes))) {
    std::int64_t in = 16;
    for (const std::int64_t out : {16, 32, 64}) {
      for (int block = 0; block < 3; ++block) {
        const std::int64_t stride = block == 0 && out > 16 ? 2 : 1;
        const std::string name = "block" + std::to_string(blocks_.size());
        blocks_.push_back(register_module(name, std::make_shared<ResidualBlock>(in, out, stride)));
        in = out;
      }
    }
  }

  torch::Tensor forward(torch::Tensor samples) override {
    auto x = torch::relu(norm_(hidden_(samples)));
    for (const auto& block : blocks_) x = block->forward(x);
    return scores_(x.mean({2, 3}));
  }

 private:
  torch::nn::Conv2d hidden_;
  torch::nn::GroupNorm norm_;
  torch::nn::Linear scores_;
  std::vector<std::shared_ptr<ResidualBlock>> blocks_;
};

}  // namespace

std::shared_ptr<Network> make_lenet(const Dataset& data) {
  return std::make_shared<LeNet>(data.shape, data.classes);
}
std::shared_ptr<Network> make_cnn(const Dataset& data) {
  return std::make_shared<SmallCnn>(data.shape, data.classes);
}
std::shared_ptr<Network> make_resnet20(const Dataset& data) {
  return std::make_shared<ResNet20>(data.shape, data.classes);
}

}  // namespace orrery
