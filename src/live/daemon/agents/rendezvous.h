#pragma once

#include <map>
#include <optional>

#include "live/api/agent_words.h"

namespace orrery {

// On which port the ranks of each job meet. The agent of rank 0 chooses it when it starts that
// rank, and reports it; so processes on further nodes begin once it is known here. It is in no log:
// after a restart the agent reports it again.
class Rendezvous {
 public:
  // True where the report says what was not known.
  bool heard(const LaunchReport& launch) {
    if (launch.name.rank != 0 || launch.state == LaunchState::Waiting) return false;
    Meeting& meeting = meetings_[launch.name.job];
    const Meeting said{.epoch = launch.name.epoch, .port = launch.master_port};
    if (meeting.epoch > said.epoch || meeting == said) return false;
    meeting = said;
    return true;
  }
  // 0: an agent that started the rank does not say.
  std::optional<int> port(JobNumber job, std::int64_t epoch) const {
    const auto found = meetings_.find(job);
    if (found == meetings_.end() || found->second.epoch != epoch) return {};
    return found->second.port;
  }
  void forget(JobNumber job) { meetings_.erase(job); }
  void clear() { meetings_.clear(); }

 private:
  struct Meeting {
    std::int64_t epoch = -1;
    int port = 0;
    bool operator==(const Meeting&) const = default;
  };
  std::map<JobNumber, Meeting> meetings_{};
};

}  // namespace orrery
