#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/files.h"
#include "live/agent/job_process.h"
#include "live/agent/job_socket.h"
#include "live/agent/log_keeper.h"
#include "live/agent/master_ports.h"
#include "live/agent/processes.h"

namespace orrery {

// The jobs of this machine, in one state directory. It may be one that a boot of the machine
// empties (a file system in memory makes starts cheaper): no job outlives that either. The data
// directory is for what shall stay.
//
// A launch without an output of its own writes to DATA/logs/JOB.RANK.log, through all its epochs,
// and the file stays when the launch is forgotten, unless it is empty. One without a checkpoint
// directory is given DATA/checkpoints/JOB, or makes DATA/checkpoints/uUID/JOB itself where it runs
// as another user. An empty one goes with the job's last launch here.
//
// Jobs connect at STATE/sockets. A job without a socket, because the path is too long for the
// system, runs without one.
class LocalProcesses final : public Processes {
 public:
  // `program` becomes the supervisor; see LocalJobs::open().
  static Result<std::unique_ptr<LocalProcesses>> open(const std::string& state,
                                                      const std::string& data, std::string program);

  // How long logs of the agent's own become, and how long they stay.
  void limit_logs(const LogLimits& limits) { log_limits_ = limits; }
  // Shortens logs and removes old ones, if it is time to look.
  void look_at_logs(Duration now);

  // Readable, for poll(), when ended() may have something to say.
  int fd() const { return epoll_.get(); }
  // The same for said().
  int sockets_fd() const { return sockets_.fd(); }

  // Returns when every program that was started runs or never will. An agent that ends in order
  // waits for it: the next one would settle a launch that has not come so far.
  void wait_until_started() const;

  Result<std::vector<Found>> adopt() override;
  Status start(const Launch& launch) override;
  Status stop(const LaunchName& name, Duration grace, JobEnd::Kind why) override;
  std::vector<Ended> ended() override;
  std::vector<Said> said() override;
  bool send(const LaunchName& name, const JobMessage& message) override;
  Status forget(const LaunchName& name) override;
  Status write_lease(const Lease& lease) override;
  Lease lease() const override;
  Result<int> master_port(const LaunchName& name) override;
  Result<Output> read_log(const LogRequest& request, std::int64_t most) override;

 private:
  LocalProcesses(LocalJobs jobs, JobSockets sockets, std::string data, Fd epoll)
      : jobs_(std::move(jobs)),
        sockets_(std::move(sockets)),
        data_(std::move(data)),
        epoll_(std::move(epoll)) {}

  std::string log_path(const LaunchName& name) const;
  std::string checkpoint_path(const LaunchName& name) const;
  Status give_places(Launch& launch) const;
  void watch(const LaunchName& name, const JobProcess& job);
  void release_port(const LaunchName& name);

  LocalJobs jobs_;
  JobSockets sockets_;
  std::string data_;
  Fd epoll_;
  std::map<LaunchName, JobProcess> known_{};
  std::map<int, LaunchName> watched_{};  // by descriptor
  MasterPorts ports_{};
  LogLimits log_limits_{.bytes = 0, .age = {}};
  Duration logs_looked_{};
  Duration old_logs_looked_{};
  std::vector<LaunchName> unsettled_{};  // asked again each time: their ends could not be read
};

}  // namespace orrery
