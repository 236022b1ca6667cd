#include "training/libtorch/torch_learner.h"

#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <utility>

#include "training/libtorch/torch_error.h"

namespace orrery {
namespace {

// Samples in a batch of a test: as many as keep the caches warm and the calls few.
constexpr std::int64_t kTestBatch = 250;

torch::Tensor loss_sum(const torch::Tensor& scores, const torch::Tensor& labels) {
  const auto options = torch::nn::functional::CrossEntropyFuncOptions().reduction(torch::kSum);
  return torch::nn::functional::cross_entropy(scores.flatten(0, -2), labels.flatten(), options);
}

// The loss of a sample of text is the mean over its characters.
double answers_of(const torch::Tensor& labels) {
  return static_cast<double>(labels.numel()) / static_cast<double>(labels.size(0));
}

// Of a set that is too small, one sample is held out all the same.
std::int64_t held_out_step(std::int64_t samples, int one_of) {
  return one_of < 2 || samples < 2 ? 0 : std::min<std::int64_t>(one_of, samples);
}

std::vector<std::int64_t> samples_at(SampleOrder& order, std::int64_t first, std::int32_t count) {
  std::vector<std::int64_t> found(static_cast<std::size_t>(count));
  for (std::int64_t& sample : found) sample = order.sample_at(first++);
  return found;
}

}  // namespace

std::span<const float> FlatFloats::here() const {
  if (values_.device().is_cpu()) {
    return {values_.data_ptr<float>(), static_cast<std::size_t>(values_.numel())};
  }
  if (!copy_.defined()) {
    copy_ = torch::empty(values_.sizes(), torch::TensorOptions().pinned_memory(true));
  }
  if (!std::exchange(fetched_, true)) copy_.copy_(values_);
  return {copy_.data_ptr<float>(), static_cast<std::size_t>(copy_.numel())};
}

Result<TorchLearner*> TorchLearner::of(Learner& learner) {
  if (auto* found = dynamic_cast<TorchLearner*>(&learner)) return found;
  return invalid("only a learner of make_learner has its gradient where torch can reach it");
}

TorchLearner::TorchLearner(const Dataset& data, std::shared_ptr<Network> network,
                           torch::Device device, const LearnerOptions& options)
    : network_(std::move(network)),
      train_(data, data.train, device),
      test_(data, data.test, device),
      held_out_step_(held_out_step(data.train.count, options.held_out)),
      held_out_(held_out_step_ > 0 ? data.train.count / held_out_step_ : 0),
      order_(data.train.count - held_out_, options.seed) {
  if (held_out_ > 0) held_out_order_.emplace(held_out_, options.seed);
  network_->to(device);
  lay_flat(device);
}

void TorchLearner::lay_flat(torch::Device device) {
  const torch::NoGradGuard no_grad;
  std::int64_t first = 0;
  for (const auto& entry : network_->named_parameters()) {
    places_.push_back({entry.key(), first, entry.value().numel()});
    slices_.push_back(entry.value());
    first += entry.value().numel();
  }
  const auto flat = torch::empty({first}, torch::TensorOptions().device(device));
  for (std::size_t i = 0; i < slices_.size(); ++i) {
    const auto view = flat.narrow(0, places_[i].first, places_[i].count).view(slices_[i].sizes());
    view.copy_(slices_[i]);
    slices_[i].set_data(view);
  }
  parameters_ = FlatFloats(flat);
  gradient_ = FlatFloats(torch::zeros_like(flat));
  block_gradient_ = torch::empty_like(flat);
}

Status TorchLearner::set_parameters(std::span<const float> values) {
  if (static_cast<std::int64_t>(values.size()) != parameter_count()) {
    return invalid(std::to_string(values.size()) + " parameters for a model that has " +
                   std::to_string(parameter_count()));
  }
  try {
    const torch::NoGradGuard no_grad;
    // torch takes no pointer to const; it is read only.
    parameters_.change().copy_(torch::from_blob(const_cast<float*>(values.data()),
                                                {static_cast<std::int64_t>(values.size())}));
  } catch (const std::exception& caught) {
    return torch_error("setting parameters", caught);
  }
  return {};
}

// The gradient of one block, as its part of a mean over `of` samples. Gives back the sum of losses.
torch::Tensor TorchLearner::add_block(const std::vector<std::int64_t>& indices, std::int32_t of,
                                      bool to_others) {
  const Batch batch = train_.gather(indices);
  const auto loss =
      loss_sum(network_->forward(batch.inputs), batch.labels) / (answers_of(batch.labels) * of);
  auto parts = torch::autograd::grad({loss}, slices_);
  const torch::NoGradGuard no_grad;
  for (torch::Tensor& part : parts) part = part.reshape(-1);
  torch::Tensor& target = to_others ? block_gradient_ : gradient_.change();
  torch::cat_out(target, parts);
  if (to_others) gradient_.change().add_(block_gradient_);
  return loss.detach();
}

Result<Computed> TorchLearner::compute(Samples samples, int blocks,
                                       const std::function<bool()>& go_on) {
  if (samples.count < 1 || samples.first < 0) return invalid("a task without samples");
  try {
    network_->train();
    const std::int32_t parts = std::clamp(blocks, 1, samples.count);
    torch::Tensor loss;
    std::int32_t done = 0;
    for (std::int32_t part = 0; part < parts; ++part) {
      if (part > 0 && go_on && !go_on()) break;
      const auto until =
          static_cast<std::int32_t>(std::int64_t{samples.count} * (part + 1) / parts);
      auto indices = samples_at(order_, samples.first + done, until - done);
      if (held_out_ > 0) {
        for (std::int64_t& index : indices) index += index / (held_out_step_ - 1);
      }
      const auto more = add_block(indices, samples.count, done > 0);
      loss = done > 0 ? loss + more : more;
      done = until;
    }
    const double scale = static_cast<double>(samples.count) / done;
    if (done < samples.count) gradient_.change().mul_(scale);
    return Computed{.samples = done, .loss = loss.item<double>() * scale};
  } catch (const std::exception& caught) {
    return torch_error("computing a gradient", caught);
  }
}

Result<Computed> TorchLearner::compute_held_out(Samples samples) {
  if (samples.count < 1 || samples.first < 0) return invalid("a task without samples");
  if (!held_out_order_) return Error{Code::FailedPrecondition, "no samples were held out"};
  try {
    network_->train();
    auto indices = samples_at(*held_out_order_, samples.first, samples.count);
    for (std::int64_t& index : indices) index = (index + 1) * held_out_step_ - 1;
    const auto loss = add_block(indices, samples.count, false);
    return Computed{.samples = samples.count, .loss = loss.item<double>()};
  } catch (const std::exception& caught) {
    return torch_error("computing a gradient", caught);
  }
}

Result<Evaluation> TorchLearner::evaluate() {
  try {
    const torch::NoGradGuard no_grad;
    network_->eval();
    const auto double_here =
        torch::TensorOptions().dtype(torch::kFloat64).device(parameters_.tensor().device());
    auto loss = torch::zeros({}, double_here), right = torch::zeros({}, double_here);
    double answers = 0;
    for (std::int64_t first = 0; first < test_.count(); first += kTestBatch) {
      const Batch batch = test_.slice(first, std::min(kTestBatch, test_.count() - first));
      const auto scores = network_->forward(batch.inputs);
      loss += loss_sum(scores, batch.labels);
      right += scores.argmax(-1).eq(batch.labels).sum();
      answers += static_cast<double>(batch.labels.numel());
    }
    return Evaluation{.accuracy = right.item<double>() / answers,
                      .loss = loss.item<double>() / answers,
                      .samples = test_.count()};
  } catch (const std::exception& caught) {
    return torch_error("evaluating", caught);
  }
}

namespace {

// Torch's own thread-wide device goes along, or every process would have memory on the first GPU.
Result<torch::Device> take_device(const LearnerOptions& options) {
  if (options.device == "cpu") return torch::Device("cpu");
  const auto gpus = static_cast<int>(torch::cuda::device_count());
  if (gpus == 0) {
    return Error{Code::FailedPrecondition, "no CUDA device here: write --device cpu"};
  }
  const torch::Device device(torch::kCUDA, static_cast<c10::DeviceIndex>(options.place % gpus));
  c10::impl::VirtualGuardImpl(device.type()).setDevice(device);
  return device;
}

}  // namespace

Result<std::unique_ptr<Learner>> make_learner(const LearnerOptions& options) {
  if (options.device != "cpu" && options.device != "cuda") {
    return invalid("no device '" + options.device + "': write cpu or cuda");
  }
  if (options.threads < 1) return invalid("threads must be at least 1");
  if (options.place < 0) return invalid("a process has no place below 0");
  TRY_ASSIGN(const SampleKind wanted, samples_wanted(options.model));
  TRY_ASSIGN(const Dataset data, load_dataset({.name = options.data,
                                               .folder = options.data_folder,
                                               .seed = options.seed,
                                               .wanted = wanted}));
  try {
    TRY_ASSIGN(const torch::Device device, take_device(options));
    at::set_num_threads(options.threads);
    TRY_ASSIGN(auto network, make_network(options.model, data, options.seed));
    return std::unique_ptr<Learner>(
        std::make_unique<TorchLearner>(data, std::move(network), device, options));
  } catch (const std::exception& caught) {
    return torch_error("making the model", caught);
  }
}

}  // namespace orrery
