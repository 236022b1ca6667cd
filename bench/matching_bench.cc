// Matching and group speeds on what Muri's grouping asks for: round 1 has single jobs of eight
// models, later rounds have groups of one to three.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "algorithms/matching/matching.h"
#include "base/random.h"
#include "scheduling/prediction/group_speed.h"

namespace orrery {
namespace {

struct Problem {
  std::vector<int> counts;
  std::vector<std::int64_t> weights;
};

// Muri's stage times in ms by model: data, GPU, network on one GPU, then on eight.
std::vector<StageProfile> muri_profiles(bool network) {
  static constexpr double kOneGpu[8][3] = {{514, 14, 0},  {446, 8, 0},   {0.5, 160, 0},
                                           {0.6, 410, 0}, {711, 110, 0}, {706, 59, 0},
                                           {117, 68, 0},  {114, 80, 0}};
  static constexpr double kEightGpus[8][3] = {{502, 14, .4},  {435, 8, .5},   {0.5, 167, 59},
                                              {0.6, 419, 49}, {784, 117, 77}, {769, 57, 10},
                                              {82, 75, 66},   {82, 88, 60}};
  std::vector<StageProfile> profiles;
  for (const auto& ms : network ? kEightGpus : kOneGpu) {
    profiles.push_back({{ms[0] / 1000, ms[1] / 1000, ms[2] / 1000}, {2, 1, 1}});
  }
  return profiles;
}

std::vector<Problem> problems(int classes, int nodes, int most_members) {
  std::vector<Problem> made;
  for (std::uint64_t seed = 0; seed < 256; ++seed) {
    const std::vector<StageProfile> profiles = muri_profiles(seed % 2 == 1);
    GroupSpeed speed(profiles, Ordering::Best);
    Random random(seed);
    std::vector<std::vector<ProfileId>> groups;
    while (std::ssize(groups) < classes) {
      std::vector<ProfileId> group(static_cast<std::size_t>(random.between(1, most_members)));
      for (ProfileId& member : group) member = ProfileId{static_cast<int>(random.between(0, 7))};
      std::ranges::sort(group);
      if (std::ranges::find(groups, group) == groups.end()) groups.push_back(group);
    }
    Problem problem{std::vector<int>(classes), std::vector<std::int64_t>(classes * classes)};
    for (int a = 0; a < classes; ++a) {
      for (int b = a; b < classes; ++b) {
        std::vector<ProfileId> both = groups[a];
        both.insert(both.end(), groups[b].begin(), groups[b].end());
        if (both.size() > 4) continue;
        const std::int64_t weight = std::llround(std::ldexp(speed.efficiency(both), 40));
        problem.weights[a * classes + b] = problem.weights[b * classes + a] = weight;
      }
    }
    for (int i = 0; i < nodes; ++i) ++problem.counts[random.between(0, classes - 1)];
    made.push_back(std::move(problem));
  }
  return made;
}

void match_classes(benchmark::State& state) {
  const auto given = problems(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)),
                              static_cast<int>(state.range(2)));
  ClassMatcher matcher;
  std::size_t at = 0;
  double repaired = 0, half_cycles = 0, residual = 0, calls = 0;
  for (auto _ : state) {
    const Problem& problem = given[at++ % given.size()];
    benchmark::DoNotOptimize(matcher.match(problem.counts, problem.weights).data());
    repaired += matcher.half_cycles() > 0;
    half_cycles += matcher.half_cycles();
    residual += matcher.residual_nodes();
    ++calls;
  }
  state.counters["repaired"] = repaired / calls;
  state.counters["half_cycles"] = half_cycles / calls;
  state.counters["residual"] = repaired > 0 ? residual / repaired : 0;
}
BENCHMARK(match_classes)
    ->ArgNames({"classes", "nodes", "members"})
    ->Args({8, 32, 1})
    ->Args({8, 256, 1})
    ->Args({8, 10000, 1})
    ->Args({20, 128, 2})
    ->Args({44, 128, 2})
    ->Args({44, 256, 2})
    ->Args({44, 256, 3})
    ->Args({120, 256, 3})
    ->Unit(benchmark::kMicrosecond);

void match_nodes(benchmark::State& state) {
  const int nodes = static_cast<int>(state.range(0));
  const auto given = problems(8, nodes, 1);
  Blossom blossom;
  std::vector<int> kind_of;
  std::size_t at = 0;
  for (auto _ : state) {
    const Problem& problem = given[at++ % given.size()];
    kind_of.clear();
    for (int a = 0; a < 8; ++a) kind_of.insert(kind_of.end(), problem.counts[a], a);
    benchmark::DoNotOptimize(blossom.match(kind_of, problem.weights, 8).data());
  }
}
BENCHMARK(match_nodes)->Arg(16)->Arg(64)->Arg(256)->Arg(600)->Unit(benchmark::kMicrosecond);

void look_up_group(benchmark::State& state) {
  const std::vector<StageProfile> profiles = muri_profiles(true);
  GroupSpeed speed(profiles, Ordering::Best);
  const auto size = static_cast<std::size_t>(state.range(0));
  Random random(1);
  std::vector<ProfileId> members(1024 + size);
  for (ProfileId& member : members) member = ProfileId{static_cast<int>(random.between(0, 7))};
  for (std::size_t at = 0; at < 1024; ++at) speed.cycle_s(std::span(members).subspan(at, size));
  std::size_t at = 0;
  double sum = 0;
  for (auto _ : state) sum += speed.cycle_s(std::span(members).subspan(at++ % 1024, size));
  benchmark::DoNotOptimize(sum);
}
BENCHMARK(look_up_group)->DenseRange(2, 4);

}  // namespace
}  // namespace orrery

BENCHMARK_MAIN();
