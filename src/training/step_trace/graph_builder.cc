#include "training/step_trace/graph_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace orrery {

using enum OperationKind;

GraphBuilder::GraphBuilder(const RecordedSteps& recorded)
    : recorded_(recorded),
      stages_(recorded.shape.stages),
      several_workers_(recorded.shape.workers > 1 || recorded.shape.sequence_parallel > 1) {
  graph_.needs.resize(recorded.operations.size());
  graph_.group_of.assign(recorded.operations.size(), StepGraph::kNoGroup);
  for (std::size_t i = 0; i < recorded.operations.size(); ++i) {
    of_kind_[index(at(i).kind)].push_back(i);
    by_number_[{at(i).kind, at(i).stage, at(i).sequence}] = i;
  }
  for (Operations& operations : of_kind_) {
    std::ranges::sort(operations, {}, [this](std::size_t i) {
      return std::tuple(at(i).stage, at(i).start_s, at(i).sequence);
    });
  }
}

Result<StepGraph> GraphBuilder::build() && {
  const bool pipeline = has(ForwardCompute) || has(BackwardCompute);
  TRY(pipeline ? build_pipeline() : build_whole_models());
  for (Operations& needs : graph_.needs) {
    std::ranges::sort(needs);
    needs.erase(std::unique(needs.begin(), needs.end()), needs.end());
  }
  return std::move(graph_);
}

Error GraphBuilder::wrong(std::size_t operation, std::string_view what) const {
  return invalid(fmt::format("{}: {} {} of stage {} {}", recorded_.name,
                             traits(at(operation).kind).name, at(operation).sequence,
                             at(operation).stage, what));
}

Error GraphBuilder::wrong_stage(int stage, std::string_view what) const {
  return invalid(fmt::format("{}: stage {} {}", recorded_.name, stage, what));
}

// By start. What starts together goes by sequence, then backward before forward.
GraphBuilder::Operations GraphBuilder::of_stage(int stage,
                                                std::initializer_list<OperationKind> kinds) const {
  Operations found;
  for (const OperationKind kind : kinds) {
    for (const std::size_t i : of_kind_[index(kind)]) {
      if (at(i).stage == stage) found.push_back(i);
    }
  }
  std::ranges::sort(found, {}, [this](std::size_t i) {
    return std::tuple(at(i).start_s, at(i).sequence, traits(at(i).kind).name);
  });
  return found;
}

std::optional<std::size_t> GraphBuilder::find(OperationKind kind, int stage, int sequence) const {
  const auto found = by_number_.find({kind, stage, sequence});
  if (found != by_number_.end()) return found->second;
  return std::nullopt;
}

void GraphBuilder::need(std::size_t operation, std::size_t needed) {
  graph_.needs[operation].push_back(needed);
}

void GraphBuilder::group(Operations members, bool across_workers) {
  for (const std::size_t member : members) {
    graph_.group_of[member] = static_cast<int>(graph_.groups.size());
  }
  graph_.groups.push_back({.members = std::move(members), .across_workers = across_workers});
}

void GraphBuilder::chain(const Operations& operations, Operations first_needs) {
  Operations before = std::move(first_needs);
  for (const std::size_t operation : operations) {
    for (const std::size_t needed : before) need(operation, needed);
    before = {operation};
  }
}

Status GraphBuilder::build_pipeline() {
  for (const OperationKind kind : {Compute, ParameterReceive, GradientSend, GradientAllReduce}) {
    if (has(kind)) {
      return wrong(of_kind_[index(kind)].front(),
                   "does not go with forward-compute and backward-compute; write either");
    }
  }
  for (int stage = 0; stage < stages_; ++stage) {
    if (of_stage(stage, {ForwardCompute, BackwardCompute}).empty()) {
      return wrong_stage(stage, "computes nothing; it needs forward-compute and backward-compute");
    }
  }
  TRY(link_stages());
  for (int stage = 0; stage < stages_; ++stage) {
    chain(of_stage(stage, {ForwardCompute, BackwardCompute}));
    for (const OperationKind kind : {ForwardSend, ForwardReceive, BackwardSend, BackwardReceive}) {
      chain(of_stage(stage, {kind}));
    }
    TRY(delay_first_backward(stage));
    if (several_workers_) {
      chain(of_stage(stage, {ParamsAllGather, GradsReduceScatter}));
      gather_parameters(stage);
      if (has(SeparateGradsAllReduce)) scatter_early(stage);
    }
    end_step(stage);
  }
  if (several_workers_) {
    for (const OperationKind kind : {ParamsAllGather, GradsReduceScatter, SeparateGradsAllReduce}) {
      for (const std::size_t i : of_kind_[index(kind)]) group({i}, true);
    }
  }
  Operations embedding;
  for (const std::size_t i : of_kind_[index(EmbeddingGradsAllReduce)]) {
    if (at(i).sequence == 0) embedding.push_back(i);
  }
  if (!embedding.empty()) group(std::move(embedding), false);
  if (has(OptimizerClipMainGrad)) group(of_kind_[index(OptimizerClipMainGrad)], true);
  return check_covered();
}

// The first forward pass of a model chunk needs the chunk's parameters, which the last gathering of
// that chunk completes.
void GraphBuilder::gather_parameters(int stage) {
  std::map<int, std::size_t> last;  // by chunk
  for (const std::size_t i : of_stage(stage, {ParamsAllGather})) {
    const auto [found, fresh] = last.emplace(at(i).chunk, i);
    if (!fresh && at(found->second).sequence < at(i).sequence) found->second = i;
  }
  for (const auto& [chunk, gathering] : last) {
    const Operations forward = of_stage(stage, {ForwardCompute});
    const auto first = std::ranges::find_if(
        forward, [&, chunk = chunk](std::size_t i) { return at(i).chunk == chunk; });
    if (first != forward.end()) need(*first, gathering);
  }
}

// Where gradients are scattered beside the computation, the first scattering of a chunk needs its
// last backward pass.
void GraphBuilder::scatter_early(int stage) {
  std::map<int, std::size_t> first;  // by chunk
  for (const std::size_t i : of_stage(stage, {GradsReduceScatter})) {
    const auto [found, fresh] = first.emplace(at(i).chunk, i);
    if (!fresh && at(i).sequence < at(found->second).sequence) found->second = i;
  }
  for (const auto& [chunk, scattering] : first) {
    std::optional<std::size_t> last;
    for (const std::size_t i : of_stage(stage, {BackwardCompute})) {
      if (at(i).chunk != chunk) continue;
      if (!last || at(*last).end_s() < at(i).end_s()) last = i;
    }
    if (last) need(scattering, *last);
  }
}

// After the last computation one thing follows the other: gradients of shared layers, then those of
// all others, then the step of the optimizer.
void GraphBuilder::end_step(int stage) {
  const Operations computations = of_stage(stage, {ForwardCompute, BackwardCompute});
  Operations before = {
      *std::ranges::max_element(computations, {}, [this](std::size_t i) { return at(i).end_s(); })};
  Operations scatterings = of_stage(stage, {GradsReduceScatter});
  std::ranges::sort(scatterings, {}, [this](std::size_t i) { return at(i).sequence; });
  if (const auto collection = find(GarbageCollection, stage, 0)) {
    chain({*collection}, before);
    before = {*collection};
  }
  const bool early = several_workers_ && has(SeparateGradsAllReduce);
  if (early && !scatterings.empty()) before.push_back(scatterings.back());
  Operations rest;
  const auto add = [&](OperationKind kind) {
    if (const auto found = find(kind, stage, 0)) rest.push_back(*found);
  };
  add(LayernormGradsAllReduce);
  if (stage == 0 || stage == stages_ - 1) add(EmbeddingGradsAllReduce);
  if (early) add(SeparateGradsAllReduce);
  if (several_workers_ && !early) rest.insert(rest.end(), scatterings.begin(), scatterings.end());
  add(OptimizerClipMainGrad);
  add(Optimizer);
  chain(rest, before);
}

// Each worker holds the whole model: its operations follow one another as they were recorded, and
// all-reduces join the workers.
Status GraphBuilder::build_whole_models() {
  if (stages_ > 1) {
    return wrong_stage(1,
                       "computes nothing; several stages need forward-compute and "
                       "backward-compute");
  }
  Operations all;
  for (std::size_t i = 0; i < recorded_.operations.size(); ++i) {
    const OperationKind kind = at(i).kind;
    for (const OperationKind other : {ForwardSend, ForwardReceive, BackwardSend, BackwardReceive}) {
      if (kind == other) return wrong(i, "needs forward-compute and backward-compute beside it");
    }
    all.push_back(i);
    const bool joins = kind == GradientAllReduce || kind == ParamsAllGather ||
                       kind == GradsReduceScatter || kind == SeparateGradsAllReduce;
    if (joins && several_workers_) group({i}, true);
  }
  std::ranges::sort(all, {}, [this](std::size_t i) {
    return std::tuple(at(i).start_s, index(at(i).kind), at(i).sequence);
  });
  chain(all);
  return {};
}

// What has no place in the rules would start with the step and hide what it took.
Status GraphBuilder::check_covered() const {
  for (const OperationKind kind :
       {GarbageCollection, LayernormGradsAllReduce, EmbeddingGradsAllReduce, SeparateGradsAllReduce,
        OptimizerClipMainGrad, Optimizer}) {
    for (const std::size_t i : of_kind_[index(kind)]) {
      if (graph_.needs[i].empty()) {
        return wrong(i,
                     "has no place in the step; one at the end of a stage is expected, and "
                     "embeddings at the first and last stage");
      }
    }
  }
  return {};
}

}  // namespace orrery
