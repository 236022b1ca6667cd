#include "live/agent/log_answers.h"

#include <algorithm>

namespace orrery {
namespace {

constexpr std::size_t kPendingMost = 256;
constexpr std::int64_t kPieceMost = 256 * 1024;
constexpr std::int64_t kReportMost = 1024 * 1024;  // well below what a message may hold
constexpr Duration kLookAgain = std::chrono::milliseconds(50);
constexpr Duration kWaitMost = std::chrono::minutes(5);

}  // namespace

void LogAnswers::ask(const std::vector<LogRequest>& requests, Duration now) {
  for (const LogRequest& request : requests) {
    const bool known = std::any_of(pending_.begin(), pending_.end(), [&](const Pending& one) {
      return one.request.request == request.request;
    });
    if (known || pending_.size() >= kPendingMost) continue;
    const Duration wait = std::clamp(request.wait, Duration::zero(), kWaitMost);
    pending_.push_back({.request = request, .until = now + wait});
    fresh_ = true;
  }
}

std::vector<LogPiece> LogAnswers::answer(Processes& processes, const HasEnded& ended,
                                         Duration now) {
  std::vector<LogPiece> pieces;
  std::vector<Pending> left;
  std::int64_t bytes_left = kReportMost;
  looked_ = now;
  fresh_ = false;
  for (Pending& one : pending_) {
    if (bytes_left <= 0) {
      fresh_ = true;
      left.push_back(std::move(one));
      continue;
    }
    const LogRequest& request = one.request;
    // Asked before the read, so that nothing written in between is missed.
    const bool over = ended(request.launch);
    const std::int64_t most =
        std::clamp<std::int64_t>(request.most, 1, std::min(kPieceMost, bytes_left));
    LogPiece piece{.request = request.request, .offset = request.offset};
    auto output = processes.read_log(request, most);
    if (output.ok()) {
      Processes::Output read = std::move(output).value();
      piece.ended = over && std::ssize(read.bytes) < most;
      if (!read.bytes.empty() || request.offset < 0) piece.offset = read.offset;
      piece.bytes = std::move(read.bytes);
    } else {
      piece.error = output.error().message;
    }
    const bool nothing = piece.bytes.empty() && !piece.ended && piece.error.empty();
    if (nothing && now < one.until) {
      left.push_back(std::move(one));
      continue;
    }
    bytes_left -= std::ssize(piece.bytes);
    pieces.push_back(std::move(piece));
  }
  pending_ = std::move(left);
  return pieces;
}

Duration LogAnswers::next_look(Duration now) const {
  if (pending_.empty()) return Duration::max();
  return fresh_ ? now : looked_ + kLookAgain;
}

}  // namespace orrery
