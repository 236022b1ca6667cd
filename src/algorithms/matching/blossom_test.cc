#include "algorithms/matching/blossom.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "algorithms/matching/matching_oracle.h"
#include "base/random.h"

namespace orrery {
namespace {

std::vector<std::int64_t> random_graph(Random& random, int nodes, std::int64_t most,
                                       int percent_missing) {
  std::vector<std::int64_t> weights(static_cast<std::size_t>(nodes * nodes), 0);
  for (int a = 0; a < nodes; ++a) {
    for (int b = a + 1; b < nodes; ++b) {
      if (random.between(1, 100) <= percent_missing) continue;
      weights[a * nodes + b] = weights[b * nodes + a] = random.between(0, most);
    }
  }
  return weights;
}

std::vector<int> plain(int nodes) {
  std::vector<int> kinds(static_cast<std::size_t>(nodes));
  std::iota(kinds.begin(), kinds.end(), 0);
  return kinds;
}

// The weight of a matching, or -1 if it is none.
std::int64_t weight_of(std::span<const int> partners, std::span<const int> kind_of,
                       std::span<const std::int64_t> weights, int kinds) {
  std::int64_t total = 0;
  for (int v = 0; v < std::ssize(partners); ++v) {
    if (partners[v] < 0) continue;
    const std::int64_t weight = weights[kind_of[v] * kinds + kind_of[partners[v]]];
    if (partners[v] == v || partners[partners[v]] != v || weight <= 0) return -1;
    if (v < partners[v]) total += weight;
  }
  return total;
}

TEST(Blossom, FindsTheHeaviestMatchingOfEverySmallGraph) {
  Blossom blossom;
  for (std::uint64_t seed = 0; seed < 30000; ++seed) {
    Random random(seed);
    const int nodes = static_cast<int>(random.between(0, 10));
    const std::int64_t most = std::int64_t{1} << random.between(0, 6);
    const auto weights = random_graph(random, nodes, most, seed % 3 == 0 ? 50 : 0);
    const auto kinds = plain(nodes);
    const auto partners = blossom.match(kinds, weights, nodes);
    ASSERT_EQ(weight_of(partners, kinds, weights, nodes),
              heaviest_by_enumeration(kinds, weights, nodes))
        << "seed " << seed;
  }
}

TEST(Blossom, AgreesWithLemonOnLargeGraphs) {
  Blossom blossom;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    Random random(seed);
    const int nodes = static_cast<int>(random.between(20, 120));
    const std::int64_t most = std::int64_t{1} << random.between(0, 41);
    const auto weights = random_graph(random, nodes, most, static_cast<int>(seed % 4) * 30);
    const auto kinds = plain(nodes);
    const auto partners = blossom.match(kinds, weights, nodes);
    ASSERT_EQ(weight_of(partners, kinds, weights, nodes), heaviest_by_lemon(kinds, weights, nodes))
        << "seed " << seed;
  }
}

TEST(Blossom, AgreesWithLemonWhereNodesAreOfFewKinds) {
  Blossom blossom;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    Random random(seed);
    const int kinds = static_cast<int>(random.between(1, 12));
    auto weights = random_graph(random, kinds, std::int64_t{1} << random.between(1, 41), 20);
    for (int a = 0; a < kinds; ++a) weights[a * kinds + a] = random.between(0, weights[a] + 3);
    std::vector<int> kind_of(static_cast<std::size_t>(random.between(20, 120)));
    for (int& kind : kind_of) kind = static_cast<int>(random.between(0, kinds - 1));
    const auto partners = blossom.match(kind_of, weights, kinds);
    ASSERT_EQ(weight_of(partners, kind_of, weights, kinds),
              heaviest_by_lemon(kind_of, weights, kinds))
        << "seed " << seed;
  }
}

TEST(Blossom, ImprovesAnyMatchingOnTightEdges) {
  Blossom blossom;
  // A triangle and a pendant: all duals 5 are feasible, {0, 1} is tight, 2 and 3 are alone.
  const std::vector<std::int64_t> weights{0, 5, 5, 4, 5, 0, 5, 0, 5, 5, 0, 0, 4, 0, 0, 0};
  const std::vector<std::int64_t> duals{5, 5, 5, 5};
  const std::vector<int> kinds = plain(4);
  const std::vector<int> start{1, 0, -1, -1};
  const auto partners = blossom.improve(kinds, weights, 4, duals, start);
  EXPECT_EQ(std::vector<int>(partners.begin(), partners.end()), (std::vector<int>{3, 2, 1, 0}));
}

TEST(Blossom, LeavesNodesAloneRatherThanMatchMore) {
  Blossom blossom;
  const std::vector<std::int64_t> path{0, 2, 0, 0, 2, 0, 5, 0, 0, 5, 0, 2, 0, 0, 2, 0};
  const auto partners = blossom.match(plain(4), path, 4);
  EXPECT_EQ(std::vector<int>(partners.begin(), partners.end()), (std::vector<int>{-1, 2, 1, -1}));
}

}  // namespace
}  // namespace orrery
