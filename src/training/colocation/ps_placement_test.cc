#include "training/colocation/ps_placement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.h"

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

TEST(PsPlacement, OfEqualPlacesTheOneWithTheLeastSlowdownCostWins) {
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

}  // namespace
}  // namespace orrery
