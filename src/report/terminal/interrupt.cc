#include "report/terminal/interrupt.h"

#include <csignal>

namespace orrery {
namespace {

std::atomic<bool> flag = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may set it");

void note(int signal) {
  flag = true;
  std::signal(signal, SIG_DFL);
}

}  // namespace

void catch_interrupts() {
  std::signal(SIGINT, note);
  std::signal(SIGTERM, note);
}

const std::atomic<bool>& interrupted() { return flag; }

}  // namespace orrery
