#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "model/cluster.h"
#include "model/grant.h"
#include "model/job.h"
#include "model/plan.h"
#include "model/time.h"
#include "model/view.h"
#include "scheduling/policy/published/released_clock.h"
#include "scheduling/policy/published/released_loop.h"

namespace orrery {

// How progress follows from what a job holds: the only thing in which the simulated worlds differ.
// No policy sees it.
class Semantics : public Progress {
 public:
  // A job that has come to its end.
  struct Ended {
    JobId job = kNoJob;
    Time at{};
    Time finished{};  // its last iteration, by which deadlines are judged
    double work_left = 0;
  };

  // What is known to come; kNever: nothing of the kind.
  struct Upcoming {
    Time arrival = kNever;
    Time last_arrival = kNever;  // of all
    Time end = kNever;
    Time wake = kNever;  // the policy asked for a round

    bool is_last_arrival() const { return arrival == last_arrival; }
  };

  // A job holds devices, afresh or others than before, and is up at `ready`. pace() follows.
  virtual void hold(JobId job, double work_left, Time ready, const Grant& grant) = 0;
  // From now on an iteration takes this long; the start-ups of all jobs on its devices add up to
  // `start`.
  virtual void pace(JobId job, double iteration_s, Duration start) = 0;
  // The job holds nothing any more. Answers the iterations left.
  virtual double drop(JobId job) = 0;

  // When the next running job ends; kNever if none runs.
  virtual Time next_end() = 0;
  // Moves time on. Names the jobs that have ended, in the order they end; they hold nothing any
  // more.
  virtual void advance(Time now, std::vector<Ended>& ended) = 0;
  // When the round is held that sees what happens at `event`, which is the first of what lies
  // upcoming.
  virtual Time round_at(Time event, const Upcoming& /*upcoming*/) const { return event; }
  // All that a round decided has been carried out.
  virtual void round_held() {}
  // When the policy counts on a job to be done.
  virtual void expect(const Plan::Outlook& /*outlook*/) {}
  // An end and an arrival this close are one event, at the time of the arrival.
  virtual Duration coincidence() const { return {}; }
  // By how much jobs on the same devices slow each other down.
  virtual ContentionModel contention() const { return {}; }
};

// The honest one: a start, move, resize or regroup costs the job's start-up time once, before it
// goes on; a job ends when its work is done.
std::unique_ptr<Semantics> make_orrery_semantics(std::size_t jobs);

// The published simulator of Muri: the start-up time is taken off every running job at every event,
// but not counted when its end is predicted; ends that nearly coincide are one. Counts in floating
// seconds, in the order of operations of that simulator, because ties decide schedules.
std::unique_ptr<Semantics> make_muri_semantics(const Workload& workload, const MuriEnds& ends,
                                               ReleasedClock& clock);

// The published simulator of ElasticFlow: the jobs of its elastic schedulers end when their plan
// says so, and those of any other policy when their work is done.
std::unique_ptr<Semantics> make_elasticflow_semantics(const Workload& workload,
                                                      const Cluster& cluster, Duration slot,
                                                      const ElasticFlowRules& rules,
                                                      ReleasedClock& clock);

// The same simulator's world for its schedulers that are not elastic.
std::unique_ptr<Semantics> make_rigid_semantics(const Workload& workload, const Cluster& cluster,
                                                Duration slot, const RigidRules& rules,
                                                ReleasedClock& clock);

// The published simulator of Synergy: rounds at fixed times, in which whole rounds' iterations are
// done, and after which all jobs let go; moving costs nothing. A job is as fast as with all the
// CPUs and memory it wants, or as with its fair share.
std::unique_ptr<Semantics> make_synergy_semantics(const Workload& workload, const Cluster& cluster,
                                                  Duration round, const SynergyRules& rules);

}  // namespace orrery
