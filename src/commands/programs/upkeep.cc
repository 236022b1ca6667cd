#include "commands/programs/upkeep.h"

#include <utility>

namespace orrery {

Upkeep::Upkeep(UpkeepOptions options, const Credentials& own, std::chrono::sys_seconds now)
    : options_(std::move(options)),
      certificate_(own.certificate_pem),
      look_at_(now + kBetweenLooks) {}

void Upkeep::tick(std::chrono::sys_seconds now) {
  options_.check_callers();
  if (now >= look_at_) {
    look_at_ = now + kBetweenLooks;
    renew(now);
  }
  if (!reconnect_at_ || now < *reconnect_at_) return;
  reconnect_at_.reset();
  options_.let_agents_reconnect();
}

// Servers read the files again by themselves.
void Upkeep::renew(std::chrono::sys_seconds now) {
  const auto trust = load_or_make_local(options_.directory, options_.hosts, now);
  if (!trust.ok()) {
    options_.say("its certificate cannot be renewed: " + trust.error().message);
    return;
  }
  if (trust.value().server.certificate_pem == certificate_) return;
  certificate_ = trust.value().server.certificate_pem;
  reconnect_at_ = now + kUntilShown;
  options_.say("the scheduler has a new certificate");
}

Ticker::Ticker(std::chrono::seconds every, std::function<void()> tick)
    : thread_([this, every, tick = std::move(tick)] {
        std::unique_lock lock(mutex_);
        while (!changed_.wait_for(lock, every, [this] { return stopping_; })) {
          lock.unlock();
          tick();
          lock.lock();
        }
      }) {}

Ticker::~Ticker() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

}  // namespace orrery
