#include "live/job_runner/job_child.h"

#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/files.h"
#include "live/job_runner/private_tmp.h"

namespace orrery {
namespace {

using Stage = JobChildFault::Stage;

[[noreturn]] void fail(const JobChild& child, Stage stage) {
  const JobChildFault fault{.stage = stage, .number = errno};
  // Smaller than a pipe's atomic size. If no process reads it, there is none to report to.
  static_cast<void>(!::write(child.fault, &fault, sizeof fault));
  ::_exit(127);
}

void pin(const JobChild& child) {
  if (child.launch.cpus.empty()) return;
  const auto bits = static_cast<std::size_t>(child.launch.cpus.back()) + 1;
  cpu_set_t* const set = CPU_ALLOC(bits);
  if (!set) fail(child, Stage::Pin);
  const std::size_t size = CPU_ALLOC_SIZE(bits);
  CPU_ZERO_S(size, set);
  for (const int cpu : child.launch.cpus) CPU_SET_S(static_cast<std::size_t>(cpu), size, set);
  if (sched_setaffinity(0, size, set) != 0) fail(child, Stage::Pin);
  CPU_FREE(set);
}

// Private writable memory, not address space: programs that use GPUs map far more than they touch.
void limit_memory(const JobChild& child) {
  const auto bytes = static_cast<rlim_t>(child.launch.memory_bytes);
  const rlimit limit{.rlim_cur = bytes, .rlim_max = bytes};
  if (setrlimit(RLIMIT_DATA, &limit) != 0) fail(child, Stage::Memory);
}

void limit_core(const JobChild& child) {
  const auto bytes =
      child.launch.core_bytes < 0 ? RLIM_INFINITY : static_cast<rlim_t>(child.launch.core_bytes);
  rlimit limit{};
  if (getrlimit(RLIMIT_CORE, &limit) != 0) fail(child, Stage::Core);
  // Without rights a limit can only be lowered.
  const rlim_t most = ::geteuid() == 0 ? bytes : std::min(limit.rlim_max, bytes);
  limit = {.rlim_cur = most, .rlim_max = most};
  if (setrlimit(RLIMIT_CORE, &limit) != 0) fail(child, Stage::Core);
}

void switch_user(const JobChild& child) {
  if (!child.user || child.user->uid == ::geteuid()) return;
  const JobUser& user = *child.user;
  if (initgroups(user.name.c_str(), user.gid) != 0) fail(child, Stage::User);
  if (setresgid(user.gid, user.gid, user.gid) != 0) fail(child, Stage::User);
  if (setresuid(user.uid, user.uid, user.uid) != 0) fail(child, Stage::User);
  // The way back must be closed.
  if (user.uid != 0 && setuid(0) == 0) {
    errno = EPERM;
    fail(child, Stage::User);
  }
}

void die_with(pid_t supervisor) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != supervisor) ::_exit(127);
}

int open_output(const JobChild& child, const std::string& path) {
  const std::string target = path.empty() ? "/dev/null" : path;
  // A pipe that no process reads would hold us for ever, and a terminal would become the job's own.
  const int fd = ::open(target.c_str(),
                        O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0640);
  if (fd < 0 || ::fcntl(fd, F_SETFL, O_APPEND) != 0) fail(child, Stage::Output);
  return fd;
}

void redirect(const JobChild& child) {
  const Launch& launch = child.launch;
  const int output = open_output(child, launch.output);
  const int errors = launch.errors == launch.output ? output : open_output(child, launch.errors);
  if (::dup2(output, STDOUT_FILENO) < 0 || ::dup2(errors, STDERR_FILENO) < 0) {
    fail(child, Stage::Output);
  }
}

// With the user's rights, and then back to those of the agent.
void redirect_as_user(const JobChild& child) {
  const bool is_other = child.user && child.user->uid != ::geteuid();
  if (is_other) {
    const JobUser& user = *child.user;
    if (initgroups(user.name.c_str(), user.gid) != 0) fail(child, Stage::User);
    if (setegid(user.gid) != 0 || seteuid(user.uid) != 0) fail(child, Stage::User);
  }
  redirect(child);
  if (is_other && (seteuid(0) != 0 || setegid(0) != 0)) fail(child, Stage::User);
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

std::string value_of(const Environment& environment, std::string_view wanted) {
  for (const auto& [name, value] : environment) {
    if (name == wanted) return value;
  }
  return {};
}

// The library's search would hand a file without an interpreter to a shell.
void run_program(const JobChild& child, const Environment& environment) {
  std::vector<std::string> argv = child.launch.argv;
  std::vector<std::string> variables{child.cookie};
  for (const auto& [name, value] : environment) variables.push_back(name + "=" + value);
  const std::vector<char*> arguments = pointers(argv);
  const std::vector<char*> exported = pointers(variables);
  const std::string& program = argv.front();
  if (program.find('/') != program.npos) {
    ::execve(program.c_str(), arguments.data(), exported.data());
    return;
  }
  std::string path = value_of(environment, "PATH") + ":";
  int reason = ENOENT;
  for (std::size_t colon = 0; (colon = path.find(':')) != path.npos; path.erase(0, colon + 1)) {
    const std::string folder = colon == 0 ? "." : path.substr(0, colon);
    ::execve((folder + "/" + program).c_str(), arguments.data(), exported.data());
    if (errno != ENOENT && errno != ENOTDIR) reason = errno;
  }
  errno = reason;
}

Environment environment_of(const JobChild& child) {
  Environment environment = job_environment(child.launch);
  if (!child.user) return environment;
  const Environment of_user = {
      {"HOME", child.user->home}, {"USER", child.user->name}, {"LOGNAME", child.user->name}};
  for (const auto& variable : of_user) {
    if (value_of(environment, variable.first).empty()) environment.push_back(variable);
  }
  return environment;
}

}  // namespace

std::string fault_text(const JobChildFault& fault, const Launch& launch) {
  const auto place = [&]() -> std::string {
    switch (fault.stage) {
      case Stage::Pin:
        return "pinning to CPUs";
      case Stage::Memory:
        return "limiting memory";
      case Stage::User:
        return "becoming user '" + launch.user + "'";
      case Stage::Output:
        if (launch.errors == launch.output) return "output to '" + launch.output + "'";
        return "output to '" + launch.output + "' and '" + launch.errors + "'";
      case Stage::Directory:
        return "directory '" + launch.directory + "'";
      case Stage::Core:
        return "limiting core files";
      case Stage::Tmp:
        return "a private /tmp";
      case Stage::Program:
        break;
    }
    return "program '" + launch.argv.front() + "'";
  };
  if (fault.stage == Stage::Output && fault.number == ENXIO) {
    return place() + ": a pipe that no process reads";
  }
  return system_error(place(), fault.number).message;
}

void exec_job(const JobChild& child) {
  ::setsid();
  char how = 0;
  ssize_t got = 0;
  do {
    got = ::read(child.go, &how, 1);
  } while (got < 0 && errno == EINTR);
  if (got != 1) ::_exit(127);

  pin(child);
  if (how == kGoWithRlimit) limit_memory(child);
  limit_core(child);
  if (!child.launch.private_tmp.empty()) {
    // Files in /tmp are opened while they can still be seen.
    redirect_as_user(child);
    if (!enter_private_tmp(child.launch)) fail(child, Stage::Tmp);
  }
  switch_user(child);
  die_with(child.supervisor);
  if (child.launch.private_tmp.empty()) redirect(child);
  if (::chdir(child.launch.directory.c_str()) != 0) fail(child, Stage::Directory);
  const Environment environment = environment_of(child);
  ::signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  run_program(child, environment);
  fail(child, Stage::Program);
}

}  // namespace orrery
