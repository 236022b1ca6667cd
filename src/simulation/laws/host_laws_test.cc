// What every order must keep on every cluster when an allocator of CPUs and memory follows it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scheduling/policy/registry.h"
#include "scheduling/prediction/host_need.h"
#include "simulation/kernel/simulation.h"
#include "simulation/testing/law_sink.h"
#include "simulation/testing/policy_effects.h"
#include "simulation/testing/random_workload.h"

namespace orrery {
namespace {

Sensitivity random_sensitivity(Random& random, const HostShare& of_a_gpu) {
  Sensitivity sensitivity;
  for (const double part : {0.3, 0.6, 1.0, 1.5, 3.0, 6.0}) {
    const double share = part * static_cast<double>(of_a_gpu.cpu_milli);
    sensitivity.cpu_milli.push_back(std::llround(share) + 1);
  }
  for (const double part : {0.3, 1.0, 2.5}) {
    const double share = part * static_cast<double>(of_a_gpu.memory_bytes);
    sensitivity.memory_bytes.push_back(std::llround(share) + 1);
  }
  const double by_cpu = random.uniform();
  const double by_memory = random.uniform();
  for (std::size_t cpu = 0; cpu < sensitivity.cpu_milli.size(); ++cpu) {
    for (std::size_t memory = 0; memory < sensitivity.memory_bytes.size(); ++memory) {
      sensitivity.speed.push_back(0.2 + by_cpu * std::sqrt(static_cast<double>(cpu)) +
                                  by_memory * static_cast<double>(memory));
    }
  }
  sensitivity.ideal = knee(sensitivity);
  return sensitivity;
}

void add_sensitivities(Random& random, const Cluster& cluster, Workload& workload) {
  const ServerSize server = mean_server(cluster);
  const HostShare of_a_gpu{server.host.cpu_milli / server.gpus,
                           server.host.memory_bytes / server.gpus};
  for (int i = 0; i < 5; ++i) {
    workload.sensitivities.push_back(random_sensitivity(random, of_a_gpu));
  }
  for (JobSpec& job : workload.jobs) {
    if (random.uniform() < 0.3) continue;
    job.cpu_milli = 0;
    job.memory_bytes = 0;
    job.sensitivity = static_cast<SensitivityId>(random.between(0, 4));
  }
}

struct Variant {
  std::string policy;
  SemanticsKind semantics = SemanticsKind::Orrery;
  std::map<std::string, std::string> options;
};

void PrintTo(const Variant& variant, std::ostream* out) { *out << variant.policy; }

std::vector<Variant> all_variants() {
  std::vector<Variant> variants;
  for (const PolicyInfo& info : policies()) {
    if (info.order == nullptr) continue;
    for (const AllocatorInfo& allocator : allocators()) {
      const std::string name = fmt::format("{}+{}", info.name, allocator.name);
      for (const SemanticsKind semantics : {SemanticsKind::Orrery, SemanticsKind::Synergy}) {
        variants.push_back({name, semantics, {}});
        // An integer program in every round takes its time.
        if (allocator.name == "opt") continue;
        variants.push_back({name + "+place", semantics, {}});
        const bool ours = semantics == SemanticsKind::Orrery;
        variants.push_back({name, semantics, {{"sticky", ours ? "false" : "true"}}});
        variants.push_back({name, semantics, {{"speed", ours ? "granted" : "ideal"}}});
        variants.push_back({name, semantics, {{"boost", "10m"}}});
      }
    }
  }
  return variants;
}

std::string allocator_of(const Variant& variant) {
  return std::string(parse_policy_name(variant.policy).allocator);
}

bool stays(const Variant& variant) {
  const auto said = variant.options.find("sticky");
  if (said != variant.options.end()) return said->second == "true";
  return variant.semantics == SemanticsKind::Orrery;
}

void expect_laws(const Variant& variant, std::uint64_t seed) {
  Random random(seed);
  const Cluster cluster = random_cluster(random);
  Workload workload = random_workload(random, cluster, 24);
  add_sensitivities(random, cluster, workload);
  LawSink laws({.cluster = &cluster,
                .workload = &workload,
                .honest = variant.semantics == SemanticsKind::Orrery,
                .work_least = variant.semantics == SemanticsKind::Orrery ? 1.0 : 0.0,
                .preempts = may_preempt(variant.policy, variant.options) || !stays(variant),
                .hosted = true,
                .is_fair = allocator_of(variant) != "greedy"});
  SimulationSetup setup{
      .workload = &workload,
      .cluster = &cluster,
      .run = {.policy = {.name = variant.policy, .options = variant.options, .seed = seed},
              .semantics = variant.semantics},
      .cancel = &laws.stop()};
  const auto outcome = simulate(setup, laws);
  const std::string where = fmt::format("seed {} --policy {} --semantics {}", seed, variant.policy,
                                        to_string(variant.semantics));
  ASSERT_TRUE(outcome.ok()) << where << ": " << outcome.error().message;
  laws.finish();
  ASSERT_EQ(laws.broken(), "") << where;
  ASSERT_EQ(outcome.value().unfinished, 0) << where;
  for (const Job& job : laws.state().jobs()) {
    const bool feasible = ever_fits(cluster, shape_of(*job.spec));
    ASSERT_EQ(to_string(job.state), to_string(feasible ? JobState::Done : JobState::Rejected))
        << where << ": " << job.spec->name;
  }
}

class HostLaws : public testing::TestWithParam<Variant> {};

TEST_P(HostLaws, HoldOnRandomClustersAndJobs) {
  const std::uint64_t seeds = allocator_of(GetParam()) == "opt" ? 1 : 8;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    expect_laws(GetParam(), seed);
    if (HasFatalFailure()) return;
  }
}

std::string name_of(const testing::TestParamInfo<Variant>& info) {
  std::string name = info.param.policy;
  for (const auto& [key, value] : info.param.options) name += "_" + key + "_" + value;
  name += "_" + std::string(to_string(info.param.semantics));
  for (std::size_t at = name.find("tune+"); at != std::string::npos; at = name.find("tune+")) {
    const bool ours = at + 5 == name.size() || name[at + 5] == '_' || name[at + 5] == '+';
    name.replace(at, 5, ours ? "tuneplus" : "tune_");
  }
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(EveryOrder, HostLaws, testing::ValuesIn(all_variants()), name_of);

// With equal nodes and no job that asks for CPUs, the CPUs never keep a job from free GPUs.
TEST(HostLawsOfEqualNodes, NoGpuIsIdleForLackOfCpus) {
  for (const char* policy : {"fifo+proportional", "fifo+tune", "srtf+tune", "las+tune",
                             "fifo+tune+", "srtf+tune+", "tetris+tune+", "fifo+opt"}) {
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      Random random(seed);
      Cluster cluster{.name = "equal", .nodes = {}};
      Node node;
      node.gpus = 4;
      node.cpu_milli = 12'000;
      node.memory_bytes = 250'000'000'000;
      cluster.nodes.assign(3, node);
      Workload workload = random_workload(random, cluster, 24);
      for (JobSpec& job : workload.jobs) {
        job.cpu_milli = job.memory_bytes = job.gpu_memory_bytes = 0;
        job.gpu_type = kNoName;
      }
      add_sensitivities(random, cluster, workload);
      for (JobSpec& job : workload.jobs) job.cpu_milli = job.memory_bytes = 0;
      LawSink laws({.cluster = &cluster,
                    .workload = &workload,
                    .honest = true,
                    .preempts = !std::string_view(policy).starts_with("fifo"),
                    .fills_holes = true,
                    .hosted = true,
                    .is_fair = true});
      const SimulationSetup setup{.workload = &workload,
                                  .cluster = &cluster,
                                  .run = {.policy = {.name = policy, .seed = seed}},
                                  .cancel = &laws.stop()};
      ASSERT_TRUE(simulate(setup, laws).ok());
      laws.finish();
      ASSERT_EQ(laws.broken(), "") << "seed " << seed << " " << policy;
    }
  }
}

}  // namespace
}  // namespace orrery
