#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "learn/learner.h"
#include "sync/conductor.h"

namespace orrery {

// All that a run goes on from. What is random in a run (the order of samples, what a model draws)
// follows from the seed and the positions of samples, so these are its random state as well.
// Format: docs/formats/checkpoint.md.
struct Checkpoint {
  ConductorState conductor{};
  double elapsed_s = 0;  // training time so far
  std::string model{}, data{}, optimizer{};
  std::uint64_t seed = 0;
  std::vector<TensorPlace> tensors{};
  double optimizer_batches = 0;  // global batches that the optimizer has stepped by
  std::vector<float> parameters{};
  std::vector<float> optimizer_state{};
};

// FOLDER/checkpoint-VERSION.orc, written whole or not at all, and on the disk when this returns.
// Older ones beyond `keep` are removed.
Status write_checkpoint(const std::string& folder, const Checkpoint& checkpoint, int keep);

// A damaged one is Code::DataLoss.
Result<Checkpoint> read_checkpoint(const std::string& path);

struct FoundCheckpoint {
  std::string path{};
  Checkpoint checkpoint{};
  std::vector<std::string> damaged{};  // newer ones that could not be used, and why
};
// The newest that is whole. Code::NotFound: there is none; Code::DataLoss: none that is whole.
Result<FoundCheckpoint> newest_checkpoint(const std::string& folder);

}  // namespace orrery
