#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/cluster.h"
#include "model/grant.h"
#include "scheduling/placement/shape.h"

namespace orrery {

// What is free on every node, with an index by the number of free GPUs.
//
// A device may be taken more than once (interleaved jobs); it is free again when the last job
// releases it. Changes made after mark() can be undone, which is how a policy tries things out.
class Ledger {
 public:
  // Names are the workload's, to resolve GPU types. A type that is not among them never serves a
  // job that asks for a type. A node that is not open offers nothing, unless all are taken for
  // open.
  enum class Nodes : std::uint8_t { Open, All };
  Ledger(const Cluster& cluster, std::span<const std::string> names, Nodes nodes = Nodes::Open);

  int node_count() const { return node_count_; }
  int gpus_total() const { return gpus_total_; }
  int gpus_free() const { return gpus_free_; }
  int gpus_per_node_max() const { return gpus_per_node_max_; }
  int switch_count() const { return static_cast<int>(switch_begin_.size()) - 1; }
  int switch_begin(int s) const { return switch_begin_[static_cast<std::size_t>(s)]; }
  int switch_of(int node) const { return at(node).switch_index; }
  // Nodes of one zone may be lost together. Where no zone is known, it is the switch.
  int zone_count() const { return zone_count_; }
  int zone_of(int node) const { return zones_[static_cast<std::size_t>(node)]; }
  int gpus_of(int node) const { return at(node).gpus; }  // that it offers when idle
  std::span<const double> losses_per_day() const { return losses_per_day_; }        // by node
  std::int64_t gpu_memory_of(int node) const { return at(node).gpu_memory_bytes; }  // 0: unknown
  int free_count(int node) const { return at(node).free_count; }
  std::uint64_t free_mask(int node) const { return at(node).free; }
  std::uint64_t shared_mask(int node) const { return at(node).shared; }  // taken more than once
  std::int64_t free_cpu_milli(int node) const { return at(node).free_cpu_milli; }
  std::int64_t free_memory_bytes(int node) const { return at(node).free_memory_bytes; }
  // How often something was taken that was not free, taken back or not.
  std::uint64_t second_takes() const { return second_takes_; }
  bool idle(int node) const { return at(node).free_count == at(node).gpus; }

  // True if `gpus` of the shape's GPUs could go to this node now.
  bool fits(int node, int gpus, const Shape& shape) const {
    const NodeState& state = at(node);
    return state.free_count >= gpus && fits_besides_gpus(state, gpus, shape);
  }
  // The same for devices that are shared: only the CPUs, memory and kind of GPU count.
  bool fits_besides_gpus(int node, int gpus, const Shape& shape) const {
    return fits_besides_gpus(at(node), gpus, shape);
  }
  // True if the node's kind of GPU serves the shape at all.
  bool serves(int node, const Shape& shape) const {
    const NodeState& state = at(node);
    return (shape.gpu_type == kNoName || state.gpu_type == kNoName ||
            state.gpu_type == shape.gpu_type) &&
           (shape.gpu_memory_bytes == 0 || state.gpu_memory_bytes == 0 ||
            shape.gpu_memory_bytes <= state.gpu_memory_bytes);
  }

  // How many of the shape's GPUs could go to this node now.
  int gpus_fitting(int node, const Shape& shape) const {
    return gpus_fitting_within(node, at(node).free_count, shape);
  }
  // The same for devices that are shared.
  int gpus_fitting_shared(int node, const Shape& shape) const {
    return gpus_fitting_within(node, at(node).gpus, shape);
  }

  // The first node in [begin, end) on which `gpus` GPUs of the shape fit; end if there is none.
  int first_fit(int begin, int end, int gpus, const Shape& shape) const {
    int node = next_with_at_least(gpus, begin, end);
    if (asks_for_gpus_alone(shape)) return node;
    while (node < end && !fits_all(at(node), gpus, shape)) {
      node = next_with_at_least(gpus, node + 1, end);
    }
    return node;
  }
  // The same with as few GPUs left over as possible.
  int tightest_fit(int begin, int end, int gpus, const Shape& shape) const;
  // The first node at or after begin with exactly `count` GPUs free; end if there is none.
  int next_with_free(int count, int begin, int end) const;
  // The same with `count` or more.
  int next_with_at_least(int count, int begin, int end) const;

  // The lowest `count` free GPUs of a node.
  std::uint64_t lowest_free(int node, int count) const;

  // True if all of these devices are free, and the CPUs and memory that go with them.
  bool can_take(std::span<const NodeShare> devices, const Shape& shape) const;
  void take(std::span<const NodeShare> devices, const Shape& shape);
  void release(std::span<const NodeShare> devices, const Shape& shape);

  // Marks nest: undo(mark) takes back all that happened since.
  using Mark = std::size_t;
  Mark mark() const { return journal_.size(); }
  void undo(Mark mark);
  void forget() { journal_.clear(); }  // all changes so far stand
  void do_without_undo() { journaled_ = false; }
  void clear();  // everything is free; cannot be undone
  // Takes free devices, and CPUs and memory with them, out of what there is, for good.
  void withhold(std::span<const NodeShare> devices, const Shape& shape);

 private:
  struct NodeState {
    std::uint64_t free = 0;
    std::uint64_t shared = 0;  // devices taken more than once, or that are not there
    std::int64_t free_cpu_milli = 0;
    std::int64_t free_memory_bytes = 0;
    std::int64_t gpu_memory_bytes = 0;
    std::int32_t free_count = 0;
    std::int32_t gpus = 0;
    std::int32_t switch_index = 0;
    NameId gpu_type = kNoName;
  };
  struct Change {
    std::int32_t node = 0;
    bool taken = false;
    std::uint64_t gpus = 0;
    std::int64_t cpu_milli{};
    std::int64_t memory_bytes{};
  };

  const NodeState& at(int node) const { return nodes_[static_cast<std::size_t>(node)]; }
  int gpus_fitting_within(int node, int gpus, const Shape& shape) const;
  static bool asks_for_gpus_alone(const Shape& shape) {
    return (shape.cpu_milli | shape.memory_bytes | shape.gpu_memory_bytes) == 0 &&
           shape.gpu_type == kNoName;
  }
  bool fits_besides_gpus(const NodeState& state, int gpus, const Shape& shape) const {
    return asks_for_gpus_alone(shape) || fits_all(state, gpus, shape);
  }
  bool fits_all(const NodeState& state, int gpus, const Shape& shape) const;
  void apply(const Change& change);
  void change(bool taken, const NodeShare& share, const Shape& shape);
  void add_users(NodeState& state, std::uint64_t gpus);
  std::uint64_t drop_users(NodeState& state, std::uint64_t gpus);
  void move_in_index(int node, int from, int to) {
    const int word = node / 64;
    const std::uint64_t bit = 1ULL << (node % 64);
    with_free(from)[word] &= ~bit;
    with_free(to)[word] |= bit;
  }
  std::uint64_t* with_free(int count) {
    return by_free_.data() + static_cast<std::size_t>(count) * words_;
  }
  const std::uint64_t* with_free(int count) const {
    return by_free_.data() + static_cast<std::size_t>(count) * words_;
  }

  std::vector<NodeState> nodes_;
  std::vector<NodeState> empty_;  // every node as it is when idle
  // Nodes by the number of their free GPUs: a bit set of `words_` words for each number, one after
  // another.
  std::vector<std::uint64_t> by_free_;
  std::vector<std::uint64_t> empty_by_free_;
  std::size_t words_ = 0;
  std::vector<int> switch_begin_;
  std::vector<double> losses_per_day_;  // by node
  std::vector<int> zones_;              // the same
  int zone_count_ = 0;
  std::vector<std::uint8_t> extra_users_;  // [node * 64 + gpu], users beyond the first
  std::vector<Change> journal_;
  std::uint64_t second_takes_ = 0;
  bool journaled_ = true;
  int node_count_ = 0;
  int gpus_total_ = 0;
  int gpus_free_ = 0;
  int gpus_per_node_max_ = 0;
};

}  // namespace orrery
