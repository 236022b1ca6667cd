#include "training/libtorch/samples_on_device.h"

namespace orrery {
namespace {

// torch takes no pointer to const, and clone() reads only.
template <class T>
torch::Tensor copy_of(const std::vector<T>& values, torch::ScalarType type) {
  return torch::from_blob(const_cast<T*>(values.data()), {static_cast<std::int64_t>(values.size())},
                          type)
      .clone();
}

}  // namespace

SamplesOnDevice::SamplesOnDevice(const Dataset& set, const DataPart& part, torch::Device device)
    : kind_(set.kind), count_(part.count), mean_(set.mean), deviation_(set.deviation) {
  if (kind_ == SampleKind::Characters) {
    const std::int64_t length = set.shape.front();
    rows_ =
        copy_of(part.bytes, torch::kUInt8).to(device).as_strided({count_, length + 1}, {length, 1});
    return;
  }
  std::vector<std::int64_t> shape = set.shape;
  shape.insert(shape.begin(), count_);
  rows_ = (kind_ == SampleKind::Images ? copy_of(part.bytes, torch::kUInt8)
                                       : copy_of(part.values, torch::kFloat32))
              .view(shape)
              .to(device);
  labels_ = copy_of(part.labels, torch::kUInt8).to(device);
}

Batch SamplesOnDevice::gather(const std::vector<std::int64_t>& indices) const {
  const auto index = copy_of(indices, torch::kInt64).to(rows_.device(), /*non_blocking=*/true);
  return dress(rows_.index_select(0, index),
               labels_.defined() ? labels_.index_select(0, index) : torch::Tensor());
}

Batch SamplesOnDevice::slice(std::int64_t first, std::int64_t count) const {
  return dress(rows_.narrow(0, first, count),
               labels_.defined() ? labels_.narrow(0, first, count) : torch::Tensor());
}

Batch SamplesOnDevice::dress(torch::Tensor rows, torch::Tensor labels) const {
  if (kind_ == SampleKind::Characters) {
    const auto characters = rows.to(torch::kInt64);
    const std::int64_t length = characters.size(1) - 1;
    return {characters.narrow(1, 0, length), characters.narrow(1, 1, length)};
  }
  if (kind_ == SampleKind::Images) {
    rows = rows.to(torch::kFloat32).sub_(mean_).div_(deviation_);
  }
  return {rows, labels.to(torch::kInt64)};
}

}  // namespace orrery
