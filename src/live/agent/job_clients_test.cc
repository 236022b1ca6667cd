// Both helpers against the agent's real sockets: the C++ one in this process, the Python one in
// jobs that are started and stopped as the agent does it.
#include <gtest/gtest.h>
#include <orrery_job.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <thread>

#include "live/agent/test_sockets.h"
#include "live/api/stop_agreement.h"

namespace orrery {
namespace {

using Kind = JobWord::Kind;

class JobClient : public testing::Test {
 protected:
  void SetUp() override {
    for (const auto& [name, value] : job_environment(launch_)) {
      if (name.rfind("ORRERY_", 0) == 0) ::setenv(name.c_str(), value.c_str(), 1);
    }
  }
  void TearDown() override {
    for (const auto& [name, value] : job_environment(launch_)) {
      if (name.rfind("ORRERY_", 0) == 0) ::unsetenv(name.c_str());
    }
  }

  TestFolder folder_;
  std::optional<TestPost> post_{folder_ / "s"};
  Launch launch_ = post_->listen({.job = JobId{7},
                                  .epoch = 3,
                                  .gang = {.rank = 1, .ranks = 2},
                                  .argv = {"job"},
                                  .checkpoint_directory = "/c",
                                  .resumed = true});
  const std::string name_ = launch_name(launch_);
};

TEST_F(JobClient, KnowsWhatItWasStartedWithAndSaysHello) {
  const orrery_job::Job job;
  EXPECT_EQ(job.checkpoint_dir(), "/c");
  EXPECT_TRUE(job.resumed());
  EXPECT_EQ(job.rank(), 1);
  EXPECT_EQ(job.ranks(), 2);
  EXPECT_EQ(job.epoch(), 3);
  ASSERT_TRUE(post_->until_said(Kind::Hello, name_));
  EXPECT_TRUE(post_->until([&] { return job.connected(); }));
}

TEST_F(JobClient, ProgressCheckpointsAndGoodbyeArrive) {
  orrery_job::Job job;
  job.progress(5, 90, 0.25, std::nan(""));
  ASSERT_TRUE(post_->until_said(Kind::Progress, name_, 5));
  const JobWord* const word = post_->last(Kind::Progress, name_);
  EXPECT_EQ(word->of, 90);
  EXPECT_EQ(word->loss, 0.25);
  EXPECT_FALSE(word->samples.has_value());
  job.checkpointed(5);
  ASSERT_TRUE(post_->until_said(Kind::Checkpointed, name_, 5));
  job.close(true);
  job.progress(6);
  ASSERT_TRUE(post_->until_said(Kind::Bye, name_));
  EXPECT_TRUE(post_->last(Kind::Bye, name_)->finished);
  EXPECT_EQ(post_->last(Kind::Gone, name_), nullptr);
}

TEST_F(JobClient, MuchProgressBecomesLittleAndTheLastOneCounts) {
  orrery_job::Job job;
  for (int i = 1; i <= 100'000; ++i) job.progress(i);
  ASSERT_TRUE(post_->until_said(Kind::Progress, name_, 100'000));
  EXPECT_EQ(post_->last(Kind::Silenced, name_), nullptr);
}

TEST_F(JobClient, WaitsWhereItPromisedAndStopsWhereAllAgree) {
  orrery_job::Job job;
  ASSERT_FALSE(job.should_stop(10));
  ASSERT_TRUE(post_->until([&] { return job.connected(); }));
  ASSERT_TRUE(post_->sockets().say(name_, PrepareStop{}));
  ASSERT_TRUE(post_->until_said(Kind::CanStopAt, name_));
  EXPECT_EQ(post_->last(Kind::CanStopAt, name_)->iteration, 11);
  std::atomic<std::int64_t> done = 10;
  std::thread trainer([&] {
    while (!job.should_stop(done)) job.progress(++done, 1000);
  });
  EXPECT_TRUE(post_->until_said(Kind::Progress, name_, 11));
  EXPECT_EQ(done, 11);
  post_->sockets().say(name_, StopAt{.iteration = 14, .reason = StopReason::Drain});
  trainer.join();
  EXPECT_EQ(done, 14);
  EXPECT_TRUE(job.stopping());
  EXPECT_EQ(job.stop_reason(), "drain");
}

TEST_F(JobClient, PromisesTheNextPlaceWhereItCanStop) {
  orrery_job::Job job({.every = 100});
  ASSERT_FALSE(job.should_stop(200));
  job.progress(217);
  post_->sockets().say(name_, PrepareStop{});
  ASSERT_TRUE(post_->until_said(Kind::CanStopAt, name_));
  EXPECT_EQ(post_->last(Kind::CanStopAt, name_)->iteration, 300);
}

TEST_F(JobClient, DoesNotWaitForEver) {
  orrery_job::Job job({.hold = std::chrono::milliseconds(10)});
  ASSERT_FALSE(job.should_stop(1));
  post_->sockets().say(name_, PrepareStop{});
  ASSERT_TRUE(post_->until_said(Kind::CanStopAt, name_));
  EXPECT_FALSE(job.should_stop(2));
  EXPECT_FALSE(job.should_stop(3));
  post_->sockets().say(name_, PrepareStop{});
  ASSERT_TRUE(post_->until_said(Kind::CanStopAt, name_, 4));
}

TEST_F(JobClient, FindsTheAgentThatTakesOverAndSaysWhatStillHolds) {
  orrery_job::Job job;
  job.progress(7, 9);
  ASSERT_TRUE(post_->until_said(Kind::Progress, name_, 7));
  post_.reset();
  post_.emplace(folder_ / "s");
  ASSERT_TRUE(post_->sockets().listen(launch_).ok());
  ASSERT_TRUE(post_->until_said(Kind::Progress, name_, 7));
  EXPECT_EQ(post_->words().front().kind, Kind::Hello);
  post_->sockets().say(name_, StopAt{.iteration = 8});
  EXPECT_TRUE(post_->until([&] { return job.should_stop(8); }));
}

TEST_F(JobClient, AClientThatIsReplacedDoesNotComeBack) {
  orrery_job::Job first;
  ASSERT_TRUE(post_->until([&] { return first.connected(); }));
  orrery_job::Job second;
  ASSERT_TRUE(post_->until([&] { return !first.error().empty(); }));
  EXPECT_EQ(first.error(), "another connection of this job took its place");
  EXPECT_TRUE(post_->until([&] { return second.connected(); }));
  EXPECT_FALSE(first.should_stop(1));
}

TEST_F(JobClient, HearsOfAResize) {
  orrery_job::Job job;
  std::atomic<int> gpus = 0;
  job.on_resize([&](int count, int) { gpus = count; });
  post_->sockets().say(name_, ResizeNotice{.gpus = 4, .ranks = 2});
  EXPECT_TRUE(post_->until([&] { return gpus == 4; }));
  std::atomic<int> late = 0;
  job.on_resize([&](int count, int) { late = count; });
  EXPECT_EQ(late, 4);
}

TEST_F(JobClient, IsSilentInAForkedChild) {
  orrery_job::Job job;
  ASSERT_TRUE(post_->until([&] { return job.connected(); }));
  const pid_t child = ::fork();
  if (child == 0) {
    job.progress(99);
    ::_exit(job.should_stop(99) ? 1 : 0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  job.progress(1);
  ASSERT_TRUE(post_->until_said(Kind::Progress, name_));
  EXPECT_EQ(post_->last(Kind::Progress, name_)->iteration, 1);
}

TEST_F(JobClient, WithoutAnAgentNothingFails) {
  post_.reset();
  orrery_job::Job job;
  for (int done = 0; done < 3; ++done) {
    EXPECT_FALSE(job.should_stop(done));
    job.progress(done + 1, 3);
  }
  EXPECT_FALSE(job.connected());
  job.close(true);
}

TEST(JobClientAlone, OutsideOrreryAProgramRunsUnchanged) {
  orrery_job::Job job;
  EXPECT_FALSE(job.should_stop(3));
  job.progress(4, 5);
  job.checkpointed(4);
  EXPECT_FALSE(job.connected() || job.stopping() || job.resumed());
  EXPECT_EQ(job.checkpoint_dir(), "");
  job.close(true);
}

TEST(JobClientMembers, PassesOverWhatItDoesNotKnow) {
  orrery_job::detail::Members members;
  std::int64_t number = 0;
  ASSERT_TRUE(members.read(
      " {\"a\" : [1,{\"x\":\"]}\"}], \"kind\":\"s\\u0041\\u00e9\\n\\\"\", \"n\": -7,\"t\":true}"));
  EXPECT_EQ(members.text("kind"), "sA\xC3\xA9\n\"");
  ASSERT_TRUE(members.number("n", number));
  EXPECT_EQ(number, -7);
  EXPECT_EQ(members.text("t"), "true");
  EXPECT_FALSE(members.number("kind", number));
  EXPECT_FALSE(members.number("none", number));
  for (const char* const bad : {"", "[]", "{", "{\"a\"}", "{\"a\":}", "{\"a\":1", "{\"a\":\"b}",
                                "{\"a\":[1}", "{\"a\":\"\\q\"}", "{\"a\":\"\\u12\"}"}) {
    EXPECT_FALSE(members.read(bad)) << bad;
  }
  EXPECT_TRUE(members.read("{}"));
}

const std::string kCounter = std::string(ORRERY_SOURCE) + "/examples/counter.py";

// Two ranks of it as jobs of this agent.
class Counters : public testing::Test {
 protected:
  Launch launch(int epoch, int rank, int to, const char* step) {
    return post_.listen(
        {.job = JobId{7},
         .epoch = epoch,
         .gang = {.rank = rank, .ranks = 2},
         .argv = {ORRERY_PYTHON, "-B", kCounter, std::to_string(to), "--step", step},
         .output = folder_ / ("log." + std::to_string(rank)),
         .checkpoint_directory = folder_.path(),
         .resumed = epoch > 1});
  }
  std::string count(int rank) { return read_word(folder_ / ("count." + std::to_string(rank))); }

  TestFolder folder_;
  TestPost post_{folder_ / "s"};
  LocalJobs jobs_ = open_jobs(folder_ / "state");
};

TEST_F(Counters, StopAtTheSameCountAndGoOnFromThere) {
  // One is faster than the other: nothing but the agreement keeps them together.
  const std::vector<Launch> launches = {launch(1, 0, 1'000'000, "0.002"),
                                        launch(1, 1, 1'000'000, "0.006")};
  std::vector<JobProcess> running;
  for (const Launch& one : launches) running.push_back(start(jobs_, one));
  for (const Launch& one : launches) {
    ASSERT_TRUE(post_.until_said(Kind::Progress, launch_name(one), 5));
  }
  StopAgreement stop(2, Time(boot_time()));
  for (const Launch& one : launches) post_.sockets().say(launch_name(one), PrepareStop{});
  ASSERT_TRUE(post_.until([&] {
    for (const JobWord& word : post_.words()) {
      if (word.kind == Kind::CanStopAt) stop.answer(word.rank, word.iteration);
    }
    return stop.look(Time(boot_time())) != StopAgreement::State::Asking;
  }));
  ASSERT_EQ(stop.look(Time(boot_time())), StopAgreement::State::Agreed);
  const std::string agreed = std::to_string(stop.iteration());
  for (const Launch& one : launches) {
    post_.sockets().say(launch_name(one), StopAt{.iteration = stop.iteration()});
  }
  for (const Launch& one : launches) {
    ASSERT_TRUE(post_.until_said(Kind::Bye, launch_name(one)));
    EXPECT_FALSE(post_.last(Kind::Bye, launch_name(one))->finished);
    EXPECT_EQ(post_.last(Kind::Checkpointed, launch_name(one))->iteration, stop.iteration());
  }
  for (int rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(untimed(end_of(running[static_cast<std::size_t>(rank)])),
              (JobEnd{.kind = JobEnd::Kind::Exited, .exit_code = 0}));
    EXPECT_EQ(count(rank), agreed);
  }
  const Launch again = launch(2, 1, static_cast<int>(stop.iteration()) + 3, "0.001");
  const JobProcess resumed = start(jobs_, again);
  ASSERT_TRUE(post_.until_said(Kind::Bye, launch_name(again)));
  EXPECT_TRUE(post_.last(Kind::Bye, launch_name(again))->finished);
  EXPECT_EQ(end_of(resumed).exit_code, 0);
  EXPECT_EQ(count(1), std::to_string(stop.iteration() + 3));
  EXPECT_NE(read_word(folder_ / "log.1").find("counting from " + agreed), std::string::npos);
}

TEST_F(Counters, KeepACheckpointWhenOnlyASignalIsLeft) {
  const Launch one = launch(1, 0, 1'000'000, "0.001");
  const JobProcess job = start(jobs_, one);
  ASSERT_TRUE(post_.until_said(Kind::Progress, launch_name(one), 5));
  ASSERT_TRUE(job.stop(std::chrono::seconds(30)).ok());
  const JobEnd end = end_of(job);
  EXPECT_EQ(end.kind, JobEnd::Kind::Stopped);
  EXPECT_EQ(end.exit_code, 143);
  ASSERT_TRUE(post_.until_said(Kind::Bye, launch_name(one)));
  EXPECT_EQ(std::to_string(post_.last(Kind::Checkpointed, launch_name(one))->iteration), count(0));
}

}  // namespace
}  // namespace orrery
