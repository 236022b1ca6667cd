#include "scheduling/policy/host/host_allocator.h"

#include <gtest/gtest.h>

#include "scheduling/policy/host/random_askers.h"

namespace orrery {
namespace {

constexpr int kRounds = 150;

// Every job asks an allocator for a seat, in a random cluster.
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
      allocator->seat(party.hosting, party.line.askers, 0);
      ASSERT_EQ(party.line.fault(party.hosting), "") << "round " << round;
    }
  }
}

TEST_P(HostAllocators, ProportionalGivesFairSharesAndLeavesNoGpuThatCouldBeUsed) {
  Random random(2);
  const auto allocator = make_proportional(GetParam());
  for (int round = 0; round < kRounds; ++round) {
    Party party(random, true, round % 2 == 0);
    allocator->seat(party.hosting, party.line.askers, 0);
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
    allocator->seat(party.hosting, party.line.askers, 0);
    for (const Hosting::Seat& seat : party.hosting.seats())
      EXPECT_EQ(seat.held(), seat.need->ideal);
  }
}

TEST_P(HostAllocators, TuneLeavesNoGpuToAJobThatWaitsForCpus) {
  Random random(4);
  const auto allocator = make_tune(GetParam());
  for (int round = 0; round < kRounds; ++round) {
    Party party(random, true, round % 2 == 0);
    allocator->seat(party.hosting, party.line.askers, 0);
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

// A job that was asked before keeps the seat, as if all had been asked again.
TEST_P(HostAllocators, BeginningWhereTheLineChangedIsBeginningAgain) {
  Random random(5);
  const std::unique_ptr<HostAllocator> all[] = {make_proportional(GetParam()),
                                                make_greedy(GetParam()), make_tune(GetParam())};
  for (int round = 0; round < kRounds; ++round) {
    for (const auto& allocator : all) {
      Party party(random, true, false);
      std::vector<HostAllocator::Asker> askers = party.line.askers;
      allocator->seat(party.hosting, askers, 0);
      const auto last = static_cast<std::int64_t>(askers.size()) - 1;
      const auto same = static_cast<std::size_t>(random.between(0, last));
      std::reverse(askers.begin() + static_cast<std::ptrdiff_t>(same), askers.end());
      allocator->seat(party.hosting, askers, same);

      Ledger fresh(party.line.cluster, party.line.workload.names);
      Hosting expected;
      expected.begin(fresh);
      allocator->seat(expected, askers, 0);
      ASSERT_EQ(party.line.fault(party.hosting), "");
      ASSERT_EQ(party.hosting.seats().size(), expected.seats().size());
      for (std::size_t i = 0; i < expected.seats().size(); ++i) {
        EXPECT_EQ(party.hosting.seats()[i].job, expected.seats()[i].job);
        EXPECT_EQ(party.hosting.seats()[i].devices, expected.seats()[i].devices);
        EXPECT_EQ(party.hosting.seats()[i].held(), expected.seats()[i].held()) << round;
      }
    }
  }
}

// Ours with the same guarantees as tune, and never slower in sum than fair shares.
TEST(TunePlus, SeatsEveryJobForWhichThereAreGpusAndNoneBelowTheFairSpeed) {
  Random random(6);
  for (int round = 0; round < kRounds; ++round) {
    const auto allocator = make_tune_plus();
    Party party(random, true, round % 2 == 0);
    for (HostAllocator::Asker& asker : party.line.askers) {
      asker.left_s = static_cast<double>(random.between(1, 100'000));
      asker.start_s = static_cast<double>(random.between(0, 60));
    }
    allocator->seat(party.hosting, party.line.askers, 0);
    ASSERT_EQ(party.line.fault(party.hosting), "") << "round " << round;
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

TEST(TunePlus, MovesAJobOnlyIfThatWinsMoreThanTheRestartCosts) {
  // Two below_fastest jobs share a node's CPUs while the other node is idle.
  Workload workload;
  workload.sensitivities.push_back({.cpu_milli = {1000, 2000},
                                    .memory_bytes = {1'000'000'000},
                                    .speed = {1, 2},
                                    .ideal = {2000, 1'000'000'000}});
  Cluster cluster;
  cluster.nodes.resize(2);
  for (Node& node : cluster.nodes) {
    node.gpus = 2;
    node.cpu_milli = 2000;
    node.memory_bytes = 8'000'000'000;
  }
  JobSpec spec;
  spec.sensitivity = SensitivityId{0};
  const HostNeed need = host_need(workload, spec, mean_server(cluster));
  const std::vector<Devices> places = {{{NodeId{0}, 1}}, {{NodeId{0}, 2}}};
  for (const bool cheap : {true, false}) {
    Ledger ledger(cluster, workload.names);
    Hosting hosting;
    hosting.begin(ledger);
    std::vector<HostAllocator::Asker> askers;
    for (int i = 0; i < 2; ++i) {
      HostAllocator::Asker& asker = askers.emplace_back();
      asker.job = static_cast<JobId>(i);
      asker.need = &need;
      asker.sensitivity = &workload.sensitivities[0];
      asker.kind = SensitivityId{0};
      asker.gpus.gpus = 1;
      asker.stays = &places[static_cast<std::size_t>(i)];
      asker.left_s = 10'000;
      asker.start_s = cheap ? 10 : 5000;
      ledger.take(*asker.stays, asker.gpus);
    }
    make_tune_plus()->seat(hosting, askers, 0);
    int moved = 0;
    std::int64_t cpu_milli = 0;
    for (const Hosting::Seat& seat : hosting.seats()) {
      moved += seat.devices == places[index(seat.job)] ? 0 : 1;
      cpu_milli += seat.held().cpu_milli;
    }
    EXPECT_EQ(moved, cheap ? 1 : 0);
    EXPECT_EQ(cpu_milli, cheap ? 4000 : 2000);
  }
}

std::string find_name(const testing::TestParamInfo<FindDevices>& param) {
  return param.param == find_scattered ? "Scattered" : "Gathered";
}
INSTANTIATE_TEST_SUITE_P(, HostAllocators, testing::Values(find_scattered, find_gathered),
                         find_name);

}  // namespace
}  // namespace orrery
