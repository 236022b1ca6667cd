#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "live/daemon/log/entry.h"

namespace orrery {

// One process that may be running somewhere: from when it was decided until its end is known.
struct LiveLaunch {
  LaunchName name{};
  NodeId node{};
  std::uint64_t gpus = 0;
  int local_rank = 0;
  int local_ranks = 1;
  int node_index = 0;  // among the job's nodes
  // The node's orders that first named it, and the first after it was no longer wanted; 0: none yet
  // in this term.
  std::int64_t named_in = 0;
  std::int64_t dropped_in = 0;
  bool of_this_term = false;
  // How long it may run after its node's last answered report, for good; 0: the lease.
  Duration node_timeout{};
};

// The processes of one epoch.
struct EpochRun {
  std::int64_t epoch = 0;
  int ranks = 0;
  int done = 0;           // ended well
  Time began{};           // when it was decided
  Duration ran{};         // the longest that one of its processes ran, of those that have ended
  Duration ran_before{};  // by epochs that were over when this one was decided
};

// The end of a process, and which one that was.
struct LiveEnd : JobEnd {
  int rank = -1;  // -1: not known
  std::string node{};
};

// What is known of a job beyond what the scheduling rounds keep of it.
struct LiveJob {
  JobNumber number = 0;
  std::shared_ptr<const JobRequest> request{};  // one for all jobs of an array
  int array_index = -1;
  std::int64_t epoch = 0;
  bool wanted = false;           // the launches of this epoch are
  std::vector<EpochRun> runs{};  // this epoch, and earlier ones that have not quite ended
  std::vector<LiveLaunch> launches{};
  int failures = 0;
  std::optional<LiveEnd> end{};  // the last one that counted
  Reason reason{};               // of the last event that had one, without `other`
  JobNumber reason_other = 0;    // of that reason; 0: none
  Reason::Code queued_for{};     // why it waits, if it has not run since
  Time submitted{};
  std::optional<Time> started{};
  std::optional<Time> ended{};
  double iteration = -1;
  double iterations = -1;
  double checkpointed = -1;
  Time progressed{};             // when an entry last said so
  std::vector<NodeId> ran_on{};  // by rank of the last epoch

  bool waits() const { return !wanted && !ended; }
  int ranks() const { return runs.empty() ? 0 : runs.back().ranks; }
  // How long that epoch had run at an instant.
  Duration ran_by(std::int64_t of, Time when) const {
    for (const EpochRun& run : runs) {
      if (run.epoch == of) return std::max(Duration::zero(), when - run.began);
    }
    return {};
  }
  // How long it ran in all epochs before this one.
  Duration ran_before() const {
    Duration sum = runs.empty() ? Duration::zero() : runs.back().ran_before;
    for (const EpochRun& run : runs) sum += run.epoch < epoch ? run.ran : Duration::zero();
    return sum;
  }
};

struct LiveNode {
  NodeOffer offer{};
  std::string instance{};
  std::string machine{};
  std::string boot{};
  std::set<std::string> past_boots{};  // what comes from them is late
  NodeState state = NodeState::Up;
  bool draining = false;
  bool unheard = false;  // not heard of since the log was restored: anything may be running there
  std::set<LaunchName> launches{};  // that may be running there
};

}  // namespace orrery
