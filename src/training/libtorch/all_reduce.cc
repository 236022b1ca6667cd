#include "training/libtorch/all_reduce.h"

#include <torch/types.h>
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
#include <ATen/cuda/CUDAContext.h>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#define ORRERY_NCCL
#endif

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include "training/libtorch/torch_error.h"

namespace orrery {
namespace {

using StorePointer = c10::intrusive_ptr<c10d::Store>;
constexpr std::chrono::milliseconds kConnecting{5000};

std::chrono::milliseconds whole_milliseconds(Duration duration) {
  return std::chrono::ceil<std::chrono::milliseconds>(duration);
}

// c10d reports errors as text. A member that is late differs from one that is gone.
Error group_error(std::string_view place, const std::exception& caught) {
  const std::string_view text = caught.what();
  const bool late = text.find("imed out") != text.npos || text.find("imeout") != text.npos;
  return torch_error(place, caught, late ? Code::DeadlineExceeded : Code::Unavailable);
}

class TcpMeetingPlace : public MeetingPlace {
 public:
  explicit TcpMeetingPlace(c10::intrusive_ptr<c10d::TCPStore> store) : store_(std::move(store)) {}
  std::uint16_t port() const override { return store_->getPort(); }
  bool sums_on_cpus() const override {
#ifdef ORRERY_GLOO
    return true;
#else
    return false;
#endif
  }

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
};

#ifdef ORRERY_GLOO_CUBE
// c10d sums by Gloo's ring, which sends 4 (n - 1) messages one after the other. Gloo's cube sends
// as many bytes in fewer and larger ones (messages_of_sum), and here the calling thread sends
// them instead of a thread of c10d's. One call at a time.
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
  // Nothing is under way, so no member is waited for: some may be gone. Not all backends can abort.
  ~TorchGroup() override {
    try {
      if constexpr (requires { group_->abort(); }) group_->abort();
    } catch (const std::exception&) {
    }
  }

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

[[maybe_unused]] Error without(std::string_view what) {
  return {Code::Unimplemented, "built without the headers of " + std::string(what) +
                                   ": install them and build again, or train with --arch ps"};
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
  return without("Gloo");
#endif
}

Result<std::unique_ptr<AllReduceGroup>> nccl_group(
    [[maybe_unused]] const StorePointer& store, [[maybe_unused]] const AllReduceOptions& options) {
#ifdef ORRERY_NCCL
  // Left to itself, c10d does not wait for the sum but for its start, and ends the whole process
  // when another's is gone. We wait, and members that are left go on.
  ::setenv("TORCH_NCCL_BLOCKING_WAIT", "1", 0);
  ::setenv("TORCH_NCCL_ASYNC_ERROR_HANDLING", "0", 0);
  // It would also wait without end for members that never come. So all first say that they are
  // there, then meet at once. A member that is missing even then is waited for with patience.
  ::setenv("TORCH_NCCL_USE_COMM_NONBLOCKING", "1", 0);
  ::setenv(
      "TORCH_NCCL_NONBLOCKING_TIMEOUT",
      std::to_string(std::chrono::ceil<std::chrono::seconds>(options.patience).count()).c_str(), 0);
  std::vector<std::string> all;
  for (int rank = 0; rank < options.size; ++rank) all.push_back("here-" + std::to_string(rank));
  store->set(all[static_cast<std::size_t>(options.rank)], std::vector<std::uint8_t>{1});
  store->wait(all, whole_milliseconds(options.patience));
  using Nccl = c10d::ProcessGroupNCCL;
  const auto nccl = Nccl::Options::create();
  nccl->timeout = whole_milliseconds(options.patience);
  auto group = std::make_unique<TorchGroup<Nccl>>(
      c10::make_intrusive<Nccl>(store, options.rank, options.size, nccl),
      torch::Device(options.device));
  float nothing = 0;
  TRY(group->sum({&nothing, 1}));
  return std::unique_ptr<AllReduceGroup>(std::move(group));
#else
  return without("NCCL");
#endif
}

}  // namespace

Result<std::unique_ptr<MeetingPlace>> open_meeting_place([[maybe_unused]] const std::string& host) {
#if !defined(ORRERY_GLOO) && !defined(ORRERY_NCCL)
  // A run that opens one is going to sum. The error ends it here. If each worker that tries to join
  // reported it, the run would try again and again.
  return without("Gloo");
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
    return options.device == "cpu" ? gloo_group(store, options) : nccl_group(store, options);
  } catch (const std::exception& caught) {
    return group_error("joining all-reduce group " + options.name, caught);
  }
}

std::string gpu_name([[maybe_unused]] const std::string& device) {
#ifdef ORRERY_NCCL
  const torch::Device on(device);
  if (!on.is_cuda() || c10::cuda::device_count() == 0) return {};
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string name;
  for (const char byte : at::cuda::getDeviceProperties(on.index())->uuid.bytes) {
    const auto bits = static_cast<unsigned char>(byte);
    name += {kDigits[bits / 16], kDigits[bits % 16]};
  }
  return name;
#else
  return {};
#endif
}

}  // namespace orrery
