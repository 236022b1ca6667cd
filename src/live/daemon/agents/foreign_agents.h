#pragma once

#include <map>
#include <string>

#include "live/api/agent_words.h"
#include "model/time.h"

namespace orrery {

// The log that this scheduler keeps.
struct OwnLog {
  std::string id{};
  std::int64_t term = 0;
};

// Agents that do not obey this scheduler, because they have obeyed another log, or a later term of
// this one. They are not nodes of it: they get no jobs, and none of what they run is taken for this
// log's. The answer names this log, and they decide themselves: an agent whose jobs have all ended
// obeys it from then on.
class ForeignAgents {
 public:
  struct Agent {
    NodeOffer offer{};
    std::string log{};
    std::string why{};
    Time seen{};
    bool replaced = false;  // an operator has said that its jobs are to be stopped
  };

  // True if it is one of them. Then it is known from now on, and otherwise not any more.
  bool take(const Report& report, const OwnLog& own, Time now);
  // The answer to its report. It is no order: its number is 0.
  Orders answer(const Report& report, const OwnLog& own, std::int64_t connection) const;
  // The agent stops the jobs of the other log, and obeys this one then. False: there is none.
  bool replace(const std::string& node);

  // Those that have said why, by name.
  const std::map<std::string, Agent>& agents() const { return agents_; }

 private:
  std::map<std::string, Agent> agents_;
};

}  // namespace orrery
