#include "live/daemon/agents/foreign_agents.h"

namespace orrery {

bool ForeignAgents::take(const Report& report, const OwnLog& own, Time now) {
  const bool other = !report.log.empty() && report.log != own.id;
  const bool later = report.log == own.id && report.term > own.term;
  if (!other && !later) {
    agents_.erase(report.offer.name);
    return false;
  }
  Agent& agent = agents_[report.offer.name];
  agent.offer = report.offer;
  agent.log = report.log;
  agent.why = report.refuses;
  agent.seen = now;
  return true;
}

Orders ForeignAgents::answer(const Report& report, const OwnLog& own,
                             std::int64_t connection) const {
  Orders orders{.instance = report.instance,
                .session = connection,
                .term = own.term,
                .report = report.number,
                .log = own.id};
  const auto agent = agents_.find(report.offer.name);
  if (agent != agents_.end() && agent->second.replaced) orders.replaces = agent->second.log;
  return orders;
}

bool ForeignAgents::replace(const std::string& node) {
  const auto agent = agents_.find(node);
  if (agent == agents_.end()) return false;
  agent->second.replaced = true;
  return true;
}

}  // namespace orrery
