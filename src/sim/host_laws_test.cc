// What every allocator of CPUs and memory owes to every cluster, after every order, in both worlds.
#include <gtest/gtest.h>

#include "policy/registry.h"
#include "sim/law_sink.h"
#include "sim/random_workload.h"
#include "sim/simulation.h"
#include "workload/synergy_models.h"

namespace orrery {
namespace {

struct World {
  std::string policy;
  SemanticsKind semantics;
};

std::vector<World> worlds() {
  std::vector<World> all;
  for (const PolicyInfo& order : policies()) {
    if (order.order == nullptr) continue;
    for (const AllocatorInfo& allocator : allocators()) {
      const std::string policy = std::string(order.name) + "+" + std::string(allocator.name);
      all.push_back({policy, SemanticsKind::Orrery});
      all.push_back({policy, SemanticsKind::Synergy});
    }
  }
  return all;
}

std::string name_of(const testing::TestParamInfo<World>& tested) {
  std::string name = tested.param.policy + "_" + std::string(to_string(tested.param.semantics));
  for (char& letter : name) {
    if (letter == '+') letter = '_';
    if (letter == '-') letter = '_';
  }
  return name + "_" + std::to_string(tested.index);
}

// Most jobs are of a model that Synergy measured, and leave CPUs and memory to the scheduler.
void add_models(Random& random, Workload& workload) {
  for (const SynergyModel& model : synergy_models()) {
    workload.sensitivities.push_back(model.sensitivity());
  }
  const auto models = static_cast<std::int64_t>(workload.sensitivities.size());
  for (JobSpec& job : workload.jobs) {
    if (random.uniform() < 0.2) continue;
    job.sensitivity = static_cast<SensitivityId>(random.between(0, models - 1));
    job.cpu_milli = 0;
    job.memory_bytes = 0;
  }
}

class HostLaws : public testing::TestWithParam<World> {};

TEST_P(HostLaws, AreKept) {
  const bool honest = GetParam().semantics == SemanticsKind::Orrery;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    Random random(seed);
    const Cluster cluster = random_cluster(random);
    Workload workload = random_workload(random, cluster, 24);
    add_models(random, workload);
    LawSink laws({.cluster = &cluster,
                  .workload = &workload,
                  .honest = honest,
                  .work_least = honest ? 1.0 : 0.0,
                  .hosted = true});
    const auto outcome =
        simulate({.workload = &workload,
                  .cluster = &cluster,
                  .policy = GetParam().policy,
                  .options = {},
                  .semantics = GetParam().semantics,
                  .seed = seed,
                  .round = honest ? Duration::zero() : Duration(std::chrono::minutes(5)),
                  .cancel = &laws.stop()},
                 laws);
    ASSERT_TRUE(outcome.ok()) << outcome.error().message;
    laws.finish();
    EXPECT_EQ(laws.broken(), "") << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(, HostLaws, testing::ValuesIn(worlds()), name_of);

}  // namespace
}  // namespace orrery
