#include "policy/host_allocator.h"

#include <gtest/gtest.h>

#include "policy/random_askers.h"

namespace orrery {
namespace {

constexpr int kRounds = 150;

// Everybody asks an allocator for a seat, in a random cluster.
struct Party {
  RandomAskers line;
  Ledger ledger;
  Hosting hosting;

  Party(Random& random, bool alike, bool some_stay)
      : line(random, alike, static_cast<int>(random.between(1, 60))),
        ledger(line.cluster, line.workload.names) {
    hosting.begin(ledger);
    if (some_stay) line.let_some_stay(ledger, static_cast<int>(random.between(0, 30)));
  }
};

class HostAllocators : public testing::TestWithParam<FindDevices> {};

TEST_P(HostAllocators, HoldNothingTwiceAndNothingThatIsNotThere) {
  Random random(1);
  const std::unique_ptr<HostAllocator> all[] = {make_proportional(GetParam()),
                                                make_greedy(GetParam()), make_tune(GetParam())};
  for (int round = 0; round < kRounds; ++round) {
    for (const auto& allocator : all) {
      Party party(random, round % 2 == 0, round % 3 == 0);
      allocator->seat(party.hosting, party.line.askers);
      ASSERT_EQ(party.line.fault(party.hosting), "") << "round " << round;
    }
  }
}

TEST_P(HostAllocators, ProportionalGivesFairSharesAndLeavesNoGpuThatCouldBeUsed) {
  Random random(2);
  const auto allocator = make_proportional(GetParam());
  for (int round = 0; round < kRounds; ++round) {
    Party party(random, true, round % 2 == 0);
    allocator->seat(party.hosting, party.line.askers);
    std::vector<bool> seated(party.line.askers.size());
    for (const Hosting::Seat& seat : party.hosting.seats()) {
      EXPECT_EQ(seat.held(), seat.need->fair);
      seated[index(seat.job)] = true;
    }
    for (const HostAllocator::Asker& asker : party.line.askers) {
      if (seated[index(asker.job)]) continue;
      EXPECT_GT(asker.gpus.gpus, party.ledger.gpus_free());
    }
  }
}

TEST_P(HostAllocators, GreedyGivesAllOrNothing) {
  Random random(3);
  const auto allocator = make_greedy(GetParam());
  for (int round = 0; round < kRounds; ++round) {
    Party party(random, true, false);
    allocator->seat(party.hosting, party.line.askers);
    for (const Hosting::Seat& seat : party.hosting.seats())
      EXPECT_EQ(seat.held(), seat.need->ideal);
  }
}

TEST_P(HostAllocators, TuneLeavesNoGpuToAJobThatWaitsForCpus) {
  Random random(4);
  const auto allocator = make_tune(GetParam());
  for (int round = 0; round < kRounds; ++round) {
    Party party(random, true, round % 2 == 0);
    allocator->seat(party.hosting, party.line.askers);
    std::vector<bool> seated(party.line.askers.size());
    for (const Hosting::Seat& seat : party.hosting.seats()) {
      seated[index(seat.job)] = true;
      EXPECT_GE(party.line.speed_of(seat), seat.need->fair_speed * (1 - 1e-9)) << "round " << round;
    }
    for (const HostAllocator::Asker& asker : party.line.askers) {
      if (seated[index(asker.job)]) continue;
      EXPECT_GT(asker.gpus.gpus, party.ledger.gpus_free()) << "round " << round;
    }
  }
}

std::string find_name(const testing::TestParamInfo<FindDevices>& param) {
  return param.param == find_scattered ? "Scattered" : "Gathered";
}
INSTANTIATE_TEST_SUITE_P(, HostAllocators, testing::Values(find_scattered, find_gathered),
                         find_name);

}  // namespace
}  // namespace orrery
