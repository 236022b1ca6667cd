#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "training/step_trace/operation_kind.h"

namespace orrery {

// One operation of one worker at one pipeline stage in one training step.
struct StepOperation {
  std::int64_t step = 0;
  int worker = 0;  // data-parallel rank
  int stage = 0;   // pipeline rank
  int rank = 0;    // global rank; one stands for all ranks of a tensor-parallel group
  OperationKind kind{};
  int sequence = 0;       // among those of the same kind, stage and step; from 0, by start
  int chunk = -1;         // model chunk within the stage; -1: not known
  int microbatch = -1;    // of a computation
  int global_chunk = -1;  // model chunk within the model
  double start_s = 0;     // of any clock that all operations share
  double duration_s = 0;

  double end_s() const { return start_s + duration_s; }
};

// The operations in the order of the file.
struct StepTrace {
  std::string name;  // of the file, for messages
  std::vector<StepOperation> operations;
  std::vector<std::int64_t> lines;  // of each operation
};

}  // namespace orrery
