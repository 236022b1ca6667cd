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
  // About a node, not about a job.
  NodeWarned,  // will be lost; takes no new jobs, and those on it go on
  NodeLost,    // is gone, with all that ran there
  NodeBack,    // takes jobs again
};

constexpr bool is_about_node(EventKind kind) { return kind >= EventKind::NodeWarned; }
constexpr bool is_end(EventKind kind) {
  return kind >= EventKind::Completed && kind <= EventKind::Cancelled;
}

std::string_view to_string(EventKind kind);

// Something that happened, in the one order (time, sequence) of the log. Jobs and clusters change
// by these and by nothing else. `spec` and `grant` point into the sender's memory and are read
// before the call that hands the event over returns.
struct Event {
  Time time{};
  std::uint64_t sequence = 0;
  EventKind kind{};
  JobId job = kNoJob;             // kNoJob: about a node
  NodeId node{};                  // NodeWarned to NodeBack
  const JobSpec* spec = nullptr;  // Submitted only
  const Grant* grant = nullptr;   // Started to Regrouped
  Time ready{};                   // Started to Regrouped: the first iteration begins here
  double work_left = 0;           // iterations, for every kind from Started on
  // Paused, for a job whose node was lost: iterations done that were not saved. They are in
  // `work_left` again.
  double work_lost = 0;
  Reason reason{};  // Queued, Paused, Failed, Rejected, Cancelled
  Time promised{};  // Admitted: when it will be done
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
