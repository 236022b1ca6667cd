#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "model/grant.h"
#include "model/ids.h"
#include "model/job.h"
#include "model/reason.h"
#include "model/time.h"

namespace orrery {

enum class EventKind : std::uint8_t {
  Submitted,
  Admitted,   // was promised to be done by its deadline; `promised` says when by the plan
  Queued,     // was asked about and has to wait, with the reason
  Started,    // holds `grant` for the first time
  Resumed,    // holds `grant` again after a pause
  Moved,      // holds other devices, as many as before
  Resized,    // holds more or fewer GPUs
  Regrouped,  // same devices, other members or another position
  Paused,     // holds nothing; with the reason
  Completed,
  Failed,
  Rejected,
  Cancelled,
};

std::string_view to_string(EventKind kind);

// Something that happened, in the one order (time, sequence) of the log. Jobs and clusters change
// by these and by nothing else. `spec` and `grant` point into the sender's memory and are read
// before the call that hands the event over returns.
struct Event {
  Time time{};
  std::uint64_t sequence = 0;
  EventKind kind{};
  JobId job = kNoJob;
  const JobSpec* spec = nullptr;  // Submitted only
  const Grant* grant = nullptr;   // Started to Regrouped
  Time ready{};                   // Started to Regrouped: the first iteration begins here
  double work_left = 0;           // iterations, for every kind from Started on
  Reason reason{};                // Queued, Paused, Failed, Rejected, Cancelled
  Time promised{};                // Admitted: when it will be done
  // Completed: when its last iteration was done. In a world of slots that is before its devices are
  // free again, which is when the event happens; deadlines are judged by it.
  Time finished{};
};

// Where events go: memory, a file, a store, metrics.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void write(const Event& event) = 0;
};

}  // namespace orrery
