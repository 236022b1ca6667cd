#include "live/daemon/answers/start_forecasts.h"

#include <thread>
#include <utility>

namespace orrery {

bool StartForecasts::wants_situation(Time now) {
  const std::lock_guard lock(mutex_);
  if (!predict_ || asks_ || (asked_ && now - *asked_ < kHolds)) return false;
  asks_ = true;
  asked_ = now;
  return true;
}

void StartForecasts::fill(StatusAnswer answer, double era_s,
                          const std::optional<std::string>& situation,
                          Reply<StatusAnswer> reply_to) {
  Waiter waiter{.answer = std::move(answer), .era_s = era_s, .reply = std::move(reply_to)};
  std::unique_lock lock(mutex_);
  if (!asks_) {
    const Starts starts = starts_;
    lock.unlock();
    return reply(std::move(waiter), starts);
  }
  waiters_.push_back(std::move(waiter));
  if (!situation) return;
  lock.unlock();
  // It may outlive the owner of this, and has all it needs.
  std::thread([self = shared_from_this(), text = *situation] { self->ask(text); }).detach();
}

void StartForecasts::ask(const std::string& situation) {
  auto found = predict_(situation);
  std::unique_lock lock(mutex_);
  starts_ = found.ok() ? std::move(found).value() : Starts();
  asks_ = false;
  const Starts starts = starts_;
  std::vector<Waiter> waiters = std::exchange(waiters_, {});
  lock.unlock();
  for (Waiter& waiter : waiters) reply(std::move(waiter), starts);
}

void StartForecasts::reply(Waiter waiter, const Starts& starts) {
  for (JobStatus& job : waiter.answer.jobs) {
    if (job.state != JobState::Pending && job.state != JobState::Paused) continue;
    const auto start = starts.find(job.id);
    if (start != starts.end()) job.predicted_start_s = waiter.era_s + seconds(start->second);
  }
  waiter.reply(std::move(waiter.answer));
}

}  // namespace orrery
