#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace orrery {

// What an operation of a training step is. All but the last four occur in traces of jobs with
// pipeline stages; the last four are those of a job whose workers hold whole models.
enum class OperationKind : std::uint8_t {
  ForwardCompute,
  BackwardCompute,
  GarbageCollection,
  Optimizer,
  ForwardSend,
  ForwardReceive,
  BackwardSend,
  BackwardReceive,
  ParamsAllGather,
  GradsReduceScatter,
  SeparateGradsAllReduce,
  LayernormGradsAllReduce,
  EmbeddingGradsAllReduce,
  OptimizerClipMainGrad,
  Compute,  // forward and backward in one
  ParameterReceive,
  GradientSend,
  GradientAllReduce,
};
inline constexpr std::size_t kOperationKinds = 18;

struct OperationTraits {
  OperationKind kind;
  std::string_view name;   // in a trace
  std::string_view group;  // under which its slowness is counted
  // True if its usual duration is the median, since a few slow transfers say little about the
  // others. Of computation it is the mean.
  bool communicates = false;
};
const OperationTraits& traits(OperationKind kind);

std::optional<OperationKind> operation_kind(std::string_view name);
// All names, for messages.
std::string operation_names();

constexpr std::size_t index(OperationKind kind) { return static_cast<std::size_t>(kind); }

}  // namespace orrery
