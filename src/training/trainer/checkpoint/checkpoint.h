#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "training/libtorch/learner.h"
#include "training/result/training_result.h"
#include "training/sync/conductor.h"

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
  std::optional<EvaluatedVersion> judged{};  // of the best model
};

// FOLDER/checkpoint-VERSION.orc, written whole or not at all, and on the disk when this returns.
// Older ones beyond `keep` are removed.
// `guard` is called to make the whole file visible, and may refuse.
using CheckpointGuard = std::function<Status(const std::function<Status()>&)>;
Status write_checkpoint(const std::string& folder, const Checkpoint& checkpoint, int keep,
                        const CheckpointGuard& guard = {});
// Removes files that a process left half-written when it was killed.
void remove_drafts(const std::string& folder);

// The best model, in FOLDER/checkpoint-best.orc: the parameters alone, so that moments begin at
// zero where training goes on from it. No older ones are kept.
Status write_best_checkpoint(const std::string& folder, const Checkpoint& checkpoint,
                             const CheckpointGuard& guard = {});
std::string best_checkpoint_path(const std::string& folder);
// Makes the best model the newest checkpoint: newer ones are renamed to set-aside-VERSION.orc.
// Code::NotFound: there is none.
Status begin_at_best(const std::string& folder);

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
