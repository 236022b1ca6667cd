#include "scheduling/policy/order/preemption_candidates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "base/random.h"
#include "scheduling/policy/test_view.h"

namespace orrery {
namespace {

class ByNumber final : public Order {
 public:
  Rank rank(const View& /*view*/, JobId job) const override {
    return {static_cast<double>(keys[index(job)]), static_cast<std::int64_t>(job)};
  }
  std::vector<std::int64_t> keys;
};

// A cluster of equal nodes with running jobs; a larger number ranks further behind.
class Scene {
 public:
  Scene(int nodes, int gpus) {
    view_.cluster.nodes.resize(static_cast<std::size_t>(nodes));
    for (Node& node : view_.cluster.nodes) node.gpus = gpus;
    packer_.emplace(view_.cluster, view_.workload.names, make_consolidated(0));
    on_nodes_.resize(view_.cluster.nodes.size());
  }

  JobId run(std::int64_t number, Devices devices) {
    const JobSpec& spec = view_.add(0, 100, gpu_count(devices));
    const int id = static_cast<int>(spec.id);
    order_.keys.push_back(number);
    view_.run(id, 0);
    view_.job(id).shape = packer_->intern(shape_of(spec));
    for (const NodeShare& share : devices) on_nodes_[index(share.node)].push_back(spec.id);
    ledger().take(devices, shape_of(spec));
    view_.job(id).held.devices = devices;
    candidates_.begin(*packer_);
    candidates_.add(view(), order_, spec.id);
    return spec.id;
  }
  View view() {
    View view = view_.at(0);
    view.on_nodes = on_nodes_;
    return view;
  }
  bool find(int gpus, std::int64_t number) {
    const PreemptionCandidates::Request request{shape(gpus), {static_cast<double>(number), -1}};
    return candidates_.find(view(), order_, *packer_, request, found_);
  }
  bool find_on(int gpus, std::int64_t number, std::vector<NodeId> nodes) {
    const PreemptionCandidates::Request request{shape(gpus), {static_cast<double>(number), -1}};
    return candidates_.find_on(view(), order_, *packer_, request, nodes, found_);
  }
  ShapeId shape(int gpus) { return packer_->intern({.gpus = gpus}); }
  Ledger& ledger() { return packer_->current(); }
  Packer& packer() { return *packer_; }
  PreemptionCandidates& candidates() { return candidates_; }
  const Devices& found() const { return found_; }
  std::vector<JobId> stopped() const {
    return {candidates_.stopped().begin(), candidates_.stopped().end()};
  }
  std::int64_t number(JobId job) const { return order_.keys[index(job)]; }

 private:
  TestView view_;
  std::optional<Packer> packer_;
  std::vector<std::vector<JobId>> on_nodes_;
  ByNumber order_;
  PreemptionCandidates candidates_;
  Devices found_;
};

using Jobs = std::vector<JobId>;

TEST(PreemptionCandidates, TheLastInLineAreStoppedFirst) {
  Scene scene(1, 4);
  scene.run(1, {{NodeId{0}, 0b0001}});
  const JobId last = scene.run(9, {{NodeId{0}, 0b0010}});
  scene.run(5, {{NodeId{0}, 0b1100}});
  ASSERT_TRUE(scene.find(1, 0));
  EXPECT_EQ(scene.stopped(), Jobs{last});
  EXPECT_EQ(scene.found(), (Devices{{NodeId{0}, 0b0010}}));
}

TEST(PreemptionCandidates, JobsThatRankBeforeTheRequestAreNeverStopped) {
  Scene scene(1, 4);
  scene.run(1, {{NodeId{0}, 0b0011}});
  scene.run(9, {{NodeId{0}, 0b1100}});
  EXPECT_FALSE(scene.find(4, 5));
  EXPECT_TRUE(scene.stopped().empty());
  EXPECT_TRUE(scene.find(2, 5));
}

TEST(PreemptionCandidates, AFailedSearchChangesNothing) {
  Scene scene(2, 2);
  scene.run(1, {{NodeId{0}, 0b01}});
  scene.run(9, {{NodeId{0}, 0b10}});
  scene.run(1, {{NodeId{1}, 0b01}});
  scene.run(8, {{NodeId{1}, 0b10}});
  EXPECT_FALSE(scene.find(2, 5));
  EXPECT_FALSE(scene.find(4, 5));
  EXPECT_EQ(scene.ledger().gpus_free(), 0);
}

TEST(PreemptionCandidates, AJobWhoseDevicesDoNotHelpRunsOn) {
  Scene scene(3, 2);
  scene.run(1, {{NodeId{2}, 0b01}});
  const JobId unneeded = scene.run(9, {{NodeId{2}, 0b10}});
  const JobId second = scene.run(8, {{NodeId{1}, 0b11}});
  const JobId first = scene.run(7, {{NodeId{0}, 0b11}});
  ASSERT_TRUE(scene.find(4, 5));
  EXPECT_EQ(scene.stopped(), (Jobs{second, first}));
  EXPECT_EQ(std::ranges::count(scene.stopped(), unneeded), 0);
  EXPECT_EQ(scene.ledger().gpus_free(), 0);
}

TEST(PreemptionCandidates, ARemovedJobIsNotACandidate) {
  Scene scene(1, 2);
  const JobId job = scene.run(9, {{NodeId{0}, 0b11}});
  scene.candidates().remove(job);
  EXPECT_FALSE(scene.candidates().has(job));
  EXPECT_FALSE(scene.find(2, 5));
}

TEST(PreemptionCandidates, ASearchOnNodesLooksAtNoOtherNode) {
  Scene scene(2, 2);
  const JobId here = scene.run(8, {{NodeId{0}, 0b11}});
  scene.run(9, {{NodeId{1}, 0b11}});
  ASSERT_TRUE(scene.find_on(2, 5, {NodeId{0}}));
  EXPECT_EQ(scene.stopped(), Jobs{here});
  Scene other(2, 2);
  other.run(1, {{NodeId{0}, 0b11}});
  other.run(9, {{NodeId{1}, 0b11}});
  EXPECT_FALSE(other.find_on(2, 5, {NodeId{0}}));
  EXPECT_TRUE(other.find_on(2, 5, {NodeId{1}}));
}

// Jobs of 1 to 4 GPUs side by side on nodes of 4, with random ranks.
std::vector<JobId> fill(Scene& scene, Random& random, int nodes) {
  std::vector<JobId> jobs;
  for (int node = 0; node < nodes; ++node) {
    for (int at = 0; at < 4;) {
      const int gpus = static_cast<int>(random.between(1, 4 - at));
      const std::uint64_t mask = ((1ULL << gpus) - 1) << at;
      if (random.uniform() < 0.8) {
        jobs.push_back(scene.run(random.between(0, 9), {{static_cast<NodeId>(node), mask}}));
      }
      at += gpus;
    }
  }
  return jobs;
}

TEST(PreemptionCandidates, ARequestFitsIfAndOnlyIfItFitsWithoutAllJobsBehindIt) {
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    Random random(seed);
    const int nodes = static_cast<int>(random.between(1, 5));
    Scene scene(nodes, 4);
    const std::vector<JobId> jobs = fill(scene, random, nodes);
    const int gpus = static_cast<int>(random.between(1, 4));
    const std::int64_t number = random.between(0, 9);
    Ledger& ledger = scene.ledger();
    Devices devices;
    const Ledger::Mark mark = ledger.mark();
    if (scene.packer().place(ledger, scene.shape(gpus), devices)) continue;
    const View view = scene.view();
    for (const JobId job : jobs) {
      if (scene.number(job) < number) continue;
      ledger.release(view.job(job).held.devices, shape_of(view.spec(job)));
    }
    const bool can = scene.packer().place(ledger, scene.shape(gpus), devices);
    ledger.undo(mark);
    const int free_before = ledger.gpus_free();
    ASSERT_EQ(scene.find(gpus, number), can) << "seed " << seed;
    found += can ? 1 : 0;
    int released = 0;
    for (const JobId job : scene.stopped()) {
      const NodeShare& held = view.job(job).held.devices.front();
      EXPECT_GE(scene.number(job), number) << "seed " << seed;
      EXPECT_NE(held.gpus & scene.found().front().gpus, 0U) << "its devices are not used";
      released += std::popcount(held.gpus);
    }
    EXPECT_EQ(ledger.gpus_free(), free_before + released - (can ? gpus : 0)) << "seed " << seed;
  }
  EXPECT_GT(found, 100);
}

}  // namespace
}  // namespace orrery
