#include "scheduling/placement/make_room.h"

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

// Where everybody is according to the residents' own devices.
void expect_agrees(const Packer& packer, const Ledger& ledger,
                   const std::vector<Resident>& residents) {
  std::vector<std::uint64_t> taken(static_cast<std::size_t>(ledger.node_count()), 0);
  for (const Resident& resident : residents) {
    ASSERT_EQ(gpu_count(resident.devices), packer.shape(resident.shape).gpus);
    for (const NodeShare& share : resident.devices) {
      ASSERT_EQ(taken[index(share.node)] & share.gpus, 0u) << "two on one device";
      taken[index(share.node)] |= share.gpus;
    }
  }
  for (int node = 0; node < ledger.node_count(); ++node) {
    ASSERT_EQ(ledger.free_mask(node) & taken[static_cast<std::size_t>(node)], 0u);
    ASSERT_EQ(ledger.free_count(node) + std::popcount(taken[static_cast<std::size_t>(node)]),
              ledger.gpus_of(node));
  }
}

TEST(MakeRoom, PowersOfTwoAlwaysFitWithinTheCluster) {
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
        Devices devices;
        std::vector<Move> moves;
        const std::vector<Resident> before = residents;
        ASSERT_TRUE(make_room(packer, ledger, shape, residents, devices, moves)) << "seed " << seed;
        for (std::size_t i = 0; i < residents.size(); ++i) {
          const auto is_moved = [&](const Move& move) { return move.resident == i; };
          ASSERT_TRUE(residents[i].devices == before[i].devices ||
                      std::ranges::any_of(moves, is_moved))
              << "somebody moved and nobody says so";
          if (gpus <= packer.shape(residents[i].shape).gpus) {
            ASSERT_EQ(residents[i].devices, before[i].devices) << "only smaller ones move";
          }
        }
        moved += static_cast<int>(moves.size());
        residents.push_back({static_cast<JobId>(step), shape, devices, random.uniform()});
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

TEST(MakeRoom, LeavesEverythingAsItWasWhenItCannotBeDone) {
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
      Devices devices;
      std::vector<Move> moves;
      if (make_room(packer, ledger, shape, residents, devices, moves)) {
        const double cost = random.uniform() < 0.3 ? -1 : 1;
        residents.push_back({static_cast<JobId>(step), shape, devices, cost});
        for (const Move& move : moves) ASSERT_GE(before[move.resident].cost, 0) << "it was to stay";
      } else {
        ++failed;
        ASSERT_EQ(ledger.gpus_free(), free_before);
        ASSERT_TRUE(moves.empty());
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
