#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "live/api/agent_words.h"
#include "live/api/stop_agreement.h"

namespace orrery {

// Jobs that speak the job protocol and must stop where they are. They are asked to come to rest by
// themselves, and are not ended while that may succeed. There is one agreement for each job. It is
// about one epoch, as the next does not begin before this one is gone.
//
// Nothing of it is in the log. A scheduler that starts again ends the jobs that were asked.
class Stops {
 public:
  explicit Stops(StopPatience patience = {}) : patience_(patience) {}

  // `order` is sent to every rank; its launch is one of the gang, which has `ranks` in all.
  void begin(StopOrder order, int ranks, Time now);
  void heard(const LaunchReport& report);
  void left(const LaunchName& name);
  void drop(JobNumber job) { asked_.erase(job); }
  void clear() { asked_.clear(); }

  // The order for the launch; nothing: its job is not asked to stop.
  std::optional<StopOrder> order(const LaunchName& name) const;

  // Jobs whose order has changed, or that are to be ended.
  std::vector<JobNumber> look(Time now);
  Time next_due() const;  // when to look again even if nothing is heard

 private:
  struct Asked {
    StopOrder order{};
    StopAgreement agreement;
    StopAgreement::State state = StopAgreement::State::Asking;
  };
  const Asked* find(const LaunchName& name) const;

  StopPatience patience_;
  std::map<JobNumber, Asked> asked_{};
};

}  // namespace orrery
