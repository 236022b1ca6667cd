#include "scheduling/policy/deadline/elastic_layout.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "scheduling/policy/deadline/elastic_scene.h"

namespace orrery {
namespace {

class Layout : public ElasticScene {
 public:
  using ElasticScene::ElasticScene;

  void lay_out() {
    jobs_ = jobs();
    promises_.refresh(Time{}, {ledger().gpus_total(), ledger().gpus_per_node_max()}, {});
    layout_.lay_out(view(), packer(), jobs_, promises_, plan_);
  }
  // What the plan grants; none: the job stays as it is, waits or stops.
  Devices granted(const ElasticJob& job) const {
    for (const Grant& grant : plan_.grants()) {
      if (grant.job == job.id) return grant.devices;
    }
    return {};
  }
  bool is_without(const ElasticJob& job) const {
    return std::ranges::find(layout_.without(), &job) != layout_.without().end();
  }
  // What it holds after the plan.
  Devices after(const ElasticJob& job) {
    const Devices grant = granted(job);
    if (!grant.empty() || is_without(job)) return grant;
    return view().job(job.id).held.devices;
  }

 private:
  std::vector<ElasticJob*> jobs_;
  Promises promises_{PromiseOptions{}};
  ElasticLayout layout_;
  Plan plan_;
};

TEST(ElasticLayout, AJobThatKeepsItsNumberOfGpusStaysWhereItIs) {
  Layout scene(1, 4);
  const ElasticJob& job = scene.run({{NodeId{0}, 0b1100}});
  scene.lay_out();
  EXPECT_TRUE(scene.granted(job).empty());
  EXPECT_FALSE(scene.is_without(job));
}

TEST(ElasticLayout, AJobThatShrinksKeepsPartOfItsDevices) {
  Layout scene(1, 8);
  ElasticJob& job = scene.run({{NodeId{0}, 0b1111'0000}});
  job.promise.given = true;
  job.round.planned = job.round.target = scene.option(2);
  scene.lay_out();
  EXPECT_EQ(scene.granted(job), (Devices{{NodeId{0}, 0b0011'0000}}));
}

TEST(ElasticLayout, OthersMoveForAPromisedJob) {
  Layout scene(2, 2);
  const ElasticJob& left = scene.run({{NodeId{0}, 0b01}});
  const ElasticJob& right = scene.run({{NodeId{1}, 0b01}});
  ElasticJob& job = scene.add();
  job.promise.given = true;
  job.round.planned = job.round.target = scene.option(2);
  scene.lay_out();
  EXPECT_EQ(gpu_count(scene.granted(job)), 2);
  EXPECT_EQ(scene.granted(left).size() + scene.granted(right).size(), 1U) << "one of them moves";
}

TEST(ElasticLayout, AJobWithoutAPromiseTakesWhatFits) {
  Layout scene(1, 4);
  scene.run({{NodeId{0}, 0b0011}});
  ElasticJob& job = scene.add();
  ElasticJob& last = scene.add();
  job.round.target = scene.option(4);
  last.round.target = scene.option(1);
  scene.lay_out();
  EXPECT_EQ(scene.granted(job), (Devices{{NodeId{0}, 0b1100}}));
  EXPECT_EQ(job.round.target, scene.option(2));
  EXPECT_TRUE(scene.is_without(last));
}

TEST(ElasticLayout, AJobThatCannotGrowStaysAsItIs) {
  Layout scene(1, 4);
  ElasticJob& job = scene.run({{NodeId{0}, 0b0001}});
  scene.run({{NodeId{0}, 0b1000}});
  job.round.target = scene.option(4);
  scene.lay_out();
  EXPECT_EQ(scene.granted(job), (Devices{{NodeId{0}, 0b0011}})) << "as far as it can";
  Layout full(1, 2);
  ElasticJob& stuck = full.run({{NodeId{0}, 0b01}});
  full.run({{NodeId{0}, 0b10}});
  stuck.round.target = full.option(2);
  full.lay_out();
  EXPECT_TRUE(full.granted(stuck).empty());
  EXPECT_FALSE(full.is_without(stuck));
}

TEST(ElasticLayout, FreeGpusGoToAJobThatWasToWait) {
  Layout scene(1, 2);
  scene.run({{NodeId{0}, 0b01}});
  ElasticJob& job = scene.add();
  scene.lay_out();
  EXPECT_EQ(scene.granted(job), (Devices{{NodeId{0}, 0b10}}));
  EXPECT_FALSE(scene.is_without(job));
}

TEST(ElasticLayout, AJobInAFixedPlacementIsPlacedAgain) {
  Layout scene(2, 2);
  const ElasticJob& other = scene.run({{NodeId{0}, 0b01}});
  ElasticJob& job = scene.add();
  job.promise.given = job.promise.fixed = true;
  job.promise.place = {{NodeId{0}, 0b11}};
  job.round.planned = job.round.target = scene.option(2);
  scene.lay_out();
  EXPECT_EQ(scene.granted(job), job.promise.place);
  EXPECT_EQ(scene.granted(other), (Devices{{NodeId{1}, 0b01}}));
}

// Half of the GPUs and more are held; every job is to hold another number from now on.
void change_all(Layout& scene, Random& random) {
  int left = scene.ledger().gpus_total();
  while (random.uniform() < 0.9) {
    Devices devices;
    const int gpus = 1 << random.between(0, 3);
    if (scene.packer().place(scene.ledger(), scene.packer().intern({.gpus = gpus}), devices)) {
      scene.ledger().release(devices, {.gpus = gpus});
      scene.run(devices);
    } else {
      scene.add();
    }
  }
  for (ElasticJob* job : scene.jobs()) {
    job->round.target = static_cast<int>(random.between(0, 4));
    if (job->capacity(job->round.target) > left) job->round.target = 0;
    left -= job->capacity(job->round.target);
    job->promise.given = job->round.target > 0 && random.uniform() < 0.5;
    job->round.planned = job->promise.given ? job->round.target : 0;
  }
}

TEST(ElasticLayout, PromisedNumbersAreAlwaysPlacedAndNoDeviceIsHeldTwice) {
  int promised = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    Random random(seed);
    Layout scene(static_cast<int>(random.between(1, 6)), 8);
    change_all(scene, random);
    scene.lay_out();
    std::vector<std::uint64_t> taken(6);
    for (const ElasticJob* job : scene.jobs()) {
      const Devices devices = scene.after(*job);
      ASSERT_EQ(gpu_count(devices),
                (*job->curve)[scene.is_without(*job) ? 0 : job->round.target].gpus)
          << "seed " << seed;
      if (job->round.planned > 0) {
        ASSERT_EQ(job->round.target, job->round.planned) << "seed " << seed;
        ASSERT_FALSE(scene.is_without(*job)) << "seed " << seed;
        ++promised;
      }
      for (const NodeShare& share : devices) {
        ASSERT_EQ(taken[index(share.node)] & share.gpus, 0U) << "seed " << seed;
        taken[index(share.node)] |= share.gpus;
      }
    }
  }
  EXPECT_GT(promised, 300);
}

}  // namespace
}  // namespace orrery
