#include <gtest/gtest.h>

#include <array>
#include <thread>

#include "training/trainer/fake_learner.h"
#include "training/trainer/run_folder/iteration_log.h"
#include "training/trainer/test_run.h"
#include "training/trainer/worker/ring_member.h"

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

// Three members that form groups at the same time, as processes do.
class Members {
 public:
  Members() : ports_(fake_ports()), meeting_(ports_.open_meeting_place("127.0.0.1").value()) {
    const PartSetup setup{.architecture = Architecture::AllReduce,
                          .optimizer = {.kind = "adam"},
                          .meeting_host = "127.0.0.1",
                          .meeting_port = meeting_->port(),
                          .ring_patience_s = 5};
    const std::vector<float> first = {1, 2, 3};
    for (auto& each : all_) {
      each = std::make_unique<RingMember>(setup, ports_, RingMember::Home{.address = "127.0.0.1"},
                                          first);
    }
  }
  RingMember& operator[](int i) { return *all_[static_cast<std::size_t>(i)]; }

  std::vector<Status> form(const std::vector<int>& ring, RingPlace place) {
    std::vector<Status> formed(ring.size());
    std::vector<std::jthread> threads;
    place.size = static_cast<std::int32_t>(ring.size());
    for (std::size_t i = 0; i < ring.size(); ++i) {
      place.rank = static_cast<std::int32_t>(i);
      threads.emplace_back(
          [this, &formed, &ring, i, place] { formed[i] = (*this)[ring[i]].form(place); });
    }
    threads.clear();
    return formed;
  }

 private:
  TrainPorts ports_;
  std::unique_ptr<MeetingPlace> meeting_;
  std::array<std::unique_ptr<RingMember>, 3> all_;
};

TEST(Ring, OneOfTheOldHandsOverToARingOfOthers) {
  Members members;
  const std::vector<float> newest = {7, 8, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  ASSERT_TRUE(members[0].store().load(newest, 40.1, 41).ok());
  for (const Status& one :
       members.form({0, 1, 2}, {.source = 0, .version = 41, .name = "1-2-over"})) {
    EXPECT_TRUE(one.ok()) << one.error().message;
  }
  for (const Status& one : members.form({1, 2}, {.source = 0, .version = 41, .name = "1-2"})) {
    EXPECT_TRUE(one.ok()) << one.error().message;
  }
  for (const int i : {1, 2}) {
    EXPECT_EQ(members[i].store().version(), 41);
    EXPECT_EQ(members[i].store().optimizer().batches(), 40.1);
    EXPECT_EQ(members[i].store().hash(), members[0].store().hash());
  }
}

TEST(Ring, AMemberWithAnOldVersionIsNotFollowed) {
  Members members;
  for (const Status& one : members.form({1, 2}, {.source = 0, .version = 41, .name = "1-2"})) {
    ASSERT_FALSE(one.ok());
    EXPECT_NE(one.error().message.find("has version 0"), std::string::npos) << one.error().message;
  }
  EXPECT_FALSE(members[1].apply({.update = {.version = 42}}).ok());
}

TEST(Ring, OfOneGoesFromMemberToMemberAndNeverRestarts) {
  const TestFolder folder;
  const Outcome outcome = run_ring(
      folder.run(), {"--mode", "ring-1", "--steps", "2000", "--checkpoint-every", "12800"});
  ASSERT_EQ(outcome.run.exit_code, 0) << outcome.run.errors;
  const auto count = [&](const char* what) { return outcome.summary[what].get<std::int64_t>(); };
  EXPECT_EQ(count("restarts"), 0) << outcome.run.errors;
  // A gradient at a parent that is none any more is counted, and only once.
  EXPECT_EQ(count("tasks"),
            count("gradients") + count("dropped") + count("spoiled") + count("lost"));
}

// While a link is not known, all members may be waiting for it.
TEST(Ring, EveryLinkIsKnownWithTheThirdGradient) {
  const TestFolder folder;
  const Outcome outcome = run_ring(folder.run(), {"--model", "wide", "--steps", "40"});
  ASSERT_EQ(outcome.run.exit_code, 0) << outcome.run.errors;
  const auto read = read_iterations(folder.run());
  ASSERT_TRUE(read.ok());
  ASSERT_EQ(read.value().size(), 4u);
  for (const IterationHistory& of : read.value()) {
    ASSERT_GE(of.samples.size(), 3u);
    EXPECT_GT(of.samples[2].usage.way_s, 0) << static_cast<int>(of.worker);
  }
}

TEST(Ring, AReplacementGetsTheParametersOfTheOthers) {
  const TestFolder folder;
  const Outcome outcome =
      run_ring(folder.run(), {"--data", "line:die@1500", "--steps", "4000", "--replace",
                              "--checkpoint-every", "6400", "--optimizer", "adam"});
  ASSERT_EQ(outcome.run.exit_code, 0) << outcome.run.errors;
  EXPECT_EQ(outcome.summary["deaths"], 1);
  EXPECT_EQ(outcome.summary["workers"], 4);
}

TEST(Ring, SumsOnGpusAsLongAsEachMemberHasOne) {
  const TestFolder none, four, five, replaced;
  EXPECT_EQ(run_ring(none.run(), {"--steps", "40"}).summary["rings_on_gpus"], 0);
  const std::vector<std::string> with = {"--device", "cuda", "--steps", "400"};
  const auto on_gpus = [&](const TestFolder& folder, const std::vector<std::string>& more) {
    std::vector<std::string> arguments = with;
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = run_ring(folder.run(), arguments);
    EXPECT_EQ(outcome.run.exit_code, 0) << outcome.run.errors;
    return outcome.summary["rings_on_gpus"].get<int>();
  };
  EXPECT_EQ(on_gpus(four, {"--workers", "4"}), 1);
  EXPECT_EQ(on_gpus(five, {"--workers", "5", "--anyway"}), 0);
  // All, those that are left, and all again: a worker in another's place has its GPU.
  EXPECT_EQ(on_gpus(replaced, {"--data", "line:die@1500", "--replace", "--steps", "4000"}), 3);
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
