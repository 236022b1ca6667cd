#include "cloud/models/cluster_speed.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cloud/models/minimum.h"
#include "cloud/provider/offer.h"

namespace orrery {
namespace {

// Regions between which the published runs measured the shorter delay.
bool are_near(std::string_view a, std::string_view b) {
  const auto is = [&](std::string_view one, std::string_view other) {
    return a.starts_with(one) && b.starts_with(other);
  };
  return is("us-east", "us-central") || is("us-central", "us-east") ||
         is("us-central", "us-west") || is("us-west", "us-central") || is("europe-", "europe-");
}

double delayed(double steps_per_s, double delay_s) { return 1 / (1 / steps_per_s + delay_s); }

}  // namespace

double ServerCap::cap(int parameter_servers) const {
  const double growth = std::log2(cap_2 / cap_1);
  return cap_1 * std::pow(parameter_servers, growth);
}

double ServerCap::steps_per_s(double sum_of_workers, int parameter_servers) const {
  if (parameter_servers <= 0 || sum_of_workers <= 0) return sum_of_workers;
  const double limit = parameter_servers == 1   ? cap_1
                       : parameter_servers == 2 ? cap_2
                                                : cap(parameter_servers);
  // Of the smaller one, so that no power overflows.
  const double low = std::min(sum_of_workers, limit), high = std::max(sum_of_workers, limit);
  return low * std::pow(1 + std::pow(low / high, power), -1 / power);
}

double mean_error_pct(const ServerCap& cap, std::span<const ClusterSpeedPoint> points) {
  double sum = 0;
  for (const ClusterSpeedPoint& point : points) {
    const double model = cap.steps_per_s(point.sum_of_workers, point.parameter_servers);
    sum += std::abs(model / point.steps_per_s - 1);
  }
  return points.empty() ? 0 : 100 * sum / static_cast<double>(points.size());
}

Result<ServerCap> fit_server_cap(std::span<const ClusterSpeedPoint> points) {
  double fastest[2] = {0, 0};
  for (const ClusterSpeedPoint& point : points) {
    if (point.parameter_servers != 1 && point.parameter_servers != 2) {
      return Error{Code::FailedPrecondition, "only clusters with one or two parameter servers fit"};
    }
    double& most = fastest[point.parameter_servers - 1];
    most = std::max(most, point.steps_per_s);
  }
  if (fastest[0] <= 0 || fastest[1] <= 0) {
    return Error{Code::FailedPrecondition,
                 "a cap needs clusters with one and with two parameter servers"};
  }
  const auto cost = [&](std::span<const double> at) {
    if (at[0] <= 0 || at[1] <= 0 || at[2] <= 0.1 || at[2] > 100) return HUGE_VAL;
    return mean_error_pct({at[0], at[1], at[2]}, points);
  };
  const std::vector<double> found = find_minimum(cost, {fastest[0], fastest[1], 4});
  return ServerCap{found[0], found[1], found[2]};
}

double cross_region_steps_per_s(const RegionDelay& delay, const ServerCap& cap,
                                const CrossRegionPoint& point) {
  const double alone = point.worker_steps_per_s;
  const double sum = point.workers[0] * alone + point.workers[1] * delayed(alone, delay.near_s) +
                     point.workers[2] * delayed(alone, delay.far_s);
  return cap.steps_per_s(sum, point.parameter_servers);
}

Result<RegionDelay> fit_region_delay(std::span<const CrossRegionPoint> points,
                                     const ServerCap& cap) {
  if (points.empty()) {
    return Error{Code::FailedPrecondition, "a delay needs a cluster across regions"};
  }
  const auto cost = [&](std::span<const double> at) {
    if (at[0] < 0 || at[1] < 0) return HUGE_VAL;
    double sum = 0;
    for (const CrossRegionPoint& point : points) {
      const double model = cross_region_steps_per_s({at[0], at[1]}, cap, point);
      sum += std::pow(model / point.steps_per_s - 1, 2);
    }
    return sum;
  };
  const std::vector<double> found = find_minimum(cost, {0.1, 0.2});
  return RegionDelay{found[0], found[1]};
}

Result<double> ClusterSpeed::worker_steps_per_s(std::string_view gpu) const {
  const auto found = worker_steps_per_s_.find(gpu);
  if (found != worker_steps_per_s_.end()) return found->second;
  std::vector<std::string_view> known;
  for (const auto& [name, speed] : worker_steps_per_s_) known.push_back(name);
  return Error{Code::NotFound, fmt::format("no speed is known of GPU '{}'; the known ones are {}",
                                           gpu, fmt::join(known, ", "))};
}

Result<double> ClusterSpeed::steps_per_s(std::span<const WorkerPlace> workers,
                                         int parameter_servers,
                                         std::string_view server_zone) const {
  const std::string_view home = region_of(server_zone);
  double sum = 0;
  for (const WorkerPlace& worker : workers) {
    TRY_ASSIGN(const double alone, worker_steps_per_s(worker.gpu));
    const std::string_view region = region_of(worker.zone);
    const bool at_home = parameter_servers == 0 || region == home;
    sum += delayed(alone, at_home ? 0 : are_near(region, home) ? delay_.near_s : delay_.far_s);
  }
  return cap_.steps_per_s(sum, parameter_servers);
}

}  // namespace orrery
