#include "report/event_log/event_comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <vector>

namespace orrery {
namespace {

bool same_grant(const Grant& a, const Grant& b) {
  return a.devices == b.devices && a.cpu_milli == b.cpu_milli && a.memory_bytes == b.memory_bytes &&
         a.sharing == b.sharing && a.group == b.group && a.position == b.position;
}

bool same(const Event& a, const Event& b) {
  if (a.time != b.time || a.kind != b.kind || a.job != b.job || a.node != b.node ||
      a.work_lost != b.work_lost || a.reason != b.reason || a.promised != b.promised ||
      a.finished != b.finished) {
    return false;
  }
  if (a.grant == nullptr || b.grant == nullptr) return a.grant == b.grant;
  return same_grant(*a.grant, *b.grant);
}

EventComparison::Side kept(const Event& event) {
  EventComparison::Side side{.event = event, .grant = {}};
  side.event.spec = nullptr;
  side.event.grant = nullptr;
  if (event.grant != nullptr) side.grant = *event.grant;
  return side;
}

std::string node_text(const NodeShare& share, const Cluster& cluster) {
  std::vector<int> gpus;
  for (std::uint64_t rest = share.gpus; rest != 0; rest &= rest - 1) {
    gpus.push_back(std::countr_zero(rest));
  }
  return fmt::format("{} (GPU{} {})", cluster.nodes[index(share.node)].name,
                     gpus.size() == 1 ? "" : "s", fmt::join(gpus, " "));
}

std::string grant_text(const Grant& grant, const Cluster& cluster) {
  std::vector<std::string> nodes;
  for (const NodeShare& share : grant.devices) nodes.push_back(node_text(share, cluster));
  std::string text = fmt::format(" on {}", fmt::join(nodes, ", "));
  if (grant.cpu_milli > 0 || grant.memory_bytes > 0) {
    text += fmt::format(" with {:g} CPUs and {:.4g} GB", static_cast<double>(grant.cpu_milli) / 1e3,
                        static_cast<double>(grant.memory_bytes) / 1e9);
  }
  if (grant.group != kNoGroup) {
    text += fmt::format(" in group {}, turn {}", static_cast<int>(grant.group), grant.position);
  }
  return text;
}

}  // namespace

void EventComparison::write(const Event& event) {
  if (difference_ || !status_.ok()) return;
  Event recorded;
  auto more = record_(recorded);
  if (!more.ok()) {
    status_ = std::move(more).error();
  } else if (!more.value()) {
    difference_ = Difference{.recorded = {}, .made = kept(event)};
  } else if (!same(recorded, event)) {
    difference_ = Difference{.recorded = kept(recorded), .made = kept(event)};
  } else {
    ++agreed_;
  }
}

Status EventComparison::finish() {
  if (difference_ || !status_.ok()) return status_;
  Event recorded;
  auto more = record_(recorded);
  if (!more.ok()) return std::move(more).error();
  if (more.value()) difference_ = Difference{.recorded = kept(recorded), .made = {}};
  return {};
}

std::string decision_text(const EventComparison::Side& side, const Cluster& cluster) {
  const Event& event = side.event;
  std::string out(to_string(event.kind));
  if (is_about_node(event.kind)) return out + ": " + cluster.nodes[index(event.node)].name;
  if (!side.grant.devices.empty()) out += grant_text(side.grant, cluster);
  if (event.kind == EventKind::Admitted) {
    out += fmt::format(", promised for {:g} s", seconds(event.promised));
  }
  if (event.reason.code != Reason::Code::None) out += fmt::format(": {}", text(event.reason));
  return out;
}

}  // namespace orrery
