#pragma once

#include <cstdint>
#include <vector>

#include "scheduling/policy/deadline/slot_job.h"
#include "scheduling/policy/deadline/timeline.h"

namespace orrery {

// A job that is not done, as EDF keeps it.
struct EdfJob : SlotJob {
  int gpus = 0;
  std::int64_t end = 0;
  int new_gpus = 0;  // by the plan that is tried
  std::int64_t new_end = 0;
  bool started = false;  // a plan has given it GPUs
};
using EdfLine = std::vector<EdfJob*>;

// Plans all jobs in the order of their deadlines, soft ones after hard ones: as many GPUs as are of
// use, or what there is, for as long as it takes.
class EdfPlan {
 public:
  explicit EdfPlan(Duration slot);  // taken in whole seconds, at least one
  void set(std::int64_t now_s, int gpus_total) {
    now_ = now_s;
    gpus_total_ = gpus_total;
  }

  // Sorts the line and sets new_gpus and new_end. Returns true if all jobs are in time, if ends are
  // asked for; if not, jobs after the last free GPU are not planned.
  enum class Asked : std::uint8_t { Ends, WhichRun };
  bool plan_all(EdfLine& line, Asked asked = Asked::Ends);

  // Of a line just planned with a newcomer: true if all other jobs that would be late are late
  // without it. One without a hard deadline is planned after these and harms none.
  bool harms_no_job(const EdfJob& newcomer, const EdfLine& before, EdfLine& with);

  int free_now() const { return free_.gpus(0); }

 private:
  void plan_one(EdfJob& entry);
  void conclude(EdfJob& entry, std::size_t at, int gpus, std::int64_t end);
  std::int64_t aligned(std::int64_t at) const;

  const std::int64_t slot_;
  std::int64_t now_ = 0;
  int gpus_total_ = 0;
  SlotTimeline free_;
  EdfLine without_;
  EdfLine late_;
};

}  // namespace orrery
