#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/result.h"
#include "training/step_trace/step_graph.h"

namespace orrery {

// The rules of a StepGraph: edges and groups, without the order. Part of step_graph.cc.
class GraphBuilder {
 public:
  explicit GraphBuilder(const RecordedSteps& recorded);

  Result<StepGraph> build() &&;

 private:
  using Operations = std::vector<std::size_t>;

  // pipeline_links.cc: transfers between the stages of a pipeline.
  Status link_stages();
  Status match_transfers(int stage, OperationKind kind, Operations& real);
  Result<int> first_computation(int stage, OperationKind kind, std::size_t transfers,
                                std::size_t computations) const;
  void link_transfer(std::size_t transfer, OperationKind kind, std::size_t computation);
  Status pair_transfers(OperationKind send, const std::vector<Operations>& sends,
                        OperationKind receive, const std::vector<Operations>& receives);
  Status delay_first_backward(int stage);

  Status build_pipeline();
  Status build_whole_models();
  void chain(const Operations& operations, Operations first_needs = {});
  void gather_parameters(int stage);
  void scatter_early(int stage);
  void end_step(int stage);
  Status check_covered() const;

  Operations of_stage(int stage, std::initializer_list<OperationKind> kinds) const;
  std::optional<std::size_t> find(OperationKind kind, int stage, int sequence) const;
  void group(Operations members, bool across_workers);
  void need(std::size_t operation, std::size_t needed);
  const StepOperation& at(std::size_t operation) const { return recorded_.operations[operation]; }
  bool has(OperationKind kind) const { return !of_kind_[index(kind)].empty(); }
  Error wrong(std::size_t operation, std::string_view what) const;
  Error wrong_stage(int stage, std::string_view what) const;

  const RecordedSteps& recorded_;
  const int stages_;
  const bool several_workers_;  // or several ranks that share a sequence
  std::array<Operations, kOperationKinds> of_kind_{};
  std::map<std::tuple<OperationKind, int, int>, std::size_t> by_number_{};  // stage, sequence
  StepGraph graph_{};
};

}  // namespace orrery
