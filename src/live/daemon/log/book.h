#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "live/daemon/log/live.h"
#include "live/daemon/policy/job_spec.h"
#include "live/daemon/rights/admission.h"
#include "model/cluster.h"
#include "model/job.h"

namespace orrery {

// The state that the entries of a log add up to, except what the scheduling rounds keep of each
// job. Changed by entries alone, so that reading the log back gives the same book.
class Book {
 public:
  explicit Book(const SpecOptions& options) : options_(options) {}

  // A Submitted entry also adds the specs of its jobs to the workload. DataLoss if an entry names a
  // job, node or launch that is not there: then the log is damaged.
  Status apply(const Entry& entry, Time time);

  const Workload& workload() const { return workload_; }
  const Cluster& cluster() const { return cluster_; }

  std::span<const LiveJob> jobs() const { return jobs_; }
  LiveJob& job(JobId id) { return jobs_[index(id)]; }
  const LiveJob& job(JobId id) const { return jobs_[index(id)]; }
  std::optional<JobId> find(JobNumber number) const;
  JobNumber next_number() const { return next_number_; }
  // The first job of the submission with this key.
  std::optional<JobNumber> submission(const std::string& key) const;

  std::span<const LiveNode> nodes() const { return nodes_; }
  LiveNode& node(NodeId id) { return nodes_[index(id)]; }
  const LiveNode& node(NodeId id) const { return nodes_[index(id)]; }
  std::optional<NodeId> find_node(const std::string& name) const;

  // Null if it is not running any more, or never was.
  LiveLaunch* find(const LaunchName& name);
  const LiveLaunch* find(const LaunchName& name) const;
  static bool wants(const LiveJob& job, const LiveLaunch& launch) {
    return job.wanted && launch.name.epoch == job.epoch;
  }

  const LogOrigin& origin() const { return origin_; }
  std::int64_t unix_ns() const { return unix_ns_; }
  std::int64_t term() const { return term_.term; }
  const ChosenPolicy& policy() const { return term_.policy; }
  const Entitlements& entitlements() const { return entitlements_; }
  const PendingJobs& pending() const { return pending_; }
  const std::map<std::string, std::string>& tokens() const { return tokens_; }
  Time time() const { return time_; }  // of the last entry

 private:
  friend class Snapshots;

  Status take(const EraBegan& entry);
  Status take(const LogNamed& entry);
  Status take(const LaunchFound& entry);
  Status take(const TermBegan& entry);
  Status take(const PolicyChanged& entry);
  Status take(const Submitted& entry);
  Status take(const CancelAsked& entry);
  Status take(const NodeJoined& entry);
  Status take(const NodeTurned& entry);
  Status take(const LaunchEnded& entry);
  Status take(const Progressed& entry);
  Status take(const TokenKept& entry);
  Status take(const Decided& entry);
  void launch(LiveJob& job, const Decided& entry);
  void update_cluster(NodeId id);

  SpecOptions options_;
  Workload workload_;
  Cluster cluster_;
  std::vector<LiveJob> jobs_;
  std::vector<LiveNode> nodes_;
  std::unordered_map<std::string, NodeId> node_ids_;
  std::map<std::string, int> zones_;
  std::unordered_map<std::string, JobNumber> keys_;
  std::unordered_map<std::string, NameId> names_;
  Entitlements entitlements_;
  PendingJobs pending_;
  std::map<std::string, std::string> tokens_;
  TermBegan term_;  // with the policy as it is now
  LogOrigin origin_;
  JobNumber next_number_ = 1;
  std::int64_t unix_ns_ = 0;
  Time time_{};
};

}  // namespace orrery
