#pragma once

#include <memory>

#include "base/result.h"
#include "training/trainer/shard/shard_store.h"
#include "training/trainer/transport/part.h"
#include "training/trainer/transport/setup.h"

namespace orrery {

// A worker's side of all-reduce: the parameters it holds, and the group of its epoch.
class RingMember {
 public:
  struct Home {
    std::string address{};  // what others reach it by
    std::string device = "cpu";
  };
  RingMember(const PartSetup& setup, const TrainPorts& ports, Home home,
             std::span<const float> parameters);

  ShardStore& store() { return store_; }
  bool in_ring() const { return place_.rank >= 0; }
  const RingPlace& place() const { return place_; }

  // Joins the epoch's group, and takes over the parameters if a member needs them.
  Status form(const RingPlace& place);
  Result<double> apply(const ApplyMessage& message);

 private:
  Status take_over_state();

  const PartSetup setup_;
  const TrainPorts& ports_;
  const Home home_;
  ShardStore store_;
  RingPlace place_{};
  std::unique_ptr<AllReduceGroup> group_{};
};

}  // namespace orrery
