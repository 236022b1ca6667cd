#include "live/agent/job_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>

#include "base/state_folder.h"
#include "live/job_runner/cgroup.h"
#include "live/job_runner/process_table.h"
#include "live/job_runner/supervisor.h"

namespace orrery {
namespace {

bool exists(const std::string& path) {
  std::error_code none;
  return std::filesystem::exists(path, none);
}

void wait_readable(int fd) {
  pollfd waited{.fd = fd, .events = POLLIN, .revents = 0};
  while (::poll(&waited, 1, -1) < 0 && errno == EINTR) {
  }
}

bool is_readable(int fd) {
  pollfd asked{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&asked, 1, 0) > 0;
}

struct flock whole_file() {
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  return whole;
}

pid_t lock_holder(const JobFiles& files) {
  const Fd lock(::open(files.launch().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  struct flock asked = whole_file();
  if (!lock.ok() || ::fcntl(lock.get(), F_GETLK, &asked) != 0) return 0;
  return asked.l_type == F_UNLCK ? 0 : asked.l_pid;
}

// The supervisor of a launch, if there is one. That it holds the lock after its pidfd was opened
// proves that the pidfd is its own and not of a process that got its number since.
Fd find_supervisor(const JobFiles& files) {
  while (true) {
    const pid_t holder = lock_holder(files);
    if (holder <= 0) return Fd();
    Fd supervisor = open_process(holder);
    if (supervisor.ok() && lock_holder(files) == holder) return supervisor;
  }
}

// For a job whose supervisor has gone. The job's first process dies with it; the others are known
// by their environment. Returns when they are gone.
void see_off(const JobFiles& files, const JobRunning& running) {
  if (running.boot != boot_id()) return;
  const JobCgroup cgroup(running.cgroup, running.cgroup_version, running.cgroup_others);
  cgroup.kill_all();
  const std::string cookie = launch_cookie(files);
  while (true) {
    bool found = false;
    for (const pid_t pid : processes_with(cookie)) {
      const Fd process = open_process(pid);
      if (!process.ok()) continue;
      // Looked at again, now that the number is held fast.
      const std::vector<pid_t> still = processes_with(cookie);
      if (std::find(still.begin(), still.end(), pid) == still.end()) continue;
      if (!send_signal(process, SIGKILL)) continue;
      found = true;
      wait_readable(process.get());
    }
    if (!found) break;
  }
  cgroup.remove();
}

std::optional<JobEnd> written_end(const JobFiles& files) {
  const auto fields = read_fields(files.ended());
  if (!fields.ok()) return std::nullopt;
  auto end = read_end(fields.value());
  if (!end.ok()) return std::nullopt;
  return std::move(end).value();
}

// How the launch ended, for good; nothing while a supervisor holds the lock.
Result<std::optional<JobEnd>> settle(const JobFiles& files) {
  if (const auto end = written_end(files)) return end;
  const Fd lock(::open(files.launch().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock.ok()) return system_error(files.launch(), errno);
  struct flock whole = whole_file();
  if (::fcntl(lock.get(), F_SETLK, &whole) != 0) {
    if (errno == EAGAIN || errno == EACCES) return std::optional<JobEnd>{};
    return system_error(files.launch(), errno);
  }
  // Between the first look and the lock it may have been written.
  if (const auto end = written_end(files)) return end;
  // Not NotStarted: that is the job's own fault, and this is none of its doing.
  JobEnd end{.kind = JobEnd::Kind::SupervisorLost,
             .message = "the agent ended before it was started"};
  if (exists(files.running())) {
    end.message = "its supervisor was killed, or the machine went down";
    const auto running = read_fields(files.running());
    if (running.ok()) see_off(files, read_running(running.value()));
  } else if (const auto stop = read_fields(files.stop()); stop.ok()) {
    end = stopped_before_it_began(read_stop_request(stop.value(), Duration::zero()));
  }
  TRY(write_file_atomically(files.ended(), end_fields(end).write()));
  return std::optional<JobEnd>(end);
}

// The record of its end goes last: as long as another file exists, the end can be reported.
void remove_files(const JobFiles& files) {
  for (const std::string& path : {files.running(), files.stop(), files.launch(), files.ended()}) {
    ::unlink(path.c_str());
  }
}

// "JOB.EPOCH.RANK" of a launch whose file is lost.
Launch launch_from_name(const std::string& name) {
  Launch launch;
  const char* const end = name.data() + name.size();
  int job = -1;
  const char* at = std::from_chars(name.data(), end, job).ptr;
  if (at != end) at = std::from_chars(at + 1, end, launch.epoch).ptr;
  if (at != end) std::from_chars(at + 1, end, launch.gang.rank);
  launch.job = JobId{job};
  return launch;
}

bool is_launch_name(const std::string& name) {
  return name.find_first_not_of("0123456789.") == name.npos &&
         std::count(name.begin(), name.end(), '.') == 2 && name.front() != '.';
}

}  // namespace

void JobProcess::wait_until_started() const {
  if (ready_.ok()) wait_readable(ready_.get());
}

Result<JobRunning> JobProcess::running() const {
  TRY_ASSIGN(const Fields fields, read_fields(files_.running()));
  return read_running(fields);
}

Status JobProcess::stop(Duration grace, JobEnd::Kind why) const {
  if (!supervisor_.ok() || exists(files_.ended())) return {};
  const StopRequest request{.grace = grace, .why = why};
  // Where it cannot be written the signal alone says enough.
  static_cast<void>(write_file_atomically(files_.stop(), stop_fields(request).write()).ok());
  // Where a fork server was killed in the middle there may be two, and the other one has the job.
  const Fd in_charge = find_supervisor(files_);
  if (in_charge.ok()) send_signal(in_charge, SIGTERM);
  if (send_signal(supervisor_, SIGTERM) || errno == ESRCH) return {};
  return system_error("stopping " + launch_name(launch_), errno);
}

Result<std::optional<JobEnd>> JobProcess::end() const {
  if (supervisor_.ok()) {
    if (!is_readable(supervisor_.get())) return std::optional<JobEnd>{};
    // It is no child of this process if an earlier agent started it.
    siginfo_t info{};
    ::waitid(P_PIDFD, static_cast<id_t>(supervisor_.get()), &info, WEXITED | WNOHANG);
  }
  TRY_ASSIGN(auto ended, settle(files_));
  // Another supervisor has it: one that an earlier agent started and that came late.
  if (!ended) supervisor_ = find_supervisor(files_);
  return ended;
}

Result<JobEnd> JobProcess::wait() const {
  while (true) {
    if (supervisor_.ok()) wait_readable(supervisor_.get());
    TRY_ASSIGN(const auto ended, end());
    if (ended) return *ended;
  }
}

Result<LocalJobs> LocalJobs::open(const std::string& state, std::string program) {
  if (state.empty() || state.front() != '/') {
    return invalid("the state directory '" + state + "' must be an absolute path");
  }
  // Jobs of other users reach their sockets through it.
  TRY(make_state_folder(state, ::geteuid() == 0 ? Passage::Others : Passage::None));
  TRY(check_state_files(state, {}));
  const std::string path = state + "/agent.lock";
  Fd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock.ok()) return system_error(path, errno);
  // Not flock(): a child between fork and exec would hold it for an agent that is no more.
  struct flock whole = whole_file();
  if (::fcntl(lock.get(), F_SETLK, &whole) != 0) {
    return Error{Code::FailedPrecondition,
                 state +
                     ": another agent is in charge of it; stop that one, or give another "
                     "state directory"};
  }
  return LocalJobs(state, std::move(program), std::move(lock));
}

// A server that was killed may have forked before; then the lock lets only one of the two begin.
Result<Fd> LocalJobs::begin_supervisor(const std::string& name, int ready) const {
  if (!server_) {
    TRY_ASSIGN(server_, ForkServer::start(program_));
  }
  if (auto supervisor = server_->supervise(state_, name, ready); supervisor.ok()) return supervisor;
  server_.reset();
  TRY_ASSIGN(const pid_t pid,
             spawn_supervisor(program_, supervisor_arguments(state_, name), ready));
  Fd supervisor = open_process(pid);
  INVARIANT(supervisor.ok(), "a child that was not waited for can be opened");
  return supervisor;
}

Result<JobProcess> LocalJobs::start(const Launch& launch) const {
  TRY(check_launch(launch));
  const std::string name = launch_name(launch);
  JobFiles files{.base = state_ + "/" + name};
  // It may be cut short by a crash; then nothing has been started, and adopt() says so.
  TRY(write_file_atomically(files.launch(), launch_fields(launch).write(), {.exclusive = true}));
  const auto begin = [&]() -> Result<JobProcess> {
    int ready[2];
    if (::pipe2(ready, O_CLOEXEC) != 0) return system_error("pipe", errno);
    Fd ready_read(ready[0]);
    const Fd ready_write(ready[1]);
    TRY_ASSIGN(Fd supervisor, begin_supervisor(name, ready_write.get()));
    return JobProcess(files, launch, std::move(supervisor), std::move(ready_read));
  };
  auto job = begin();
  if (!job.ok()) remove_files(files);
  return job;
}

Result<std::vector<JobProcess>> LocalJobs::adopt() const {
  std::vector<std::string> names;
  std::vector<std::string> others;  // by the launch they belong to
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(state_, failed)) {
    const std::string name = entry.path().stem();
    if (!is_launch_name(name)) continue;
    (entry.path().extension() == ".launch" ? names : others).push_back(name);
  }
  if (failed) return system_error(state_, failed.value());
  std::sort(names.begin(), names.end());
  for (const std::string& name : others) {
    // Left by an agent that was interrupted while it removed the launch.
    if (std::binary_search(names.begin(), names.end(), name)) continue;
    remove_files({.base = state_ + "/" + name});
  }
  std::vector<JobProcess> jobs;
  for (const std::string& name : names) {
    JobFiles files{.base = state_ + "/" + name};
    Launch launch = launch_from_name(name);
    if (const auto fields = read_fields(files.launch()); fields.ok()) {
      if (auto read = read_launch(fields.value()); read.ok()) launch = std::move(read).value();
    }
    Fd supervisor = find_supervisor(files);
    if (!supervisor.ok()) {
      // Settled at once, so that a supervisor that has not come to its lock yet finds the word.
      TRY_ASSIGN(const auto end, settle(files));
      if (!end) supervisor = find_supervisor(files);
    }
    jobs.emplace_back(std::move(files), std::move(launch), std::move(supervisor), Fd());
  }
  return jobs;
}

Status LocalJobs::forget(const JobProcess& job) const {
  TRY_ASSIGN(const auto end, job.end());
  if (!end) {
    return Error{Code::FailedPrecondition, launch_name(job.launch()) + " has not ended yet"};
  }
  remove_files(job.files());
  return {};
}

}  // namespace orrery
