#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "live/api/api.h"
#include "live/daemon/agents/foreign_agents.h"
#include "live/daemon/core/live_scheduler.h"

namespace orrery {

// Turns what agents report into entries of the log: nodes that join, leave or are lost, progress,
// launches that have ended. Gives out the orders that answer them, and carries requests for output
// of jobs to the agents and back.
//
// The scheduler outlives it, and its time has been advanced before each call. Records are on disk
// before orders leave.
class Agents {
 public:
  explicit Agents(LiveScheduler& scheduler) : scheduler_(scheduler) {}

  // A connection is a number that is never used again.
  void reported(std::int64_t connection, const Report& report);
  void disconnected(std::int64_t connection);

  Status drain(const Caller& caller, const DrainRequest& request);
  // Only a node without jobs. The connection of its agent is refused from now on.
  Status remove_node(const Caller& caller, const RemoveNodeRequest& request);
  // Nodes that have become silent, and launches on lost nodes.
  void look_at_leases();

  // Asks the node where a job runs, or last ran, for a part of its output, and answers that node.
  // The part comes back by take_logs(), unless the node is lost. `request` is a number that is
  // never used again.
  Result<NodeId> ask_for_log(const LogsRequest& wanted, std::int64_t request);
  void forget_log(std::int64_t request) { scheduler_.leases().forget_log(request); }
  std::vector<LogPiece> take_logs() { return std::exchange(logs_, {}); }

  struct Outgoing {
    std::int64_t connection = 0;
    Orders orders{};
  };
  std::vector<Outgoing> take_orders();

  const ForeignAgents& foreign() const { return foreign_; }

 private:
  const Book& book() const { return scheduler_.book(); }
  void apply(const Entry& entry);
  bool has_seen_more(const Report& report) const;
  std::string refusal(std::int64_t connection, const Report& report) const;
  void apply_report(NodeId node, const Report& report);
  void apply_progress(const LaunchReport& launch);
  void end_missing(NodeId node, const Report& report);
  void take_stock(NodeId node, const Report& report);
  void set_state(NodeId node, NodeState state, const std::string& by);
  void end_all_on(NodeId node, JobEnd::Kind how, const std::string& why);

  LiveScheduler& scheduler_;
  ForeignAgents foreign_;
  std::map<std::int64_t, Orders> refusals_;  // by connection
  std::vector<LogPiece> logs_;
};

}  // namespace orrery
