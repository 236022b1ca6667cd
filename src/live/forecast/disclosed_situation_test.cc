// A situation that is cut to what a user may see forecasts what the whole one does.
#include <gtest/gtest.h>

#include "base/random.h"
#include "live/forecast/test_situation.h"
#include "live/forecast/what_if.h"

namespace orrery {
namespace {

const Viewer kStranger{.caller = {.name = "zoe"}, .tenants = {"zoe"}};

JobRequest some_job(Random& random) {
  const auto user = [](std::int64_t number) { return "user" + std::to_string(number); };
  JobRequest request{.argv = {"/home/x/train.sh", "--secret=1"},
                     .environment = {{"KEY", "value"}},
                     .directory = "/home/x",
                     .user = user(random.between(0, 3)),
                     .tenant = random.between(0, 1) == 0 ? "" : "vision",
                     .gpus = static_cast<int>(random.between(1, 6)),
                     .model = random.between(0, 1) == 0 ? "" : "resnet50",
                     .expected = std::chrono::minutes(random.between(1, 300)),
                     .retries = 2,
                     .checkpoint_directory = "/home/x/checkpoints"};
  if (random.between(0, 3) == 0) request.priority = static_cast<int>(random.between(-1, 1));
  if (random.between(0, 3) == 0) request.deadline = std::chrono::hours(random.between(1, 50));
  if (random.between(0, 3) == 0) request.array = {1, 2, 5};
  if (random.between(0, 2) == 0) {
    request.gpus_min = 1;
    request.gpus_max = 8;
  }
  return request;
}

class DisclosedSituation : public testing::TestWithParam<const char*> {};

TEST_P(DisclosedSituation, ForecastsForAUserWhatTheWholeOneForecasts) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Random random(seed);
    TestSituation situation(3, GetParam());
    ASSERT_TRUE(
        situation.core().set_quota(situation.root(), {.tenant = "vision", .gpus = 4}, {}).ok());
    for (int i = 0; i < 25; ++i) {
      situation.submit(some_job(random));
      situation.pass(std::chrono::minutes(random.between(0, 20)));
    }
    const std::string cut = situation.core().snapshot(Duration::zero(), &kStranger);
    for (const char* hidden : {"/home/x", "--secret", "train.sh", "value"}) {
      EXPECT_EQ(cut.find(hidden), std::string::npos) << cut;
    }
    const WhatIfRequest question{.job = TestSituation::job(2, std::chrono::hours(1)),
                                 .nodes_more = 1};
    const auto whole = what_if_live(situation.text(), question);
    const auto seen = what_if_live(cut, question);
    ASSERT_TRUE(whole.ok()) << whole.error().message;
    ASSERT_TRUE(seen.ok()) << seen.error().message;
    EXPECT_EQ(seen.value(), whole.value()) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, DisclosedSituation,
                         testing::Values("fifo", "srtf", "las", "elasticflow", "orrery-deadline"));

}  // namespace
}  // namespace orrery
