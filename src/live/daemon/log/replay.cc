#include "live/daemon/log/replay.h"

#include <fmt/format.h>

namespace orrery {
namespace {

std::string side(const Record* record) {
  if (record == nullptr) return "nothing";
  return fmt::format("at {:.3f} s job {} {} {}", seconds(record->time), record->job, record->kind,
                     record->body);
}

// By what they say, not by how it is written.
bool same(const Entry& recorded, Time time, const Record& made) {
  const auto entry = read_entry(made);
  return entry.ok() && made.time == time && entry.value() == recorded;
}

}  // namespace

Replay::Replay(const CoreOptions& options) : core_(std::make_unique<Core>(options)) {}

void Replay::part(const Record* recorded, const Record* made) {
  difference_ = fmt::format("record {}, after {}: recorded: {}; replayed: {}", sequence_, last_,
                            side(recorded), side(made));
}

Status Replay::next(const Record& record) {
  if (difference_) return {};
  sequence_ = record.sequence;
  TRY_ASSIGN(const Entry entry, read_entry(record));
  if (is_decision(entry)) {
    if (made_.empty() || !same(entry, record.time, made_.front())) {
      part(&record, made_.empty() ? nullptr : &made_.front());
      return {};
    }
    made_.pop_front();
    ++agreed_;
    return {};
  }
  if (!made_.empty()) {
    part(nullptr, &made_.front());
    return {};
  }
  last_ = side(&record);
  TRY(core_->replay(entry, record.time));
  bool first = true;
  for (Record& made : core_->take_records()) {
    // What was given comes back first.
    if (!std::exchange(first, false)) made_.push_back(std::move(made));
  }
  if (first) part(&record, nullptr);
  return {};
}

void Replay::finish() {
  if (!difference_ && !made_.empty()) part(nullptr, &made_.front());
}

}  // namespace orrery
