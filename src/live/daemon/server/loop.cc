#include "live/daemon/server/loop.h"

#include <algorithm>
#include <utility>

namespace orrery {
namespace {

using SteadyClock = std::chrono::steady_clock;

// With more than this waiting for the disk, tasks wait as well: memory is bounded, and a client
// that asks too much is slowed down rather than refused.
constexpr std::int64_t kUnsavedMax = 50'000;

// While something waits for the disk, tasks and rounds wait for it, but no longer than this: what
// they come to could not leave before, and one pass for many costs less than one for each.
constexpr auto kGather = std::chrono::milliseconds(5);

}  // namespace

Loop::Loop(std::unique_ptr<Core> core, Clock clock, Store store, Options options)
    : core_(std::move(core)), clock_(clock), options_(std::move(options)) {
  appended_ = released_ = durable_ = store.last();
  // What the core has written must be taken; the loop itself sees to it that it is not too much.
  CommitterOptions commits{.records_waiting_max = std::size_t{1} << 40,
                           .bytes_waiting_max = std::size_t{1} << 50};
  commits.on_commit = [this](std::int64_t sequence) {
    {
      const std::lock_guard lock(mutex_);
      durable_ = sequence;
    }
    wake_.notify_one();
  };
  commits.on_failure = [this](const Error& error) {
    {
      const std::lock_guard lock(mutex_);
      failed_ = error;
    }
    wake_.notify_one();
  };
  committer_ = std::make_unique<Committer>(std::move(store), std::move(commits));
  thread_ = std::thread([this] { run(); });
}

Loop::~Loop() { (void)close().ok(); }

void Loop::post(std::function<void(Core&, Time)> task) {
  {
    const std::lock_guard lock(mutex_);
    if (closing_ || failed_) return;
    tasks_.push_back(std::move(task));
    if (tasks_.size() > 1) return;  // it is awake already
  }
  wake_.notify_one();
}

void Loop::when_durable(std::function<void()> effect) {
  effects_.push_back({.after = -1, .done = std::move(effect)});
}

Status Loop::close() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
  return committer_->close();
}

void Loop::run() {
  std::unique_lock lock(mutex_);
  while (!failed_) {
    const auto is_full = [&] { return appended_ - durable_ > kUnsavedMax; };
    const auto may_end = [&] { return closing_ && tasks_.empty() && effects_.empty(); };
    const Time due = std::min(core_->next_due(), options_.also_due ? options_.also_due() : kNever);
    const auto gathers = [&] { return appended_ > durable_ && SteadyClock::now() < gathered_; };
    const auto at = clock_.at(is_full() ? kNever : due);
    wake_.wait_until(lock, gathers() ? gathered_ : at, [&] {
      return failed_ || durable_ > released_ || (!tasks_.empty() && !is_full() && !gathers()) ||
             may_end();
    });
    if (failed_) break;
    if (may_end()) return;
    const bool waits = is_full() || gathers();
    auto tasks = waits ? decltype(tasks_)() : std::exchange(tasks_, {});
    released_ = durable_;
    lock.unlock();
    release();
    if (!waits) {
      pass(std::move(tasks));
      gathered_ = SteadyClock::now() + kGather;
    }
    lock.lock();
  }
  const Error error = *failed_;
  tasks_.clear();
  lock.unlock();
  effects_.clear();  // never sent: it is not known to be true
  if (options_.on_failure) options_.on_failure(error);
}

// The round that tasks ask for is held in the next pass. So their answers, which need the disk and
// this thread, need not wait for it.
void Loop::pass(std::vector<std::function<void(Core&, Time)>> tasks) {
  const Time now = clock_.now();
  const std::int64_t rounds = core_->rounds();
  const auto before = SteadyClock::now();
  core_->tick(now);
  if (core_->rounds() != rounds) {
    figures_.rounds.add(std::chrono::duration<double>(SteadyClock::now() - before).count());
  }
  for (auto& task : tasks) {
    core_->complete_submission();
    task(*core_, now);
  }
  if (options_.on_pass) options_.on_pass(*core_, now);
  write_down();
}

void Loop::write_down() {
  std::vector<Record> records = core_->take_records();
  if (!records.empty()) {
    figures_.records += static_cast<std::int64_t>(records.size());
    for (Record& record : records) {
      record.sequence = ++appended_;
      unsaid_.push_back(record);
    }
    // A failure is reported by on_failure, which ends the loop.
    (void)committer_->append(std::move(records)).ok();
  }
  for (Core::Outgoing& outgoing : core_->take_orders()) {
    effects_.push_back({.after = -1, .done = [this, outgoing = std::move(outgoing)]() mutable {
                          options_.send(outgoing.connection, std::move(outgoing.orders));
                        }});
  }
  for (const LogPiece& piece : core_->take_logs()) options_.on_log(*core_, piece);
  for (auto effect = effects_.rbegin(); effect != effects_.rend() && effect->after < 0; ++effect) {
    effect->after = appended_;
  }
  if (!effects_.empty() && effects_.front().after <= released_) release();
}

void Loop::release() {
  std::vector<Record> said;
  while (!unsaid_.empty() && unsaid_.front().sequence <= released_) {
    said.push_back(std::move(unsaid_.front()));
    unsaid_.pop_front();
  }
  if (!said.empty() && options_.on_durable) options_.on_durable(std::move(said));
  while (!effects_.empty() && effects_.front().after >= 0 && effects_.front().after <= released_) {
    const auto done = std::move(effects_.front().done);
    effects_.pop_front();
    done();
  }
}

}  // namespace orrery
