#include "live/daemon/log/operator_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "live/daemon/log/entry.h"

namespace orrery {
namespace {

struct Line {
  std::string operator()(const NodeJoined& entry) const {
    const NodeOffer& offer = entry.offer;
    if (!offer.fault.empty()) {
      return fmt::format("node {} can start no job: {}", offer.name, offer.fault);
    }
    return fmt::format("node {} offers {} GPUs", offer.name, offer.gpus);
  }
  std::string operator()(const NodeTurned& entry) const {
    if (entry.heard) return "";
    if (entry.gone) return fmt::format("node {} is off, says {}", entry.node, entry.by);
    if (entry.state == NodeState::Removed) return "";  // the caller's line names the admin
    if (!entry.by.empty()) {
      return fmt::format("{} {} node {}", entry.by, entry.draining ? "drains" : "resumes",
                         entry.node);
    }
    if (entry.state == NodeState::Left) return fmt::format("node {} has left", entry.node);
    if (entry.state == NodeState::Up) return fmt::format("node {} reports again", entry.node);
    return fmt::format(
        "node {} is lost: it has not reported for its lease. Its jobs wait for it until their node "
        "timeout",
        entry.node);
  }
  std::string operator()(const LogNamed& entry) const {
    if (!entry.restored) return "";
    return fmt::format(
        "this log lacks records that node {} has seen: an old copy was put back by hand. Jobs of "
        "before go on once each node has reported; new jobs have numbers from {}",
        entry.by, entry.first);
  }
  template <class Other>
  std::string operator()(const Other&) const {
    return "";
  }
};

}  // namespace

std::string operator_line(const Record& record) {
  static constexpr std::array<std::string_view, 3> kKinds = {"node", "node-state", "log"};
  if (std::ranges::find(kKinds, record.kind) == kKinds.end()) return "";
  const auto entry = read_entry(record);
  return entry.ok() ? std::visit(Line(), entry.value()) : "";
}

}  // namespace orrery
