#include "daemon/replay.h"

#include <fmt/format.h>

namespace orrery {
namespace {

std::string side(const Record* record) {
  if (record == nullptr) return "nothing";
  return fmt::format("at {:.3f} s job {} {} {}", seconds(record->time),
                     static_cast<int>(record->job), record->kind, record->body);
}

bool same(const Record& a, const Record& b) {
  return a.time == b.time && a.kind == b.kind && a.job == b.job && a.body == b.body;
}

}  // namespace

Replay::Replay(const CoreOptions& options) : core_(std::make_unique<Core>(options)) {}

void Replay::part(const Record* recorded, const Record* made) {
  difference_ =
      fmt::format("record {}: recorded: {}; replayed: {}", sequence_, side(recorded), side(made));
}

Status Replay::next(const Record& record) {
  if (difference_) return {};
  sequence_ = record.sequence;
  TRY_ASSIGN(const Entry entry, read_entry(record));
  if (is_decision(entry)) {
    if (made_.empty() || !same(record, made_.front())) {
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
