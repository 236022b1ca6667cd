#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/grant.h"
#include "model/sensitivity.h"
#include "placement/ledger.h"
#include "predict/host_need.h"

namespace orrery {

// Who sits where with how many CPUs and how much memory, while a round is being laid out. Works on
// a ledger that somebody else owns; all changes of what seats hold go through here.
class Hosting {
 public:
  struct Seat {
    JobId job = kNoJob;
    const HostNeed* need = nullptr;
    Shape shape;  // its GPUs, and the CPUs and memory it holds
    Devices devices;

    HostShare held() const { return {shape.cpu_milli, shape.memory_bytes}; }
  };

  void begin(Ledger& ledger);

  Ledger& ledger() { return *ledger_; }
  std::span<const Seat> seats() const { return {seats_.data(), seated_}; }
  // By node: indices of seats, in the order they came unless somebody sorts them.
  std::vector<std::uint32_t>& on_node(int node) {
    return on_nodes_[static_cast<std::size_t>(node)];
  }
  const Seat& seat(std::uint32_t index) const { return seats_[index]; }

  // Takes the devices, with the shape's CPUs and memory on each node in proportion to the GPUs.
  Seat& sit(JobId job, const HostNeed& need, const Shape& shape, const Devices& devices);
  // The seat holds this from now on, where it is.
  void change(std::uint32_t index, const HostShare& held);

  // Of what a seat holds, the part on this node.
  static HostShare part_on(const Seat& seat, int gpus_there);
  static int gpus_on(const Seat& seat, int node);

 private:
  Ledger* ledger_ = nullptr;
  std::vector<Seat> seats_;  // used again from round to round
  std::size_t seated_ = 0;
  std::vector<std::vector<std::uint32_t>> on_nodes_;
};

// The shape with other CPUs and memory.
inline Shape with_host(Shape shape, const HostShare& host) {
  shape.cpu_milli = host.cpu_milli;
  shape.memory_bytes = host.memory_bytes;
  return shape;
}

// Where the GPUs of a job go if each of its CPUs and bytes is to be had: any free ones in the order
// of nodes; or, gathered, the node that is left with the fewest free GPUs, and for what does not
// fit one node those with the fewest. After Synergy's simulator, without and with its placement.
bool find_scattered(const Ledger& ledger, const Shape& shape, Devices& devices);
bool find_gathered(const Ledger& ledger, const Shape& shape, Devices& devices);

}  // namespace orrery
