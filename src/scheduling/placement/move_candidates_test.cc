#include "scheduling/placement/move_candidates.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"

namespace orrery {
namespace {

Cluster alike(int nodes, int gpus) {
  Cluster cluster;
  cluster.nodes.resize(static_cast<std::size_t>(nodes));
  for (Node& node : cluster.nodes) node.gpus = gpus;
  return cluster;
}

struct Resident {
  ShapeId shape{};
  Devices devices;
  double cost = 1;
};

struct Outcome {
  bool found = false;
  Devices devices;
  std::vector<std::size_t> moved;
};

// Places the shape among the residents, which then hold their new devices.
Outcome place(Packer& packer, ShapeId shape, std::vector<Resident>& residents) {
  MoveCandidates candidates(packer, packer.current());
  for (const Resident& one : residents) candidates.add(one.shape, one.devices, one.cost);
  Outcome outcome;
  outcome.found = candidates.place(shape, outcome.devices);
  for (std::size_t i = 0; i < residents.size(); ++i) residents[i].devices = candidates.devices(i);
  for (const auto& move : candidates.moves()) outcome.moved.push_back(move.candidate);
  return outcome;
}

// The ledger holds what the residents hold, and nothing else.
void expect_agrees(const Packer& packer, const Ledger& ledger,
                   const std::vector<Resident>& residents) {
  std::vector<std::uint64_t> taken(static_cast<std::size_t>(ledger.node_count()), 0);
  for (const Resident& resident : residents) {
    ASSERT_EQ(gpu_count(resident.devices), packer.shape(resident.shape).gpus);
    for (const NodeShare& share : resident.devices) {
      ASSERT_EQ(taken[index(share.node)] & share.gpus, 0u) << "two jobs on one device";
      taken[index(share.node)] |= share.gpus;
    }
  }
  for (int node = 0; node < ledger.node_count(); ++node) {
    ASSERT_EQ(ledger.free_mask(node) & taken[static_cast<std::size_t>(node)], 0u);
    ASSERT_EQ(ledger.free_count(node) + std::popcount(taken[static_cast<std::size_t>(node)]),
              ledger.gpus_of(node));
  }
}

TEST(MoveCandidates, PowersOfTwoAlwaysFitWithinTheCluster) {
  int moved = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    const int per_node = 1 << random.between(0, 3);
    const Cluster cluster = alike(static_cast<int>(random.between(1, 12)), per_node);
    Packer packer(cluster, {}, make_buddy(0));
    Ledger& ledger = packer.current();
    std::vector<Resident> residents;
    for (int step = 0; step < 200; ++step) {
      const int gpus = 1 << random.between(0, 5);
      if (gpus <= ledger.gpus_free()) {
        const ShapeId shape = packer.intern({.gpus = gpus});
        const std::vector<Resident> before = residents;
        const Outcome outcome = place(packer, shape, residents);
        ASSERT_TRUE(outcome.found) << "seed " << seed;
        for (std::size_t i = 0; i < residents.size(); ++i) {
          ASSERT_TRUE(residents[i].devices == before[i].devices ||
                      std::ranges::count(outcome.moved, i) > 0)
              << "a move is not listed";
          if (gpus <= packer.shape(residents[i].shape).gpus) {
            ASSERT_EQ(residents[i].devices, before[i].devices) << "only smaller ones move";
          }
        }
        moved += static_cast<int>(outcome.moved.size());
        residents.push_back({shape, outcome.devices, random.uniform()});
      } else if (!residents.empty()) {
        std::swap(residents[static_cast<std::size_t>(random.between(0, std::ssize(residents) - 1))],
                  residents.back());
        ledger.release(residents.back().devices, packer.shape(residents.back().shape));
        residents.pop_back();
      }
      ASSERT_NO_FATAL_FAILURE(expect_agrees(packer, ledger, residents)) << "seed " << seed;
    }
  }
  EXPECT_GT(moved, 500);
}

TEST(MoveCandidates, AFailedSearchChangesNothing) {
  int failed = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    Random random(seed);
    const Cluster cluster = alike(static_cast<int>(random.between(2, 6)), 8);
    Packer packer(cluster, {}, make_buddy(0));
    Ledger& ledger = packer.current();
    std::vector<Resident> residents;
    for (int step = 0; step < 60; ++step) {
      const int gpus = static_cast<int>(random.between(1, 20));
      const ShapeId shape = packer.intern({.gpus = gpus});
      const std::vector<Resident> before = residents;
      const int free_before = ledger.gpus_free();
      const Outcome outcome = place(packer, shape, residents);
      if (outcome.found) {
        const double cost = random.uniform() < 0.3 ? -1 : 1;
        residents.push_back({shape, outcome.devices, cost});
        for (const std::size_t i : outcome.moved) ASSERT_GE(before[i].cost, 0) << "it must stay";
      } else {
        ++failed;
        ASSERT_EQ(ledger.gpus_free(), free_before);
        ASSERT_TRUE(outcome.moved.empty());
        for (std::size_t i = 0; i < residents.size(); ++i) {
          ASSERT_EQ(residents[i].devices, before[i].devices);
        }
      }
      ASSERT_NO_FATAL_FAILURE(expect_agrees(packer, ledger, residents)) << "seed " << seed;
      if (!residents.empty() && random.uniform() < 0.4) {
        std::swap(residents[static_cast<std::size_t>(random.between(0, std::ssize(residents) - 1))],
                  residents.back());
        ledger.release(residents.back().devices, packer.shape(residents.back().shape));
        residents.pop_back();
      }
    }
  }
  EXPECT_GT(failed, 100);
}

TEST(Buddy, TakesAlignedBlocksOutOfTheSmallestHole) {
  const Cluster cluster = alike(2, 8);
  Packer packer(cluster, {}, make_buddy(0));
  const auto place = [&](int gpus) {
    Devices devices;
    EXPECT_TRUE(packer.place(packer.current(), packer.intern({.gpus = gpus}), devices));
    return devices;
  };
  EXPECT_EQ(place(1), (Devices{{NodeId{0}, 0b1}}));
  EXPECT_EQ(place(2), (Devices{{NodeId{0}, 0b1100}}));
  EXPECT_EQ(place(1), (Devices{{NodeId{0}, 0b10}}));
  EXPECT_EQ(place(8), (Devices{{NodeId{1}, 0xff}}));
  EXPECT_EQ(place(3), (Devices{{NodeId{0}, 0x70}}));
  EXPECT_EQ(place(1), (Devices{{NodeId{0}, 0x80}}));
}

}  // namespace
}  // namespace orrery
