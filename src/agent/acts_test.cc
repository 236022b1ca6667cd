// The main() of these tests, which is also every job they start: no shell, no tools of the machine.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "agent/supervisor.h"
#include "agent/test_jobs.h"

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

// A grandchild that leaves the job's group and session, hears no SIGTERM, and is told of by its
// pid.
int leave_behind(bool stay) {
  int told[2];
  if (::pipe(told) != 0) return 1;
  if (::fork() == 0) {
    if (::fork() != 0) ::_exit(0);
    ::setsid();
    ::signal(SIGTERM, SIG_IGN);
    say(std::to_string(::getpid()));
    ::close(told[1]);
    pause_for_ever();
  }
  ::close(told[1]);
  char none = 0;
  if (::read(told[0], &none, 1) != 0) return 1;
  if (stay) pause_for_ever();
  return 0;
}

int append_line(const std::string& path) {
  const Fd file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
  return ::write(file.get(), "ran\n", 4) == 4 ? 0 : 1;
}

// What an agent does, until somebody kills it: takes over what is there and starts the rest. Says a
// line for each launch it has handed over.
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
