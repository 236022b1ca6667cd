#pragma once

#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "faults/world_parts.h"
#include "live/daemon/log/recovery.h"
#include "live/store/faulty_disk.h"

namespace orrery {

// A whole cluster on a fake network, clock, disk and processes, around the scheduler's and the
// agents' own code. Everything that happens follows from the seed. After each step the world checks
// that nothing is true that must never be; wrong() names the first such thing.
class World {
 public:
  World(std::uint64_t seed, const Weather& weather, std::string policy);
  ~World();

  void storm(Duration how_long);
  // Copies the log, and puts it back with all that was decided since lost.
  void back_up();
  void restore();
  // The scheduler is away for so long, and then back.
  void outage(Duration how_long);
  // A machine that runs jobs goes off for good; the number of jobs that ran there.
  std::size_t switch_off_one();
  // Jobs that ended because a lease was over.
  int lease_losses() const;
  std::int64_t running() const { return core_->alive(); }
  // Processes that the scheduler counts as running on machines that are off.
  std::size_t counted_on_machines_off() const;
  // No more faults; everything still to do gets done. False if it does not.
  bool calm_down(Duration at_most);
  // At the end: what was acknowledged is there and over; a replay of the log decides the same.
  void check_end();

  const std::string& wrong() const { return wrong_; }
  std::string story() const;  // what happened last
  int acknowledged() const { return static_cast<int>(acknowledged_.size()); }
  int crashes() const { return crashes_; }
  int completed() const { return completed_; }

 private:
  void step();
  void weather();
  void users();
  void deliver();
  void run_scheduler();
  void run_agents();
  void commit();
  void start_scheduler();
  void stop_scheduler(bool power);
  void start_agent(FakeMachine& machine);
  void reboot(FakeMachine& machine);
  void send(std::size_t machine, std::optional<Report> report, std::optional<Orders> orders,
            std::int64_t connection);
  void submit_one();
  void ask(const OpenSubmission& submission);
  void look();
  std::int64_t misfits() const;
  bool rested_only(JobNumber job) const;
  bool is_misfit(const LiveJob& job) const;
  void say(std::string what);
  void fail(const std::string& what);

  bool chance(double part) { return rough_ && random_.uniform() < part; }
  Duration up_to(Duration most) { return Duration(random_.between(1, most.count())); }
  Duration machine_time(const FakeMachine& machine) const;
  Time cluster_time() const { return Time(now_); }
  FakeProcesses::Script script_of(const LaunchName& name);

  Random random_;
  Weather weather_;
  std::string policy_;
  Duration step_ = std::chrono::milliseconds(100);
  bool rough_ = true;
  Duration now_{};
  std::filesystem::path folder_;
  FaultyDisk disk_;
  std::unique_ptr<Core> core_;
  std::optional<Store> store_;
  Duration scheduler_back_{};
  Held held_;
  std::vector<FakeMachine> machines_;
  std::vector<Message> messages_;
  std::int64_t last_connection_ = 0;
  std::vector<OpenSubmission> open_;
  int submitted_ = 0;
  std::map<std::string, JobNumber> acknowledged_;  // by key
  std::set<JobNumber> cancel_acknowledged_;
  std::set<LaunchName> sharing_;  // were ever allowed to share their GPUs
  struct Backup {
    JobNumber next = 1;
    std::set<JobNumber> cancelled{};
  };
  std::optional<Backup> backup_;
  int restores_ = 0;
  std::uint64_t script_seed_;
  std::deque<std::string> story_;
  std::string wrong_;
  int crashes_ = 0;
  int completed_ = 0;
};

}  // namespace orrery
