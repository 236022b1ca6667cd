#pragma once

#include <limits>
#include <map>
#include <string>
#include <vector>

#include "cloud/provider/server.h"
#include "model/time.h"

namespace orrery {

// What a job that waits asks for.
struct WaitingJob {
  int gpus = 1;
  std::string gpu_type{};  // empty: any
  // The instant at which it must have started on a machine that is not revoked, so that its
  // deadline can be kept. kNever: no deadline.
  Time start_latest = kNever;
};

// A server that is paid for: asked for, starting or up.
struct HeldServer {
  std::string name;
  Offer offer;
  bool joined = false;       // the scheduler knows it as a node
  bool leaving = false;      // noticed or asked to stop: takes no job
  int gpus_free = 0;         // of a joined server
  Time idle_since = kNever;  // kNever: it runs a job, or has not joined
  double cost_usd = 0;       // so far
};

struct AutoscalingOptions {
  int servers_min = 0;
  int servers_max = 100;
  // How long a server without a job is kept.
  Duration idle_max = std::chrono::minutes(5);
  // What all servers together may cost, and what they may cost an hour.
  double budget_usd = std::numeric_limits<double>::infinity();
  double budget_usd_per_hour = std::numeric_limits<double>::infinity();
  // Between the decision to stop a server and its end: jobs save, the provider deletes.
  Duration stop_time = std::chrono::minutes(2);
  // A server that cannot be paid for this long is not asked for.
  Duration life_min = std::chrono::minutes(10);
  // How long an offer is left alone after a stock-out.
  Duration stock_out_pause = std::chrono::minutes(5);
};

struct AutoscalingView {
  Time now{};
  std::vector<WaitingJob> waiting{};  // in the order of the queue
  std::vector<HeldServer> held{};
  std::vector<Offer> offers{};
  double ended_cost_usd = 0;  // of servers that are gone
  // When an offer last had no capacity, by offer_key().
  std::map<std::string, Time> stock_outs{};
};

struct AutoscalingPlan {
  struct Creation {
    Offer offer;
    int count = 1;
    bool together = false;  // a part of them is of no use
  };
  std::vector<Creation> create{};
  struct Stop {
    std::string server;
    std::string reason;
  };
  std::vector<Stop> stop{};
  // Why waiting jobs get no server; empty: each gets one, or fits on what is held.
  std::string shortage{};
  Time wake_at = kNever;  // when the same view may give another plan
};

// What names an offer: zone, machine type and class.
std::string offer_key(const Offer& offer);

// Which servers to ask for and which to stop. The same view gives the same plan.
//
// Waiting jobs are placed on the free GPUs of held servers first, and on servers that are still
// starting. A job that does not fit gets the offer with the least price for each of its GPUs: spot
// before on-demand, unless its start is urgent. A job larger than every machine gets several of one
// zone. Equal prices go to the zone with the fewest servers, because losses within a zone come
// together. A server stops after idle_max without a job, the most expensive first. All servers
// stop before the budget is spent; the cost of `stop_time` is counted in.
AutoscalingPlan plan_servers(const AutoscalingView& view, const AutoscalingOptions& options);

}  // namespace orrery
