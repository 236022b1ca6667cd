#include "scheduling/policy/host/host_opt.h"

#include <gtest/gtest.h>

#include "scheduling/policy/host/random_askers.h"

namespace orrery {
namespace {

constexpr int kRounds = 100;

// The greatest sum of speeds of jobs of these kinds, by trying every cell for every job.
double try_all(std::span<const HostKind* const> jobs, const HostShare& capacity,
               HostWeight weight) {
  if (jobs.empty()) return 0;
  double best = -1;
  for (const HostCell& cell : jobs.front()->cells) {
    if (!within(cell.share, capacity)) continue;
    HostShare left = capacity;
    left -= cell.share;
    const double rest = try_all(jobs.subspan(1), left, weight);
    const double worth = weight == HostWeight::Gpus ? jobs.front()->gpus : 1;
    if (rest >= 0) best = std::max(best, rest + worth * cell.speed);
  }
  return best;
}

TEST(HostChoice, IsAsGoodAsTryingEverything) {
  Random random(5);
  int without = 0;
  for (int round = 0; round < kRounds; ++round) {
    const RandomAskers line(random, true, 5);
    HostShare capacity;
    for (const auto& asker : line.askers) capacity += asker.need->fair;
    capacity = {capacity.cpu_milli * random.between(8, 20) / 10,
                capacity.memory_bytes * random.between(8, 20) / 10};
    const HostWeight weight = round % 2 == 0 ? HostWeight::None : HostWeight::Gpus;
    HostKinds kinds;
    kinds.begin({.total = capacity, .largest = {24'000, 500'000'000'000}, .gpus_largest = 8});
    std::vector<int> chosen;
    for (const auto& asker : line.askers) chosen.push_back(kinds.find(asker));
    std::vector<const HostKind*> jobs;
    std::vector<int> counts(kinds.all().size(), 0);
    for (const int kind : chosen) {
      jobs.push_back(&kinds[kind]);
      ++counts[static_cast<std::size_t>(kind)];
    }
    const double best = try_all(jobs, capacity, weight);
    const auto cells = choose_cells(kinds.all(), counts, capacity, weight);
    ASSERT_EQ(cells.has_value(), best >= 0) << "round " << round;
    if (!cells) {
      ++without;
      continue;
    }
    double sum = 0;
    for (std::size_t k = 0; k < cells->size(); ++k) {
      int of_kind = 0;
      for (std::size_t c = 0; c < (*cells)[k].size(); ++c) {
        const int count = (*cells)[k][c];
        of_kind += count;
        sum += (weight == HostWeight::Gpus ? kinds.all()[k].gpus : 1) * count *
               kinds.all()[k].cells[c].speed;
      }
      EXPECT_EQ(of_kind, counts[k]);
    }
    EXPECT_NEAR(sum, best, 1e-6) << "round " << round;
    const HostBound bound = host_bound(line.askers, {capacity, capacity, 64});
    EXPECT_GE(weight == HostWeight::Gpus ? bound.gpu_speed : bound.speed, best - 1e-6);
  }
  EXPECT_GT(without, 0);
  EXPECT_LT(without, kRounds / 2);
}

TEST(HostChoice, CutShortItStillGivesEveryJobACellAndStaysCloseToTheBound) {
  Random random(11);
  double cut_short = 0;
  double possible = 0;
  int worse = 0;
  for (int round = 0; round < kRounds; ++round) {
    const RandomAskers line(random, true, 30);
    HostShare capacity;
    HostKinds kinds;
    kinds.begin({.total = {}, .largest = {24'000, 500'000'000'000}, .gpus_largest = 8});
    std::vector<int> jobs;
    for (const auto& asker : line.askers) {
      capacity += asker.need->fair;
      const auto kind = static_cast<std::size_t>(kinds.find(asker));
      jobs.resize(kinds.all().size());
      ++jobs[kind];
    }
    const auto sum_of = [&](const std::optional<CellCounts>& cells) {
      EXPECT_TRUE(cells.has_value());
      double sum = 0;
      HostShare held;
      for (std::size_t k = 0; cells && k < cells->size(); ++k) {
        int of_kind = 0;
        for (std::size_t c = 0; c < (*cells)[k].size(); ++c) {
          const int count = (*cells)[k][c];
          EXPECT_GE(count, 0);
          of_kind += count;
          sum += count * kinds.all()[k].cells[c].speed;
          held += times(kinds.all()[k].cells[c].share, count);
        }
        EXPECT_EQ(of_kind, jobs[k]);
      }
      EXPECT_TRUE(within(held, capacity));
      return sum;
    };
    const double best = sum_of(choose_cells(kinds.all(), jobs, capacity, HostWeight::None));
    const double rounded = sum_of(choose_cells(kinds.all(), jobs, capacity, HostWeight::None, 0));
    EXPECT_LE(rounded, best + 1e-6);
    worse += rounded < best - 1e-6 ? 1 : 0;
    cut_short += rounded;
    possible += best;
  }
  EXPECT_GT(worse, 0);
  EXPECT_GT(cut_short, 0.9 * possible);
}

TEST(HostCells, NoneNeedsNoLessThanAFasterOne) {
  Random random(6);
  for (int round = 0; round < kRounds; ++round) {
    const RandomAskers line(random, false, 3);
    for (const auto& asker : line.askers) {
      const auto cells = cells_of(asker, {1'000'000, 1'000'000'000'000}, asker.need->fair_speed);
      ASSERT_FALSE(cells.empty());
      for (std::size_t i = 0; i < cells.size(); ++i) {
        EXPECT_GE(cells[i].speed, asker.need->fair_speed);
        for (std::size_t j = 0; j < i; ++j) {
          EXPECT_GE(cells[j].speed, cells[i].speed);
          EXPECT_FALSE(within(cells[j].share, cells[i].share));
        }
      }
    }
  }
}

struct Outcome {
  std::vector<Hosting::Seat> seats;
  std::string fault;
  int gpus_free = 0;
};

Outcome seat(HostAllocator& allocator, RandomAskers& line, int staying) {
  Ledger ledger(line.cluster, line.workload.names);
  Hosting hosting;
  hosting.begin(ledger);
  line.let_some_stay(ledger, staying);
  allocator.seat(hosting, line.askers, 0);
  return {
      {hosting.seats().begin(), hosting.seats().end()}, line.fault(hosting), ledger.gpus_free()};
}

TEST(HostOpt, SeatsEveryJobForWhichThereAreGpusAndNoneIsSlowerThanWithAFairShare) {
  Random random(7);
  const auto allocator = make_opt(HostWeight::Gpus);
  for (int round = 0; round < kRounds; ++round) {
    RandomAskers line(random, true, static_cast<int>(random.between(1, 50)));
    const Outcome outcome = seat(*allocator, line, round % 2 == 0 ? 0 : 12);
    ASSERT_EQ(outcome.fault, "") << "round " << round;
    int left = line.cluster.gpus_total();
    std::size_t chosen = 0;
    for (const auto& asker : line.askers) {
      if (asker.gpus.gpus > left) continue;
      left -= asker.gpus.gpus;
      ++chosen;
    }
    EXPECT_EQ(outcome.seats.size(), chosen) << "round " << round;
    EXPECT_EQ(outcome.gpus_free, left);
    for (const Hosting::Seat& seat : outcome.seats) {
      EXPECT_GE(line.speed_of(seat), seat.need->fair_speed * (1 - 1e-9)) << "round " << round;
    }
  }
}

TEST(HostOpt, HoldsNothingThatIsNotThereOnServersOfAllKinds) {
  Random random(8);
  const auto allocator = make_opt(HostWeight::Gpus);
  for (int round = 0; round < kRounds; ++round) {
    RandomAskers line(random, false, static_cast<int>(random.between(1, 50)));
    const Outcome outcome = seat(*allocator, line, round % 2 == 0 ? 0 : 12);
    ASSERT_EQ(outcome.fault, "") << "round " << round;
    for (const Hosting::Seat& seat : outcome.seats) {
      EXPECT_GE(line.speed_of(seat), seat.need->fair_speed * (1 - 1e-9)) << "round " << round;
    }
  }
}

TEST(HostOpt, AJobThatStaysKeepsItsDevices) {
  Random random(9);
  const auto allocator = make_opt(HostWeight::Gpus);
  for (int round = 0; round < kRounds; ++round) {
    RandomAskers line(random, true, 30);
    const Outcome outcome = seat(*allocator, line, 10);
    for (const Hosting::Seat& seat : outcome.seats) {
      const Devices* stays = line.askers[index(seat.job)].stays;
      if (stays == nullptr) continue;
      EXPECT_EQ(seat.devices, *stays) << "round " << round;
    }
  }
}

TEST(HostOpt, TheSameLineIsSeatedTheSameWayWhateverCameBefore) {
  const auto used = make_opt(HostWeight::None);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    Random again(seed);
    RandomAskers line(random, true, 40);
    RandomAskers copy(again, true, 40);
    const Outcome one = seat(*used, line, 5);
    const Outcome other = seat(*make_opt(HostWeight::None), copy, 5);
    ASSERT_EQ(one.seats.size(), other.seats.size());
    for (std::size_t i = 0; i < one.seats.size(); ++i) {
      EXPECT_EQ(one.seats[i].job, other.seats[i].job);
      EXPECT_EQ(one.seats[i].shape, other.seats[i].shape);
      EXPECT_EQ(one.seats[i].devices, other.seats[i].devices);
    }
  }
}

TEST(HostOpt, ComesNearToTheBound) {
  Random random(10);
  const auto allocator = make_opt(HostWeight::Gpus);
  double got = 0;
  double possible = 0;
  for (int round = 0; round < kRounds; ++round) {
    RandomAskers line(random, true, 40);
    const Outcome outcome = seat(*allocator, line, 0);
    std::vector<HostAllocator::Asker> seated;
    double sum = 0;
    for (const Hosting::Seat& seat : outcome.seats) {
      seated.push_back(line.askers[index(seat.job)]);
      sum += seated.back().gpus.gpus * line.speed_of(seat);
    }
    HostShare total;
    for (const Node& node : line.cluster.nodes) total += {node.cpu_milli, node.memory_bytes};
    const double bound = host_bound(seated, {total, total, 64}).gpu_speed;
    EXPECT_LE(sum, bound * (1 + 1e-6)) << "round " << round;
    got += sum;
    possible += bound;
  }
  EXPECT_GT(got, 0.9 * possible);
}

}  // namespace
}  // namespace orrery
