#pragma once

#include <memory>
#include <vector>

#include "scheduling/policy/order/in_order.h"
#include "scheduling/policy/order/preemption_candidates.h"
#include "scheduling/policy/order/waiting_lines.h"

namespace orrery {

// Leaves running jobs where they are and asks only those who wait, best rank first, one line for
// each shape: if its first does not fit, none behind it does. Costs as much as changes.
//
// A plan is absorb() and then ask(); a policy that decides otherwise in some plan says which jobs
// start and stops by start() and stop(), and ends with finish().
class StickyPlanner {
 public:
  StickyPlanner(std::unique_ptr<Order> order, const InOrderOptions& options);

  // Takes in what happened since the last plan.
  void absorb(const View& view, const Packer& packer, Plan& plan);
  // Asks the jobs that might fit now. Without `preempt`, no job is preempted in this plan.
  void ask(const View& view, Packer& packer, Plan& plan, bool preempt = true);

  void start(const View& view, JobId job);
  void stop(const View& view, JobId job);
  // `not_asked` is why newcomers wait that were first in line and were not asked.
  void finish(const View& view, Plan& plan, Reason::Code not_asked);
  void ask_all_next_time() { ask_all_ = true; }

  // True if any job came, went or changed rank since the last plan.
  bool has_news() const { return has_news_; }

  const Order& order() const { return *order_; }
  const WaitingLines& lines() const { return lines_; }

 private:
  struct Stopped {
    JobId job = kNoJob;
    JobId by = kNoJob;
    bool runs_again = false;
  };
  bool grant(const View& view, Packer& packer, Plan& plan, const WaitingLines::First& first);
  bool preempt_for(const View& view, Packer& packer, const WaitingLines::First& first,
                   Devices& devices);
  // How many go before the last in this line.
  std::int64_t behind(ShapeId shape) const {
    return (options_.backfill ? lines_.length(shape) : lines_.size()) - 1;
  }

  std::unique_ptr<Order> order_;
  const InOrderOptions options_;
  WaitingLines lines_;
  PreemptionCandidates candidates_;
  bool has_news_ = false;
  bool ask_all_ = false;
  bool preempt_now_ = true;
  std::vector<JobId> changed_;
  std::vector<char> known_;    // by job: it is in sight
  std::vector<NodeId> nodes_;  // where a job left or sank in rank since the last plan
  std::vector<Stopped> stopped_;
  std::vector<JobId> victims_;
  std::vector<JobId> newcomers_;  // newcomers who were the first of their line when they came
  std::vector<JobId> started_;    // in this plan, so they are not preempted in it
};

}  // namespace orrery
