#include "training/colocation/pairing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.h"

namespace orrery {
namespace {

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
