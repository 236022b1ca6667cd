#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/random.h"
#include "live/agent/job_process.h"
#include "live/agent/test_jobs.h"
#include "live/job_runner/process_table.h"

extern char** environ;

namespace orrery {
namespace {

constexpr int kJobs = 12;

pid_t spawn_stand_in(const TestFolder& folder) {
  std::vector<std::string> words =
      act({"stand-in", folder / "state", folder.path(), std::to_string(kJobs)});
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
  pid_t pid = 0;
  EXPECT_EQ(::posix_spawn(&pid, argv[0], &files, nullptr, argv.data(), environ), 0);
  posix_spawn_file_actions_destroy(&files);
  return pid;
}

// Kills it at some instant of its first milliseconds: nothing it does ends the wait earlier, except
// a failure of its own, which is one of the test's.
void kill_at_random(pid_t agent, Random& random) {
  const Fd process = open_process(agent);
  pollfd waited{.fd = process.get(), .events = POLLIN, .revents = 0};
  const auto wait = random.between(0, 25'000'000);
  const timespec limit{.tv_sec = 0, .tv_nsec = wait};
  EXPECT_EQ(::ppoll(&waited, 1, &limit, nullptr), 0) << "the stand-in ended by itself";
  ::kill(agent, SIGKILL);
  ::waitpid(agent, nullptr, 0);
}

int times_run(const TestFolder& folder, int job) {
  const std::string text = read_word(folder / ("ran." + std::to_string(job)));
  return text.empty() ? 0 : static_cast<int>(std::count(text.begin(), text.end(), '\n')) + 1;
}

TEST(Crash, WhateverTheInstantEveryJobRunsAtMostOnceAndEndsOnce) {
  int killed_in_the_middle = 0;
  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const TestFolder folder;
    // Several agents, one after another, each killed; what one has not begun the next one may.
    for (int agent = 0; agent < 3; ++agent) kill_at_random(spawn_stand_in(folder), random);

    const LocalJobs jobs = open_jobs(folder / "state");
    auto adopted = jobs.adopt();
    ASSERT_TRUE(adopted.ok()) << adopted.error().message;
    const auto count = static_cast<int>(adopted.value().size());
    killed_in_the_middle += count > 0 && count < kJobs ? 1 : 0;
    for (const JobProcess& job : adopted.value()) {
      const int id = static_cast<int>(job.launch().job);
      SCOPED_TRACE(id);
      const bool hangs = id % 3 == 2;
      if (hangs) {
        ASSERT_TRUE(job.stop(Duration::zero()).ok());
      }
      const JobEnd end = end_of(job);
      EXPECT_EQ(end_of(job), end);
      EXPECT_LE(times_run(folder, id), 1);
      if (end.kind == JobEnd::Kind::Exited) {
        EXPECT_FALSE(hangs);
        EXPECT_EQ(times_run(folder, id), 1);
      } else if (end.kind == JobEnd::Kind::SupervisorLost) {
        EXPECT_EQ(times_run(folder, id), 0) << end.message;
      } else {
        EXPECT_TRUE(hangs && end.kind == JobEnd::Kind::Stopped) << end_name(end.kind);
      }
    }
    auto again = jobs.adopt();
    ASSERT_TRUE(again.ok());
    ASSERT_EQ(again.value().size(), adopted.value().size());
    for (std::size_t i = 0; i < again.value().size(); ++i) {
      EXPECT_EQ(end_of(again.value()[i]), end_of(adopted.value()[i]));
    }
  }
  std::printf("%d of 25 rounds ended with some jobs started and some not\n", killed_in_the_middle);
}

TEST(Crash, ARunningJobIsTakenOverWithAllThatIsKnownOfIt) {
  const TestFolder folder;
  const Launch launch{.job = JobId{4}, .epoch = 9, .argv = act({"hang"}), .cpus = {}};
  pid_t pid = 0;
  {
    const LocalJobs before = open_jobs(folder / "state");
    const JobProcess job = start(before, launch);
    job.wait_until_started();
    pid = job.running().value().pid;
  }
  const LocalJobs after = open_jobs(folder / "state");
  const auto adopted = after.adopt();
  ASSERT_TRUE(adopted.ok());
  ASSERT_EQ(adopted.value().size(), 1u);
  const JobProcess& job = adopted.value().front();
  EXPECT_EQ(launch_name(job.launch()), "4.9.0");
  EXPECT_EQ(job.launch().argv, launch.argv);
  EXPECT_FALSE(job.end().value());
  EXPECT_EQ(job.running().value().pid, pid);
  ASSERT_TRUE(job.stop(Duration::zero()).ok());
  EXPECT_EQ(end_of(job).kind, JobEnd::Kind::Stopped);
}

TEST(Crash, ALaunchThatNeverBeganIsSettledAndALateSupervisorStartsNothing) {
  const TestFolder folder;
  const Launch launch{.job = JobId{1}, .argv = act({"append", folder / "ran.1"})};
  folder.write("state/1.0.0.launch", launch_fields(launch).write());
  const LocalJobs jobs = open_jobs(folder / "state");
  const auto adopted = jobs.adopt();
  ASSERT_TRUE(adopted.ok());
  ASSERT_EQ(adopted.value().size(), 1u);
  EXPECT_EQ(end_of(adopted.value().front()).kind, JobEnd::Kind::SupervisorLost);

  std::vector<std::string> words = {act({})[0], "--supervise-job", jobs.state(), "1.0.0"};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t pid = 0;
  ASSERT_EQ(::posix_spawn(&pid, argv[0], nullptr, nullptr, argv.data(), environ), 0);
  ASSERT_EQ(::waitpid(pid, nullptr, 0), pid);
  EXPECT_EQ(times_run(folder, 1), 0);
}

TEST(Crash, ARunningRecordOfAnotherBootIsAnEndAndKillsNoProcess) {
  const TestFolder folder;
  folder.write("state/1.0.0.launch",
               launch_fields({.job = JobId{1}, .argv = {"/bin/true"}}).write());
  folder.write(
      "state/1.0.0.running",
      running_fields({.supervisor = ::getpid(), .pid = ::getpid(), .boot = "old"}).write());
  const LocalJobs jobs = open_jobs(folder / "state");
  const auto adopted = jobs.adopt();
  ASSERT_TRUE(adopted.ok());
  EXPECT_EQ(end_of(adopted.value().front()).kind, JobEnd::Kind::SupervisorLost);
}

TEST(Crash, WhatIsLeftOfALaunchThatWasBeingForgottenGoesWithTheNextLook) {
  const TestFolder folder;
  folder.write("state/1.0.0.ended", "kind=exited");
  folder.write("state/1.0.0.stop", "");
  folder.write("state/instance", "mine");
  const LocalJobs jobs = open_jobs(folder / "state");
  const auto adopted = jobs.adopt();
  ASSERT_TRUE(adopted.ok());
  EXPECT_TRUE(adopted.value().empty());
  EXPECT_FALSE(std::filesystem::exists(folder / "state/1.0.0.ended"));
  EXPECT_FALSE(std::filesystem::exists(folder / "state/1.0.0.stop"));
  EXPECT_TRUE(std::filesystem::exists(folder / "state/instance"));
}

TEST(Crash, FilesThatWereCutShortAreAnEndToo) {
  const TestFolder folder;
  folder.write("state/1.2.3.launch", "job=1");
  folder.write("state/1.2.3.ended", "kind=exi");
  folder.write("state/lease", "");
  const LocalJobs jobs = open_jobs(folder / "state");
  const auto adopted = jobs.adopt();
  ASSERT_TRUE(adopted.ok());
  ASSERT_EQ(adopted.value().size(), 1u);
  EXPECT_EQ(launch_name(adopted.value().front().launch()), "1.2.3");
  EXPECT_EQ(end_of(adopted.value().front()).kind, JobEnd::Kind::SupervisorLost);
}

}  // namespace
}  // namespace orrery
