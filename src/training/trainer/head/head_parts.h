#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "training/emulation/servers.h"
#include "training/sync/conductor.h"
#include "training/trainer/transport/connection.h"
#include "training/trainer/transport/messages.h"

namespace orrery {

std::string_view role_name(PartRole role);

// What the head knows of another process.
struct PartState {
  PartRole role{};
  int id = -1;
  int slot = -1;    // of a worker: which of the places for workers it has; -1: it came by itself
  int server = -1;  // the emulated one it is on; -1: none
  int place = 0;    // the least that no other worker here has: GPUs go by it
  pid_t pid = 0;    // 0: not started by us
  std::shared_ptr<Connection> line{};
  bool ready = false;
  bool admitted = false;   // it was told whom to connect to
  bool joined = false;     // the Conductor counts on it
  bool dismissed = false;  // its end is no loss
  std::string address{};
  std::uint16_t port = 0;
  std::string gpu{};                   // as all call it
  double way_s = 0, way_before_s = 0;  // of all parameters over its link, by the last two probes
  int probes = 0;                      // that were sent
};

// A task that was handed out, until its gradient is whole.
struct Flight {
  Task task{};
  Time started{};
  int parent = -1;  // all-reduce: who gives a child its parameters
  int pieces = 0;
  bool done = false;
  std::string fault{};
  Gradient gradient{};
  double norm2 = 0, dot_validation = 0, norm2_validation = 0;
  ServerUse before{};
};

// An update whose confirmations are still coming in.
struct PendingUpdate {
  int missing = 0;
  double fresh_mean_norm2 = 0;
};

// With parameter servers: who hands in at whom, and what links carried by the last look at them.
struct TreeState {
  std::map<int, int> parents{};                   // by child
  std::map<int, ParameterVersion> starting{};     // of those whose tasks are being handed out
  std::vector<double> sent_bytes{}, got_bytes{};  // by each shard, as far as they are of tasks
  std::vector<ServerUse> used{};                  // of each shard's server, by the last look
  Time at{};
  bool looked = false;
};

// All-reduce: the present epoch, and the update that is on its way in it.
struct RingState {
  std::int64_t epoch = 0;
  std::vector<WorkerId> ring{};
  std::vector<std::pair<WorkerId, WorkerId>> parents{};
  ParameterVersion version = 0;             // what the ring has
  std::map<int, ParameterVersion> holds{};  // what each worker is known to have
  ParameterVersion flying = 0;              // 0: nothing
  std::set<int> waiting{};                  // whose reports are missing
  bool any_done = false, any_failed = false;
  double fresh_mean_norm2 = 0;
  std::int64_t samples = 0;  // of the update on its way
};

enum class SnapshotUse { Evaluate, Validate, Save };

struct Snapshot {
  SnapshotUse use{};
  ParameterVersion version = 0;
  Time at{};
  std::int64_t samples = 0;
  ConductorState state{};
  std::set<int> missing{};  // shards or ring members
  double batches = 0;
  std::uint64_t hash = 0;
  std::vector<float> parameters{}, optimizer_state{};
};

// What is counted between two reports to servers that are shared.
struct ShareTally {
  struct Took {
    double sum_s = 0;
    int tasks = 0;
  };
  std::map<int, Took> took{};  // by place
  Time at{};
  std::int64_t gradients = 0;  // by then
  ServerUse used{};            // by all shards, by then
  bool counting = false, waits_for_all = true;
  double gradients_per_s = 0, ssgd_gradients_per_s = 0;  // smoothed; 0: not known
};

struct PendingEvaluation {
  ParameterVersion version = 0;
  Time at{};
  std::int64_t samples = 0;
  ConductorState state{};
  std::shared_ptr<std::vector<float>> parameters{};
};

}  // namespace orrery
