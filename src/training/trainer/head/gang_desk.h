#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "training/trainer/transport/connection.h"
#include "training/trainer/worker/gang.h"

namespace orrery {

// How a run ended, for the other ranks of its gang. Sent as the number of the message Stop.
enum class RunOutcome : std::int64_t { Finished, Failed, Stopped };

// The head's side of a gang: sends each other rank the number of workers to start, and at the end
// how the run ended.
class GangDesk {
 public:
  using Clock = std::chrono::steady_clock;

  GangDesk(const GangPlace& place, int workers, Clock::time_point now);

  int own_workers() const { return GangPlace::workers_of(0, ranks_, workers_); }
  // Takes over the line of a rank. `lost` is called if it closes before the end.
  void welcome(const std::shared_ptr<Connection>& line, int rank,
               std::function<void(int rank)> lost);
  void end(RunOutcome outcome);

  // Once the ranks had time enough to come: those that did not.
  std::vector<int> absent(Clock::time_point now) const;

 private:
  const int ranks_, workers_;
  const Clock::time_point began_;
  std::map<int, std::shared_ptr<Connection>> lines_{};
};

}  // namespace orrery
