#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "live/agent/job_message.h"
#include "live/api/agent_words.h"
#include "live/api/job_end.h"
#include "live/job_runner/launch.h"
#include "live/job_runner/lease.h"

namespace orrery {

// The jobs of one machine, as the agent's head sees them: processes that go on without it. Belongs
// to one thread. Nothing here waits for a job.
class Processes {
 public:
  struct Found {
    Launch launch{};
    std::optional<JobEnd> end{};  // nothing: it runs
  };
  struct Ended {
    LaunchName name{};
    JobEnd end{};
  };

  virtual ~Processes() = default;

  // Everything that was ever started here and not forgotten, by name.
  virtual Result<std::vector<Found>> adopt() = 0;
  // Code::AlreadyExists where this launch is known already, running or ended.
  virtual Status start(const Launch& launch) = 0;
  // SIGTERM now, SIGKILL after `grace`; `why` is how it will have ended, Stopped or LeaseLost. One
  // that has ended or is being stopped stays as it is, but a shorter grace period counts.
  virtual Status stop(const LaunchName& name, Duration grace, JobEnd::Kind why) = 0;
  // Those that have ended since this was last asked, and since adopt() at the earliest.
  virtual std::vector<Ended> ended() = 0;

  // The job protocol. What jobs have said since this was last asked: of those that ended() has
  // named before, all there is.
  struct Said {
    LaunchName name{};
    JobWord word{};
  };
  virtual std::vector<Said> said() = 0;
  // False if no client listens at the moment; a client that comes later gets the last one then.
  virtual bool send(const LaunchName& name, const JobMessage& message) = 0;

  // Where the ranks of this launch's run meet, on this node: chosen when it is first asked for, and
  // the same until all that is known of the run is forgotten.
  virtual Result<int> master_port(const LaunchName& name) = 0;

  // For one that has ended. What it wrote to its log stays.
  virtual Status forget(const LaunchName& name) = 0;

  // Until when jobs may run, also without an agent, and what was written last.
  virtual Status write_lease(const Lease& lease) = 0;
  virtual Lease lease() const = 0;

  struct Output {
    std::string bytes{};      // empty: nothing more yet
    std::int64_t offset = 0;  // of the first one; less than asked for where the file was cut, and
                              // counted from the start where it was asked for from the end
  };
  // At most `most` bytes of what it wrote, from the request's offset on. Also for one that was
  // forgotten: then from where the request says that it wrote.
  virtual Result<Output> read_log(const LogRequest& request, std::int64_t most) = 0;
};

}  // namespace orrery
