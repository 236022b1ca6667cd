#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "cloud/autoscaling/autoscaling.h"
#include "cloud/fleet/fleet_member.h"
#include "cloud/provider/provider.h"
#include "live/api/api.h"

namespace orrery {

struct FleetOptions {
  AutoscalingOptions rules{};
  std::string cluster = "orrery";  // the job of its servers; their names begin with it
  Caller caller{};                 // whose calls these are: an admin
  // The script that makes a server a node of this name.
  std::function<Result<std::string>(const std::string& node, const Offer& offer)> startup{};
  std::function<std::string()> request_id{};  // another one at each call
  // Of an earlier process: the highest number in a name, and what its servers have cost that the
  // provider no longer lists.
  std::int64_t last_index = 0;
  double spent_before_usd = 0;
  // A server that has not joined this long after its start is stopped.
  Duration join_max = std::chrono::minutes(10);
  std::function<void(const std::string&)> say{};  // a line of the operator's log
  // Before a server is asked for; an error stops the request.
  std::function<Status(const ServerSpec& spec)> on_request{};
  // Each event of a server of this cluster, perhaps more than once. `server` is as it was before.
  std::function<void(const Server& server, const ServerEvent& event)> on_event{};
};

// The servers that a scheduler holds at a provider. Each pass takes in what happened to them,
// reports it to the scheduler, asks for servers that the queue needs and stops those that it does
// not need.
//
// A notice drains the node, so that its jobs save and move away. A server that has ended counts as
// lost at once: its jobs start elsewhere without waiting for the node timeout. A server that is not
// needed is drained first, and stopped when its jobs have left or after rules.stop_time. Names are
// not used twice. For one thread at a time.
class Fleet {
 public:
  // Takes over the servers that the provider knows of this cluster.
  static Result<Fleet> open(Api& api, Provider& provider, FleetOptions options);

  // One pass. An error is about the provider or the scheduler, and the next pass tries again.
  Status pass();
  // Asks the provider to stop all of its servers.
  void stop_all(EndReason reason);

  const std::map<std::string, FleetMember>& members() const { return members_; }
  double cost_usd() const;
  const std::string& shortage() const { return shortage_; }

 private:
  Fleet(Api& api, Provider& provider, FleetOptions options)
      : api_(&api), provider_(&provider), options_(std::move(options)) {}

  Status take_events();
  void take_event(const ServerEvent& event);
  Status adopt_unknown();
  Status look_at_nodes();
  void report_ended();
  void stop_late_joiners();
  void continue_stops();
  Result<AutoscalingView> view();
  Status act(const AutoscalingPlan& plan);
  Status create(const AutoscalingPlan::Creation& creation);
  void leave(FleetMember& member, const std::string& reason);
  void drain_leaving();
  void drain_if_joined(FleetMember& member);
  Status drain(const std::string& node, bool lost);
  void say(const std::string& line) const;

  Api* api_;
  Provider* provider_;
  FleetOptions options_;
  std::map<std::string, FleetMember> members_;
  std::map<std::string, Time> stock_outs_;
  std::int64_t sequence_ = 0;
  std::int64_t last_index_ = 0;
  std::string shortage_;
};

}  // namespace orrery
