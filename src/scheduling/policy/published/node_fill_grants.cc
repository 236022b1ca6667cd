#include "scheduling/policy/published/node_fill_grants.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "scheduling/placement/shape.h"
#include "scheduling/policy/published/node_fill.h"

namespace orrery {
namespace {

class NodeFillGrants final : public ElasticGrants {
 public:
  explicit NodeFillGrants(FillOrder order) : order_(order) {}

  void write(const View& view, Packer& packer, std::span<const Request> requests,
             Plan& plan) override {
    const bool gpus_alone = std::ranges::all_of(requests, [&](const Request& request) {
      return asks_for_gpus_alone(view.spec(request.job));
    });
    const bool all_there = packer.current().gpus_total() == view.cluster->gpus_total();
    if (!gpus_alone || !all_there || !NodeFill::serves(*view.cluster)) {
      ElasticGrants::write(view, packer, requests, plan);
      return;
    }
    for (const Request& request : requests) {
      if (request.gpus == 0) stop(view, request, plan);
    }
    fill(view, requests, plan);
  }

 private:
  void fill(const View& view, std::span<const Request> requests, Plan& plan) {
    if (!nodes_) nodes_.emplace(*view.cluster);
    nodes_->clear();
    const int gpus_per_node = view.cluster->nodes.front().gpus;
    line_.clear();
    const int whole = order_ == FillOrder::AsGiven ? 1 : gpus_per_node;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (requests[i].gpus >= whole) line_.push_back(i);
    }
    for (int gpus = whole - 1; gpus > 0; --gpus) {
      for (std::size_t i = 0; i < requests.size(); ++i) {
        if (requests[i].gpus == gpus) line_.push_back(i);
      }
    }
    for (const std::size_t i : line_) {
      devices_.clear();
      if (nodes_->place(requests[i].gpus, devices_)) {
        grant(view, requests[i], devices_, plan);
      } else {
        stop(view, requests[i], plan);
      }
    }
  }

  const FillOrder order_;
  std::optional<NodeFill> nodes_;
  std::vector<std::size_t> line_;
  Devices devices_;
};

}  // namespace

std::unique_ptr<ElasticGrants> make_node_fill_grants(FillOrder order) {
  return std::make_unique<NodeFillGrants>(order);
}

}  // namespace orrery
