#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "live/api/assignment.h"
#include "live/api/job_end.h"
#include "live/api/log_words.h"
#include "model/time.h"

// What scheduler and agents say to each other. Both sides send the whole state, not what changed:
// Orders name everything that shall be on the node, a Report everything that is. So a message may
// be lost, doubled or late, and the next one puts it right.

namespace orrery {

inline constexpr int kProtocolVersion = 1;
inline constexpr std::size_t kNodeFaultMost = 1000;  // bytes

// What a node has to give.
struct NodeOffer {
  std::string name{};
  std::string address{};  // where other nodes reach it
  int gpus = 0;
  std::int64_t cpu_milli = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t gpu_memory_bytes = 0;
  std::string gpu_type{};
  std::string only_user{};    // whose jobs alone its agent can start; empty: those of every user
  std::string zone{};         // nodes of one zone may be lost together; empty: not known
  double losses_per_day = 0;  // how often such a node is lost; 0: not known
  std::string fault{};        // why it can start no job at the moment; empty: it can

  bool operator==(const NodeOffer&) const = default;
};

enum class LaunchState : std::uint8_t {
  Waiting,  // for those before it to leave its GPUs or CPUs
  Running,
  Stopping,
  Ended,
};
std::string_view to_string(LaunchState state);

// No client listens for the launch, or it was closed.
inline constexpr double kCannotStop = -2;

struct LaunchReport {
  LaunchName name{};
  LaunchState state = LaunchState::Waiting;
  JobEnd end{};  // Ended
  // What the job said by the job protocol; -1: nothing.
  double iteration = -1;
  double iterations = -1;    // of how many
  double checkpointed = -1;  // an iteration it can resume from
  double can_stop_at = -1;   // the answer to a StopOrder that asks; kCannotStop: there is none
  bool finished = false;     // it said that its work is done
  int master_port = 0;       // where its ranks meet; 0: it has not been started
  bool operator==(const LaunchReport&) const = default;
};

// From an agent, at least every third of its lease and whenever something changed.
struct Report {
  int version = kProtocolVersion;
  NodeOffer offer{};
  std::string instance{};                // of the agent's state directory, for good
  std::int64_t session = 0;              // of this connection, given by the scheduler; 0: not yet
  std::int64_t number = 0;               // rises; the answer that names it renews the lease
  std::int64_t term = 0;                 // the scheduler's, of the last orders taken
  std::int64_t orders = 0;               // the last orders taken
  std::vector<LaunchReport> launches{};  // all that are known and not forgotten
  std::vector<LogPiece> logs{};
  bool leaving = false;   // a clean end: no jobs left, and none wanted
  std::string machine{};  // identifies the machine; empty: unknown
  std::string boot{};     // identifies the boot: processes of an earlier boot cannot be running
  std::string log{};      // the log whose orders the agent obeys; empty: none yet
  std::string refuses{};  // why the agent does not obey this scheduler; empty: it does

  bool operator==(const Report&) const = default;
};

// A job that is asked to come to rest at the same iteration on all ranks.
struct StopOrder {
  LaunchName launch{};
  double at = -1;        // -1: asked which iteration it could be
  std::string reason{};  // preempt, resize, drain, cancel
  int gpus_next = 0;     // what the whole job will have after a resize; 0: it is none
  int ranks_next = 0;
  bool operator==(const StopOrder&) const = default;
};

// To an agent: an answer to a report, or because something changed.
struct Orders {
  int version = kProtocolVersion;
  std::string instance{};
  std::int64_t session = 0;
  std::int64_t term = 0;    // counts the scheduler's starts: older ones are not obeyed
  std::int64_t number = 0;  // rises within a term
  std::int64_t report = 0;  // the last one seen, of this session
  Duration lease{};         // from when that report was sent
  std::vector<Assignment> assignments{};  // all that shall be on the node; the rest is stopped
  std::vector<LaunchName> forget{};       // ends that are known here for good
  std::vector<StopOrder> stops{};
  std::vector<LogRequest> logs{};
  std::string refused{};   // why this agent may not join; then nothing else counts
  std::string log{};       // identifies the scheduler's log
  std::string replaces{};  // a log whose jobs the agent must stop, so that it can obey this one

  bool operator==(const Orders&) const = default;
};

}  // namespace orrery
