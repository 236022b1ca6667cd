#pragma once

#include <span>
#include <vector>

#include "training/mode_selection/stragglers/iteration_book.h"
#include "training/sync/director.h"

namespace orrery {

// A director that looks at all workers' times every few global batches, once each worker has done a
// few tasks. SSGD at first, and again whenever a worker joins or leaves.
class RoundDirector : public Director {
 public:
  void on_iteration(const IterationSample& sample) final { book_.add(sample); }
  Mode direct(const Situation& situation) final;

 protected:
  struct Pace {
    int every_rounds = 1;
    int tasks_least = 1;  // of each worker
  };
  explicit RoundDirector(const Pace& pace) : pace_(pace) {}

  virtual void begin(const Situation& situation) = 0;  // with these workers
  virtual void look(const Situation& situation) = 0;   // may change mode_

  std::span<const WorkerRecord> records() const { return book_.records(); }

  std::vector<WorkerId> workers_{};  // in the order of records()
  Mode mode_{};

 private:
  bool every_worker_is_known() const;

  Pace pace_;
  IterationBook book_{};
  std::int64_t looked_at_ = 0;  // samples
};

}  // namespace orrery
