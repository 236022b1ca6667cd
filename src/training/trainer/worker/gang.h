#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "training/trainer/transport/wire.h"

namespace orrery {

// The place of this process among several that were launched as one job. Rank 0 leads the run. The
// others bring workers to it, and end as it ends.
struct GangPlace {
  int rank = 0;
  int ranks = 1;
  std::string address{};  // of rank 0, where its head listens
  std::uint16_t port = 0;
  RunToken token{};  // from the launch's secret, so that only the ranks of this launch have it

  // How many of the run's workers this rank starts. Every rank starts one at least.
  static int workers_of(int rank, int ranks, int workers);
};

// From ORRERY_RANK, ORRERY_RANKS, ORRERY_MASTER_ADDR, ORRERY_MASTER_PORT or what torchrun calls
// them, and ORRERY_GANG_SECRET. Nothing: this process is alone. `variable` gives a variable's value
// or an empty text.
using Variables = std::function<std::string(const char* name)>;
Result<std::optional<GangPlace>> read_gang(const Variables& variable);
Result<std::optional<GangPlace>> read_gang();  // from this process's environment

}  // namespace orrery
