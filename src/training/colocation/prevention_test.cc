#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/random.h"
#include "training/colocation/pairing.h"
#include "training/colocation/ps_placement.h"
#include "training/colocation/tree.h"

namespace orrery {
namespace {

double fullest(const std::vector<Load>& needs, const std::vector<PsHost>& hosts,
               const std::vector<int>& host_of) {
  std::vector<Load> held;
  for (const PsHost& host : hosts) held.push_back(host.held);
  for (std::size_t i = 0; i < needs.size(); ++i) held[host_of[i]] += needs[i];
  double most = 0;
  for (std::size_t h = 0; h < hosts.size(); ++h) {
    most = std::max(most, held[h].utilisation(hosts[h].capacity));
  }
  return most;
}

double brute_force(const std::vector<Load>& needs, const std::vector<PsHost>& hosts) {
  std::vector<int> host_of(needs.size(), 0);
  double best = 1e300;
  for (;;) {
    best = std::min(best, fullest(needs, hosts, host_of));
    std::size_t i = 0;
    while (i < needs.size() && ++host_of[i] == static_cast<int>(hosts.size())) host_of[i++] = 0;
    if (i == needs.size()) return best;
  }
}

TEST(PsPlacement, IsTheBestOfAllOrCloseToIt) {
  Random random(31);
  int optimal = 0;
  constexpr int kCases = 200;
  for (int round = 0; round < kCases; ++round) {
    std::vector<PsHost> hosts(3);
    for (PsHost& host : hosts) {
      host.capacity = {8, 100, 100};
      host.held = {6 * random.uniform(), 60 * random.uniform(), 60 * random.uniform()};
    }
    std::vector<Load> needs(6);
    for (Load& need : needs) {
      need = {2 * random.uniform(), 30 * random.uniform(), 30 * random.uniform()};
    }
    const PsPlacement placement = *place_parameter_servers(needs, hosts);
    EXPECT_NEAR(placement.utilisation_most, fullest(needs, hosts, placement.host_of), 1e-9);
    const double best = brute_force(needs, hosts);
    EXPECT_LE(placement.utilisation_most, 1.2 * best) << "case " << round;
    optimal += placement.utilisation_most <= best * (1 + 1e-9);
  }
  EXPECT_GE(optimal, kCases / 2);
  RecordProperty("optimal", optimal);
}

TEST(PsPlacement, KeepsAwayFromWhatIsFullInOneResource) {
  const std::vector<PsHost> hosts = {{.capacity = {8, 100, 100}, .held = {0, 95, 0}},
                                     {.capacity = {8, 100, 100}, .held = {7, 0, 0}}};
  const std::vector<Load> link_heavy = {{0.5, 40, 5}};
  EXPECT_EQ(place_parameter_servers(link_heavy, hosts)->host_of[0], 1);
  const std::vector<Load> cpu_heavy = {{4, 2, 2}};
  EXPECT_EQ(place_parameter_servers(cpu_heavy, hosts)->host_of[0], 0);
}

TEST(PsPlacement, OfEqualPlacesTheOneWithTheLeastSufferingWins) {
  const std::vector<PsHost> hosts = {{.capacity = {8, 100, 100}, .slowdown_cost = 2},
                                     {.capacity = {8, 100, 100}, .slowdown_cost = 1}};
  const std::vector<Load> one = {{1, 1, 1}};
  EXPECT_EQ(place_parameter_servers(one, hosts)->host_of[0], 1);
}

TEST(PsPlacement, SaysWhenThereIsTooLittle) {
  const std::vector<PsHost> hosts = {{.capacity = {1, 10, 10}}};
  const std::vector<Load> needs = {{2, 1, 1}};
  EXPECT_GT(place_parameter_servers(needs, hosts)->utilisation_most, 1);
  EXPECT_FALSE(place_parameter_servers(needs, {}));
}

TEST(Tree, IsNotBuiltWhereTheLinkBearsAll) {
  const std::vector<TreeWorker> workers(8, {.spare_in = 100, .spare_out = 100});
  const auto tree = plan_tree(workers, {.gradient_bytes_per_s = 10,
                                        .parameter_bytes_per_s = 10,
                                        .server_in = 100,
                                        .server_out = 100});
  ASSERT_TRUE(tree);
  EXPECT_TRUE(tree->empty());
}

TEST(Tree, StragglersAreLeavesAndNoLinkIsOverloaded) {
  Random random(17);
  int built = 0;
  int impossible = 0;
  for (int round = 0; round < 500; ++round) {
    const TreeLinks links{.gradient_bytes_per_s = 10,
                          .parameter_bytes_per_s = 12,
                          .server_in = 10 + 60 * random.uniform(),
                          .server_out = 10 + 80 * random.uniform()};
    std::vector<TreeWorker> workers;
    for (int i = 0; i < 8; ++i) {
      workers.push_back({.worker = WorkerId(i),
                         .spare_in = 60 * random.uniform(),
                         .spare_out = 60 * random.uniform(),
                         .straggles = random.uniform() < 0.3});
    }
    const auto tree = plan_tree(workers, links);
    if (!tree) {
      ++impossible;
      continue;
    }
    std::map<WorkerId, int> children;
    for (const auto& [child, parent] : *tree) ++children[parent];
    const double direct = 8.0 - static_cast<double>(tree->size());
    EXPECT_LE(direct * links.gradient_bytes_per_s, links.limit * links.server_in + 1e-9);
    EXPECT_LE(direct * links.parameter_bytes_per_s, links.limit * links.server_out + 1e-9);
    for (const auto& [parent, count] : children) {
      const TreeWorker& worker = workers[static_cast<std::size_t>(parent)];
      EXPECT_FALSE(worker.straggles);
      EXPECT_LE(count * links.gradient_bytes_per_s, links.limit * worker.spare_in + 1e-9);
      EXPECT_LE(count * links.parameter_bytes_per_s, links.limit * worker.spare_out + 1e-9);
      for (const auto& [child, its_parent] : *tree) EXPECT_NE(child, parent) << "depth two";
    }
    built += !tree->empty();
  }
  EXPECT_GT(built, 50);
  EXPECT_GT(impossible, 50);
}

TEST(Tree, HasAsManyParentsAsTheServerBears) {
  std::vector<TreeWorker> workers;
  for (int i = 0; i < 8; ++i) {
    workers.push_back({.worker = WorkerId(i), .spare_in = 100, .spare_out = 100});
  }
  workers[0].straggles = true;
  workers[1].spare_in = 500;
  workers[1].spare_out = 500;
  const auto tree = plan_tree(workers, {.gradient_bytes_per_s = 10,
                                        .parameter_bytes_per_s = 10,
                                        .server_in = 45,
                                        .server_out = 100});
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->size(), 4u);
  const auto straggler =
      std::ranges::find(*tree, WorkerId(0), [](const auto& pair) { return pair.first; });
  ASSERT_NE(straggler, tree->end());
  EXPECT_EQ(tree->front().second, WorkerId(1)) << "who has the most to spare comes first";
}

TEST(Pairing, EfficiencyIsTheShareOfTimeInWhichSomethingIsDone) {
  const Rhythm a{.job = JobId{0}, .busy_s = 2, .other_s = 3};
  const Rhythm b{.job = JobId{1}, .busy_s = 3, .other_s = 2};
  EXPECT_DOUBLE_EQ(interleaving_efficiency(a, b), 1);
  EXPECT_DOUBLE_EQ(interleaving_efficiency(a, a), 10.0 / 12);
}

TEST(Pairing, IsTheHeaviestOfAllPairings) {
  Random random(5);
  for (int round = 0; round < 60; ++round) {
    std::vector<Rhythm> all;
    for (int i = 0; i < 8; ++i) {
      all.push_back({.job = JobId{static_cast<int>(random.between(0, 3))},
                     .parameter_server = i < 4,
                     .busy_s = 0.05 + random.uniform(),
                     .other_s = 0.05 + random.uniform()});
    }
    const PairingOptions options{.efficiency_least = 0.6};
    double got = 0;
    for (const auto& [a, b] : pair_up(all, options)) {
      EXPECT_NE(all[static_cast<std::size_t>(a)].job, all[static_cast<std::size_t>(b)].job);
      EXPECT_NE(all[static_cast<std::size_t>(a)].parameter_server,
                all[static_cast<std::size_t>(b)].parameter_server);
      got += interleaving_efficiency(all[static_cast<std::size_t>(a)],
                                     all[static_cast<std::size_t>(b)]);
    }
    // Every way to give the four parameter servers different workers, or none where it must not be.
    std::vector<int> workers = {4, 5, 6, 7};
    double best = 0;
    do {
      double sum = 0;
      for (std::size_t i = 0; i < 4; ++i) {
        const Rhythm& worker = all[static_cast<std::size_t>(workers[i])];
        const double efficiency = interleaving_efficiency(all[i], worker);
        if (all[i].job != worker.job && efficiency >= options.efficiency_least) sum += efficiency;
      }
      best = std::max(best, sum);
    } while (std::next_permutation(workers.begin(), workers.end()));
    EXPECT_NEAR(got, best, 1e-5);
  }
}

}  // namespace
}  // namespace orrery
