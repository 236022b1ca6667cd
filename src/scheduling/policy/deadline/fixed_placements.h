#pragma once

#include <span>

#include "model/view.h"
#include "scheduling/placement/packer.h"
#include "scheduling/policy/deadline/elastic_job.h"

namespace orrery {

// Promises on clusters where counting GPUs does not prove that there is a place: nodes that differ,
// or whose number of GPUs is no power of two. Such a job is promised only what it can have now,
// and keeps exactly that until it is done, so nothing that comes later can take it away.
class FixedPlacements {
 public:
  // Between these two the ledger holds only what jobs with a fixed placement hold.
  void begin(const View& view, Packer& packer, std::span<ElasticJob* const> jobs);
  void end() { packer_->current().undo(mark_); }

  // Finds the lowest option that is enough for the job, and a place for it beside fixed ones.
  bool admit(ElasticJob& job, Time due);
  Reason refusal(const ElasticJob& job, Time due) const;

 private:
  int lowest(const ElasticJob& job, Time due) const;
  bool stay(ElasticJob& job, Time due);

  const View* view_ = nullptr;
  Packer* packer_ = nullptr;
  Ledger::Mark mark_{};
};

}  // namespace orrery
