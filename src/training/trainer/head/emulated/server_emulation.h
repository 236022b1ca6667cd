#pragma once

#include <boost/asio/steady_timer.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "training/emulation/servers.h"
#include "training/emulation/straggler_script.h"
#include "training/trainer/head/part_state.h"
#include "training/trainer/head/run_context.h"
#include "training/trainer/head/servers_line.h"

namespace orrery {

class RunMembers;
struct TrainingSession;

// The emulated servers that the processes of a run are on, the straggler script that slows them
// down, and the limits that move where several runs share the servers. Inactive if the run emulates
// none. Places for workers come first, then those of the shards (one for all where servers are not
// shared), then the evaluator's.
class ServerEmulation {
 public:
  ServerEmulation(RunContext& run, TrainingSession& session, RunMembers& members);

  Status open(int workers_first);
  // Loading libraries is no part of what is measured: until now servers had whole cores.
  Status begin_training();
  void end_session();

  bool active() const { return servers_ != nullptr; }
  const Servers& servers() const { return *servers_; }
  Servers& servers() { return *servers_; }
  bool carries_links() const { return active() && servers_->link_means() != "none"; }
  int worker_slots() const;
  int shard_server(int shard) const;  // -1: no servers are emulated
  int evaluator_server() const;

  // What the server of a part has used so far, if that is known.
  std::optional<ServerUse> use_of(const PartState& part) const;
  // The rate of a link that the transport has to keep to itself, to a part that has connected.
  void send_link_rate(const PartState& part) const;

  void sample();  // every second or so
  // Shared servers: what the run has used, to those that decide about limits.
  void report();
  void mode_changes();  // what was counted is about one mode alone
  void task_took(int slot, double took_s);
  std::shared_ptr<ModeGrant> grant() const { return shared_; }
  void describe(TrainingResult& result) const;

 private:
  // What is counted between two reports to servers that are shared.
  struct ShareTally {
    struct Took {
      double sum_s = 0;
      int tasks = 0;
    };
    std::map<int, Took> took{};  // by slot
    Time at{};
    std::int64_t gradients = 0;  // by then
    ServerUse used{};            // by all shards, by then
    bool counting = false, waits_for_all = true;
    double gradients_per_s = 0, ssgd_gradients_per_s = 0;  // smoothed; 0: not known
  };

  Status set_cpu_of_all(double (*share)(const EmulatedSize&));
  Status load_script();
  void apply_script();
  std::vector<EmulatedSize> requested_sizes() const;
  Result<std::vector<EmulatedSize>> server_sizes();
  Status join_shared(std::vector<EmulatedSize>& sizes);
  void limit_moved(int task, const Load& limit);
  void send_link_rates(int server) const;
  double left_s(double gradients_per_s) const;
  ServerUse shards_use() const;
  std::int64_t gradients_so_far() const;
  void count_from_now();

  RunContext& run_;
  TrainingSession& session_;
  RunMembers& members_;
  std::unique_ptr<Servers> servers_{};
  std::unique_ptr<LoadWatch> load_{};
  std::shared_ptr<ServersLine> shared_{};
  ShareTally share_{};
  StragglerScript script_{};
  std::size_t next_step_ = 0;
  boost::asio::steady_timer script_timer_;
  double quota_cores_ = 0;
  int workers_first_ = 0;
};

}  // namespace orrery
