#include "live/job_runner/fork_server.h"

#include <signal.h>

#include "live/agent/test_jobs.h"
#include "live/job_runner/process_table.h"

namespace orrery {
namespace {

// The process that forks supervisors for this one; 0: none.
pid_t server_pid() {
  for (const pid_t pid : descendants(::getpid())) {
    const auto words = read_file("/proc/" + std::to_string(pid) + "/cmdline");
    const bool serves =
        words.ok() && words.value().find("--fork-supervisors") != words.value().npos;
    // What it has forked shares its arguments, and has another name.
    if (serves && read_word("/proc/" + std::to_string(pid) + "/comm") != "orrery-job") return pid;
  }
  return 0;
}

TEST(ForkServer, JobsOutliveItAndTheNextStartIsServedAllTheSame) {
  const TestFolder folder;
  const LocalJobs jobs = open_jobs(folder / "state");
  const JobProcess before = start(jobs, {.job = JobId{1}, .argv = act({"hang"})});
  before.wait_until_started();
  const pid_t server = server_pid();
  ASSERT_GT(server, 0);
  const Fd process = open_process(server);
  ASSERT_TRUE(send_signal(process, SIGKILL));

  const JobProcess after = start(jobs, {.job = JobId{2}, .argv = act({"exit", "4"})});
  EXPECT_EQ(end_of(after).exit_code, 4);
  const JobProcess again = start(jobs, {.job = JobId{3}, .argv = act({"exit", "5"})});
  EXPECT_EQ(end_of(again).exit_code, 5);
  EXPECT_NE(server_pid(), server);
  EXPECT_FALSE(before.end().value());
  ASSERT_TRUE(before.stop(Duration::zero()).ok());
  EXPECT_EQ(end_of(before).kind, JobEnd::Kind::Stopped);
}

TEST(ForkServer, EndsWithItsOwner) {
  const TestFolder folder;
  Fd process;
  {
    const LocalJobs jobs = open_jobs(folder / "state");
    EXPECT_EQ(end_of(start(jobs, {.job = JobId{1}, .argv = act({"exit", "0"})})).exit_code, 0);
    process = open_process(server_pid());
    ASSERT_TRUE(process.ok());
  }
  EXPECT_FALSE(send_signal(process, 0));
}

}  // namespace
}  // namespace orrery
