#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <vector>

#include "training/libtorch/dataset.h"

namespace orrery {

struct Batch {
  torch::Tensor inputs{};
  torch::Tensor labels{};
};

// A part of a set where the model is, so that a batch is gathered there from its indices.
class SamplesOnDevice {
 public:
  SamplesOnDevice(const Dataset& set, const DataPart& part, torch::Device device);

  std::int64_t count() const { return count_; }
  Batch gather(const std::vector<std::int64_t>& indices) const;
  Batch slice(std::int64_t first, std::int64_t count) const;

 private:
  Batch dress(torch::Tensor rows, torch::Tensor labels) const;

  SampleKind kind_;
  std::int64_t count_;
  float mean_, deviation_;
  torch::Tensor rows_;    // count x shape; characters: count x (length + 1), rows overlap by one
  torch::Tensor labels_;  // undefined for characters
};

}  // namespace orrery
