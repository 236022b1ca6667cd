#include "training/mode_selection/star/grant_gate.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

class GivenAnswer final : public ModeGrant {
 public:
  GrantAnswer may(const GrantRequest& request) override {
    last = request;
    ++asked;
    return answer;
  }
  void given_back(Time) override { ++back; }

  GrantAnswer answer = GrantAnswer::Yes;
  GrantRequest last{};
  int asked = 0, back = 0;
};

ScoredMode scored(int x, double gradients_per_s, double time_s) {
  return {.mode = {.x = x}, .pace = {.gradients_per_s = gradients_per_s}, .time_s = time_s};
}

class GrantGateTest : public testing::Test {
 protected:
  GrantAnswer ask(const ScoredMode& wanted, double now_s) {
    return gate_.ask(wanted, ssgd_, time_from_seconds(now_s));
  }

  const std::shared_ptr<GivenAnswer> grant_ = std::make_shared<GivenAnswer>();
  GrantGate gate_{grant_, std::chrono::seconds(10)};
  const ScoredMode ssgd_ = scored(8, 20, 0.4), seven_ = scored(7, 60, 0.1), one_ = scored(1, 70, 1);
};

TEST_F(GrantGateTest, WithoutAClusterEverythingIsGranted) {
  GrantGate alone(nullptr, std::chrono::seconds(10));
  EXPECT_EQ(alone.ask(seven_, ssgd_, Time{}), GrantAnswer::Yes);
  alone.back_in_ssgd(Time{});
}

TEST_F(GrantGateTest, ARequestComparesTheModeWithSsgd) {
  EXPECT_EQ(ask(seven_, 0), GrantAnswer::Yes);
  EXPECT_DOUBLE_EQ(grant_->last.rate_ratio, 3);
  EXPECT_DOUBLE_EQ(grant_->last.time_saved, 0.75);
}

TEST_F(GrantGateTest, ARefusalHoldsForAWhileAndForThatModeAlone) {
  grant_->answer = GrantAnswer::No;
  EXPECT_EQ(ask(seven_, 0), GrantAnswer::No);
  EXPECT_EQ(ask(seven_, 9), GrantAnswer::No);
  EXPECT_EQ(grant_->asked, 1);
  ask(one_, 9);
  EXPECT_EQ(grant_->asked, 2);
  ask(seven_, 10);
  EXPECT_EQ(grant_->asked, 3);
}

TEST_F(GrantGateTest, AModeWhoseAnswerIsAwaitedIsTriedFirstOnce) {
  grant_->answer = GrantAnswer::Later;
  EXPECT_EQ(ask(one_, 0), GrantAnswer::Later);
  EXPECT_TRUE(gate_.awaits_answer());
  std::vector<const ScoredMode*> candidates{&seven_, &ssgd_, &one_};
  gate_.put_awaited_first(candidates);
  EXPECT_EQ(candidates, (std::vector<const ScoredMode*>{&one_, &seven_, &ssgd_}));
  EXPECT_FALSE(gate_.awaits_answer());
  gate_.put_awaited_first(candidates);
  EXPECT_EQ(candidates.front(), &one_);
}

TEST_F(GrantGateTest, WhatWasGrantedIsGivenBackOnce) {
  gate_.back_in_ssgd(Time{});
  EXPECT_EQ(grant_->back, 0);
  ask(seven_, 0);
  ask(one_, 1);
  gate_.back_in_ssgd(Time{});
  gate_.back_in_ssgd(Time{});
  EXPECT_EQ(grant_->back, 1);
}

}  // namespace
}  // namespace orrery
