#pragma once

#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/fake_processes.h"
#include "agent/node_agent.h"
#include "base/random.h"
#include "daemon/core.h"
#include "daemon/recovery.h"
#include "store/faulty_disk.h"

namespace orrery {

// How rough a world is. Chances are for each step, of which there are some ten a second.
struct Weather {
  double lost = 0.05;  // of messages
  double doubled = 0.03;
  double late = 0.1;         // up to 20 s
  double partition = 0.004;  // of an agent, one way or both, up to a minute
  double scheduler_crash = 0.004;
  double power_cut = 0.3;  // of these crashes: what was not synced is gone as well
  double disk_fault = 0.004;
  double agent_crash = 0.006;
  double machine_reboot = 0.001;
  double user = 0.3;  // somebody submits, cancels, drains, changes the policy
};

// A whole cluster on a fake network, clock, disk and processes, around the scheduler's and the
// agents' own code. Everything that happens follows from the seed. After each step it is looked at
// whether something is true that must never be; the first such thing is told by wrong().
class World {
 public:
  World(std::uint64_t seed, const Weather& weather, std::string policy);
  ~World();

  void storm(Duration how_long);
  // No more faults; everything still to do gets done. False if it does not.
  bool calm_down(Duration at_most);
  // At the end: what was acknowledged is there and over; the log decides the same once more.
  void check_end();

  const std::string& wrong() const { return wrong_; }
  std::string story() const;  // what happened last, for whoever looks for the reason
  int acknowledged() const { return static_cast<int>(acknowledged_.size()); }
  int crashes() const { return crashes_; }
  int completed() const { return completed_; }

 private:
  struct Machine {
    std::string name{};
    int gpus = 0;
    double rate = 1;    // of its clock
    Duration offset{};  // of its boot
    std::unique_ptr<FakeProcesses> processes{};
    std::unique_ptr<NodeAgent> agent{};  // none: it is down
    Duration agent_back{};
    std::int64_t connection = 0;
    Duration cut_to_scheduler{};  // until then nothing gets through
    Duration cut_from_scheduler{};
  };
  struct Message {
    Duration at{};
    std::size_t machine = 0;
    std::int64_t connection = 0;
    std::optional<Report> report{};  // else orders
    std::optional<Orders> orders{};
  };
  // A submission that somebody waits for.
  struct Wish {
    std::string key{};
    SubmitRequest request{};
    Duration again{};
  };
  // What the scheduler would say once its records are on disk.
  struct Held {
    std::vector<Record> records{};
    std::vector<Core::Outgoing> orders{};
    std::vector<std::pair<std::string, SubmitAnswer>> answers{};
    std::vector<JobNumber> cancelled{};
  };

  void step();
  void weather();
  void users();
  void deliver();
  void run_scheduler();
  void run_agents();
  void commit();
  void start_scheduler();
  void stop_scheduler(bool power);
  void start_agent(Machine& machine);
  void reboot(Machine& machine);
  void send(std::size_t machine, std::optional<Report> report, std::optional<Orders> orders,
            std::int64_t connection);
  void submit_one();
  void ask(const Wish& wish);
  void look();
  std::int64_t misfits() const;
  void say(std::string what);
  void fail(const std::string& what);

  bool chance(double part) { return rough_ && random_.uniform() < part; }
  Duration up_to(Duration most) { return Duration(random_.between(1, most.count())); }
  Duration machine_time(const Machine& machine) const;
  Time cluster_time() const { return Time(now_); }
  FakeProcesses::Script script_of(const LaunchName& name);

  Random random_;
  Weather weather_;
  std::string policy_;
  bool rough_ = true;
  Duration now_{};
  std::filesystem::path folder_;
  FaultyDisk disk_;
  std::unique_ptr<Core> core_;
  std::optional<Store> store_;
  Duration scheduler_back_{};
  Held held_;
  std::vector<Machine> machines_;
  std::vector<Message> messages_;
  std::int64_t last_connection_ = 0;
  std::vector<Wish> wishes_;
  int wished_ = 0;
  std::map<std::string, JobNumber> acknowledged_;  // by key
  std::set<JobNumber> cancel_acknowledged_;
  std::set<LaunchName> sharing_;  // were ever allowed to share their GPUs
  std::uint64_t script_seed_;
  std::deque<std::string> story_;
  std::string wrong_;
  int crashes_ = 0;
  int completed_ = 0;
};

}  // namespace orrery
