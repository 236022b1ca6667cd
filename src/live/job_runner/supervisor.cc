#include "live/job_runner/supervisor.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>

#include "base/files.h"
#include "live/job_runner/cgroup.h"
#include "live/job_runner/fork_server.h"
#include "live/job_runner/job_child.h"
#include "live/job_runner/launch.h"
#include "live/job_runner/lease.h"
#include "live/job_runner/private_tmp.h"
#include "live/job_runner/process_table.h"
#include "live/job_runner/time_limit.h"

namespace orrery {
namespace {

constexpr std::string_view kAsked = "--supervise-job";
constexpr std::string_view kServerAsked = "--fork-supervisors";
// Between two rounds of killing what a job leaves behind; they are rare and usually one is enough.
constexpr Duration kAgain = std::chrono::milliseconds(20);
// Timers stand still while a machine sleeps, and leases do not.
constexpr Duration kLeaseLook = std::chrono::seconds(1);
// How often a launch whose program has not begun looks whether it shall be stopped.
constexpr auto kStopLook = std::chrono::milliseconds(200);
constexpr Duration kLong = std::chrono::hours(24);

bool exists(const std::string& path) {
  std::error_code none;
  return std::filesystem::exists(path, none);
}

sigset_t signals_waited_for() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  sigaddset(&set, SIGTERM);
  return set;
}

// The signal, or 0 after `most`.
int wait_for_signal(Duration most) {
  const sigset_t set = signals_waited_for();
  most = std::max(most, Duration::zero());
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(most);
  const timespec limit{.tv_sec = whole.count(), .tv_nsec = (most - whole).count()};
  const int signal = sigtimedwait(&set, nullptr, &limit);
  return std::max(signal, 0);
}

JobEnd not_started(std::string message) {
  return {.kind = JobEnd::Kind::NotStarted, .message = std::move(message), .ran_ns = 0};
}

CgroupLimits limits_of(const Launch& launch) {
  const bool is_pinned = !launch.cpus.empty();
  const auto whole =
      static_cast<int>(std::min<std::int64_t>(1 << 20, (launch.cpu_milli + 999) / 1000));
  CgroupLimits limits{.memory_bytes = launch.memory_bytes,
                      .processes = launch.processes,
                      .cpu_milli = launch.cpu_milli,
                      .cpus = is_pinned ? static_cast<int>(launch.cpus.size()) : whole};
  for (const std::string& path : launch.closed_devices) {
    if (const auto device = device_number(path)) limits.closed.push_back(*device);
  }
  return limits;
}

class Supervisor {
 public:
  Supervisor(std::string state, const std::string& name)
      : state_(std::move(state)), name_(name), files_{state_ + "/" + name} {}

  int run();

 private:
  JobEnd supervise(const Result<Fields>& fields);
  Status start();
  Status let_go(pid_t pid, const Fd& go, const Fd& fault);
  bool begins(const Fd& fault);
  StopRequest read_stop() const;
  Duration lease_end() const { return runs_until(read_lease(state_), launch_.node_timeout); }
  bool job_is_over() const;
  void watch();
  void begin_stop(JobEnd::Kind why, Duration grace);
  void kill_all() const;
  JobEnd take_in();

  std::string state_;
  std::string name_;
  JobFiles files_;
  Launch launch_{};
  JobCgroup cgroup_{};
  MemoryLimit limit_ = MemoryLimit::None;
  pid_t pid_ = 0;
  std::optional<JobEnd::Kind> stopping_{};
  Duration kill_at_ = Duration::max();
  TimeLimit time_limit_{};
};

int Supervisor::run() {
  prctl(PR_SET_NAME, "orrery-job");
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const auto fields = read_fields(files_.launch());
  // Where it is missing the launch was settled and forgotten meanwhile.
  const Fd lock(::open(files_.launch().c_str(), O_RDWR | O_CLOEXEC));
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  // Waits for an agent that is just settling this launch, and then finds its word.
  if (!lock.ok() || ::fcntl(lock.get(), F_SETLKW, &whole) != 0) return 1;
  if (exists(files_.ended()) || exists(files_.running())) return 0;

  const JobEnd end = supervise(fields);
  // A full disk must not lose an end for good; there is nothing better to do meanwhile.
  while (!write_file_atomically(files_.ended(), end_fields(end).write()).ok()) {
    if (!exists(files_.launch())) return 1;
    wait_for_signal(std::chrono::seconds(1));
  }
  return 0;
}

JobEnd Supervisor::supervise(const Result<Fields>& fields) {
  if (!fields.ok()) return not_started(fields.error().message);
  auto launch = read_launch(fields.value());
  if (!launch.ok()) return not_started(files_.launch() + ": " + launch.error().message);
  launch_ = std::move(launch).value();
  if (exists(files_.stop())) return stopped_before_it_began(read_stop());
  if (launch_.ends_with_lease && lease_end() <= boot_time()) {
    return {.kind = JobEnd::Kind::LeaseLost,
            .message = "the lease was over before it began",
            .ran_ns = 0};
  }
  const Status started = start();
  ::close(kReadyFd);
  if (!started.ok()) {
    cgroup_.remove();
    if (stopping_) return {.kind = *stopping_, .message = "stopped before its program began"};
    JobEnd end = not_started(started.error().message);
    // As on a full disk: no fault of the job's.
    if (started.error().code == Code::ResourceExhausted) end.kind = JobEnd::Kind::SupervisorLost;
    return end;
  }
  const Duration began = boot_time();
  time_limit_ = TimeLimit(launch_, began);
  watch();
  const Duration ran = boot_time() - began;
  JobEnd end = take_in();
  end.ran_ns = ran.count();
  return end;
}

Status Supervisor::start() {
  TRY_ASSIGN(const auto user, find_job_user(launch_.user));
  if (!launch_.cgroup_home.path.empty()) {
    auto cgroup = JobCgroup::make(launch_.cgroup_home, name_, limits_of(launch_));
    if (cgroup.ok()) cgroup_ = std::move(cgroup).value();
  }
  int go[2];
  int fault[2];
  if (::pipe2(go, O_CLOEXEC) != 0) return system_error("pipe", errno);
  const Fd go_read(go[0]);
  Fd go_write(go[1]);
  if (::pipe2(fault, O_CLOEXEC) != 0) return system_error("pipe", errno);
  const Fd fault_read(fault[0]);
  Fd fault_write(fault[1]);

  const pid_t self = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) return system_error("fork", errno);
  if (pid_ == 0) {
    go_write.close();
    exec_job({.launch = launch_,
              .user = user,
              .cookie = launch_cookie(files_),
              .supervisor = self,
              .go = go_read.get(),
              .fault = fault_write.get()});
  }
  fault_write.close();
  Status status = let_go(pid_, go_write, fault_read);
  if (!status.ok()) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  return status;
}

// The job begins only once it is written down, so that no job is unknown.
Status Supervisor::let_go(pid_t pid, const Fd& go, const Fd& fault) {
  if (cgroup_.ok() && !cgroup_.add(pid).ok()) {
    cgroup_.remove();
    cgroup_ = {};
  }
  if (launch_.memory_bytes > 0) {
    limit_ = !cgroup_.ok()            ? MemoryLimit::Rlimit
             : cgroup_.version() == 1 ? MemoryLimit::CgroupV1
                                      : MemoryLimit::CgroupV2;
  }
  const JobRunning running{.supervisor = ::getpid(),
                           .pid = pid,
                           .start = process_start(pid),
                           .boot = boot_id(),
                           .memory_limit = limit_,
                           .cgroup = cgroup_.path(),
                           .cgroup_version = cgroup_.version(),
                           .cgroup_others = cgroup_.others(),
                           .enforced = cgroup_.enforced()};
  TRY(write_file_atomically(files_.running(), running_fields(running).write()));
  const char how = limit_ == MemoryLimit::Rlimit ? kGoWithRlimit : kGo;
  if (::write(go.get(), &how, 1) != 1) return system_error("starting the job", errno);
  if (!begins(fault)) return Error{Code::Cancelled, "its program did not begin in time"};
  JobChildFault reported;
  ssize_t got = 0;
  do {
    got = ::read(fault.get(), &reported, sizeof reported);
  } while (got < 0 && errno == EINTR);
  if (got != sizeof reported) return {};
  return Error{Code::FailedPrecondition, fault_text(reported, launch_)};
}

// Waits until the child reports a fault or its program runs. A file that does not answer may hold
// the child for as long as it likes: false where the launch shall be stopped before.
bool Supervisor::begins(const Fd& fault) {
  pollfd waited{.fd = fault.get(), .events = POLLIN, .revents = 0};
  while (::poll(&waited, 1, static_cast<int>(kStopLook.count())) <= 0) {
    if (wait_for_signal(Duration::zero()) == SIGTERM) stopping_ = read_stop().why;
    if (launch_.ends_with_lease && lease_end() <= boot_time()) {
      stopping_ = JobEnd::Kind::LeaseLost;
    }
    if (stopping_) return false;
  }
  return true;
}

// Without taking the exit status: as long as it is there, no other process gets the job's pid and
// group. What the job left behind and has ended meanwhile is taken away.
bool Supervisor::job_is_over() const {
  while (true) {
    siginfo_t info{};
    if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == pid_) {
      return true;
    }
    info = {};
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) {
      return false;
    }
    if (info.si_pid != pid_) ::waitpid(info.si_pid, nullptr, 0);
  }
}

StopRequest Supervisor::read_stop() const {
  const auto fields = read_fields(files_.stop());
  return fields.ok() ? read_stop_request(fields.value(), launch_.grace)
                     : StopRequest{.grace = launch_.grace};
}

void Supervisor::watch() {
  while (!job_is_over()) {
    const Duration now = boot_time();
    Duration next = kLong;
    if (stopping_) {
      if (now >= kill_at_) {
        kill_all();
        kill_at_ = now + kAgain;
      }
      next = kill_at_ - now;
    } else {
      if (time_limit_.is_over(now)) {
        begin_stop(JobEnd::Kind::TimeLimit, launch_.grace);
        continue;
      }
      // Version 2 of cgroups does this by itself: a job that has lost a process is of no use.
      if (limit_ == MemoryLimit::CgroupV1) {
        if (cgroup_.out_of_memory_kills() > 0) kill_all();
        next = kLeaseLook;
      }
      if (time_limit_.take_signal(now)) ::killpg(pid_, launch_.signal);
      if (time_limit_.next() < Duration::max()) {
        next = std::min({next, time_limit_.next() - now, kLeaseLook});
      }
      if (launch_.ends_with_lease) {
        const Duration until = lease_end();
        if (until <= now) {
          begin_stop(JobEnd::Kind::LeaseLost, launch_.grace);
          continue;
        }
        next = std::min({next, until - now, kLeaseLook});
      }
    }
    // An end that came before the request to stop is the job's own.
    if (wait_for_signal(next) == SIGTERM && !job_is_over()) {
      const StopRequest stop = read_stop();
      begin_stop(stop.why, stop.grace);
    }
  }
}

void Supervisor::begin_stop(JobEnd::Kind why, Duration grace) {
  if (!stopping_) {
    stopping_ = why;
    ::killpg(pid_, SIGTERM);
    // A group that was halted cannot hear.
    ::killpg(pid_, SIGCONT);
  }
  grace = std::clamp(grace, Duration::zero(), kLong);
  kill_at_ = std::min(kill_at_, boot_time() + grace);
}

void Supervisor::kill_all() const {
  ::killpg(pid_, SIGKILL);
  cgroup_.kill_all();
  for (const pid_t pid : descendants(::getpid())) ::kill(pid, SIGKILL);
}

// Orphans of the job become children of this process, so once it has none the job is gone.
JobEnd Supervisor::take_in() {
  ::killpg(pid_, SIGKILL);
  int status = 0;
  ::waitpid(pid_, &status, 0);
  while (true) {
    pid_t ended = 0;
    while ((ended = ::waitpid(-1, nullptr, WNOHANG)) > 0) {
    }
    if (ended < 0 && errno == ECHILD) break;
    cgroup_.kill_all();
    for (const pid_t pid : descendants(::getpid())) ::kill(pid, SIGKILL);
    wait_for_signal(kAgain);
  }
  const bool out_of_memory = cgroup_.out_of_memory_kills() > 0;
  cgroup_.remove();
  if (!launch_.private_tmp.empty()) remove_private_tmp(launch_.private_tmp);

  JobEnd end{.kind = JobEnd::Kind::Exited};
  if (WIFEXITED(status)) end.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) {
    end.kind = JobEnd::Kind::Signalled;
    end.signal = WTERMSIG(status);
  }
  if (stopping_) {
    end.kind = *stopping_;
  } else if (out_of_memory && end.exit_code != 0) {
    end.kind = JobEnd::Kind::OutOfMemory;
    end.message = "killed at its limit of " + std::to_string(launch_.memory_bytes) + " bytes";
  }
  return end;
}

int run_supervisor(const std::string& state, const std::string& name) {
  ::close_range(kReadyFd + 1, std::numeric_limits<unsigned>::max(), 0);
  ::fcntl(kReadyFd, F_SETFD, FD_CLOEXEC);
  return Supervisor(state, name).run();
}

}  // namespace

std::string launch_cookie(const JobFiles& files) { return "ORRERY_LAUNCH=" + files.base; }

std::string supervisor_program() {
  const std::string self = "/proc/self/exe";
  std::error_code failed;
  const auto beside = std::filesystem::read_symlink(self, failed).parent_path() / "orrery-job";
  return !failed && ::access(beside.c_str(), X_OK) == 0 ? beside.string() : self;
}

std::vector<std::string> supervisor_arguments(const std::string& state, const std::string& name) {
  return {"orrery-job", std::string(kAsked), state, name};
}

std::vector<std::string> fork_server_arguments() {
  return {"orrery-job", std::string(kServerAsked)};
}

std::optional<int> supervise_if_asked(int argc, char** argv) {
  const bool serves = argc == 2 && argv[1] == kServerAsked;
  if (!serves && (argc != 4 || argv[1] != kAsked)) return std::nullopt;
  ::fcntl(kReadyFd, F_SETFD, FD_CLOEXEC);
  // A reader that went away makes the write fail.
  ::signal(SIGPIPE, SIG_IGN);
  const sigset_t waited_for = signals_waited_for();
  sigprocmask(SIG_BLOCK, &waited_for, nullptr);
  return serves ? serve_forks(&run_supervisor) : run_supervisor(argv[2], argv[3]);
}

}  // namespace orrery
