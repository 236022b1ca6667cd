#pragma once

#include <cstdint>
#include <string>

#include "live/api/agent_words.h"
#include "live/daemon/log/log_origin.h"
#include "live/daemon/rights/rights_entries.h"
#include "model/run_description.h"

// What comes from outside, as the scheduler's log has it. Jobs and nodes are named as the outside
// names them, because a scheduler's own ids are others after a restart.

namespace orrery {

// Cluster time is counted from here.
struct EraBegan {
  std::int64_t unix_ns = 0;
  bool operator==(const EraBegan&) const = default;
};

struct TermBegan {
  std::int64_t term = 0;  // the scheduler has started; its policy begins without memory
  ChosenPolicy policy{};
  Duration lease{};         // in this term; 0: of a log from before it was written down
  Duration node_timeout{};  // of launches decided in this term; 0: the lease
  bool operator==(const TermBegan&) const = default;
};

struct PolicyChanged {
  ChosenPolicy policy{};
  std::string by{};
  bool operator==(const PolicyChanged&) const = default;
};

struct Submitted {
  JobNumber first = 0;
  JobRequest request{};  // with its user
  std::string key{};
  bool operator==(const Submitted&) const = default;
};

struct CancelAsked {
  JobNumber job = 0;
  std::string by{};
  bool operator==(const CancelAsked&) const = default;
};

// New, or with something else to offer than before.
struct NodeJoined {
  NodeOffer offer{};
  std::string instance{};
  std::string machine{};  // identifies the machine; empty: unknown
  std::string boot{};     // and its boot
  bool operator==(const NodeJoined&) const = default;
};

enum class NodeState : std::uint8_t {
  Up,
  Lost,     // has not been heard of for longer than its lease
  Left,     // said goodbye
  Removed,  // by an admin; it is listed no more, and comes back when an agent joins under its name
};
std::string_view to_string(NodeState state);

struct NodeTurned {
  std::string node{};
  NodeState state = NodeState::Up;
  bool draining = false;  // what runs there goes on, nothing is added
  bool clears = false;    // what runs there is to go elsewhere, now
  bool gone = false;      // its machine is off, says an operator
  bool heard = false;     // after a restore: it has said what it runs
  std::string by{};
  bool operator==(const NodeTurned&) const = default;
};

// A process has ended, or can be running no more: its node's lease and its grace are over.
struct LaunchEnded {
  LaunchName launch{};
  JobEnd end{};
  bool operator==(const LaunchEnded&) const = default;
};

// What a job said of itself.
struct Progressed {
  JobNumber job = 0;
  double iteration = -1;
  double iterations = -1;
  double checkpointed = -1;
  bool operator==(const Progressed&) const = default;
};

// A line about a join token, a certificate or a revocation, as trust/ writes it; empty: taken away.
struct TokenKept {
  std::string id{};
  std::string line{};
  bool operator==(const TokenKept&) const = default;
};

struct RoundHeld {
  bool operator==(const RoundHeld&) const = default;
};

}  // namespace orrery
