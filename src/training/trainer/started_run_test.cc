#include "training/trainer/started_run.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "training/trainer/head/children.h"

namespace orrery {
namespace {

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

StartedRun::StartedRun(const std::vector<std::string>& arguments, std::string folder,
                       const std::vector<std::string>& before)
    : folder_(std::move(folder)) {
  std::vector<std::string> words = before;
  words.push_back(own_program());
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const std::string output = folder_ + ".output", errors = folder_ + ".errors";
  pid_ = fork();
  if (pid_ > 0) setpgid(pid_, pid_);
  if (pid_ != 0) return;
  setpgid(0, 0);
  setenv("ORRERY_TEST_FOLDER", folder_.c_str(), 1);
  const int out = open(output.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
  const int err = open(errors.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  execvp(pointers[0], pointers.data());
  _exit(127);
}

StartedRun::~StartedRun() {
  if (exit_code_ >= 0) return;
  kill(-pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void StartedRun::note(int status) {
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool StartedRun::ended() {
  int status = 0;
  if (exit_code_ < 0 && waitpid(pid_, &status, WNOHANG) == pid_) note(status);
  return exit_code_ >= 0;
}

TestRun StartedRun::wait() {
  int status = 0;
  if (exit_code_ < 0 && waitpid(pid_, &status, 0) == pid_) note(status);
  return {.exit_code = exit_code_,
          .output = text_of(folder_ + ".output"),
          .errors = text_of(folder_ + ".errors")};
}

std::string StartedRun::table(const std::string& name) const {
  return text_of(folder_ + "/" + name);
}

int StartedRun::count(const std::string& what) const {
  std::istringstream lines(table("processes.csv"));
  std::string line;
  int found = 0;
  while (std::getline(lines, line)) found += line.find(what) != std::string::npos;
  return found;
}

std::vector<pid_t> StartedRun::parts() const {
  std::istringstream lines(table("processes.csv"));
  std::string line;
  std::vector<pid_t> pids;
  while (std::getline(lines, line)) {
    int pid = 0;
    if (line.find("\"started\"") == std::string::npos) continue;
    if (std::sscanf(line.c_str(), "%*[^,],%*[^,],%*[^,],%d", &pid) == 1) pids.push_back(pid);
  }
  return pids;
}

bool process_is_there(pid_t pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string number, name, state;
  return (stat >> number >> name >> state) && state != "Z";
}

}  // namespace orrery
