#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cloud/decisions/cluster_speed.h"
#include "cloud/lifetimes/lifetime.h"
#include "cloud/provider/offer.h"

namespace orrery {

// How fast one model trains asynchronously with parameter servers.
struct TrainingSpeeds {
  std::map<std::string, double> steps_per_s{};  // of a worker alone, by GPU
  std::vector<double> caps{};  // of 1, 2, ... parameter servers; more scale the last
  double sharpness = 4;
  double remote_step_s = 0;  // what a step of a worker outside the servers' region takes longer
};

// ResNet-32 on CIFAR-10 as measured in 2019 (docs/systems/transient.md).
TrainingSpeeds resnet32_speeds();

// Of all parameter servers together; no limit if there is none.
SpeedCap server_cap(const TrainingSpeeds& speeds, std::size_t servers);
// Of a worker alone; 0 for a GPU that is not in `speeds`. `home` is a zone of the parameter
// servers; empty: near the worker.
double worker_speed(const TrainingSpeeds& speeds, const Offer& offer, std::string_view home);

// Lifetimes of spot servers by GPU and zone. A zone that is not known has the lifetime of its GPU,
// and a GPU that is not known that of machines without GPU.
class LifetimeTable {
 public:
  // As measured in 2018 and 2019, with the share of servers that each zone revoked within a day.
  static LifetimeTable published();

  void set(const std::string& gpu, const std::string& zone, Lifetime lifetime);
  // Spot offers end at their limit; others are not revoked.
  const Lifetime& of(const Offer& offer) const;

 private:
  std::map<std::pair<std::string, std::string>, Lifetime> lifetimes_{};
  Lifetime never_ = Lifetime::exponential(0);
};

}  // namespace orrery
