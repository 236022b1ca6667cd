#include "cloud/discrete_events/cloud_model.h"

#include <utility>

namespace orrery {

std::vector<CapacityStep> capacity_of_trace(Time start, Duration tick,
                                            const std::vector<int>& counts) {
  std::vector<CapacityStep> steps;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (!steps.empty() && steps.back().servers == counts[i]) continue;
    steps.push_back({.from = start + static_cast<std::int64_t>(i) * tick, .servers = counts[i]});
  }
  return steps;
}

std::function<Duration(const ServerSpec&, Random&)> same_for_all(Duration duration) {
  return [duration](const ServerSpec&, Random&) { return duration; };
}

std::function<Duration(const ServerSpec&, Random&)> drawn_from(
    std::function<const Lifetime&(const Offer&)> lifetime_of) {
  return [lifetime_of = std::move(lifetime_of)](const ServerSpec& spec, Random& random) {
    return lifetime_of(spec.offer).sample(random);
  };
}

std::function<Duration(const ServerSpec&, Random&)> scheduled(
    std::map<std::string, Duration> by_name) {
  return [by_name = std::move(by_name)](const ServerSpec& spec, Random&) {
    const auto found = by_name.find(spec.name);
    return found == by_name.end() ? kNoEnd : found->second;
  };
}

}  // namespace orrery
