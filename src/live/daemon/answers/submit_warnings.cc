#include "live/daemon/answers/submit_warnings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "model/duration_text.h"
#include "scheduling/policy/registry.h"

namespace orrery {
namespace {

bool counts(const LiveNode& node) {
  return node.state != NodeState::Left && node.state != NodeState::Removed;
}

bool serves(const LiveNode& node, const JobRequest& request) {
  return counts(node) && (request.gpu_type.empty() || node.offer.gpu_type == request.gpu_type);
}

// How many GPUs of the job a node can hold, if each takes its part of `wanted` of what the node
// has.
std::int64_t gpus_within(std::int64_t gpus_of_node, std::int64_t has, std::int64_t wanted,
                         std::int64_t gpus_of_job) {
  if (wanted <= 0) return gpus_of_node;
  const auto part = static_cast<double>(wanted) / static_cast<double>(gpus_of_job);
  return std::min(gpus_of_node, static_cast<std::int64_t>(static_cast<double>(has) / part + 1e-9));
}

std::string size_text(std::int64_t bytes) {
  constexpr double kGiB = 1 << 30;
  return fmt::format("{:.3g} GiB", static_cast<double>(bytes) / kGiB);
}

// The sum over the nodes that serve the job; it ends when it reaches `enough`.
template <class Count>
std::int64_t sum_of(std::span<const LiveNode> nodes, const JobRequest& request, std::int64_t enough,
                    Count count) {
  std::int64_t sum = 0;
  for (const LiveNode& node : nodes) {
    if (serves(node, request)) sum += count(node.offer);
    if (sum >= enough) break;
  }
  return sum;
}

std::string types_text(std::span<const LiveNode> nodes) {
  std::set<std::string> types;
  for (const LiveNode& node : nodes) {
    if (counts(node) && !node.offer.gpu_type.empty()) types.insert(node.offer.gpu_type);
  }
  if (types.empty()) return "no node states a type";
  return fmt::format("the cluster has {}", fmt::join(types, ", "));
}

std::string policies_with_deadlines() {
  std::vector<std::string_view> names;
  for (const PolicyInfo& policy : policies()) {
    if (policy.data.deadlines) names.push_back(policy.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::string never_fits(const JobRequest& request, std::span<const LiveNode> nodes) {
  if (std::ranges::none_of(nodes, counts)) return "";
  if (std::ranges::none_of(nodes, [&](const auto& node) { return serves(node, request); })) {
    return fmt::format("no node has GPUs of type '{}'; {}", request.gpu_type, types_text(nodes));
  }
  const std::int64_t least = request.gpus_min > 0 ? request.gpus_min : request.gpus;
  const auto gpus = [](const NodeOffer& offer) { return std::int64_t{offer.gpus}; };
  if (const auto sum = sum_of(nodes, request, least, gpus); sum < least) {
    return fmt::format("it asks for {} GPUs{}, the cluster has {}", least,
                       request.gpu_type.empty() ? "" : " of type " + request.gpu_type, sum);
  }
  const auto by_memory = [&](const NodeOffer& offer) {
    return gpus_within(offer.gpus, offer.memory_bytes, request.memory_bytes, request.gpus);
  };
  if (sum_of(nodes, request, least, by_memory) < least) {
    std::int64_t most = 0;
    for (const LiveNode& node : nodes) {
      if (serves(node, request)) most = std::max(most, node.offer.memory_bytes);
    }
    return fmt::format("it asks for {} of memory on {} GPU{}, the largest node has {}",
                       size_text(request.memory_bytes), request.gpus, request.gpus == 1 ? "" : "s",
                       size_text(most));
  }
  const auto by_cpus = [&](const NodeOffer& offer) {
    return gpus_within(offer.gpus, offer.cpu_milli, request.cpu_milli, request.gpus);
  };
  if (sum_of(nodes, request, least, by_cpus) >= least) return "";
  std::int64_t most = 0;
  for (const LiveNode& node : nodes) {
    if (serves(node, request)) most = std::max(most, node.offer.cpu_milli);
  }
  return fmt::format("it asks for {:g} CPUs on {} GPU{}, the largest node has {:g}",
                     static_cast<double>(request.cpu_milli) / 1000, request.gpus,
                     request.gpus == 1 ? "" : "s", static_cast<double>(most) / 1000);
}

std::vector<std::string> submit_warnings(const JobRequest& request, std::span<const LiveNode> nodes,
                                         const std::string& policy, Duration expected_default) {
  std::vector<std::string> warnings;
  if (const std::string never = never_fits(request, nodes); !never.empty()) {
    warnings.push_back("the job never starts on the nodes there are: " + never);
  }
  if (request.expected <= Duration::zero() && request.time_limit <= Duration::zero()) {
    warnings.push_back(fmt::format("--time is missing: the scheduler assumes that the job runs {}",
                                   duration_text(expected_default)));
  }
  if (!request.deadline) return warnings;
  const auto info =
      std::ranges::find(policies(), parse_policy_name(policy).base, &PolicyInfo::name);
  if (info != policies().end() && !info->data.deadlines) {
    warnings.push_back(fmt::format("the policy {} ignores the deadline; those that respect one: {}",
                                   policy, policies_with_deadlines()));
  }
  return warnings;
}

}  // namespace orrery
