#include "live/agent/job_process.h"

#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "live/agent/log_follow.h"
#include "live/agent/machine.h"
#include "live/agent/test_jobs.h"
#include "live/job_runner/cpu_sets.h"
#include "live/job_runner/lease.h"
#include "live/job_runner/process_table.h"

namespace orrery {
namespace {

using Kind = JobEnd::Kind;
constexpr Duration kLong = std::chrono::hours(1);

class JobProcessTest : public testing::Test {
 protected:
  // Output and errors of job 0 go to one file.
  Launch launch(std::vector<std::string> what) const {
    return {.job = JobId{0},
            .argv = act(std::move(what)),
            .directory = folder_.path(),
            .output = folder_ / "log",
            .errors = folder_ / "log"};
  }
  JobEnd run(const Launch& launch) const { return end_of(start(jobs_, launch)); }
  std::string log() const { return read_word(folder_ / "log"); }

  // The first line the job prints, once it has.
  std::string first_line(const JobProcess& job) const {
    LogFollower follower(folder_ / "log", 0);
    std::string text;
    while (text.find('\n') == text.npos) {
      auto piece = follower.read();
      EXPECT_TRUE(piece.ok());
      text += piece.value().bytes;
      if (!piece.value().bytes.empty()) continue;
      const auto end = job.end();
      EXPECT_TRUE(end.ok() && !end.value()) << "ended without a word";
      if (!end.ok() || end.value()) return text;
      EXPECT_TRUE(follower.wait(job.fd(), kLong).ok());
    }
    return text.substr(0, text.find('\n'));
  }

  TestFolder folder_;
  LocalJobs jobs_ = open_jobs(folder_ / "state");
};

// True if the process has gone, by a pidfd that was opened while it lived.
bool gone(const Fd& process) {
  pollfd asked{.fd = process.get(), .events = POLLIN, .revents = 0};
  return ::poll(&asked, 1, 0) == 1;
}

TEST_F(JobProcessTest, AnExitCodeIsTheJobsOwn) {
  EXPECT_EQ(untimed(run(launch({"exit", "0"}))), (JobEnd{.kind = Kind::Exited, .exit_code = 0}));
  Launch second = launch({"exit", "127"});
  second.epoch = 1;
  EXPECT_EQ(untimed(run(second)), (JobEnd{.kind = Kind::Exited, .exit_code = 127}));
}

TEST_F(JobProcessTest, ASignalIsReportedApartFromAnExitCode) {
  EXPECT_EQ(untimed(run(launch({"raise", std::to_string(SIGKILL)}))),
            (JobEnd{.kind = Kind::Signalled, .signal = SIGKILL}));
}

TEST_F(JobProcessTest, AProgramThatIsNotThereNeverStarted) {
  Launch none = launch({});
  none.argv = {"/no/such/program"};
  const JobEnd end = run(none);
  EXPECT_EQ(end.kind, Kind::NotStarted);
  EXPECT_EQ(end.message, "program '/no/such/program': No such file or directory");
  none.argv = {"no-such-program"};
  none.epoch = 1;
  EXPECT_EQ(run(none).message, "program 'no-such-program': No such file or directory");
}

TEST_F(JobProcessTest, ATextWithoutInterpreterGoesToNoShell) {
  folder_.write("text", "exit 3\n");
  std::filesystem::permissions(folder_ / "text", std::filesystem::perms::owner_all);
  Launch text = launch({});
  text.argv = {folder_ / "text"};
  const JobEnd end = run(text);
  EXPECT_EQ(end.kind, Kind::NotStarted);
  EXPECT_NE(end.message.find("Exec format error"), std::string::npos) << end.message;
}

TEST_F(JobProcessTest, WhatFailsBeforeTheProgramIsNamed) {
  Launch lost = launch({"exit", "0"});
  lost.directory = "/no/such/place";
  EXPECT_EQ(run(lost).message, "directory '/no/such/place': No such file or directory");
  Launch unheard = launch({"exit", "0"});
  unheard.epoch = 1;
  unheard.output = "/no/such/place/log";
  EXPECT_EQ(run(unheard).kind, Kind::NotStarted);
  Launch stranger = launch({"exit", "0"});
  stranger.epoch = 2;
  stranger.user = "no-such-user-here";
  EXPECT_EQ(run(stranger).message, "there is no user 'no-such-user-here' on this node");
}

TEST_F(JobProcessTest, ArgumentsOutputAndDirectoryAreAsGiven) {
  EXPECT_EQ(run(launch({"arguments", "a b", "", "$HOME", "'"})).exit_code, 0);
  EXPECT_NE(log().find("[a b]\n[]\n[$HOME]\n[']"), std::string::npos) << log();
  EXPECT_NE(log().find("to errors"), std::string::npos);
  Launch where = launch({"where"});
  where.epoch = 1;
  where.output = folder_ / "where";
  EXPECT_EQ(run(where).exit_code, 0);
  EXPECT_EQ(read_word(folder_ / "where"), folder_.path());
}

TEST_F(JobProcessTest, TheEnvironmentIsTheJobsAloneAndOurs) {
  ASSERT_EQ(::setenv("ORRERY_SECRET_OF_THE_AGENT", "x", 1), 0);
  Launch asks = launch({"environment", "MINE", "RANK", "ORRERY_JOB_ID", "CUDA_VISIBLE_DEVICES",
                        "ORRERY_SECRET_OF_THE_AGENT"});
  asks.environment = {{"MINE", "yes"}};
  asks.gpus = {"3"};
  EXPECT_EQ(run(asks).exit_code, 0);
  EXPECT_EQ(log(),
            "MINE=yes\nRANK=0\nORRERY_JOB_ID=0\nCUDA_VISIBLE_DEVICES=3\n"
            "ORRERY_SECRET_OF_THE_AGENT=(none)");
}

TEST_F(JobProcessTest, AJobLeadsItsOwnGroupAndSessionAndHearsAllSignals) {
  EXPECT_EQ(run(launch({"group"})).exit_code, 0);
  EXPECT_EQ(log(), "leader");
}

TEST_F(JobProcessTest, AJobIsPinnedToItsCpus) {
  const auto machine = detect_machine({.gpus_declared = 0});
  ASSERT_TRUE(machine.ok());
  const int cpu = machine.value().numa.back().cpus.back();
  Launch pinned = launch({"cpus"});
  pinned.cpus = {cpu};
  EXPECT_EQ(run(pinned).exit_code, 0);
  EXPECT_EQ(log(), std::to_string(cpu));
}

TEST_F(JobProcessTest, WithoutACgroupMemoryIsLimitedByProcess) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer does not live with a memory limit";
  Launch large = launch({"eat", std::to_string(std::size_t{256} << 20)});
  large.memory_bytes = std::int64_t{1} << 30;
  const JobProcess fits = start(jobs_, large);
  EXPECT_EQ(end_of(fits).exit_code, 0);
  EXPECT_EQ(fits.running().value().memory_limit, MemoryLimit::Rlimit);
  large.memory_bytes = std::int64_t{128} << 20;
  large.epoch = 1;
  EXPECT_EQ(run(large).exit_code, 9) << "what is too much is refused";
}

TEST_F(JobProcessTest, AStopIsHeardAndTheJobSaysHowItEnded) {
  const JobProcess job = start(jobs_, launch({"polite"}));
  ASSERT_EQ(first_line(job), "ready");
  ASSERT_TRUE(job.stop(kLong).ok());
  EXPECT_EQ(untimed(end_of(job)), (JobEnd{.kind = Kind::Stopped, .exit_code = 7}));
  EXPECT_TRUE(job.stop(kLong).ok()) << "a second stop does no harm";
  EXPECT_EQ(end_of(job).exit_code, 7);
}

TEST_F(JobProcessTest, AJobThatIgnoresSigtermIsKilledAfterTheGracePeriod) {
  const JobProcess job = start(jobs_, launch({"deaf"}));
  ASSERT_EQ(first_line(job), "ready");
  ASSERT_TRUE(job.stop(kLong).ok());
  EXPECT_FALSE(job.end().value()) << "it has an hour";
  ASSERT_TRUE(job.stop(Duration::zero()).ok());
  EXPECT_EQ(untimed(end_of(job)), (JobEnd{.kind = Kind::Stopped, .signal = SIGKILL}));
}

TEST_F(JobProcessTest, AStopBeforeTheBeginningIsAStop) {
  const JobProcess job = start(jobs_, launch({"deaf"}));
  ASSERT_TRUE(job.stop(Duration::zero()).ok());
  EXPECT_EQ(end_of(job).kind, Kind::Stopped);
}

TEST_F(JobProcessTest, GrandchildrenThatLeftTheGroupEndWithTheJob) {
  const JobProcess job = start(jobs_, launch({"leave", "stay"}));
  const Fd grandchild = open_process(std::stoi(first_line(job)));
  ASSERT_TRUE(grandchild.ok());
  EXPECT_FALSE(gone(grandchild));
  ASSERT_TRUE(job.stop(Duration::zero()).ok());
  EXPECT_EQ(end_of(job).kind, Kind::Stopped);
  EXPECT_TRUE(gone(grandchild));
}

TEST_F(JobProcessTest, NothingIsLeftOfAJobThatEndedByItself) {
  const JobProcess job = start(jobs_, launch({"leave"}));
  EXPECT_EQ(untimed(end_of(job)), (JobEnd{.kind = Kind::Exited, .exit_code = 0}));
  ASSERT_FALSE(log().empty());
  EXPECT_NE(::kill(std::stoi(log()), 0), 0) << "the grandchild lives";
}

TEST_F(JobProcessTest, TheSameLaunchIsNeverStartedTwice) {
  Launch once = launch({"append", folder_ / "ran"});
  EXPECT_EQ(run(once).exit_code, 0);
  const auto again = jobs_.start(once);
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code, Code::AlreadyExists);
  EXPECT_EQ(read_word(folder_ / "ran"), "ran");
}

TEST_F(JobProcessTest, OnlyAnEndedLaunchIsForgotten) {
  const JobProcess job = start(jobs_, launch({"hang"}));
  EXPECT_FALSE(jobs_.forget(job).ok());
  ASSERT_TRUE(job.stop(Duration::zero()).ok());
  end_of(job);
  EXPECT_TRUE(jobs_.forget(job).ok());
  EXPECT_TRUE(jobs_.adopt().value().empty());
}

TEST_F(JobProcessTest, TwoAgentsDoNotShareAState) {
  const JobEnd end = run(launch({"open", folder_ / "state"}));
  EXPECT_EQ(end.exit_code, 1);
  EXPECT_NE(log().find("another agent is in charge"), std::string::npos) << log();
}

TEST_F(JobProcessTest, AJobEndsWithTheLeaseThoughNoAgentStopsIt) {
  Launch leased = launch({"hang"});
  leased.ends_with_lease = true;
  leased.grace = Duration::zero();
  ASSERT_TRUE(
      write_lease(jobs_.state(), {.until = boot_time() + std::chrono::milliseconds(300)}).ok());
  EXPECT_EQ(run(leased).kind, Kind::LeaseLost);
  leased.epoch = 1;
  const JobEnd late = run(leased);
  EXPECT_EQ(late.message, "the lease was over before it began");
}

TEST_F(JobProcessTest, AJobThatIsStoppedBecauseOfTheLeaseEndsWithIt) {
  const JobProcess job = start(jobs_, launch({"hang"}));
  job.wait_until_started();
  ASSERT_TRUE(job.stop(Duration::zero(), Kind::LeaseLost).ok());
  EXPECT_EQ(end_of(job).kind, Kind::LeaseLost);
}

TEST_F(JobProcessTest, ALeaseThatIsRenewedKeepsTheJob) {
  Launch leased = launch({"hang"});
  leased.ends_with_lease = true;
  const Duration first = boot_time() + std::chrono::seconds(1);
  ASSERT_TRUE(write_lease(jobs_.state(), {.until = first}).ok());
  const JobProcess job = start(jobs_, leased);
  job.wait_until_started();
  ASSERT_TRUE(write_lease(jobs_.state(), {.until = boot_time() + kLong}).ok());
  if (boot_time() >= first) GTEST_SKIP() << "the machine is too busy to renew a lease in a second";
  while (boot_time() <= first + std::chrono::milliseconds(50)) {
    pollfd waited{.fd = job.fd(), .events = POLLIN, .revents = 0};
    ASSERT_EQ(::poll(&waited, 1, 50), 0) << "it ended with the first lease";
  }
  ASSERT_TRUE(job.stop(Duration::zero()).ok());
  EXPECT_EQ(end_of(job).kind, Kind::Stopped);
}

TEST_F(JobProcessTest, AJobWhoseSupervisorIsKilledIsSeenOffWithAllItsProcesses) {
  const JobProcess job = start(jobs_, launch({"leave", "stay"}));
  const Fd grandchild = open_process(std::stoi(first_line(job)));
  const auto running = job.running();
  ASSERT_TRUE(running.ok());
  const Fd main = open_process(running.value().pid);
  ASSERT_EQ(::kill(running.value().supervisor, SIGKILL), 0);
  EXPECT_EQ(end_of(job).kind, Kind::SupervisorLost);
  EXPECT_TRUE(gone(grandchild));
  pollfd waited{.fd = main.get(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&waited, 1, -1), 1) << "it dies with its supervisor";
}

TEST_F(JobProcessTest, AsRootAJobRunsAsItsUserWithThatUsersRights) {
  const passwd* const login = ::getpwuid(65534);
  if (::geteuid() != 0 || !login) GTEST_SKIP() << "needs root and a login with the id 65534";
  Launch other = launch({});
  other.argv = {"id", "-un"};
  other.user = login->pw_name;
  other.directory = "/";
  other.output = "/dev/null";
  other.errors = folder_ / "refused";
  EXPECT_EQ(run(other).kind, Kind::NotStarted) << "that user may not write there";
  std::filesystem::permissions(folder_.path(), std::filesystem::perms::all);
  other.output = other.errors = folder_ / "log";
  other.epoch = 1;
  EXPECT_EQ(run(other).exit_code, 0);
  EXPECT_EQ(log(), login->pw_name);
}

TEST_F(JobProcessTest, AnOutputThatIsAPipeWithoutAReaderIsRefusedAndHoldsNothing) {
  Launch piped = launch({"exit", "0"});
  piped.output = piped.errors = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(piped.output.c_str(), 0600), 0);
  const JobEnd end = run(piped);
  EXPECT_EQ(end.kind, Kind::NotStarted);
  EXPECT_NE(end.message.find("a pipe that no process reads"), std::string::npos) << end.message;
}

// A program that the kernel runs for no process until the holder of a lease gives it up, or 45 s
// have passed.
class HeldProgram {
 public:
  explicit HeldProgram(const std::string& path) {
    std::filesystem::copy("/bin/true", path);
    lease_ = Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    ::signal(SIGIO, SIG_IGN);
    ok_ = ::fcntl(lease_.get(), F_SETLEASE, F_WRLCK) == 0;
  }
  bool ok() const { return ok_; }
  void wait_until_asked_for() const {
    while (::fcntl(lease_.get(), F_GETLEASE) == F_WRLCK) ::poll(nullptr, 0, 1);
  }
  void let_go() const { ::fcntl(lease_.get(), F_SETLEASE, F_UNLCK); }

 private:
  Fd lease_{};
  bool ok_ = false;
};

TEST_F(JobProcessTest, ALaunchWhoseProgramDoesNotBeginIsStoppedAllTheSame) {
  Launch held = launch({});
  held.argv = {folder_ / "program"};
  const HeldProgram program(held.argv.front());
  if (!program.ok()) GTEST_SKIP() << "no leases on this disk";
  const JobProcess job = start(jobs_, held);
  program.wait_until_asked_for();
  ASSERT_TRUE(job.stop(kLong).ok());
  EXPECT_EQ(end_of(job).kind, Kind::Stopped) << "the kernel lets it begin after 45 s";
  program.let_go();
}

// As with a program that runs, the node timeout counts and not the lease.
TEST_F(JobProcessTest, ALaunchWhoseProgramBeginsLateOutlivesASchedulerThatIsAwayForALease) {
  Launch held = launch({});
  held.argv = {folder_ / "program"};
  held.ends_with_lease = true;
  held.node_timeout = kLong;
  const HeldProgram program(held.argv.front());
  if (!program.ok()) GTEST_SKIP() << "no leases on this disk";
  const Duration now = boot_time();
  ASSERT_TRUE(write_lease(jobs_.state(), {.until = now, .answered = now}).ok());
  const JobProcess job = start(jobs_, held);
  program.wait_until_asked_for();
  // It looks a few times a second whether it shall end.
  pollfd waited{.fd = job.fd(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&waited, 1, 1000), 0) << "it ended with the lease";
  program.let_go();
  const JobEnd end = end_of(job);
  EXPECT_EQ(end.kind, Kind::Exited);
  EXPECT_EQ(end.exit_code, 0);
}

TEST_F(JobProcessTest, TheStateFolderIsClosedToOthersAndRefusedWhereItWasOpen) {
  const std::string state = folder_ / "other";
  std::filesystem::create_directory(state);
  std::filesystem::permissions(state, std::filesystem::perms(0777));
  ASSERT_TRUE(LocalJobs::open(state).ok()) << "it was empty";
  std::filesystem::permissions(state, std::filesystem::perms(0755));
  const auto opened = LocalJobs::open(state);
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().message.find("other users have access"), std::string::npos);
}

TEST_F(JobProcessTest, WithoutRootAnotherUsersJobIsRefused) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may become any user";
  Launch other = launch({"exit", "0"});
  other.user = "root";
  const JobEnd end = run(other);
  EXPECT_EQ(end.kind, Kind::NotStarted);
  EXPECT_NE(end.message.find("cannot become 'root'"), std::string::npos) << end.message;
}

}  // namespace
}  // namespace orrery
