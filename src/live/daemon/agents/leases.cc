#include "live/daemon/agents/leases.h"

#include <algorithm>

namespace orrery {

void Leases::restart(Time now) {
  for (Contact& contact : contacts_) contact = {.seen = now};
  connections_.clear();
  due_ = now + options_.lease;
}

void Leases::renew(NodeId node, std::int64_t connection, const Report& report, Time now) {
  Contact& known = contact(node);
  if (known.connection != connection) {
    connections_.erase(known.connection);
    connections_[connection] = node;
    known.connection = known.newest = connection;
  }
  known.seen = now;
  known.report = report.number;
  known.launches = report.launches;
  known.dirty = true;
  due_ = std::min(due_, now + options_.lease);
}

void Leases::disconnected(std::int64_t connection) {
  const auto found = connections_.find(connection);
  if (found == connections_.end()) return;
  contact(found->second).connection = 0;
  connections_.erase(found);
}

void Leases::mark_all() {
  for (Contact& contact : contacts_) contact.dirty = true;
}

void Leases::forget_log(std::int64_t request) {
  for (Contact& contact : contacts_) {
    std::erase_if(contact.logs, [&](const LogRequest& log) { return log.request == request; });
  }
}

void Leases::look(const Book& book, Time now,
                  const std::function<void(NodeId node, const Verdict& verdict)>& act) {
  due_ = kNever;
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    const auto node = static_cast<NodeId>(i);
    const Time seen = contacts_[i].seen;
    const bool is_up = book.node(node).state == NodeState::Up;
    if (is_up && fences_.lost_at(seen) > now) {
      due_ = std::min(due_, fences_.lost_at(seen));
      continue;
    }
    Fences::Verdict fenced = fences_.look(book, node, seen, now);
    due_ = std::min(due_, fenced.next);
    if (is_up || !fenced.over.empty())
      act(node, {.is_lost = is_up, .over = std::move(fenced.over)});
  }
}

std::optional<Duration> Leases::fence_in(const Book& book, NodeId node, Time now) const {
  const Time next = fences_.look(book, node, contact(node).seen, now).next;
  if (next == kNever) return {};
  return next - now;
}

}  // namespace orrery
