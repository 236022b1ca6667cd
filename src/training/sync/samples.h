#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "training/sync/membership.h"

namespace orrery {

// Hands out the positions of the sample order: lost ones first, then those not handed out before.
class SampleCursor {
 public:
  SampleCursor(std::int64_t next, const std::vector<Samples>& again);

  // At most `count`, and fewer only from what was lost, since a task's samples are one run.
  Samples take(std::int32_t count);
  void give_back(Samples samples);

  std::int64_t next() const { return next_; }
  const std::vector<Samples>& again() const { return again_; }  // ascending, no two touching

 private:
  std::int64_t next_;
  std::vector<Samples> again_;
};

// Sets each worker's batch so that together they are the global batch: by shares, else equally, the
// first getting one more where it does not divide. None is below `least`; if that is too much for
// the global batch, each worker gets `least`. A retiring worker gets no part.
void split_batch(std::int32_t global_batch, std::int32_t least,
                 std::span<const std::pair<WorkerId, double>> shares, Membership& membership);

}  // namespace orrery
