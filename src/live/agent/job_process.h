#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "live/job_runner/fork_server.h"
#include "live/job_runner/job_record.h"
#include "live/job_runner/launch.h"

namespace orrery {

// A job that was started here, by this agent or by the one before it. Losing this handle changes
// nothing for the job.
class JobProcess {
 public:
  JobProcess(JobFiles files, Launch launch, Fd supervisor, Fd ready)
      : files_(std::move(files)),
        launch_(std::move(launch)),
        supervisor_(std::move(supervisor)),
        ready_(std::move(ready)) {}

  const Launch& launch() const { return launch_; }
  const JobFiles& files() const { return files_; }

  // Becomes readable, for poll(), when end() has something to say; -1: it has now.
  int fd() const { return supervisor_.get(); }

  // Returns when the job's program runs or never will. At once for a job that was adopted.
  void wait_until_started() const;
  // Known as soon as the program is about to run.
  Result<JobRunning> running() const;

  // Asks the job to end: SIGTERM to its group and, after `grace`, SIGKILL to all of it. Does not
  // wait. Again, with a shorter grace period, is possible. A job that has ended stays as it is. Its
  // end will be `why`, Stopped or LeaseLost. A full disk does not keep a job from being stopped: it
  // then has the grace period of its launch, and was Stopped.
  Status stop(Duration grace, JobEnd::Kind why = JobEnd::Kind::Stopped) const;

  // How it ended; nothing while it runs. The same answer for ever after. A job without a supervisor
  // is seen off here: what is left of it is killed before its end is written down.
  Result<std::optional<JobEnd>> end() const;
  // Waits for it.
  Result<JobEnd> wait() const;

 private:
  JobFiles files_;
  Launch launch_;
  mutable Fd supervisor_;  // a pidfd; end() may find another
  Fd ready_;
};

// The jobs of one state directory, of which one process at a time may be in charge.
//
// A launch has a file there, named JOB.EPOCH.RANK.launch, from before anything is started until
// forget(); as its name can be taken only once, nothing is started twice. Not for use by several
// threads at once: the lock that settles what became of a launch belongs to the whole process.
class LocalJobs {
 public:
  // `program` is this one: it calls supervise_if_asked() first in main().
  static Result<LocalJobs> open(const std::string& state, std::string program = "/proc/self/exe");

  // Code::AlreadyExists where this launch is known already, running or ended.
  Result<JobProcess> start(const Launch& launch) const;
  // Everything that was ever started here and not forgotten, by name. A launch that cannot be read
  // any more is an end as well, without arguments.
  Result<std::vector<JobProcess>> adopt() const;
  // Removes what is known of a launch that has ended; for when its end is known elsewhere.
  Status forget(const JobProcess& job) const;

  const std::string& state() const { return state_; }

 private:
  LocalJobs(std::string state, std::string program, Fd lock)
      : state_(std::move(state)), program_(std::move(program)), lock_(std::move(lock)) {}

  Result<Fd> begin_supervisor(const std::string& name, int ready) const;

  std::string state_;
  std::string program_;
  Fd lock_;
  mutable std::unique_ptr<ForkServer> server_{};  // from the first start on
};

}  // namespace orrery
