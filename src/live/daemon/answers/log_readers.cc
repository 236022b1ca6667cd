#include "live/daemon/answers/log_readers.h"

#include <algorithm>
#include <utility>

namespace orrery {
namespace {

constexpr Duration kAgentPatience = std::chrono::seconds(10);

enum class Stage { Unknown, Waits, Started, Over };

// Over: it never started and never will.
Stage stage_of(const Core& core, JobNumber job) {
  const auto id = core.book().find(job);
  if (!id) return Stage::Unknown;
  if (!core.book().job(*id).ran_on.empty()) return Stage::Started;
  return is_final(core.state().job(*id).state) ? Stage::Over : Stage::Waits;
}

}  // namespace

void LogReaders::ask(Core& core, Time now, const LogsRequest& request, Reply<LogsAnswer> reply) {
  if (request.wait <= Duration::zero() || stage_of(core, request.id) != Stage::Waits) {
    return send(core, now, request, std::move(reply));
  }
  const Time until = now + request.wait;
  unstarted_.push_back({.request = request, .until = until, .reply = std::move(reply)});
  due_ = std::min(due_, until);
}

void LogReaders::send(Core& core, Time now, const LogsRequest& request, Reply<LogsAnswer> reply) {
  // Agents keep requests of an earlier term, and answer them by their numbers.
  constexpr int kNumbersOfTermBits = 31;
  last_ = std::max(last_, core.book().term() << kNumbersOfTermBits) + 1;
  const std::int64_t number = last_;
  const auto node = core.ask_for_log(request, number);
  if (!node.ok()) return reply(node.error());
  const Time until = now + request.wait + kAgentPatience;
  asked_[number] = {
      .request = request, .node = node.value(), .until = until, .reply = std::move(reply)};
  due_ = std::min(due_, until);
}

void LogReaders::heard(Core& core, const LogPiece& piece) {
  core.complete_submission();
  const auto found = asked_.extract(piece.request);
  if (found.empty()) return;
  const Reader& reader = found.mapped();
  if (!piece.error.empty()) return reader.reply(Error{Code::Unavailable, piece.error});
  LogsAnswer answer{.bytes = piece.bytes,
                    .next = piece.offset + static_cast<std::int64_t>(piece.bytes.size()),
                    .node = core.book().node(reader.node).offer.name};
  const auto id = core.book().find(reader.request.id);
  if (piece.ended && id) {
    // Nothing more comes from this node, unless the job returns to it.
    const LiveJob& job = core.book().job(*id);
    const auto rank = static_cast<std::size_t>(reader.request.rank);
    const NodeId newest = rank < job.ran_on.size() ? job.ran_on[rank] : reader.node;
    if (newest != reader.node) {
      answer.node = core.book().node(newest).offer.name;
      answer.next = 0;
    } else {
      answer.ended = is_final(core.state().job(*id).state);
    }
  }
  reader.reply(answer);
}

void LogReaders::pass(Core& core, Time now) {
  if (!unstarted_.empty()) core.complete_submission();
  for (Reader& reader : std::exchange(unstarted_, {})) {
    const Stage stage = stage_of(core, reader.request.id);
    if (stage == Stage::Waits && reader.until > now) {
      unstarted_.push_back(std::move(reader));
    } else if (stage == Stage::Waits || stage == Stage::Over) {
      reader.reply(LogsAnswer{.next = std::max<std::int64_t>(0, reader.request.offset),
                              .ended = stage == Stage::Over});
    } else {
      reader.request.wait = std::max(Duration::zero(), reader.until - now);
      send(core, now, reader.request, std::move(reader.reply));
    }
  }
  if (due_ > now) return;
  due_ = kNever;
  for (const Reader& reader : unstarted_) due_ = std::min(due_, reader.until);
  std::erase_if(asked_, [&](const auto& one) {
    if (one.second.until > now) {
      due_ = std::min(due_, one.second.until);
      return false;
    }
    core.forget_log(one.first);
    one.second.reply(Error{Code::Unavailable, "the node does not answer; try again later"});
    return true;
  });
}

}  // namespace orrery
