#include "training/mode_selection/star/mode_decision.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace orrery {
namespace {

ScoredMode scored(const Mode& mode, double time_s, double staleness = 0) {
  return {.mode = mode,
          .pace = {.interval_s = 0.1,
                   .samples_per_s = 100 / time_s,
                   .gradients_per_s = 10 / time_s,
                   .staleness = staleness},
          .time_s = time_s};
}

class RefusesX final : public ModeGrant {
 public:
  explicit RefusesX(std::vector<int> refused) : refused_(std::move(refused)) {}
  GrantAnswer may(const GrantRequest& request) override {
    ++asked;
    return std::ranges::count(refused_, request.mode.x) > 0 ? GrantAnswer::No : GrantAnswer::Yes;
  }
  void given_back(Time) override {}
  int asked = 0;

 private:
  const std::vector<int> refused_;
};

// Eight workers with SSGD as the present mode, unless a test says otherwise.
class ModeDecisionTest : public testing::Test {
 protected:
  std::string choose(const std::vector<ScoredMode>& all, const ScoredMode& present,
                     std::shared_ptr<ModeGrant> grant = nullptr) {
    ModeDecision decision(options_, nullptr, std::move(grant));
    const auto choice = decision.choose(now_, {all, present}, evidence_, guard_);
    return choice ? mode_name(choice->mode, 8) + ": " + choice->reason : "stays";
  }

  StarOptions options_{};
  StarEvidence evidence_{options_, {}};
  LossGuard guard_{};
  Situation now_{.global_batch = 256};
  const ScoredMode ssgd_ = scored({}, 1);
};

TEST_F(ModeDecisionTest, SsgdIsLeftForAModeThatBeatsItByTheMargin) {
  EXPECT_EQ(choose({ssgd_, scored({.x = 7}, 0.86)}, ssgd_), "stays");
  EXPECT_EQ(choose({ssgd_, scored({.x = 6}, 0.84), scored({.x = 7}, 0.83)}, ssgd_),
            "static-7: tried out while no worker straggles");
}

TEST_F(ModeDecisionTest, SsgdIsReturnedToForLessThanAnotherModeNeeds) {
  const ScoredMode present = scored({.x = 7}, 1.05);
  EXPECT_EQ(choose({ssgd_, present, scored({.x = 6}, 1.02)}, present),
            "ssgd: tried out while no worker straggles");
  const ScoredMode slow_ssgd = scored({}, 2);
  EXPECT_EQ(choose({slow_ssgd, present, scored({.x = 6}, 0.96)}, present), "stays");
  EXPECT_EQ(choose({slow_ssgd, present, scored({.x = 6}, 0.94)}, present),
            "static-6: tried out while no worker straggles");
}

TEST_F(ModeDecisionTest, ARefusedModeIsFollowedByTheNextUntilThreeWereAskedFor) {
  const std::vector<ScoredMode> all{ssgd_, scored({.x = 7}, 0.1), scored({.x = 6}, 0.2),
                                    scored({.x = 5}, 0.3), scored({.x = 4}, 0.4)};
  EXPECT_EQ(choose(all, ssgd_, std::make_shared<RefusesX>(std::vector<int>{7, 6})),
            "static-5: tried out while no worker straggles");
  const auto refuses = std::make_shared<RefusesX>(std::vector<int>{7, 6, 5});
  EXPECT_EQ(choose(all, ssgd_, refuses), "stays");
  EXPECT_EQ(refuses->asked, 3);
}

TEST_F(ModeDecisionTest, NearTheEndAStaleModeIsLeftWhateverItGains) {
  options_.samples_limit = 1000;
  const ScoredMode stale = scored({.x = 1}, 0.1, 7);
  now_.samples_done = 850;
  EXPECT_EQ(choose({ssgd_, stale}, stale), "stays");
  now_.samples_done = 851;
  EXPECT_EQ(choose({ssgd_, stale}, stale), "ssgd: near the end: less stale");
  EXPECT_EQ(choose({ssgd_, stale}, ssgd_), "stays");
}

TEST_F(ModeDecisionTest, AModeInWhichTheLossRoseIsNoCandidate) {
  const ScoredMode seven = scored({.x = 7}, 0.1, 0.2), six = scored({.x = 6}, 0.2, 0.1);
  guard_.keep_away(seven.mode, 0.2, now_.now);
  EXPECT_EQ(choose({ssgd_, seven, six}, ssgd_), "static-6: tried out while no worker straggles");
}

}  // namespace
}  // namespace orrery
