#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/cluster.h"
#include "model/reason.h"
#include "scheduling/placement/ledger.h"
#include "scheduling/placement/rule.h"

namespace orrery {

// What a policy places with while it decides: two ledgers of free resources and one rule.
//
// `current` mirrors what jobs really hold; what a policy changes in it is undone after the plan, as
// only events change the state. `blank` starts empty for policies that place all jobs again in each
// plan.
class Packer {
 public:
  Packer(const Cluster& cluster, std::span<const std::string> names,
         std::unique_ptr<PlacementRule> rule);

  Ledger& current() { return current_; }
  const Ledger& current() const { return current_; }
  Ledger& blank() { return blank_; }

  ShapeId intern(const Shape& shape);
  const Shape& shape(ShapeId id) const { return shapes_[index(id)].shape; }
  std::size_t shape_count() const { return shapes_.size(); }

  // Why the shape could never run here, even if the cluster were idle and all its nodes open;
  // nothing if it could.
  std::optional<Reason> infeasible(ShapeId id) const { return shapes_[index(id)].never; }
  // Why it could not run now, were the nodes that are open idle.
  std::optional<Reason> not_here(ShapeId id) const;
  // Takes out what a job holds that is not the policy's to decide about. Before the first shape.
  void withhold(std::span<const NodeShare> devices, const Shape& shape);

  // Chooses free devices in the ledger by the rule and takes them. If there are none nothing
  // changes.
  bool place(Ledger& ledger, ShapeId id, Devices& devices);

  // True if any free GPUs will do for every shape known so far: counting them says whether one
  // fits.
  bool counting_is_enough() const { return rule_->scatters() && !constrained_; }
  // True if all of a job of this shape must be on one node.
  bool needs_one_node(ShapeId id) const {
    const Known& known = shapes_[index(id)];
    return known.scope == Scope::OneSwitch && !rule_->scatters() &&
           known.shape.gpus <= current_.gpus_per_node_max();
  }
  // True if a job of this shape, being larger than any node, needs whole nodes.
  bool needs_whole_nodes(ShapeId id) const {
    const Known& known = shapes_[index(id)];
    return known.scope != Scope::Anywhere && !rule_->scatters() &&
           known.shape.gpus > current_.gpus_per_node_max();
  }

  // Why place() would fail now.
  Reason why_not(const Ledger& ledger, ShapeId id) const;

 private:
  struct Known {
    Shape shape;
    Scope scope = Scope::OneSwitch;
    bool fits_open = false;  // when they are idle
    std::optional<Reason> never;
  };

  struct ShapeHash {
    std::size_t operator()(const Shape& shape) const;
  };

  std::unique_ptr<PlacementRule> rule_;
  Ledger current_;
  Ledger blank_;
  Ledger idle_;                       // the nodes that are open
  std::unique_ptr<Ledger> all_idle_;  // all nodes, where some are not
  std::vector<Known> shapes_;
  bool constrained_ = false;  // some shape asks for more than GPUs
  std::unordered_map<Shape, ShapeId, ShapeHash> ids_;
};

}  // namespace orrery
