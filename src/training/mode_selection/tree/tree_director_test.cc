#include "training/mode_selection/tree/tree_director.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/random.h"
#include "training/sync/test_director.h"

namespace orrery {
namespace {

// Workers at one parameter server, round after round: what a round takes follows from the links and
// the tree. The links are looked at every second.
struct LinkWorldOptions {
  int workers = 8;
  double link = 20, server = 20;  // bytes a second, each way
  double gradient = 1, parameters = 1;
  double compute_s = 0.1;
  double serve_s = 0;  // what each child costs its parent
  bool alternates = true;
};

class LinkWorld {
 public:
  explicit LinkWorld(const LinkWorldOptions& with, Mode mode = {})
      : options(with), slow(static_cast<std::size_t>(with.workers), 1.0) {
    auto inner = std::make_unique<TestDirector>(std::move(mode));
    asked = inner.get();
    director = make_tree_director(std::move(inner));
    for (int i = 0; i < with.workers; ++i) workers.push_back(WorkerId{i});
    present = director->direct(situation());
  }

  Situation situation() const {
    return {.now = time_from_seconds(now_s),
            .workers = workers,
            .global_batch = 64,
            .samples_done = samples,
            .mode = &present};
  }
  int direct_count() const {
    return static_cast<int>(workers.size()) - static_cast<int>(present.parents.size());
  }
  double round_s() const {
    std::map<WorkerId, int> children;
    for (const auto& [child, parent] : present.parents) ++children[parent];
    double most = 0;
    for (const WorkerId worker : workers) {
      const double count = children.contains(worker) ? children[worker] : 0;
      const double own = slow[static_cast<std::size_t>(worker)] * options.compute_s;
      most = std::max(most, own + count * (options.gradient / options.link + options.serve_s));
    }
    const double up = direct_count() * options.gradient / options.server;
    const double down = static_cast<double>(workers.size()) * options.parameters / options.server;
    return options.alternates ? down + most + up : std::max({down, up, most});
  }
  void round() {
    const double took = round_s();
    now_s += took;
    const auto n = static_cast<double>(workers.size());
    in += direct_count() * options.gradient;
    out += n * options.parameters;
    ++version;
    for (const WorkerId worker : workers) {
      const bool merged = std::ranges::any_of(
          present.parents, [&](const auto& pair) { return pair.first == worker; });
      director->on_iteration(IterationSample{.worker = worker,
                                             .at = time_from_seconds(now_s),
                                             .took = from_seconds(merged ? took : own_s(worker)),
                                             .samples = 64 / static_cast<int>(n),
                                             .merged = merged});
    }
    samples += 64;
    director->on_update(
        UpdateSample{.version = version, .at = time_from_seconds(now_s), .samples = 64});
    if (now_s - looked_s >= 1) look();
    present = director->direct(situation());
  }
  double own_s(WorkerId worker) const {
    return slow[static_cast<std::size_t>(worker)] * options.compute_s + 0.1;
  }
  void look() {
    const double passed = now_s - looked_s;
    LinkLook look{.at = time_from_seconds(now_s),
                  .in = in / passed,
                  .out = out / passed,
                  .may_in = options.server,
                  .may_out = options.server,
                  .gradient_bytes = options.gradient,
                  .parameter_bytes = options.parameters};
    for (const WorkerId worker : workers) {
      look.workers.push_back({.worker = worker, .in = options.link, .out = options.link});
    }
    director->on_links(look);
    in = out = 0;
    looked_s = now_s;
  }
  void run_for(double more_s) {
    for (const double end = now_s + more_s; now_s < end;) {
      round();
      had_tree = had_tree || !present.parents.empty();
    }
  }
  bool has_tree() const { return !present.parents.empty(); }
  std::string reason() const {
    return director->notes().empty() ? "" : director->notes().back().reason;
  }

  LinkWorldOptions options;
  std::vector<double> slow;
  TestDirector* asked = nullptr;
  std::unique_ptr<TreeDirector> director{};
  std::vector<WorkerId> workers{};
  Mode present{};
  bool had_tree = false;
  double now_s = 0, looked_s = 0, in = 0, out = 0;
  std::int64_t samples = 0;
  ParameterVersion version = 0;
};

void expect_tree(const LinkWorld& world) {
  std::set<WorkerId> children, parents;
  for (const auto& [child, parent] : world.present.parents) {
    EXPECT_TRUE(children.insert(child).second) << "one parent each";
    parents.insert(parent);
    EXPECT_TRUE(std::ranges::count(world.workers, child));
    EXPECT_TRUE(std::ranges::count(world.workers, parent));
  }
  for (const WorkerId parent : parents) EXPECT_FALSE(children.contains(parent)) << "depth two";
}

TEST(TreeDirector, AnOverloadedLinkGetsATreeThatMakesItFaster) {
  LinkWorld world({});
  const double before_s = world.round_s();
  world.run_for(60);
  ASSERT_TRUE(world.has_tree());
  expect_tree(world);
  EXPECT_LT(world.round_s(), 0.9 * before_s);
  EXPECT_EQ(world.director->notes().size(), 1u) << "and stays";
  EXPECT_NE(world.reason().find("the servers' link is used at 44 % in"), std::string::npos)
      << world.reason();
}

TEST(TreeDirector, ALinkThatBearsAllGetsNone) {
  for (const bool alternates : {true, false}) {
    LinkWorld world({.server = 160, .alternates = alternates}, alternates ? Mode{} : Mode{.x = 1});
    world.run_for(120);
    EXPECT_FALSE(world.had_tree);
    EXPECT_TRUE(world.director->notes().empty());
  }
}

TEST(TreeDirector, NorDoesOneWithoutALimit) {
  LinkWorld world({.server = 20});
  for (int i = 0; i < 100; ++i) {
    world.director->on_links(LinkLook{.in = 1000, .out = 1000, .gradient_bytes = 1});
    world.present = world.director->direct(world.situation());
  }
  EXPECT_FALSE(world.has_tree());
}

TEST(TreeDirector, OneLookIsNotEnough) {
  LinkWorld world({.server = 160});
  for (int i = 0; i < 30; ++i) {
    world.run_for(3);
    world.options.server = 10;
    world.run_for(1.2);
    world.options.server = 160;
  }
  EXPECT_FALSE(world.had_tree);
}

TEST(TreeDirector, InAModeThatDoesNotWaitForAllOneDirectionAloneCounts) {
  LinkWorld up({.parameters = 0.1, .alternates = false}, {.x = 1});
  up.run_for(60);
  EXPECT_TRUE(up.has_tree());
  expect_tree(up);
  LinkWorld down({.gradient = 0.1, .alternates = false}, {.x = 1});
  down.run_for(60);
  EXPECT_FALSE(down.had_tree) << "parameters come from the server all the same";
}

TEST(TreeDirector, ItGoesWhenItIsNotNeededAnyMoreAndDoesNotFlap) {
  LinkWorld world({});
  world.run_for(60);
  ASSERT_TRUE(world.has_tree());
  world.options.compute_s = 4;
  world.run_for(120);
  EXPECT_FALSE(world.has_tree());
  EXPECT_NE(world.reason().find("would be used at"), std::string::npos) << world.reason();
  world.run_for(500);
  EXPECT_EQ(world.director->notes().size(), 2u);
}

TEST(TreeDirector, BetweenBothLimitsNothingChanges) {
  // 0.8 s of 1.5 s: less than 0.6 and more than 0.78 of it.
  LinkWorld calm({.compute_s = 0.7});
  calm.run_for(200);
  EXPECT_FALSE(calm.had_tree);
  LinkWorld busy({});
  busy.run_for(60);
  ASSERT_TRUE(busy.has_tree());
  busy.options.compute_s = 0.8;
  busy.run_for(200);
  EXPECT_TRUE(busy.has_tree());
}

TEST(TreeDirector, ATreeThatDoesNotHelpIsGivenUpForAWhileAndThenForLonger) {
  LinkWorld world({.serve_s = 0.3});
  std::vector<double> tried;
  bool before = false;
  while (world.now_s < 400) {
    world.round();
    if (world.has_tree() && !before) tried.push_back(world.now_s);
    before = world.has_tree();
  }
  ASSERT_GE(tried.size(), 3u);
  EXPECT_LE(tried.size(), 5u);
  EXPECT_FALSE(world.has_tree());
  EXPECT_GT(tried[1] - tried[0], 30);
  EXPECT_GT(tried[2] - tried[1], 60);
  EXPECT_NE(world.reason().find("samples a second with a tree"), std::string::npos);
}

TEST(TreeDirector, ATreeIsReplannedWhenAWorkerJoinsOrLeaves) {
  LinkWorld world({});
  world.run_for(60);
  ASSERT_TRUE(world.has_tree());
  const WorkerId parent = world.present.parents.front().second;
  std::erase(world.workers, parent);
  world.present = world.director->direct(world.situation());
  expect_tree(world);
  world.run_for(5);
  ASSERT_TRUE(world.has_tree());
  expect_tree(world);
  world.workers.push_back(WorkerId{8});
  world.slow.push_back(1);
  world.run_for(5);
  ASSERT_TRUE(world.has_tree());
  expect_tree(world);
  EXPECT_LE(world.direct_count(), 4);
}

TEST(TreeDirector, RingsAndWhatCannotMergeAndOthersParentsAreLeftAlone) {
  const Mode ring{.rule = SyncRuleKind::Ring, .ring = {WorkerId{0}, WorkerId{1}}};
  const Mode own{.parents = {{WorkerId{1}, WorkerId{0}}}};
  for (const Mode& mode : {ring, Mode{.rule = SyncRuleKind::Lgc, .x = 6}, own}) {
    LinkWorld world({}, mode);
    world.run_for(60);
    EXPECT_EQ(world.present, mode);
    EXPECT_TRUE(world.director->notes().empty());
  }
}

TEST(TreeDirector, AnotherRuleEndsItAndSharesDoNot) {
  LinkWorld world({});
  world.run_for(60);
  ASSERT_TRUE(world.has_tree());
  world.asked->says.shares = {{WorkerId{0}, 0.1}};
  world.run_for(10);
  EXPECT_TRUE(world.has_tree());
  EXPECT_EQ(world.present.shares.size(), 1u);
  world.asked->says = {.rule = SyncRuleKind::Lgc, .x = 6};
  world.round();
  EXPECT_EQ(world.present, world.asked->says);
}

TEST(TreeDirector, TheOtherDirectorDoesNotSeeTheTree) {
  class Sees final : public Director {
   public:
    Mode direct(const Situation& situation) override {
      EXPECT_TRUE(situation.mode->parents.empty());
      return *situation.mode;
    }
  };
  auto director = make_tree_director(std::make_unique<Sees>());
  const std::vector<WorkerId> two = {WorkerId{0}, WorkerId{1}};
  const Mode left_over{.parents = {{WorkerId{1}, WorkerId{0}}}};
  EXPECT_EQ(director->direct({.workers = two, .global_batch = 8, .mode = &left_over}), Mode{});
}

TEST(TreeDirector, AStragglerIsAChild) {
  LinkWorld world({.server = 10});
  world.slow[3] = 2.5;
  world.slow[5] = 2.5;
  world.run_for(60);
  ASSERT_TRUE(world.has_tree());
  for (const auto& [child, parent] : world.present.parents) {
    EXPECT_NE(parent, WorkerId{3});
    EXPECT_NE(parent, WorkerId{5});
  }
  const WorkerId parent = world.present.parents.front().second;
  world.slow[static_cast<std::size_t>(parent)] = 10;
  world.run_for(10);
  for (const auto& [child, its_parent] : world.present.parents) EXPECT_NE(its_parent, parent);
}

TEST(TreeDirector, WaitingForAParentIsNotTakenForStraggling) {
  LinkWorld world({});
  world.run_for(60);
  ASSERT_TRUE(world.has_tree());
  const WorkerId child = world.present.parents.front().first;
  world.round();
  const auto& seen = world.asked->iterations;
  const auto last = std::ranges::find(seen.rbegin(), seen.rend(), child, &IterationSample::worker);
  EXPECT_TRUE(last->merged);
  EXPECT_NEAR(seconds(last->took), world.own_s(child), 1e-6);
  // One that comes by itself is what it is.
  world.director->on_iteration(IterationSample{.worker = child, .took = from_seconds(9)});
  EXPECT_EQ(world.asked->iterations.back().took, from_seconds(9));
}

TEST(TreeDirector, WhateverTheLinksTreesAreTreesAndDoNoLastingHarm) {
  Random random(11);
  int with = 0;
  for (int round = 0; round < 150; ++round) {
    const bool alternates = random.uniform() < 0.6;
    LinkWorld world({.workers = static_cast<int>(random.between(1, 12)),
                     .link = 5 + 40 * random.uniform(),
                     .server = 4 + 60 * random.uniform(),
                     .gradient = 0.2 + random.uniform(),
                     .parameters = 0.2 + random.uniform(),
                     .compute_s = 0.02 + 0.5 * random.uniform(),
                     .serve_s = random.uniform() < 0.3 ? 0.2 * random.uniform() : 0,
                     .alternates = alternates},
                    alternates ? Mode{} : Mode{.x = 1});
    const double alone_s = world.round_s();
    for (int step = 0; step < 12; ++step) {
      world.run_for(8);
      expect_tree(world);
      if (random.uniform() < 0.05 && world.workers.size() > 1) {
        world.workers.erase(world.workers.begin());
        world.run_for(40);
        break;
      }
      if (step == 11 && world.has_tree()) {
        EXPECT_LT(world.round_s(), alone_s);
      }
    }
    with += world.had_tree;
  }
  EXPECT_GT(with, 30);
}

}  // namespace
}  // namespace orrery
