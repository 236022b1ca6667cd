#include "algorithms/matching/matching.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "algorithms/matching/matching_oracle.h"
#include "base/random.h"
#include "scheduling/prediction/group_speed.h"

namespace orrery {
namespace {

struct Problem {
  std::vector<int> counts;
  std::vector<std::int64_t> weights;

  int classes() const { return static_cast<int>(counts.size()); }
  std::vector<int> nodes() const {
    std::vector<int> kind_of;
    for (int a = 0; a < classes(); ++a) kind_of.insert(kind_of.end(), counts[a], a);
    return kind_of;
  }
};

Problem random_problem(Random& random, int classes, std::int64_t most, int percent_missing) {
  Problem problem{std::vector<int>(classes), std::vector<std::int64_t>(classes * classes)};
  for (int a = 0; a < classes; ++a) {
    for (int b = a; b < classes; ++b) {
      const bool missing = random.between(1, 100) <= percent_missing;
      const std::int64_t weight = missing ? 0 : random.between(0, most);
      problem.weights[a * classes + b] = problem.weights[b * classes + a] = weight;
    }
  }
  return problem;
}

void scatter(Random& random, int nodes, Problem& problem) {
  for (int i = 0; i < nodes; ++i) ++problem.counts[random.between(0, problem.classes() - 1)];
}

// The total weight, after checking that these are pairs at all.
std::int64_t checked_weight(const Problem& problem, std::span<const ClassPair> pairs) {
  std::vector<int> left = problem.counts;
  std::int64_t total = 0;
  const ClassPair* last = nullptr;
  for (const ClassPair& pair : pairs) {
    EXPECT_LE(pair.a, pair.b);
    EXPECT_GT(pair.count, 0);
    if (last != nullptr) {
      EXPECT_LT(std::pair(last->a, last->b), std::pair(pair.a, pair.b));
    }
    const std::int64_t weight = problem.weights[pair.a * problem.classes() + pair.b];
    EXPECT_GT(weight, 0) << "a pair that is no edge";
    left[pair.a] -= pair.count;
    left[pair.b] -= pair.count;
    total += weight * pair.count;
    last = &pair;
  }
  for (const int count : left) EXPECT_GE(count, 0) << "a node is used twice";
  return total;
}

// Muri's stage times in ms on one GPU: data, GPU, network.
std::vector<StageProfile> muri_profiles() {
  const std::vector<std::vector<double>> table{{514, 14, 0},  {446, 8, 0},   {0.5, 160, 0},
                                               {0.6, 410, 0}, {711, 110, 0}, {706, 59, 0},
                                               {117, 68, 0},  {114, 80, 0}};
  std::vector<StageProfile> profiles;
  for (const auto& ms : table) {
    profiles.push_back({{ms[0] / 1000, ms[1] / 1000, ms[2] / 1000}, {2, 1, 1}});
  }
  return profiles;
}

// A later round of Muri's grouping: classes are groups of one to three jobs.
Problem muri_problem(Random& random, int classes, int nodes, int most_members) {
  static const std::vector<StageProfile> profiles = muri_profiles();
  GroupSpeed speed(profiles, Ordering::Best);
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
  scatter(random, nodes, problem);
  return problem;
}

TEST(ClassMatcher, FindsTheHeaviestMatchingOfEverySmallProblem) {
  ClassMatcher matcher;
  int repaired = 0;
  for (std::uint64_t seed = 0; seed < 40000; ++seed) {
    Random random(seed);
    const int classes = static_cast<int>(random.between(1, 7));
    const std::int64_t most = std::int64_t{1} << random.between(0, 6);
    Problem problem = random_problem(random, classes, most, seed % 3 == 0 ? 40 : 0);
    scatter(random, static_cast<int>(random.between(0, 10)), problem);
    const auto pairs = matcher.match(problem.counts, problem.weights);
    ASSERT_EQ(checked_weight(problem, pairs),
              heaviest_by_enumeration(problem.nodes(), problem.weights, classes))
        << "seed " << seed;
    repaired += matcher.half_cycles() > 0;
  }
  EXPECT_GT(repaired, 1000) << "the seeds no longer reach the repair of half cycles";
}

TEST(ClassMatcher, AgreesWithLemonOnLargeProblems) {
  ClassMatcher matcher;
  int repaired = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Random random(seed);
    const int classes = static_cast<int>(random.between(3, 40));
    const std::int64_t most = std::int64_t{1} << random.between(1, 41);
    Problem problem = random_problem(random, classes, most, static_cast<int>(seed % 4) * 25);
    scatter(random, static_cast<int>(random.between(50, 150)), problem);
    const auto pairs = matcher.match(problem.counts, problem.weights);
    ASSERT_EQ(checked_weight(problem, pairs),
              heaviest_by_lemon(problem.nodes(), problem.weights, classes))
        << "seed " << seed;
    repaired += matcher.half_cycles() > 0;
  }
  EXPECT_GT(repaired, 20);
}

// Few classes with many nodes: most pairs are fixed before the repair. Among these seeds are some
// (475, 489, 808) whose optimum needs all the slack that matching.cc proves to suffice.
TEST(ClassMatcher, AgreesWithLemonWhenMostPairsAreFixed) {
  ClassMatcher matcher;
  int fixed = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    Random random(seed);
    const int classes = static_cast<int>(random.between(1, 2 + static_cast<int>(seed % 7)));
    const std::int64_t most = std::int64_t{1} << random.between(0, 16);
    const int percent_missing = static_cast<int>(random.between(0, 90));
    Problem problem = random_problem(random, classes, most, percent_missing);
    for (int a = 0; seed % 3 == 0 && a < classes; ++a) {
      problem.weights[a * classes + a] += random.between(0, most);
    }
    const int nodes = static_cast<int>(random.between(60, 160));
    scatter(random, nodes, problem);
    const auto pairs = matcher.match(problem.counts, problem.weights);
    ASSERT_EQ(checked_weight(problem, pairs),
              heaviest_by_lemon(problem.nodes(), problem.weights, classes))
        << "seed " << seed;
    fixed += matcher.half_cycles() > 0 && 2 * matcher.residual_nodes() < nodes;
  }
  EXPECT_GT(fixed, 200) << "the seeds no longer reach what this test is about";
}

TEST(ClassMatcher, AgreesWithLemonWhenClassesPreferThemselves) {
  ClassMatcher matcher;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    const int classes = static_cast<int>(random.between(3, 20));
    const std::int64_t most = std::int64_t{1} << random.between(3, 30);
    Problem problem = random_problem(random, classes, most, 60);
    for (int a = 0; a < classes; ++a) problem.weights[a * classes + a] += random.between(0, most);
    scatter(random, static_cast<int>(random.between(50, 120)), problem);
    const auto pairs = matcher.match(problem.counts, problem.weights);
    ASSERT_EQ(checked_weight(problem, pairs),
              heaviest_by_lemon(problem.nodes(), problem.weights, classes))
        << "seed " << seed;
  }
}

TEST(ClassMatcher, AgreesWithLemonOnMurisGroups) {
  ClassMatcher matcher;
  for (std::uint64_t seed = 0; seed < 160; ++seed) {
    Random random(seed);
    const int most_members = 1 + static_cast<int>(seed % 3);
    const int classes = most_members == 1 ? 8 : static_cast<int>(random.between(8, 44));
    const int nodes = static_cast<int>(random.between(50, seed % 8 == 0 ? 300 : 120));
    const Problem problem = muri_problem(random, classes, nodes, most_members);
    const auto pairs = matcher.match(problem.counts, problem.weights);
    ASSERT_EQ(checked_weight(problem, pairs),
              heaviest_by_lemon(problem.nodes(), problem.weights, classes))
        << "seed " << seed;
  }
}

TEST(ClassMatcher, GivesTheSameAnswerWhenAskedAgain) {
  ClassMatcher used;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    Problem problem = random_problem(random, static_cast<int>(random.between(1, 20)), 9, 20);
    scatter(random, 60, problem);
    const auto first = used.match(problem.counts, problem.weights);
    const std::vector<ClassPair> kept(first.begin(), first.end());
    ClassMatcher fresh;
    const auto second = fresh.match(problem.counts, problem.weights);
    EXPECT_TRUE(std::ranges::equal(kept, second)) << "seed " << seed;
    const auto again = used.match(problem.counts, problem.weights);
    EXPECT_TRUE(std::ranges::equal(kept, again)) << "seed " << seed;
  }
}

TEST(ClassMatcher, PairsAClassWithItselfAndLeavesTheOddOneOut) {
  ClassMatcher matcher;
  const auto pairs = matcher.match(std::vector<int>{5}, std::vector<std::int64_t>{3});
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs[0], (ClassPair{0, 0, 2}));
  EXPECT_EQ(matcher.half_cycles(), 1);
}

TEST(ClassMatcher, SplitsThreeClassesThatFormATriangle) {
  ClassMatcher matcher;
  const std::vector<std::int64_t> weights{0, 5, 4, 5, 0, 4, 4, 4, 0};
  const auto pairs = matcher.match(std::vector<int>{3, 3, 3}, weights);
  EXPECT_EQ(checked_weight({{3, 3, 3}, weights}, pairs), 18);
}

TEST(ClassMatcher, MatchesNothingWithoutNodesOrEdges) {
  ClassMatcher matcher;
  EXPECT_TRUE(matcher.match({}, {}).empty());
  EXPECT_TRUE(matcher.match(std::vector<int>{0, 0}, std::vector<std::int64_t>{1, 1, 1, 1}).empty());
  EXPECT_TRUE(
      matcher.match(std::vector<int>{4, 4}, std::vector<std::int64_t>{0, -2, -2, 0}).empty());
  EXPECT_TRUE(matcher.match(std::vector<int>{1}, std::vector<std::int64_t>{7}).empty());
}

}  // namespace
}  // namespace orrery
