#include "training/mode_selection/star/star.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "training/mode_selection/scoring/score.h"
#include "training/mode_selection/test_star.h"

namespace orrery {
namespace {

TEST(Star, StaysInSsgdWhileNoWorkerStraggles) {
  for (const double jitter : {0.0, 0.03, 0.15}) {
    StarWorld run = under_star({.jitter = jitter}, none_slow);
    run.world->run_for(120);
    EXPECT_TRUE(run.star->notes().empty()) << jitter;
    EXPECT_EQ(run.world->mode(), "ssgd");
  }
}

TEST(Star, OneLongIterationIsNoReasonToSwitch) {
  const auto outlier = [](int worker, double, std::int64_t task) {
    return Slowness{.compute = worker == 2 && task % 50 == 30 ? 10.0 : 1.0};
  };
  StarWorld run = under_star({}, outlier);
  run.world->run_for(120);
  EXPECT_TRUE(run.star->notes().empty());
}

struct Case {
  std::string name;
  Pattern pattern;
  double of_ssgd_most;  // time to the target, over SSGD's
};

class StarAgainstFixedModes : public testing::TestWithParam<Architecture> {};

TEST_P(StarAgainstFixedModes, IsNearTheBestInEveryPattern) {
  const bool ring = GetParam() == Architecture::AllReduce;
  const std::vector<std::string> rivals =
      ring ? std::vector<std::string>{"ssgd", "ring-7", "ring-6", "dynamic", "lb-bsp"}
           : std::vector<std::string>{"ssgd",   "asgd",    "static-7", "static-6", "static-4",
                                      "lb-bsp", "dynamic", "lgc",      "ssp-4"};
  for (const Case& one : {Case{"none", none_slow, 1.01}, Case{"slow cpu", slow_cpu, 0.5},
                          Case{"slow link", slow_link, 0.5}, Case{"on and off", on_and_off, 0.75},
                          Case{"wandering", wandering, 0.6}}) {
    for (const std::uint64_t seed : {1u, 2u}) {
      const WorldOptions options{
          .architecture = GetParam(), .target_loss = 0.2, .blocks = 4, .seed = seed};
      StarWorld run = under_star(options, one.pattern);
      const double star_s = run.world->run();
      double best_s = 1e9;
      std::string best;
      for (const std::string& name : rivals) {
        const double its_s = time_under(name, options, one.pattern);
        if (its_s < best_s) std::tie(best_s, best) = std::tuple(its_s, name);
        if (name == "ssgd") {
          EXPECT_LT(star_s, one.of_ssgd_most * its_s) << one.name;
        }
      }
      EXPECT_LT(star_s, 1.1 * best_s) << one.name << ": " << best << " is better, seed " << seed;
    }
  }
}

// Four rounds of such a ring would take 13 s.
TEST(Star, WhereEverythingIsSlowItDoesNotWaitForMuch) {
  for (const auto architecture : {Architecture::AllReduce, Architecture::ParameterServers}) {
    StarWorld run =
        under_star({.architecture = architecture}, [](int worker, double, std::int64_t) {
          return Slowness{.compute = worker == 3 ? 30.0 : 1.0};
        });
    run.world->run_for(11);
    EXPECT_EQ(run.star->notes().size(), 1u) << run.world->mode();
  }
}

// Every round that makes sure of it waits for the slow one.
TEST(Star, APlainlySlowWorkerIsFoundWithinTwoRounds) {
  for (const auto architecture : {Architecture::ParameterServers, Architecture::AllReduce}) {
    for (const double jitter : {0.03, 0.15}) {
      WorldOptions options{.architecture = architecture, .jitter = jitter};
      if (architecture == Architecture::AllReduce) options.way_s = options.message_s = 0.001;
      StarWorld run = under_star(options, slow_cpu);
      run.world->run_for(1.9);
      ASSERT_EQ(run.star->notes().size(), 1u) << jitter;
      const double rounds = 2.8;
      const double round_s = 0.01 + 32 * 0.003 * 4;
      EXPECT_LT(seconds(run.star->notes()[0].at), rounds * round_s) << jitter;
    }
  }
}

// It never hands in again, from its first task on or in the middle of the run.
TEST(Star, AWorkerThatHangsIsNotWaitedFor) {
  for (const int last_task : {0, 100}) {
    StarWorld run = under_star({}, [last_task](int worker, double, std::int64_t task) {
      return Slowness{.compute = worker == 3 && task > last_task ? 1e6 : 1.0};
    });
    run.world->run_for(60);
    EXPECT_NE(run.world->mode(), "ssgd");
    const auto before = run.world->conductor().counts();
    run.world->run_for(60);
    const auto after = run.world->conductor().counts();
    // Seven at full speed; SSGD would have none.
    EXPECT_GT(after.gradients - before.gradients, 0.8 * 7 * 60 / 0.106) << last_task;
    EXPECT_EQ(after.mode_switches, before.mode_switches) << last_task;
  }
}

// A pause that ends is over.
TEST(Star, AWorkerThatHungForAWhileIsWaitedForAgain) {
  bool paused = false;
  StarWorld run = under_star({}, [&paused](int worker, double now_s, std::int64_t) {
    const bool pauses =
        worker == 3 && now_s > 10 && !std::exchange(paused, worker == 3 && now_s > 10);
    return Slowness{.compute = pauses ? 100.0 : 1.0};
  });
  run.world->run_for(15);
  EXPECT_NE(run.world->mode(), "ssgd");
  run.world->run_for(25);
  EXPECT_EQ(run.world->mode(), "ssgd");
}

INSTANTIATE_TEST_SUITE_P(BothWays, StarAgainstFixedModes,
                         testing::Values(Architecture::ParameterServers, Architecture::AllReduce));

TEST(Star, ReturnsToSsgdWhenTheStragglerHasRecovered) {
  StarWorld run = under_star({}, [](int worker, double now_s, std::int64_t) {
    return Slowness{.compute = worker == 3 && now_s < 30 ? 4.0 : 1.0};
  });
  run.world->run_for(25);
  EXPECT_EQ(run.world->mode(), "lb-bsp");
  run.world->run_for(15);
  EXPECT_EQ(run.world->mode(), "ssgd");
  ASSERT_EQ(run.star->notes().size(), 2u);
  EXPECT_EQ(run.star->notes()[1].reason, "no worker straggles");
}

TEST(Star, NeverSwitchesFasterThanItMayStay) {
  // In and out of trouble every three seconds.
  const StarOptions options{.stay_least = std::chrono::seconds(5)};
  StarWorld run = under_star(
      {},
      [](int worker, double now_s, std::int64_t) {
        return Slowness{.compute = worker == 3 && std::fmod(now_s, 6) < 3 ? 4.0 : 1.0};
      },
      options);
  run.world->run_for(120);
  const auto notes = run.star->notes();
  for (std::size_t i = 1; i < notes.size(); ++i) {
    EXPECT_GE(seconds(notes[i].at - notes[i - 1].at), 5);
  }
}

TEST(Star, NotesWhyAndWithWhichScores) {
  StarWorld run = under_star({}, slow_cpu);
  run.world->run_for(20);
  ASSERT_FALSE(run.star->notes().empty());
  const ModeSwitch& note = run.star->notes()[0];
  EXPECT_EQ(note.from, "ssgd");
  EXPECT_EQ(note.to, "lb-bsp");
  EXPECT_EQ(note.reason, "least time for the same progress");
  ASSERT_EQ(note.scores.size(), 7u) << "five, SSGD and the present one";
  EXPECT_EQ(note.scores[0].mode, "lb-bsp");
  EXPECT_EQ(note.scores[5].mode, "ssgd");
  EXPECT_LT(note.scores[0].time_s, 0.85 * note.scores[5].time_s);
}

TEST(Star, TheSameRunGivesTheSameNotes) {
  std::vector<std::string> first;
  for (int repeat = 0; repeat < 2; ++repeat) {
    StarWorld run = under_star({.seed = 5}, wandering);
    run.world->run_for(60);
    std::vector<std::string> notes;
    for (const ModeSwitch& note : run.star->notes()) {
      notes.push_back(std::to_string(note.at.time_since_epoch().count()) + note.to);
    }
    if (repeat == 0) first = notes;
    EXPECT_EQ(notes, first);
    EXPECT_FALSE(notes.empty());
  }
}

// Stale gradients do harm here, so that every looser mode makes the loss rise.
TEST(Star, GoesBackWhenTheLossRisesAndKeepsAwayForLongerEachTime) {
  // A link cannot be met by smaller batches, so STAR must try stale modes.
  for (const double harm : {20.0, 100.0}) {
    const WorldOptions world{.lambda = -harm, .progress = 0.005, .loss_noise = 0.05};
    StarWorld run = under_star(world, [](int worker, double now_s, std::int64_t) {
      return Slowness{.link = worker == 3 && now_s > 20 ? 30.0 : 1.0};
    });
    run.world->run_for(300);
    std::map<std::string, std::vector<double>> rose_in;  // when
    int rises = 0;
    for (const ModeSwitch& note : run.star->notes()) {
      const auto known = rose_in.find(note.to);
      if (known != rose_in.end()) {
        const double away_least = 30 * std::exp2(static_cast<double>(known->second.size()) - 1);
        EXPECT_GE(seconds(note.at) - known->second.back(), away_least) << note.to;
      }
      if (note.reason != "the loss rose") continue;
      ++rises;
      rose_in[note.from].push_back(seconds(note.at));
      EXPECT_EQ(note.to, "ssgd");
      EXPECT_NE(note.from, "lb-bsp") << "which is not stale, and not to blame";
    }
    EXPECT_GE(rises, 1);
    EXPECT_LE(rises, 8);
    // Where a gradient undoes what a hundred bring, it is too late before a rise differs from
    // those that SSGD has.
    if (harm < 100) {
      EXPECT_LT(run.world->loss(), 1) << "training goes on";
    }
  }
}

class Refuses final : public ModeGrant {
 public:
  explicit Refuses(bool all) : all_(all) {}
  GrantAnswer may(const GrantRequest& request) override {
    ++asked;
    EXPECT_GT(request.rate_ratio, 1);
    EXPECT_GT(request.time_saved, 0.1);
    return all_ ? GrantAnswer::No : GrantAnswer::Yes;
  }
  void given_back(Time) override { ++back; }
  int asked = 0, back = 0;

 private:
  bool all_;
};

TEST(Star, StaysInSsgdWhereALooserModeIsNotGranted) {
  const auto grant = std::make_shared<Refuses>(true);
  StarWorld run = under_star({}, slow_cpu, {}, grant);
  run.world->run_for(60);
  EXPECT_EQ(run.world->mode(), "ssgd");
  EXPECT_GT(grant->asked, 0);
  EXPECT_LE(grant->asked, 3 * 7) << "a refusal holds for a while";
}

TEST(Star, SaysWhenItHasGivenTheGrantBack) {
  const auto grant = std::make_shared<Refuses>(false);
  StarWorld run = under_star(
      {},
      [](int worker, double now_s, std::int64_t) {
        return Slowness{.compute = worker == 3 && now_s < 20 ? 4.0 : 1.0};
      },
      {}, grant);
  run.world->run_for(15);
  EXPECT_EQ(grant->asked, 1);
  EXPECT_EQ(grant->back, 0);
  run.world->run_for(20);
  EXPECT_EQ(grant->back, 1);
}

// Says yes to a mode when it is asked for it a second time.
class AnswersLater final : public ModeGrant {
 public:
  GrantAnswer may(const GrantRequest& request) override {
    ++asked;
    if (wanted_ && same_family(*wanted_, request.mode)) return GrantAnswer::Yes;
    wanted_ = request.mode;
    return GrantAnswer::Later;
  }
  void given_back(Time) override {}
  int asked = 0;

 private:
  std::optional<Mode> wanted_{};
};

TEST(Star, AsksAgainForTheSameModeWhereTheAnswerComesLater) {
  const auto grant = std::make_shared<AnswersLater>();
  StarWorld run = under_star({}, slow_cpu, {}, grant);
  run.world->run_for(15);
  EXPECT_EQ(grant->asked, 2);
  EXPECT_NE(run.world->mode(), "ssgd");
}

TEST(Star, NearTheEndItIsNotStale) {
  // Worth so little staleness that only the end can forbid it.
  StarOptions options{.samples_limit = 256 * 1500, .end_part = 0.4};
  options.staleness.prior = 0.0005;
  options.staleness_harmless = 0.1;
  options.staleness.prior_factor = 1.01;
  StarWorld run = under_star({.lambda = 0.0005}, slow_link, options);
  run.world->run_for(60);
  const auto before = run.world->conductor().counts().staleness_sum;
  EXPECT_GT(before, 0);
  run.world->run_for(400);
  ASSERT_TRUE(std::ranges::any_of(run.star->notes(), [](const ModeSwitch& note) {
    return note.reason == "near the end: less stale";
  }));
  const auto after = run.world->conductor().counts().staleness_sum;
  run.world->run_for(60);
  EXPECT_EQ(run.world->conductor().counts().staleness_sum, after);
}

TEST(Star, AWorkerThatLeftIsNotWaitedForNorNamed) {
  StarWorld run = under_star({}, slow_cpu);
  run.world->run_for(15);
  EXPECT_EQ(run.world->mode(), "lb-bsp");
  run.world->leave(3);
  run.world->run_for(0.5);
  for (const auto& [worker, share] : run.world->conductor().mode().shares) {
    EXPECT_NE(worker, WorkerId(3));
  }
  run.world->run_for(20);
  EXPECT_EQ(mode_name(run.world->conductor().mode(), 7), "ssgd");
}

// Predicts the wandering exactly.
class Oracle final : public IterationPredictor {
 public:
  std::string_view name() const override { return "oracle"; }
  std::vector<double> predict(const IterationHistory& history, int horizon) override {
    const IterationSample& last = history.samples.back();
    std::vector<double> next;
    for (int h = 1; h <= horizon; ++h) {
      const double at = seconds(last.at) + 0.13 * h;
      const double slow = wandering(static_cast<int>(history.worker), at, 0).compute;
      next.push_back(0.01 / last.samples + 0.003 * slow);
    }
    return next;
  }
};

TEST(Star, APredictorThatPlugsInIsUsedOnceItIsBetter) {
  std::vector<std::unique_ptr<IterationPredictor>> predictors;
  predictors.push_back(std::make_unique<Oracle>());
  StarWorld run = under_star({}, wandering, {}, nullptr, std::move(predictors));
  run.world->run_for(60);
  const auto standings = run.star->predictors();
  ASSERT_EQ(standings.size(), 4u);
  EXPECT_EQ(std::ranges::min_element(standings, {}, &RaceStanding::error)->name, "oracle");
}

TEST(Star, LogsWindowsForTheLearnedSelector) {
  StarWorld run = under_star({.progress = 0.001}, on_and_off);
  run.world->run_for(100);
  const auto windows = run.star->take_windows();
  ASSERT_GT(windows.size(), 10u);
  bool shared = false, plain = false;
  for (const SelectorSample& window : windows) {
    shared = shared || window.features.unequal_shares == 1;
    plain = plain || window.features.unequal_shares == 0;
    EXPECT_GT(window.features.gradients_ratio, 0.5);
    EXPECT_TRUE(is_finite(window));
    EXPECT_GT(window.ssgd_batch_s, 0);
  }
  EXPECT_TRUE(shared && plain);
  EXPECT_TRUE(run.star->take_windows().empty()) << "each is given once";
}

// Believes in one rule, and predicts nothing wrong.
class Believer final : public ModeRegression {
 public:
  Status fit(std::span<const SelectorSample>) override { return {}; }
  double predict(const ModeFeatures& f) const override { return f.kind == 4 ? 1 : 0; }
};

TEST(Star, WithExperienceTheSelectorDecidesFromTheFirstSwitchOn) {
  StarOptions options;
  options.selector.explore = 0;
  auto& earlier = options.experience.emplace_back();
  for (int i = 0; i < 900; ++i) {  // every rule with every x and staleness
    const double kind = i % 5, x_share = 0.1 + 0.2 * (i / 5 % 5), staleness = i / 25 % 6 * 2;
    earlier.push_back({.features = {.kind = kind,
                                    .x_share = x_share,
                                    .gradients_ratio = 1,
                                    .staleness = staleness},
                       .loss_drop = kind == 4 ? 1.0 : 0.0});
  }
  auto made = make_star_director(options, {}, std::make_unique<Believer>());
  StarDirector* const star = made.get();
  EXPECT_TRUE(star->selector().trusted());
  TestWorld world({}, slow_cpu, std::move(made));
  world.run_for(20);
  ASSERT_FALSE(star->notes().empty());
  EXPECT_TRUE(star->notes().front().to.starts_with("ssp")) << star->notes().front().to;
  EXPECT_TRUE(star->notes().front().reason.starts_with("the selector"));
}

}  // namespace
}  // namespace orrery
