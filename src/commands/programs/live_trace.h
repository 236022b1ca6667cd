#pragma once

#include <string>
#include <vector>

#include "live/daemon/log/book.h"
#include "live/daemon/log/entry.h"

namespace orrery {

// The jobs in a live scheduler's log as a trace has them: when they came, what they asked for, and
// how long they took. One that has run is as long as it held its GPUs after starting up, counted in
// seconds on the number it asked for, less what was lost and done again; one that has not is as
// long as it said. Named by their numbers. A job that was cancelled before it ran has no length; it
// is no part of the trace.
class LiveTrace {
 public:
  LiveTrace() : book_(SpecOptions{}) {}

  // The lines of the log in order, from the first record on.
  Status take(const std::string& line);
  Workload jobs() const;
  // Those that jobs() leaves out.
  std::vector<JobNumber> never_ran() const;
  // All nodes that the log has and that were not removed, as if they were up.
  Cluster cluster() const;
  // The same in iterations of Synergy's models. A job of another model, or none, is an error.
  Result<Workload> synergy_jobs() const;

 private:
  struct Run {
    double done_s = 0;
    bool has_run = false;
    bool is_cancelled = false;
    bool runs = false;
    Time from{};  // work goes on since then...
    double rate = 1;
    double left = 0;  // ...with so much to go, as far as was known
  };

  void follow(const Decided& decided, Time time);
  bool is_left_out(std::size_t job) const { return runs_[job].is_cancelled && !runs_[job].has_run; }
  static void stop(Run& run, Time time);
  void stop_suddenly(Run& run, JobId id, const Decided& decided, Time time);

  Book book_;
  std::vector<Run> runs_;  // by job
  std::int64_t records_ = 0;
};

}  // namespace orrery
