#include "training/emulation/process_clock.h"

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <sstream>

namespace orrery {

double wait_of_s(pid_t thread) {
  std::istringstream times(read_word("/proc/" + std::to_string(thread) + "/schedstat"));
  double ran_ns = 0, waited_ns = 0;
  return times >> ran_ns >> waited_ns ? waited_ns / 1e9 : 0;
}

Result<ProcessClock> ProcessClock::open(pid_t pid) {
  const std::string place = "process " + std::to_string(pid);
  // The C library of older systems has no names for these two calls.
  Fd fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!fd.ok()) return system_error(place, errno);
  clockid_t clock{};
  if (const int failed = ::clock_getcpuclockid(pid, &clock); failed != 0) {
    return system_error(place, failed);
  }
  return ProcessClock(pid, std::move(fd), clock);
}

double ProcessClock::cpu_s() {
  timespec used{};
  // A process that has taken over the number afterwards is not asked.
  if (signal(0) && ::clock_gettime(clock_, &used) == 0) {
    cpu_s_ = std::max(cpu_s_,
                      static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9);
  }
  return cpu_s_;
}

double ProcessClock::waited_s() {
  if (signal(0)) waited_s_ = std::max(waited_s_, wait_of_s(pid_));
  return waited_s_;
}

bool ProcessClock::signal(int number) const {
  return ::syscall(SYS_pidfd_send_signal, fd_.get(), number, nullptr, 0) == 0;
}

}  // namespace orrery
