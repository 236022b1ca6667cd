#include "learn/all_reduce.h"

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <torch/csrc/distributed/c10d/Types.hpp>
#if defined(USE_C10D_GLOO) && __has_include(<gloo/algorithm.h>)
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#define ORRERY_GLOO
#endif
#ifdef ORRERY_GLOO_CUBE
#include <gloo/allreduce.h>
#include <gloo/math.h>
#endif
#if defined(USE_C10D_NCCL) && __has_include(<nccl.h>)
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#define ORRERY_NCCL
#endif

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>
#include <vector>

#include "learn/torch_error.h"
#include "learn/torch_learner.h"

namespace orrery {
namespace {

using StorePointer = c10::intrusive_ptr<c10d::Store>;
constexpr std::chrono::milliseconds kConnecting{5000};

std::chrono::milliseconds whole_milliseconds(Duration duration) {
  return std::chrono::ceil<std::chrono::milliseconds>(duration);
}

// c10d tells everything as text. Somebody who is late is worth telling from somebody who is gone.
Error group_error(std::string_view place, const std::exception& caught) {
  const std::string_view text = caught.what();
  const bool late = text.find("imed out") != text.npos || text.find("imeout") != text.npos;
  return torch_error(place, caught, late ? Code::DeadlineExceeded : Code::Unavailable);
}

class TcpMeetingPlace : public MeetingPlace {
 public:
  explicit TcpMeetingPlace(c10::intrusive_ptr<c10d::TCPStore> store) : store_(std::move(store)) {}
  std::uint16_t port() const override { return store_->getPort(); }

 private:
  c10::intrusive_ptr<c10d::TCPStore> store_;
};

// Torch takes no pointer to const; whether it writes is the operation's business.
torch::Tensor tensor_over(std::span<float> values) {
  return torch::from_blob(values.data(), {static_cast<std::int64_t>(values.size())});
}

// One for itself: everything is summed already.
class GroupOfOne : public AllReduceGroup {
 public:
  Status sum(std::span<float>) override { return {}; }
  Status copy_from(int, std::span<float>) override { return {}; }
  Status sum_gradient(Learner& learner, double weight) override {
    TRY_ASSIGN(TorchLearner * ours, TorchLearner::of(learner));
    ours->flat_gradient().change().mul_(weight);
    return {};
  }
};

#ifdef ORRERY_GLOO_CUBE
// c10d sums by Gloo's ring, which sends 4 (n - 1) messages one after the other. Gloo's cube sends
// as many bytes in fewer and larger ones (messages_of_sum), and here they go out from whoever asks
// instead of from a thread of c10d's. One who is asked for one thing at a time.
class CubeGloo : public c10d::ProcessGroupGloo {
 public:
  using c10d::ProcessGroupGloo::ProcessGroupGloo;

  void sum(torch::Tensor& values) {
    const std::uint32_t tag = nextTag();
    gloo::AllreduceOptions options(getContext(tag));
    options.setAlgorithm(gloo::AllreduceOptions::Algorithm::BCUBE);
    options.setTag(tag);
    options.setTimeout(options_->timeout);
    options.setOutput(values.data_ptr<float>(), static_cast<std::size_t>(values.numel()));
    options.setReduceFunction(
        static_cast<void (*)(void*, const void*, const void*, std::size_t)>(&gloo::sum<float>));
    gloo::allreduce(options);
  }
};
#endif

// `Backend` is CubeGloo, ProcessGroupGloo or ProcessGroupNCCL: one class in torch 1.13, two
// families in 2.x.
template <class Backend>
class TorchGroup : public AllReduceGroup {
 public:
  TorchGroup(c10::intrusive_ptr<Backend> group, torch::Device device)
      : group_(std::move(group)), device_(device) {}

  Status sum(std::span<float> values) override {
    return on_device("summing", values, [this](torch::Tensor& there) { reduce(there); });
  }

  Status copy_from(int rank, std::span<float> values) override {
    return on_device("copying", values, [this, rank](torch::Tensor& there) {
      std::vector<torch::Tensor> tensors{there};
      c10d::BroadcastOptions options;
      options.rootRank = rank;
      group_->broadcast(tensors, options)->wait();
    });
  }

  Status sum_gradient(Learner& learner, double weight) override {
    TRY_ASSIGN(TorchLearner * ours, TorchLearner::of(learner));
    try {
      torch::Tensor& gradient = ours->flat_gradient().change();
      gradient.mul_(weight);
      reduce(gradient);
    } catch (const std::exception& caught) {
      return group_error("summing gradients", caught);
    }
    return {};
  }

 private:
  void reduce(torch::Tensor& values) {
    if constexpr (requires { group_->sum(values); }) {
      group_->sum(values);
    } else {
      std::vector<torch::Tensor> tensors{values};
      group_->allreduce(tensors)->wait();
    }
  }

  template <class Act>
  Status on_device(std::string_view what, std::span<float> values, Act act) {
    try {
      const torch::Tensor here = tensor_over(values);
      torch::Tensor there = here.to(device_);
      act(there);
      if (!device_.is_cpu()) here.copy_(there);
    } catch (const std::exception& caught) {
      return group_error(what, caught);
    }
    return {};
  }

  c10::intrusive_ptr<Backend> group_;
  torch::Device device_;
};

[[maybe_unused]] Error without_gloo() {
  return {Code::Unimplemented,
          "built without Gloo's headers: install them and build again, or train with --arch ps"};
}

Result<std::unique_ptr<AllReduceGroup>> gloo_group(
    [[maybe_unused]] const StorePointer& store, [[maybe_unused]] const AllReduceOptions& options) {
#ifdef ORRERY_GLOO
#ifdef ORRERY_GLOO_CUBE
  using Gloo = CubeGloo;
#else
  using Gloo = c10d::ProcessGroupGloo;
#endif
  const auto gloo = Gloo::Options::create(whole_milliseconds(options.patience));
  gloo->devices.push_back(Gloo::createDeviceForHostname(options.own_address));
  gloo->threads = 1;
  return std::unique_ptr<AllReduceGroup>(std::make_unique<TorchGroup<Gloo>>(
      c10::make_intrusive<Gloo>(store, options.rank, options.size, gloo), torch::Device("cpu")));
#else
  return without_gloo();
#endif
}

Result<std::unique_ptr<AllReduceGroup>> nccl_group(
    [[maybe_unused]] const StorePointer& store, [[maybe_unused]] const AllReduceOptions& options) {
#ifdef ORRERY_NCCL
  using Nccl = c10d::ProcessGroupNCCL;
  const auto nccl = Nccl::Options::create();
  nccl->timeout = whole_milliseconds(options.patience);
  return std::unique_ptr<AllReduceGroup>(std::make_unique<TorchGroup<Nccl>>(
      c10::make_intrusive<Nccl>(store, options.rank, options.size, nccl), torch::Device("cuda")));
#else
  return Error{Code::Unimplemented,
               "built without NCCL's headers: sum on the CPU, or install them and build again"};
#endif
}

}  // namespace

Result<std::unique_ptr<MeetingPlace>> open_meeting_place([[maybe_unused]] const std::string& host) {
#ifndef ORRERY_GLOO
  // Whoever opens one is going to sum. Told now, it ends a run; told by every worker that tries to
  // join, the run would try again and again.
  return without_gloo();
#else
  try {
    c10d::TCPStoreOptions options;
    options.port = 0;
    options.isServer = true;
    options.waitWorkers = false;
    return std::unique_ptr<MeetingPlace>(
        std::make_unique<TcpMeetingPlace>(c10::make_intrusive<c10d::TCPStore>(host, options)));
  } catch (const std::exception& caught) {
    return group_error("opening a meeting place on " + host, caught);
  }
#endif
}

Result<std::unique_ptr<AllReduceGroup>> join_all_reduce(const AllReduceOptions& options) {
  if (options.size < 1 || options.rank < 0 || options.rank >= options.size) {
    return invalid("rank " + std::to_string(options.rank) + " of an all-reduce group of " +
                   std::to_string(options.size));
  }
  if (options.size == 1) return std::unique_ptr<AllReduceGroup>(std::make_unique<GroupOfOne>());
  try {
    c10d::TCPStoreOptions client;
    client.port = options.port;
    client.waitWorkers = false;
    // Connecting is counted in whole seconds there, and is the head's matter, not the others'.
    client.timeout = std::max(whole_milliseconds(options.patience), kConnecting);
    StorePointer store = c10::make_intrusive<c10d::TCPStore>(options.host, client);
    store->setTimeout(whole_milliseconds(options.patience));
    store = c10::make_intrusive<c10d::PrefixStore>(options.name, store);
    return options.device == "cuda" ? nccl_group(store, options) : gloo_group(store, options);
  } catch (const std::exception& caught) {
    return group_error("joining all-reduce group " + options.name, caught);
  }
}

}  // namespace orrery
