#include <gtest/gtest.h>

#include "train/test_run.h"

namespace orrery {
namespace {

Outcome run_ring(const std::string& folder, const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {"--arch", "allreduce", "--patience", "5"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_in(folder, arguments);
}

TEST(Ring, ComesToTheSameBitsInEveryRunAndStaysEqualEverywhere) {
  const TestFolder one, two;
  const std::vector<std::string> with = {"--steps", "200",        "--checkpoint-every",
                                         "640",     "--momentum", "0.9"};
  // A checkpoint at which copies differed would have ended the run.
  const Outcome first = run_ring(one.run(), with);
  ASSERT_EQ(first.run.exit_code, 0) << first.run.errors;
  ASSERT_EQ(run_ring(two.run(), with).run.exit_code, 0);
  EXPECT_EQ(first.summary["updates"], 50);
  EXPECT_GE(first.summary["checkpoints"], 4);
  EXPECT_EQ(last_checkpoint(one.run()).parameters, last_checkpoint(two.run()).parameters);
}

TEST(Ring, ResumesWithTheSameBits) {
  const TestFolder whole, halves;
  ASSERT_EQ(run_ring(whole.run(), {"--steps", "80", "--optimizer", "adam"}).run.exit_code, 0);
  ASSERT_EQ(run_ring(halves.run(), {"--steps", "40", "--optimizer", "adam"}).run.exit_code, 0);
  const TestRun rest =
      train({"run", "--resume", halves.run(), "--steps", "80", "--quiet"}, halves.run());
  ASSERT_EQ(rest.exit_code, 0) << rest.errors;
  EXPECT_EQ(last_checkpoint(whole.run()).parameters, last_checkpoint(halves.run()).parameters);
  EXPECT_EQ(last_checkpoint(whole.run()).optimizer_state,
            last_checkpoint(halves.run()).optimizer_state);
}

class EveryRing : public testing::TestWithParam<const char*> {};

TEST_P(EveryRing, GoesOnWhenAWorkerIsKilled) {
  const TestFolder folder;
  const Outcome outcome = run_ring(folder.run(), {"--mode", GetParam(), "--data", "line:die@1500",
                                                  "--steps", "400", "--checkpoint-every", "640"});
  ASSERT_EQ(outcome.run.exit_code, 0) << outcome.run.errors;
  EXPECT_EQ(outcome.summary["deaths"], 1) << outcome.run.errors;
  EXPECT_EQ(outcome.summary["workers"], 3);
  EXPECT_EQ(outcome.summary["restarts"], 0);
  EXPECT_GE(last_checkpoint(folder.run()).conductor.samples_done, 400 / 4 * 64);
}

INSTANTIATE_TEST_SUITE_P(Ring, EveryRing, testing::Values("ssgd", "ring-3", "ring-2", "star"));

TEST(Ring, AReplacementGetsTheParametersOfTheOthers) {
  const TestFolder folder;
  const Outcome outcome =
      run_ring(folder.run(), {"--data", "line:die@1500", "--steps", "4000", "--replace",
                              "--checkpoint-every", "6400", "--optimizer", "adam"});
  ASSERT_EQ(outcome.run.exit_code, 0) << outcome.run.errors;
  EXPECT_EQ(outcome.summary["deaths"], 1);
  EXPECT_EQ(outcome.summary["workers"], 4);
}

TEST(Ring, AWorkerThatIsAskedToGoesAndNothingIsLost) {
  const TestFolder folder;
  const Outcome outcome = run_ring(folder.run(), {"--data", "line:term@1500", "--steps", "400"});
  ASSERT_EQ(outcome.run.exit_code, 0) << outcome.run.errors;
  EXPECT_EQ(outcome.summary["deaths"], 0);
  EXPECT_EQ(outcome.summary["lost"], 0);
  EXPECT_EQ(outcome.summary["workers"], 3);
}

}  // namespace
}  // namespace orrery
