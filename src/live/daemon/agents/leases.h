#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "live/daemon/agents/fences.h"

namespace orrery {

// The connection of a node's agent, and what its last report said.
struct Contact {
  std::int64_t connection = 0;  // 0: none
  std::int64_t newest = 0;      // connection; what comes over an earlier one is late
  Time seen{};
  std::int64_t orders = 0;               // the last number given
  std::int64_t report = 0;               // the number of the last report
  bool dirty = false;                    // its orders have changed
  std::vector<LaunchReport> launches{};  // of its last report
  std::vector<LogRequest> logs{};        // not answered yet
};

// Knows which agents are connected and when each node last reported. Decides from that when a node
// is lost, and when a launch there can no longer be running. There is one contact for each node of
// the book. In memory only: after a start every node counts as seen at that instant.
class Leases {
 public:
  explicit Leases(FenceOptions options) : options_(options), fences_(options) {}

  // No agent is connected, and every node counts as seen now.
  void restart(Time now);
  void resize(std::size_t nodes) { contacts_.resize(nodes); }

  // Precondition: the connection is not older than the node's newest.
  void renew(NodeId node, std::int64_t connection, const Report& report, Time now);
  void disconnected(std::int64_t connection);
  bool is_connected(NodeId node) const { return contact(node).connection != 0; }

  Contact& contact(NodeId node) { return contacts_[index(node)]; }
  const Contact& contact(NodeId node) const { return contacts_[index(node)]; }
  const std::map<std::int64_t, NodeId>& connections() const { return connections_; }

  // The orders of a node, or of all nodes, have changed.
  void mark(NodeId node) { contact(node).dirty = true; }
  void mark_all();

  void forget_log(std::int64_t request);

  struct Verdict {
    bool is_lost = false;            // from now on
    std::vector<LaunchName> over{};  // cannot be running any more
  };
  // Looks at each node and hands on what has changed, node by node. `act` may end launches.
  void look(const Book& book, Time now,
            const std::function<void(NodeId node, const Verdict& verdict)>& act);
  Time due() const { return due_; }  // when look() is due
  // Until the first launch of a lost node counts as ended; nothing: it never does.
  std::optional<Duration> fence_in(const Book& book, NodeId node, Time now) const;

 private:
  FenceOptions options_;
  Fences fences_;
  std::vector<Contact> contacts_;
  std::map<std::int64_t, NodeId> connections_;
  Time due_ = kNever;
};

}  // namespace orrery
