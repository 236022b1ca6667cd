// What every policy must keep on every cluster, whatever its placement and options.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <sstream>

#include "scheduling/placement/rule.h"
#include "scheduling/policy/registry.h"
#include "simulation/kernel/simulation.h"
#include "simulation/testing/law_sink.h"
#include "simulation/testing/policy_effects.h"
#include "simulation/testing/random_workload.h"

namespace orrery {
namespace {

using OptionValues = std::map<std::string, std::string>;

struct Variant {
  std::string policy;
  OptionValues options;
  SemanticsKind semantics = SemanticsKind::Orrery;

  std::string text() const {
    std::vector<std::string> said;
    for (const auto& [key, value] : options) said.push_back("--option " + key + "=" + value);
    return fmt::format("--policy {} {} --semantics {}", policy, fmt::join(said, " "),
                       to_string(semantics));
  }
};

void PrintTo(const Variant& variant, std::ostream* out) { *out << variant.text(); }

// The values of the option that the laws try, as its entry lists them.
std::vector<std::string> values_to_try(const OptionInfo& option) {
  // Every placement rule is tried with every variant, and files have tests of their own.
  if (option.key == "placement" || option.examples == kPathExample) return {};
  std::istringstream words{std::string(option.examples)};
  return {std::istream_iterator<std::string>(words), {}};
}

// Each policy as it is, with each option changed alone, and with pairs of changes that meet.
std::vector<Variant> all_variants() {
  std::vector<Variant> variants;
  for (const SemanticsKind semantics :
       {SemanticsKind::Orrery, SemanticsKind::Muri, SemanticsKind::ElasticFlow}) {
    for (const PolicyInfo& info : policies()) {
      const std::string name(info.name);
      const auto add = [&](OptionValues options) {
        variants.push_back({name, std::move(options), semantics});
      };
      const auto has = [&](std::string_view key) {
        return std::ranges::find(info.options, key, &OptionInfo::key) != info.options.end();
      };
      add({});
      for (const OptionInfo& option : info.options) {
        for (const std::string& value : values_to_try(option)) {
          add({{std::string(option.key), value}});
        }
      }
      if (has("promote")) {
        // Longer than any start-up, or jobs that overtake each other would do nothing else.
        add({{"limits", "20m,1h"}, {"promote", "0.3"}, {"sticky", "true"}});
        add({{"limits", "20m,1h"}, {"promote", "0.3"}, {"sticky", "false"}});
      }
      if (has("packing")) {
        add({{"packing", "3"}, {"matching", "none"}, {"variant", "ours"}});
        add({{"packing", "2"}, {"ordering", "worst"}, {"variant", "reference"}});
        add({{"quantum", "0s"}, {"gain", "1"}, {"slowdown", "100"}, {"variant", "ours"}});
      }
    }
  }
  return variants;
}

bool preempts(const Variant& variant) { return may_preempt(variant.policy, variant.options); }

// True if running jobs stay where they are. Otherwise the jobs that run are chosen in an empty
// cluster, which may leave a hole in the one there is.
bool sticky(const Variant& variant) {
  if (!preempts(variant)) return true;
  const auto said = variant.options.find("sticky");
  if (said != variant.options.end()) return said->second == "true";
  return variant.semantics == SemanticsKind::Orrery;
}

// True if a job may be refused because of its deadline.
bool admits(const Variant& variant) {
  const auto said = variant.options.find("admission");
  if (said != variant.options.end() && said->second == "none") return false;
  return policy_info(variant.policy).effects.refuses_jobs;
}

// Policies that are an order and nothing else let no job wait that fits.
bool fills_holes(const Variant& variant, std::string_view rule) {
  if (variant.options.contains("backfill") || !sticky(variant)) return false;
  if (variant.semantics == SemanticsKind::ElasticFlow) return false;  // it waits for slots
  return policy_info(variant.policy).order != nullptr && rule == "first-fit";
}

void expect_laws(const Variant& variant, std::string_view rule, std::uint64_t seed) {
  Random random(seed);
  const Cluster cluster = random_cluster(random);
  Workload workload = random_workload(random, cluster, 24);
  add_curves_and_deadlines(random, workload);
  const Duration round = std::chrono::seconds(seed % 3 == 0 ? 45 : 0);
  LawSink laws({.cluster = &cluster,
                .workload = &workload,
                .honest = variant.semantics == SemanticsKind::Orrery,
                .work_least = variant.semantics == SemanticsKind::ElasticFlow ? 0.85 : 1,
                .preempts = preempts(variant),
                .fills_holes = round == Duration::zero() && fills_holes(variant, rule)});
  SimulationSetup setup{.workload = &workload,
                        .cluster = &cluster,
                        .run = {.policy = {.name = variant.policy,
                                           .options = variant.options,
                                           .seed = seed,
                                           .round = round},
                                .semantics = variant.semantics},
                        .cancel = &laws.stop()};
  setup.run.policy.options["placement"] = rule;
  const auto outcome = simulate(setup, laws);
  const std::string where =
      fmt::format("seed {} --option placement={} {}", seed, rule, variant.text());
  ASSERT_TRUE(outcome.ok()) << where << ": " << outcome.error().message;
  laws.finish();
  ASSERT_EQ(laws.broken(), "") << where;
  ASSERT_EQ(outcome.value().unfinished, 0) << where;
  for (const Job& job : laws.state().jobs()) {
    const bool feasible = ever_fits(cluster, shape_of(*job.spec));
    // The released admission refuses any job while another one is late.
    const bool any = variant.semantics == SemanticsKind::ElasticFlow;
    const bool may_be_refused = any || job.spec->deadline.has_value();
    if (job.state == JobState::Rejected && may_be_refused && admits(variant)) continue;
    ASSERT_EQ(to_string(job.state), to_string(feasible ? JobState::Done : JobState::Rejected))
        << where << ": " << job.spec->name;
  }
}

class Laws : public testing::TestWithParam<Variant> {};

TEST_P(Laws, HoldOnRandomClustersAndJobs) {
  for (const PlacementRuleInfo& rule : placement_rules()) {
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      expect_laws(GetParam(), rule.name, seed);
      if (HasFatalFailure()) return;
    }
  }
}

std::string name_of(const testing::TestParamInfo<Variant>& info) {
  std::string name = info.param.policy;
  for (const auto& [key, value] : info.param.options) name += "_" + key + "_" + value;
  name += "_" + std::string(to_string(info.param.semantics));
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(EveryPolicy, Laws, testing::ValuesIn(all_variants()), name_of);

TEST(LawsOfOptions, EveryOptionIsTriedWithAnotherValue) {
  for (const PolicyInfo& info : policies()) {
    for (const OptionInfo& option : info.options) {
      EXPECT_FALSE(option.examples.empty())
          << info.name << ": write examples into the entry of option " << option.key;
    }
  }
}

}  // namespace
}  // namespace orrery
