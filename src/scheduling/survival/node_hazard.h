#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/ids.h"
#include "model/time.h"

namespace orrery {

// How often each node is lost, estimated from the losses of all nodes so far.
//
// The hazard of a node depends on its age, the time since it came back: a node that was just
// repaired is lost again much sooner than one that has lived. Ages are counted in classes that
// double in length, and nodes that were never lost are a class of their own. The estimate of a
// class is its losses over the node time spent in it, drawn towards the rate of all nodes as far as
// one expected loss weighs. (With a tenth of a loss, placement by survival lost 3 to 4 % more work
// to the published faults.) Nothing is known before the first loss: then it is 0 for all.
class NodeHazard {
 public:
  // All nodes are there at `begin` and were never lost.
  NodeHazard(std::size_t nodes, Time begin);

  // Times do not decrease.
  void lose(NodeId node, Time now);
  void bring_back(NodeId node, Time now);

  // Of a node that is there, at its age now; nodes of one class have the same.
  double losses_per_day(NodeId node, Time now) const;

 private:
  static constexpr std::size_t kAges = 12;  // under 3 h, 6 h, 12 h ... 128 d, longer
  static constexpr std::size_t kNeverLost = kAges;

  struct Life {
    Time since{};
    bool there = true;
    bool was_lost = false;
  };
  struct Seen {
    double days = 0;  // that nodes spent in the class, in lives that have ended
    double losses = 0;
  };
  using Classes = std::array<Seen, kAges + 1>;

  static std::size_t age_class(const Life& life, Time now);
  // Adds the time that a life has spent in each class, until now.
  static void add_days(const Life& life, Time now, Classes& seen);
  void bring_up(Time now) const;

  std::vector<Life> lives_;  // by node
  Classes ended_;
  mutable Classes all_;  // with the lives that go on
  mutable Time all_at_{Duration(-1)};
};

}  // namespace orrery
