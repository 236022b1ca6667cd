// One scenario in the simulator and on the scheduler and agents themselves: the same decisions, at
// the same instants, for every policy.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "parity/compare.h"
#include "scheduling/policy/registry.h"

namespace orrery {
namespace {

constexpr std::uint64_t kSeeds = 8;

std::vector<std::string> all_policies() {
  std::vector<std::string> names;
  for (const PolicyInfo& info : policies()) names.emplace_back(info.name);
  for (const char* variant :
       {"srtf sticky=false", "las sticky=false", "las limits=30s,100s,300s", "las round=60s",
        "gittins delta=60s", "gandiva quantum=2m", "muri-l variant=reference",
        "muri-s matching=none", "muri-l round=6m", "elasticflow admission=none",
        "elasticflow scale-up=reference", "chronus early=false", "chronus lease=2m",
        "orrery-deadline second-chance=false", "fifo placement=spread", "srtf placement=random"}) {
    names.emplace_back(variant);
  }
  for (const char* order : {"fifo", "srtf", "las"}) {
    for (const AllocatorInfo& allocator : allocators()) {
      if (allocator.name == "opt") continue;  // an integer program in every round takes its time
      names.push_back(fmt::format("{}+{}", order, allocator.name));
    }
  }
  return names;
}

class Parity : public testing::TestWithParam<std::string> {};

TEST_P(Parity, TheLiveSchedulerDecidesAsTheSimulatorDoes) {
  Wire wire;
  Counts counts;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    for (const bool profiled : {false, true}) {
      SCOPED_TRACE(fmt::format("seed {}, profiled {}", seed, profiled));
      const Scenario scenario = profiled ? profiled_scenario(seed) : plain_scenario(seed);
      ASSERT_EQ(difference(scenario, GetParam(), wire, counts), "");
    }
  }
  // Where nothing was decided nothing could differ.
  EXPECT_GT(counts.decisions, 200U);
  EXPECT_GT(counts.starts, 50);
}

// A job without a promise stays visible to the one policy that uses it.
TEST(ParityOfClasses, OpportunisticJobsRunBesideOthersUnderAntman) {
  Wire wire;
  Counts counts;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Scenario scenario = plain_scenario(seed);
    for (std::size_t i = 0; i < scenario.submissions.size(); i += 3) {
      scenario.submissions[i].request.priority = -1;
    }
    ASSERT_EQ(difference(scenario, "antman", wire, counts), "") << "seed " << seed;
  }
  EXPECT_GT(counts.decisions, 200U);
}

// What simulations never show: work that is done by the profile and goes on all the same.
TEST_P(Parity, JobsThatTakeLongerThanExpectedEndAllTheSame) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Scenario scenario = seed % 2 == 0 ? profiled_scenario(seed) : plain_scenario(seed);
    Wire wire;
    LiveCluster live(scenario, choice_of(GetParam()), wire);
    std::map<JobNumber, Time> ends;
    for (std::size_t i = 0; i < scenario.submissions.size(); ++i) {
      const auto& [at, request] = scenario.submissions[i];
      ends[static_cast<JobNumber>(i) + 1] = at + 4 * request.expected + std::chrono::minutes(10);
    }
    const Time last = Time(std::chrono::hours(24));
    ASSERT_EQ(live.run(ends, last), "") << "seed " << seed;
    for (const Job& job : live.core().state().jobs()) {
      const Reason& reason = live.core().book().job(job.spec->id).reason;
      if (reason.code == Reason::Code::NotHere) continue;
      EXPECT_TRUE(is_final(job.state)) << "seed " << seed << " job " << index(job.spec->id) + 1
                                       << " " << to_string(job.state) << ": " << text(reason);
    }
  }
}

std::string name_of(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  for (char& letter : name) {
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '_';
  }
  return fmt::format("{}_{}", info.index, name);
}

INSTANTIATE_TEST_SUITE_P(Of, Parity, testing::ValuesIn(all_policies()), name_of);

}  // namespace
}  // namespace orrery
