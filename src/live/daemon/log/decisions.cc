#include "live/daemon/log/decisions.h"

#include <fmt/format.h>

namespace orrery {
namespace {

Error lost(std::string message) { return {Code::DataLoss, std::move(message)}; }

}  // namespace

Decided decided_of(const Book& book, const Event& event) {
  Decided entry{.kind = event.kind,
                .job = book.job(event.job).number,
                .work_left = event.work_left,
                .reason = event.reason,
                .promised = event.promised,
                .finished = event.finished};
  if (event.reason.other != kNoJob) {
    entry.reason_other = book.job(event.reason.other).number;
    entry.reason.other = kNoJob;
  }
  if (event.grant == nullptr) return entry;
  const Grant& grant = *event.grant;
  for (const NodeShare& share : grant.devices) {
    entry.devices.emplace_back(book.cluster().nodes[index(share.node)].name, share.gpus);
  }
  entry.cpu_milli = grant.cpu_milli;
  entry.memory_bytes = grant.memory_bytes;
  entry.sharing = grant.sharing;
  entry.group = static_cast<int>(grant.group);
  entry.position = grant.position;
  entry.iterations_per_s = grant.iterations_per_s;
  entry.ready = event.ready;
  return entry;
}

Result<Event> event_of(const Book& book, const Decided& decided, Time time, Grant& grant) {
  const auto id = book.find(decided.job);
  if (!id) return lost(fmt::format("there is no job {}", decided.job));
  Event event{.time = time,
              .kind = decided.kind,
              .job = *id,
              .ready = decided.ready,
              .work_left = decided.work_left,
              .reason = decided.reason,
              .promised = decided.promised,
              .finished = decided.finished};
  if (decided.reason_other != 0)
    event.reason.other = book.find(decided.reason_other).value_or(kNoJob);
  if (decided.devices.empty()) return event;
  grant = {.job = *id,
           .devices = {},
           .cpu_milli = decided.cpu_milli,
           .memory_bytes = decided.memory_bytes,
           .sharing = decided.sharing,
           .group = static_cast<GroupId>(decided.group),
           .position = decided.position,
           .iterations_per_s = decided.iterations_per_s};
  for (const auto& [name, gpus] : decided.devices) {
    const auto node = book.find_node(name);
    if (!node) return lost(fmt::format("there is no node {}", name));
    grant.devices.push_back({.node = *node, .gpus = gpus});
  }
  event.grant = &grant;
  return event;
}

}  // namespace orrery
