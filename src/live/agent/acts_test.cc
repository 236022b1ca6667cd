// The main() of these tests, which is also every job they start: no shell, no tools of the machine.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "live/agent/test_jobs.h"
#include "live/job_runner/supervisor.h"

namespace orrery {
namespace {

[[noreturn]] void pause_for_ever() {
  while (true) ::pause();
}

void say(const std::string& text) {
  std::fputs((text + "\n").c_str(), stdout);
  std::fflush(stdout);
}

int print_cpus() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) say(std::to_string(cpu));
  }
  return 0;
}

// 0: it got the memory and used it.
int eat(std::size_t bytes) {
  void* const memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 9;
  std::memset(memory, 1, bytes);
  return static_cast<volatile char*>(memory)[bytes / 2] == 1 ? 0 : 1;
}

int append_line(const std::string& path) {
  const Fd file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
  return ::write(file.get(), "ran\n", 4) == 4 ? 0 : 1;
}

// Shared memory, which belongs to no process alone. 0: it got the memory and used it.
int share(std::size_t bytes) {
  const Fd memory(::memfd_create("shared", MFD_CLOEXEC));
  if (!memory.ok() || ::ftruncate(memory.get(), static_cast<off_t>(bytes)) != 0) return 9;
  void* const mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
  if (mapped == MAP_FAILED) return 9;
  std::memset(mapped, 1, bytes);
  return 0;
}

// COUNT processes, each with MEMORY bytes, all at the same time. 0: all of them got it.
int eat_together(int processes, std::size_t bytes) {
  int ready[2];
  if (::pipe(ready) != 0) return 9;
  for (int i = 0; i < processes; ++i) {
    if (::fork() != 0) continue;
    ::close(ready[0]);
    const bool ate = eat(bytes) == 0;
    if (ate && ::write(ready[1], "y", 1) == 1) pause_for_ever();
    ::_exit(1);
  }
  ::close(ready[1]);
  char word = 0;
  for (int i = 0; i < processes; ++i) {
    // A process that was killed is missed when all others wait: its pipe end is closed.
    int status = 0;
    const pid_t gone = ::waitpid(-1, &status, WNOHANG);
    if (gone > 0) return 3;
    pollfd waited{.fd = ready[0], .events = POLLIN, .revents = 0};
    if (::poll(&waited, 1, 50) == 0) {
      --i;
      continue;
    }
    if (::read(ready[0], &word, 1) != 1) return 3;
  }
  return 0;
}

// Prints how many of COUNT processes it could begin.
int fork_many(int wanted) {
  int begun = 0;
  for (int i = 0; i < wanted; ++i) {
    const pid_t child = ::fork();
    if (child == 0) pause_for_ever();
    if (child > 0) ++begun;
  }
  say(std::to_string(begun));
  return 0;
}

int open_devices(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    say(Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)).ok() ? "yes" : "no");
  }
  return 0;
}

int look_at_tmp(const std::string& marker) {
  if (append_line(marker) == 0) say("made");
  say(std::filesystem::current_path().string());
  if (::access(::getenv("ORRERY_SOCKET"), F_OK) == 0) say("socket");
  if (::access(::getenv("ORRERY_CHECKPOINT_DIR"), F_OK) == 0) say("checkpoints");
  return 0;
}

int print_core_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_CORE, &limit) != 0) return 1;
  say(std::to_string(limit.rlim_cur) + " " + std::to_string(limit.rlim_max));
  return 0;
}

// A grandchild that leaves the job's group and session, ignores SIGTERM, and whose pid is
// printed.
int leave_behind(bool stay) {
  int ready[2];
  if (::pipe(ready) != 0) return 1;
  if (::fork() == 0) {
    if (::fork() != 0) ::_exit(0);
    ::setsid();
    ::signal(SIGTERM, SIG_IGN);
    say(std::to_string(::getpid()));
    ::close(ready[1]);
    pause_for_ever();
  }
  ::close(ready[1]);
  char none = 0;
  if (::read(ready[0], &none, 1) != 0) return 1;
  if (stay) pause_for_ever();
  return 0;
}

// Does what an agent does until it is killed: adopts what runs and starts the rest. Prints a line
// for each launch that it has handed over.
int stand_in(const std::string& state, const std::string& folder, int count) {
  auto jobs = LocalJobs::open(state);
  if (!jobs.ok() || !jobs.value().adopt().ok()) return 1;
  for (int i = 0; i < count; ++i) {
    const std::string file = folder + "/ran." + std::to_string(i);
    const Launch launch{.job = JobId{i},
                        .argv = i % 3 == 2 ? act({"append-hang", file}) : act({"append", file})};
    const auto job = jobs.value().start(launch);
    if (!job.ok() && job.error().code != Code::AlreadyExists) return 2;
    say(std::to_string(i));
  }
  pause_for_ever();
}

int play(const std::vector<std::string>& words) {
  const std::string& what = words[0];
  const std::string argument = words.size() > 1 ? words[1] : "";
  if (what == "exit") return std::stoi(argument);
  if (what == "raise") return ::raise(std::stoi(argument));
  if (what == "environment") {
    for (std::size_t i = 1; i < words.size(); ++i) {
      const char* const value = ::getenv(words[i].c_str());
      say(words[i] + "=" + (value ? value : "(none)"));
    }
    return 0;
  }
  if (what == "arguments") {
    for (std::size_t i = 1; i < words.size(); ++i) say("[" + words[i] + "]");
    std::fputs("to errors\n", stderr);
    return 0;
  }
  if (what == "where") return say(std::filesystem::current_path().string()), 0;
  if (what == "cpus") return print_cpus();
  if (what == "eat") return eat(std::stoul(argument));
  if (what == "share") return share(std::stoul(argument));
  if (what == "eat-together") return eat_together(std::stoi(argument), std::stoul(words[2]));
  if (what == "eat-in-child") {
    if (::fork() == 0) ::_exit(eat(std::stoul(argument)));
    pause_for_ever();
  }
  if (what == "fork") return fork_many(std::stoi(argument));
  if (what == "open-devices") return open_devices({words.begin() + 1, words.end()});
  if (what == "tmp") return look_at_tmp(argument);
  if (what == "core-limit") return print_core_limit();
  if (what == "group") {
    say(::getpgrp() == ::getpid() && ::getsid(0) == ::getpid() ? "leader" : "member");
    sigset_t blocked;
    sigprocmask(SIG_SETMASK, nullptr, &blocked);
    return sigisemptyset(&blocked) ? 0 : 1;
  }
  if (what == "hang" || what == "deaf") {
    if (what == "deaf") ::signal(SIGTERM, SIG_IGN);
    say("ready");
    pause_for_ever();
  }
  if (what == "polite") {
    ::signal(SIGTERM, [](int) { ::_exit(7); });
    say("ready");
    pause_for_ever();
  }
  if (what == "leave") return leave_behind(argument == "stay");
  if (what == "append") return append_line(argument);
  if (what == "append-hang") return append_line(argument) == 0 ? pause_for_ever(), 0 : 1;
  if (what == "open") {
    const auto jobs = LocalJobs::open(argument);
    if (!jobs.ok()) say(jobs.error().message);
    return jobs.ok() ? 0 : 1;
  }
  if (what == "stand-in") return stand_in(argument, words[2], std::stoi(words[3]));
  return 99;
}

}  // namespace
}  // namespace orrery

int main(int argc, char** argv) {
  if (const auto code = orrery::supervise_if_asked(argc, argv)) return *code;
  if (argc > 2 && std::string_view(argv[1]) == "--act") {
    return orrery::play(std::vector<std::string>(argv + 2, argv + argc));
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
