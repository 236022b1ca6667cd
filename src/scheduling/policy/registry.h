#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/run_description.h"
#include "scheduling/policy/execution_cost.h"
#include "scheduling/policy/host/host_needs.h"
#include "scheduling/policy/options.h"
#include "scheduling/policy/order/order.h"
#include "scheduling/policy/policy.h"
#include "scheduling/policy/published/released_loop.h"
#include "scheduling/prediction/group_speed.h"

namespace orrery {

struct PublishedWorld;
struct ReleasedClock;

// What a policy is built from besides its own options.
struct PolicyContext {
  const Workload& workload;
  ChosenPolicy policy{};  // its options are read by make_policy()
  // Policies as they were released with a simulator, and its clock.
  const PublishedWorld* published = nullptr;
  ReleasedClock* clock = nullptr;
  std::optional<ExecutionCost> cost = {};  // none: a round costs nothing
  ContentionModel contention = {};  // by how much jobs on the same devices slow each other down
};

// What a policy reads of a job beyond its GPUs and its length. Where a trace lacks it, the policy
// still runs, but as a simpler one; `orrery simulate` says so.
struct JobData {
  bool stages = false;            // stage profiles: what jobs lose beside each other
  bool curves = false;            // speed curves: how fast on how many GPUs
  bool deadlines = false;         // false: deadlines are ignored
  bool classes = false;           // guaranteed and opportunistic jobs
  std::string_view without = {};  // what becomes of a job without stage profiles
};

using MakePolicy = Result<std::unique_ptr<Policy>>(const Options& options,
                                                   const PolicyContext& context);

using MakeOrder = Result<std::unique_ptr<Order>>(const Options& options,
                                                 const PolicyContext& context,
                                                 CountedSpeed counted);

// What a policy may do to jobs by its defaults, besides starting them. The laws hold it to that.
struct PolicyEffects {
  bool preempts = true;       // stops running jobs; an option `preempt` has the last word
  bool shares_gpus = false;   // puts several jobs on one device
  bool refuses_jobs = false;  // rejects a job whose deadline it cannot meet
};

struct PolicyInfo {
  std::string_view name;
  std::string_view line;  // one sentence for `orrery policies`
  std::span<const OptionInfo> options;
  MakePolicy* make;
  // The line it serves, where it is nothing but one: such a policy can be followed by an allocator
  // of CPUs and memory.
  MakeOrder* order = nullptr;
  JobData data = {};
  PolicyEffects effects = {};
};

// A policy and the placement rule it is to be used with.
struct PolicySetup {
  std::unique_ptr<Policy> policy;
  std::unique_ptr<PlacementRule> rule;
  ReleasedLoop loop = {};  // with a PublishedWorld: the event loop it was released with
};

std::span<const PolicyInfo> policies();
std::span<const OptionInfo> common_options();  // those every policy takes

// What can follow an order, as in srtf+tune or las+greedy+place.
struct AllocatorInfo {
  std::string_view name;
  std::string_view line;
  bool sensitivities = false;  // reads how CPUs and memory change the speed of jobs
  bool between = false;        // may give less than all a job wants and more than its fair share
};
std::span<const AllocatorInfo> allocators();
std::span<const OptionInfo> allocator_options();

// A policy's name taken apart. The allocator is empty where there is none.
struct PolicyName {
  std::string_view base;
  std::string_view allocator = {};
  bool gathers = false;  // +place
};
PolicyName parse_policy_name(std::string_view name);

// True if there is such a policy and it takes an option of this name.
bool takes_option(std::string_view policy, std::string_view key);

Result<PolicySetup> make_policy(const PolicyContext& context);

}  // namespace orrery
