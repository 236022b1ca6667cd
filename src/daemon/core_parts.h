#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/job_spec.h"
#include "daemon/outside.h"
#include "daemon/stops.h"
#include "protocol/agent_words.h"

namespace orrery {

struct CoreOptions {
  ChosenPolicy policy{.name = "fifo"};  // as long as the log names none
  Duration lease = std::chrono::seconds(15);
  // On top of lease and grace, before a job of a lost node may run elsewhere: supervisors look at
  // their lease once a second, killing takes a moment, and clocks run unequally fast.
  Duration margin = std::chrono::seconds(5);
  Duration round_gap{};                              // rounds are at least this far apart
  Duration progress_gap = std::chrono::seconds(10);  // entries about a job's progress as well
  SpecOptions specs{};
  StopPatience patience{};  // with jobs that are asked where they can stop
};

// When a node was last heard of, and whether it is connected.
struct Contact {
  std::int64_t connection = 0;  // 0: none
  std::string instance{};
  Time seen{};
  std::int64_t orders = 0;               // the last number given
  std::int64_t report = 0;               // the last one seen
  bool dirty = false;                    // its orders have changed
  std::vector<LaunchReport> launches{};  // of its last report
  std::vector<LogRequest> logs{};        // not answered yet
};

}  // namespace orrery
