#include "live/unix_socket/mailbox.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <utility>

namespace orrery {

void Mailbox::put(std::uint64_t to, std::string frame) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    letters_.push_back({.to = to, .frame = std::move(frame)});
    if (letters_.size() > 1) return;  // the bell is readable already
  }
  ring();
}

std::vector<Mailbox::Letter> Mailbox::take() {
  eventfd_t count = 0;
  static_cast<void>(::eventfd_read(bell_.get(), &count));
  const std::lock_guard lock(mutex_);
  return std::exchange(letters_, {});
}

void Mailbox::ring() { static_cast<void>(::eventfd_write(bell_.get(), 1)); }

void Mailbox::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    letters_.clear();
  }
  ring();
}

bool Mailbox::closed() {
  const std::lock_guard lock(mutex_);
  return closed_;
}

}  // namespace orrery
