#include "training/step_trace/operation_kind.h"

#include <array>

#include "base/invariant.h"

namespace orrery {
namespace {

using enum OperationKind;

constexpr std::array<OperationTraits, kOperationKinds> kTraits = {{
    {ForwardCompute, "forward-compute", "forward-compute"},
    {BackwardCompute, "backward-compute", "backward-compute"},
    {GarbageCollection, "gc", "gc"},
    {Optimizer, "optimizer", "optimizer"},
    {ForwardSend, "forward-send", "forward-pp-comm", true},
    {ForwardReceive, "forward-recv", "forward-pp-comm", true},
    {BackwardSend, "backward-send", "backward-pp-comm", true},
    {BackwardReceive, "backward-recv", "backward-pp-comm", true},
    {ParamsAllGather, "params-all-gather", "params-all-gather", true},
    {GradsReduceScatter, "grads-reduce-scatter", "grads-reduce-scatter", true},
    {SeparateGradsAllReduce, "separate-grads-all-reduce", "separate-grads-all-reduce", true},
    {LayernormGradsAllReduce, "layernorm-grads-all-reduce", "layernorm-grads-all-reduce", true},
    {EmbeddingGradsAllReduce, "embedding-grads-all-reduce", "embedding-grads-all-reduce", true},
    {OptimizerClipMainGrad, "optimizer-clip-main-grad", "optimizer-clip-main-grad", true},
    {Compute, "compute", "compute"},
    {ParameterReceive, "parameter-receive", "parameter-receive", true},
    {GradientSend, "gradient-send", "gradient-send", true},
    {GradientAllReduce, "gradient-all-reduce", "gradient-all-reduce", true},
}};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kTraits.size(); ++i) {
    if (index(kTraits[i].kind) != i) return false;
  }
  return true;
}
static_assert(in_order());

}  // namespace

const OperationTraits& traits(OperationKind kind) {
  INVARIANT(index(kind) < kTraits.size(), "every kind has traits");
  return kTraits[index(kind)];
}

std::optional<OperationKind> operation_kind(std::string_view name) {
  for (const OperationTraits& each : kTraits) {
    if (each.name == name) return each.kind;
  }
  return std::nullopt;
}

std::string operation_names() {
  std::string names;
  for (const OperationTraits& each : kTraits) {
    if (!names.empty()) names += ", ";
    names += each.name;
  }
  return names;
}

}  // namespace orrery
