#include "scheduling/policy/host/host_entries.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <vector>

#include "scheduling/policy/host/host_opt.h"
#include "scheduling/policy/host/host_stage.h"
#include "scheduling/policy/published/published.h"

namespace orrery {
namespace {

constexpr std::array kAllocators = {
    AllocatorInfo{"proportional", "CPUs and memory in proportion to the GPUs"},
    AllocatorInfo{"greedy", "all a job wants, or it waits", true},
    AllocatorInfo{"tune", "all a job wants where it is to be had, else its fair share (Synergy)",
                  true},
    AllocatorInfo{"opt", "the greatest sum of speeds, by an integer program (Synergy)", true, true},
    AllocatorInfo{"tune+", "levels between by marginal gain, jobs where they gain most; ours", true,
                  true},
};

constexpr std::array kOptions = {
    OptionInfo{"sticky",
               "running jobs stay where they are; false: all jobs are placed again in each round",
               "true"},
    OptionInfo{"boost", "a job that has not run for so long goes before all others; 0s: never",
               "0s"},
    OptionInfo{"speed",
               "what the time a job will take is counted by: ideal (with all it wants) or granted "
               "(with what it had last)",
               "ideal"},
    OptionInfo{"gather", "jobs go to as few nodes as can be; +place: in any case", "true"},
    OptionInfo{"weight", "opt: a job's speed counts once (none) or for each of its GPUs (gpus)",
               "gpus"},
    OptionInfo{"static",
               "all jobs are there at the start; where rounds are held at fixed times, the first "
               "is held after a second",
               "false"},
};

bool has(std::span<const OptionInfo> table, std::string_view key) {
  return std::ranges::find(table, key, &OptionInfo::key) != table.end();
}

Result<std::unique_ptr<HostAllocator>> make_allocator(const PolicyName& parsed,
                                                      const Options& options) {
  static constexpr std::array<std::string_view, 2> kWeights = {"none", "gpus"};
  TRY_ASSIGN(const int weight, options.choice("weight", kWeights));
  TRY_ASSIGN(const bool gather, options.flag("gather"));
  const FindDevices find = parsed.gathers || gather ? find_gathered : find_scattered;
  if (parsed.allocator == "proportional") return make_proportional(find);
  if (parsed.allocator == "greedy") return make_greedy(find);
  if (parsed.allocator == "tune") return make_tune(find);
  if (parsed.allocator == "tune+") return make_tune_plus();
  if (parsed.allocator == "opt") return make_opt(weight == 0 ? HostWeight::None : HostWeight::Gpus);
  std::vector<std::string_view> names;
  for (const AllocatorInfo& allocator : kAllocators) names.push_back(allocator.name);
  return invalid(fmt::format("there is no allocator '{}'; choose one of {}", parsed.allocator,
                             fmt::join(names, ", ")));
}

Result<CountedSpeed> counted_speed(const Options& options, const PolicyName& parsed) {
  static constexpr std::array<std::string_view, 2> kChoices = {"ideal", "granted"};
  TRY_ASSIGN(const int choice, options.choice("speed", kChoices));
  if (parsed.allocator == "proportional") return CountedSpeed::Fair;
  // The order does not know what the optimum gives.
  if (parsed.allocator == "opt") return CountedSpeed::Ideal;
  return choice == 0 ? CountedSpeed::Ideal : CountedSpeed::Granted;
}

}  // namespace

std::span<const AllocatorInfo> allocators() { return kAllocators; }
std::span<const OptionInfo> allocator_options() { return kOptions; }

Result<PolicySetup> make_hosted(const PolicyInfo& order, const PolicyName& parsed,
                                const PolicyContext& context) {
  const std::string& name = context.policy.name;
  const std::map<std::string, std::string>& options = context.policy.options;
  if (order.order == nullptr) {
    return invalid(fmt::format("{}: {} decides more than an order, so no allocator can follow it",
                               name, order.name));
  }
  const std::array<std::span<const OptionInfo>, 2> tables = {order.options, kOptions};
  TRY(check_keys(name, tables, options));
  const PublishedPolicy released = published_policy(context.published, parsed.base);
  const Options own(order.options, released.defaults, options);
  const Options stage(kOptions, published_allocator_defaults(context.published), options);
  HostStageOptions how{.preempt = false};
  TRY_ASSIGN(const bool sticky, stage.flag("sticky"));
  how.rebuilds = !sticky;
  TRY_ASSIGN(how.boost, stage.duration("boost"));
  TRY_ASSIGN(const bool late, stage.flag("static"));
  if (has(order.options, "preempt")) {
    TRY_ASSIGN(how.preempt, own.flag("preempt"));
  }
  how.chosen_by_gpus = released.chosen_by_count;
  how.largest_first = how.chosen_by_gpus && parsed.allocator == "tune";
  TRY_ASSIGN(const CountedSpeed counted, counted_speed(stage, parsed));
  MakeOrder* const make_line = released.order != nullptr ? released.order : order.order;
  TRY_ASSIGN(auto line, make_line(own, context, counted));
  TRY_ASSIGN(auto allocator, make_allocator(parsed, stage));
  PolicySetup setup;
  TRY_ASSIGN(setup.rule, make_placement_rule("first-fit", context.policy.seed));
  setup.policy = make_host_stage(std::move(line), std::move(allocator), how);
  if (context.published != nullptr && context.published->allocator_loop != nullptr) {
    const auto info = std::ranges::find(kAllocators, parsed.allocator, &AllocatorInfo::name);
    setup.loop = context.published->allocator_loop(*info, late);
  }
  return setup;
}

}  // namespace orrery
