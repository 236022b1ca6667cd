#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "model/grant.h"
#include "model/sensitivity.h"
#include "scheduling/placement/ledger.h"
#include "scheduling/prediction/host_need.h"

namespace orrery {

// Where jobs are, with how many CPUs and how much memory, while a round is being laid out. Works on
// a ledger of the caller; all changes of what seats hold go through here.
class Hosting {
 public:
  struct Seat {
    JobId job = kNoJob;
    const HostNeed* need = nullptr;
    Shape shape;  // its GPUs, and the CPUs and memory it holds
    Devices devices;

    HostShare held() const { return {shape.cpu_milli, shape.memory_bytes}; }
  };

  void begin(Ledger& ledger);  // no job is seated

  // What is done from now on belongs to this place in line; places are numbered from 0, rising.
  void place(std::size_t number) { place_ = number; }
  // All is as it was before that place.
  void back_to(std::size_t number);

  Ledger& ledger() { return *ledger_; }
  std::span<const Seat> seats() const { return {seats_.data(), seated_}; }
  // By node: indices of seats, in the order they came unless sorted.
  std::span<const std::uint32_t> on_node(int node) const {
    return on_nodes_[static_cast<std::size_t>(node)];
  }
  template <class Key>
  void sort_on_node(int node, Key key) {
    std::vector<std::uint32_t>& here = on_nodes_[static_cast<std::size_t>(node)];
    orders_.insert(orders_.end(), here.begin(), here.end());
    done_.push_back({.what = Step::What::Sorted, .place = place_, .where = node, .held = {}});
    std::ranges::stable_sort(here, {}, key);
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
  // What was done, to be undone in reverse.
  struct Step {
    enum class What : std::uint8_t { Sat, Changed, Sorted };
    What what{};
    std::size_t place = 0;
    int where = 0;   // the seat, or the node
    HostShare held;  // before
  };
  void set_held(Seat& seat, const HostShare& held);

  Ledger* ledger_ = nullptr;
  std::size_t place_ = 0;
  std::vector<Step> done_;
  std::vector<std::uint32_t> orders_;  // of nodes before they were sorted
  std::vector<Seat> seats_;            // used again from round to round
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
// fit one node those with the fewest. After Synergy (OSDI '22), without and with its placement.
bool find_scattered(const Ledger& ledger, const Shape& shape, Devices& devices);
bool find_gathered(const Ledger& ledger, const Shape& shape, Devices& devices);

}  // namespace orrery
