#include "training/trainer/head/gang_desk.h"

#include <utility>

#include "training/trainer/transport/messages.h"

namespace orrery {
namespace {

constexpr auto kComingPatience = std::chrono::minutes(2);

}  // namespace

GangDesk::GangDesk(const GangPlace& place, int workers, Clock::time_point now)
    : ranks_(place.ranks), workers_(workers), began_(now) {}

void GangDesk::welcome(const std::shared_ptr<Connection>& line, int rank,
                       std::function<void(int rank)> lost) {
  if (rank < 1 || rank >= ranks_ || lines_.contains(rank)) {
    return line->close({Code::PermissionDenied, "this rank is not expected"});
  }
  lines_[rank] = line;
  line->handle({.frame = [](Connection& from,
                            MessageFrame&) { from.close(invalid("a rank asks for nothing")); },
                .closed =
                    [this, rank, lost = std::move(lost)](Connection& gone, const Error&) {
                      const auto found = lines_.find(rank);
                      if (found == lines_.end() || found->second.get() != &gone) return;
                      lines_.erase(found);
                      lost(rank);
                    },
                .place = {}},
               {.body = 64, .floats = 0});
  line->send(MessageType::Answer, 0, CountMessage{GangPlace::workers_of(rank, ranks_, workers_)});
}

void GangDesk::end(RunOutcome outcome) {
  for (const auto& [rank, line] : std::exchange(lines_, {})) {
    line->send(MessageType::Stop, static_cast<std::int64_t>(outcome), Nothing{});
    line->close_when_sent();
  }
}

std::vector<int> GangDesk::absent(Clock::time_point now) const {
  std::vector<int> missing;
  if (now - began_ < kComingPatience) return missing;
  for (int rank = 1; rank < ranks_; ++rank) {
    if (!lines_.contains(rank)) missing.push_back(rank);
  }
  return missing;
}

}  // namespace orrery
