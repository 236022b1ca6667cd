#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "live/api/agent_words.h"
#include "live/api/stop_agreement.h"

namespace orrery {

// Jobs that speak the job protocol and shall run no more where they are: they are asked to come to
// rest by themselves, and as long as that may succeed nobody ends them. One agreement for each job;
// it is about one epoch, as the next does not begin before this one is gone.
//
// Nothing of it is in the log. A scheduler that starts again ends those that were asked.
class Stops {
 public:
  explicit Stops(StopPatience patience = {}) : patience_(patience) {}

  // `order` is what every rank is told; its launch is one of the gang, which has `ranks` in all.
  void begin(StopOrder order, int ranks, Time now);
  void heard(const LaunchReport& report);
  void left(const LaunchName& name);
  void drop(JobNumber job) { asked_.erase(job); }
  void clear() { asked_.clear(); }

  // What the launch is told; nothing: it is none of those that are asked.
  std::optional<StopOrder> order(const LaunchName& name) const;

  // Jobs that are to be told something else than before, or are to be ended.
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
