// What every placement rule guarantees on every cluster.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "scheduling/placement/packer.h"
#include "scheduling/placement/random_cluster.h"

namespace orrery {
namespace {

struct Held {
  ShapeId shape{};
  Devices devices;
};

// All that can be read off a ledger.
std::vector<std::int64_t> snapshot(const Ledger& ledger) {
  std::vector<std::int64_t> all = {ledger.gpus_free()};
  for (int node = 0; node < ledger.node_count(); ++node) {
    all.push_back(std::bit_cast<std::int64_t>(ledger.free_mask(node)));
    all.push_back(ledger.free_count(node));
    all.push_back(ledger.free_cpu_milli(node));
    all.push_back(ledger.free_memory_bytes(node));
    all.push_back(ledger.idle(node) ? 1 : 0);
  }
  return all;
}

// What the index should say, looked up the long way.
void expect_index_agrees(const Ledger& ledger, const Shape& shape) {
  const int end = ledger.node_count();
  for (int gpus = 1; gpus <= shape.gpus; ++gpus) {
    int first = end;
    int tightest = end;
    for (int node = end - 1; node >= 0; --node) {
      if (ledger.fits(node, gpus, shape)) first = node;
      const bool tighter =
          tightest == end || ledger.free_count(node) <= ledger.free_count(tightest);
      if (ledger.fits(node, gpus, shape) && tighter) tightest = node;
    }
    ASSERT_EQ(ledger.first_fit(0, end, gpus, shape), first);
    ASSERT_EQ(ledger.tightest_fit(0, end, gpus, shape), tightest);
  }
  int total = 0;
  for (int node = 0; node < end; ++node) {
    total += ledger.free_count(node);
    ASSERT_EQ(ledger.free_count(node), std::popcount(ledger.free_mask(node)));
    int fitting = 0;
    for (int gpus = 1; gpus <= shape.gpus; ++gpus)
      fitting = ledger.fits(node, gpus, shape) ? gpus : fitting;
    ASSERT_EQ(ledger.gpus_fitting(node, shape), fitting);
  }
  ASSERT_EQ(ledger.gpus_free(), total);
}

class PlacementLaws : public testing::TestWithParam<PlacementRuleInfo> {};

void expect_sound(const Ledger& before, const Ledger& after, const Shape& shape,
                  const Devices& devices) {
  ASSERT_EQ(gpu_count(devices), shape.gpus);
  std::uint64_t nodes_seen = 0;
  for (const NodeShare& share : devices) {
    const int node = static_cast<int>(share.node);
    ASSERT_EQ(nodes_seen >> node & 1, 0u) << "a node is named twice";
    nodes_seen |= 1ULL << node;
    ASSERT_NE(share.gpus, 0u);
    ASSERT_EQ(share.gpus & ~before.free_mask(node), 0u) << "a device that is not free";
    ASSERT_TRUE(before.serves(node, shape)) << "a GPU of the wrong kind";
  }
  for (int node = 0; node < after.node_count(); ++node) {
    ASSERT_TRUE(shape.cpu_milli == 0 || after.free_cpu_milli(node) >= 0);
    ASSERT_TRUE(shape.memory_bytes == 0 || after.free_memory_bytes(node) >= 0);
  }
}

TEST_P(PlacementLaws, HoldWhileJobsComeAndGo) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const Cluster cluster = random_cluster(random);
    Packer packer(cluster, random_gpu_types(), GetParam().make(seed));
    Ledger& ledger = packer.current();
    const auto idle = snapshot(ledger);
    std::vector<Held> held;
    for (int step = 0; step < 60; ++step) {
      const Shape shape = random_shape(random);
      const ShapeId id = packer.intern(shape);
      const Ledger before = ledger;
      const Ledger::Mark mark = ledger.mark();
      Devices devices;
      const bool placed = packer.place(ledger, id, devices);
      if (placed) {
        ASSERT_NO_FATAL_FAILURE(expect_sound(before, ledger, shape, devices));
        ASSERT_FALSE(packer.infeasible(id)) << "what can never run was placed";
      } else {
        ASSERT_TRUE(devices.empty());
        ASSERT_EQ(snapshot(ledger), snapshot(before)) << "a failed attempt left a trace";
      }
      if (placed && random.uniform() < 0.3) {
        ledger.undo(mark);
        ASSERT_EQ(snapshot(ledger), snapshot(before)) << "undo does not restore";
      } else if (placed) {
        held.push_back({id, devices});
      }
      if (!held.empty() && random.uniform() < 0.4) {
        std::swap(held[static_cast<std::size_t>(random.between(0, std::ssize(held) - 1))],
                  held.back());
        ledger.release(held.back().devices, packer.shape(held.back().shape));
        held.pop_back();
      }
      ASSERT_NO_FATAL_FAILURE(expect_index_agrees(ledger, shape));
    }
    for (const Held& one : held) ledger.release(one.devices, packer.shape(one.shape));
    ASSERT_EQ(snapshot(ledger), idle) << "what was taken is not all back";
  }
}

TEST_P(PlacementLaws, WhatFitsTheIdleClusterIsPlacedInItAndNothingElse) {
  int refused = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    const Cluster cluster = random_cluster(random);
    Packer packer(cluster, random_gpu_types(), GetParam().make(seed));
    for (int i = 0; i < 20; ++i) {
      const Shape shape = random_shape(random);
      const ShapeId id = packer.intern(shape);
      const bool fits = ever_fits(cluster, shape);
      ASSERT_EQ(!packer.infeasible(id).has_value(), fits) << "seed " << seed << " shape " << i;
      Devices devices;
      packer.blank().clear();
      ASSERT_EQ(packer.place(packer.blank(), id, devices), fits) << "seed " << seed;
      refused += fits ? 0 : 1;
    }
  }
  EXPECT_GT(refused, 50);
}

INSTANTIATE_TEST_SUITE_P(EveryRule, PlacementLaws, testing::ValuesIn(placement_rules()),
                         [](const auto& test) {
                           std::string name(test.param.name);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace orrery
