#include "live/daemon/log/event_tail.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "report/event_log/log_line.h"

namespace orrery {
namespace {

using nlohmann::json;

}  // namespace

std::string event_line(const Record& record, std::int64_t era_unix_ns, const Viewer& viewer) {
  fmt::memory_buffer out;
  append(out, "{\"seq\":");
  append_number(out, record.sequence);
  append(out, ",\"t\":");
  append_number(out, record.time.time_since_epoch().count());
  append(out, ",\"unix_ns\":");
  append_number(out, era_unix_ns + record.time.time_since_epoch().count());
  append(out, ",\"event\":");
  append_string(out, record.kind);
  if (record.job != kNoJobNumber) {
    append(out, ",\"job\":");
    append_number(out, record.job);
  }
  append(out, ",\"what\":");
  append(out, disclosed(record, viewer));
  append(out, "}");
  return fmt::to_string(out);
}

Result<Record> read_event_line(std::string_view line) {
  const json object = json::parse(line, nullptr, false);
  if (!object.is_object()) return invalid("is no JSON object");
  const LogLine fields(object);
  Record record;
  TRY(fields.integer("seq", record.sequence, Need::Required));
  TRY(fields.time("t", record.time, Need::Required));
  TRY(fields.text("event", record.kind, Need::Required));
  TRY(fields.integer("job", record.job, Need::Optional, 0, kMax<std::int64_t>));
  TRY_ASSIGN(const json* what, fields.nested("what"));
  record.body = what->dump(-1, ' ', false, json::error_handler_t::replace);
  return record;
}

void EventTail::add(Record record) {
  last_ = record.sequence;
  records_.push_back(std::move(record));
  if (records_.size() > kKept) records_.pop_front();
}

bool EventTail::serve(const EventsRequest& request, const Viewer& viewer,
                      const Reply<EventsAnswer>& reply, Committer& committer) const {
  std::int64_t from = request.from < 0 ? last_ + 1 + request.from : request.from;
  from = std::max<std::int64_t>(from, 1);
  if (from > last_) {
    if (request.wait > Duration::zero()) return false;
    reply(EventsAnswer{.next = from});
    return true;
  }
  EventsAnswer answer;
  const std::int64_t kept_from = last_ - static_cast<std::int64_t>(records_.size()) + 1;
  if (from < kept_from) {
    const Status read = committer.with_store([&](Store& store) {
      from = std::max(from, store.first());
      return store.read(
          from,
          [&](const Record& record) {
            answer.lines.push_back(event_line(record, era_unix_ns_, viewer));
            return Status();
          },
          std::min(request.most, kept_from - from));
    });
    if (!read.ok()) {
      reply(read.error());
      return true;
    }
  } else {
    const auto begin = records_.begin() + (from - kept_from);
    const auto end = begin + std::min<std::int64_t>(request.most, records_.end() - begin);
    for (auto record = begin; record != end; ++record)
      answer.lines.push_back(event_line(*record, era_unix_ns_, viewer));
  }
  answer.next = from + static_cast<std::int64_t>(answer.lines.size());
  reply(std::move(answer));
  return true;
}

}  // namespace orrery
