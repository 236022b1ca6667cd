#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "live/agent/processes.h"

namespace orrery {

// A machine made up: jobs that end when their script says so, under a clock that is driven. It goes
// on when its agent is gone, as supervisors do, and remembers what was started until that is
// forgotten.
class FakeProcesses final : public Processes {
 public:
  struct Script {
    Duration runs = Duration::max();  // ends by itself after so long, with `exit_code`
    int exit_code = 0;
    Duration leaves{};      // from a SIGTERM to its end
    bool deaf = false;      // ignores SIGTERM; SIGKILL ends it
    std::string refused{};  // why it cannot be started; empty: it can
    Duration iteration{};   // speaks the job protocol, and counts one each; 0: does not
    bool stubborn = false;  // says where it can stop, and then does not
  };
  using ScriptOf = std::function<Script(const LaunchName&)>;

  explicit FakeProcesses(ScriptOf script = {}) : script_(std::move(script)) {}

  // Lets time pass. It must not go back.
  void advance(Duration now);
  std::vector<Launch> running() const;
  // The machine goes down, and everything on it.
  void reboot();
  // The agent's state directory is gone as well.
  void lose_state();
  // How many jobs ended because their lease was over.
  int lease_losses() const { return lease_losses_; }
  // How often each launch was ever started.
  const std::map<LaunchName, int>& starts() const { return starts_; }
  // Why each launch was last asked to stop, by an agent.
  const std::map<LaunchName, JobEnd::Kind>& asked_to_stop() const { return asked_; }
  // Those that ended where they were ordered to stop.
  const std::set<LaunchName>& rested() const { return rested_; }
  // The last resize that was sent to each launch.
  const std::map<LaunchName, ResizeNotice>& resizes() const { return resizes_; }
  // What a job has written, which never goes.
  void write(const LaunchName& name, const std::string& bytes) { logs_[name] += bytes; }
  void fail_writes(bool fail) { writes_fail_ = fail; }

  Result<std::vector<Found>> adopt() override;
  Status start(const Launch& launch) override;
  Status stop(const LaunchName& name, Duration grace, JobEnd::Kind why) override;
  std::vector<Ended> ended() override;
  std::vector<Said> said() override;
  bool send(const LaunchName& name, const JobMessage& message) override;
  Status forget(const LaunchName& name) override;
  Status write_lease(const Lease& lease) override;
  Lease lease() const override { return lease_; }

  Result<int> master_port(const LaunchName& name) override;
  Result<Output> read_log(const LogRequest& request, std::int64_t most) override;

 private:
  struct Job {
    Launch launch{};
    Script script{};
    Duration started{};
    Duration ends_at{};
    JobEnd will_be{};
    std::int64_t iteration = 0;
    bool stopping = false;
    bool resting = false;  // ends where it was ordered to stop
    Duration kill_at = Duration::max();
    std::optional<JobEnd> end{};
    bool reported = false;
  };

  void speak(const LaunchName& name, JobWord::Kind kind, std::int64_t iteration,
             bool finished = false);
  static void begin_stop(Job& job, Duration at, Duration grace, JobEnd::Kind why);

  ScriptOf script_;
  Duration now_{};
  std::map<LaunchName, ResizeNotice> resizes_{};
  Lease lease_{};
  bool writes_fail_ = false;
  int lease_losses_ = 0;
  std::map<LaunchName, Job> jobs_{};
  std::map<LaunchName, int> starts_{};
  std::map<LaunchName, JobEnd::Kind> asked_{};
  std::map<LaunchName, std::string> logs_{};
  std::map<std::pair<JobNumber, std::int64_t>, int> ports_{};  // by job and epoch
  std::vector<Said> said_{};
  std::set<LaunchName> rested_{};
};

}  // namespace orrery
