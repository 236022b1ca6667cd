#pragma once

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "base/files.h"

namespace orrery {

// A child that does what it was given, and ends with its owner at the latest.
class Child {
 public:
  explicit Child(const std::function<void()>& act) : pid_(::fork()) {
    if (pid_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    act();
    ::_exit(0);
  }
  ~Child() {
    if (pid_ > 0) kill();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  void kill() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_;
};

inline void spin() {
  volatile bool on = true;
  while (on) {
  }
}

// Time itself is what some tests measure; this is how they let it pass.
inline void let_pass(double time_s) {
  std::this_thread::sleep_for(std::chrono::duration<double>(time_s));
}

// False if it has not become true after many seconds.
inline bool becomes_true(const std::function<bool()>& condition) {
  for (int i = 0; i < 4000 && !condition(); ++i) let_pass(0.005);
  return condition();
}

inline char state_of(pid_t pid) {
  const std::string line = read_word("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t bracket = line.rfind(')');
  return bracket == std::string::npos || bracket + 2 >= line.size() ? '-' : line[bracket + 2];
}

// A folder that goes with the test.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string path = testing::TempDir() + "emulation-XXXXXX";
    path_ = ::mkdtemp(path.data());
  }
  ~ScratchFolder() {
    std::error_code none;
    std::filesystem::remove_all(path_, none);
  }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }
  void write(const std::string& name, const std::string& content) const {
    std::filesystem::create_directories(std::filesystem::path(*this / name).parent_path());
    std::ofstream(*this / name) << content;
  }

 private:
  std::string path_;
};

}  // namespace orrery
