#include "live/agent/local_processes.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <set>

#include "base/state_folder.h"
#include "live/agent/log_follow.h"
#include "live/agent/node_options.h"
#include "live/job_runner/job_user.h"
#include "live/job_runner/private_tmp.h"

namespace orrery {
namespace {

// A job that has come, spoken and gone before it was looked at is accepted in one pass and read in
// the next.
constexpr int kPassesMost = 4;

Status make_directory(const std::string& path, mode_t mode) {
  if (::mkdir(path.c_str(), mode) == 0 || errno == EEXIST) return {};
  return system_error(path, errno);
}

// The directory above it is the agent's, so no other user can replace it. Only the job's user may
// read what the job prints.
Status make_log(const std::string& path, const std::optional<JobUser>& user) {
  const Fd log(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!log.ok() || ::fchmod(log.get(), 0600) != 0) return system_error(path, errno);
  if (user && ::fchown(log.get(), user->uid, user->gid) != 0) return system_error(path, errno);
  return {};
}

// Jobs of other users reach their sockets, logs and checkpoints below it.
Passage passage() { return ::geteuid() == 0 ? Passage::Others : Passage::None; }

}  // namespace

Result<std::unique_ptr<LocalProcesses>> LocalProcesses::open(const std::string& state,
                                                             const std::string& data,
                                                             std::string program) {
  TRY_ASSIGN(LocalJobs jobs, LocalJobs::open(state, std::move(program)));
  for (const std::string& path : {data, data + "/logs", data + "/checkpoints", data + "/tmp"}) {
    TRY(make_state_folder(path, passage()));
  }
  TRY_ASSIGN(JobSockets sockets, JobSockets::open(state + "/sockets"));
  Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll.ok()) return system_error("epoll", errno);
  return std::unique_ptr<LocalProcesses>(
      new LocalProcesses(std::move(jobs), std::move(sockets), data, std::move(epoll)));
}

std::string LocalProcesses::log_path(const LaunchName& name) const {
  return data_ + "/logs/" + std::to_string(name.job) + "." + std::to_string(name.rank) + ".log";
}

std::string LocalProcesses::checkpoint_path(const LaunchName& name) const {
  return data_ + "/checkpoints/" + std::to_string(name.job);
}

Result<std::vector<LocalProcesses::Found>> LocalProcesses::adopt() {
  TRY_ASSIGN(auto jobs, jobs_.adopt());
  for (const auto& [fd, name] : watched_) ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
  watched_.clear();
  unsettled_.clear();
  known_.clear();
  std::vector<Found> found;
  for (JobProcess& job : jobs) {
    const LaunchName name = name_of(job.launch());
    auto end = job.end();
    const bool has_ended = end.ok() && end.value();
    found.push_back({.launch = job.launch()});
    if (has_ended) found.back().end = std::move(end).value();
    const Gang& gang = job.launch().gang;
    if (gang.node == 0) ports_.keep({name.job, name.epoch}, gang.master_port);
    const auto at = known_.emplace(name, std::move(job)).first;
    if (has_ended) continue;
    watch(name, at->second);
    // One that is listened to already stays so; one that cannot be goes on unheard.
    if (!found.back().launch.socket.empty()) {
      static_cast<void>(sockets_.listen(found.back().launch).ok());
    }
  }
  return found;
}

void LocalProcesses::wait_until_started() const {
  for (const auto& [name, job] : known_) job.wait_until_started();
}

void LocalProcesses::watch(const LaunchName& name, const JobProcess& job) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = job.fd();
  if (job.fd() < 0 || ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, job.fd(), &event) != 0) {
    unsettled_.push_back(name);
    return;
  }
  watched_[job.fd()] = name;
}

Status LocalProcesses::start(const Launch& wanted) {
  Launch launch = wanted;
  TRY(check_launch(launch));
  TRY(give_places(launch));
  auto socket = sockets_.path(launch);
  if (socket.ok()) launch.socket = std::move(socket).value();
  bool listens = false;
  if (!launch.socket.empty()) {
    const Status listening = sockets_.listen(launch);
    listens = listening.ok();
    if (!listens && listening.error().code != Code::AlreadyExists) launch.socket.clear();
  }
  auto job = jobs_.start(launch);
  const LaunchName name = name_of(launch);
  if (!job.ok()) {
    if (listens) sockets_.close(text(name));
    release_port(name);
    return std::move(job).error();
  }
  watch(name, known_.insert_or_assign(name, std::move(job).value()).first->second);
  return {};
}

Status LocalProcesses::give_places(Launch& launch) const {
  const LaunchName name = name_of(launch);
  TRY_ASSIGN(const auto user, find_job_user(launch.user));
  const bool is_other = user && user->uid != ::geteuid();
  if (launch.output.empty()) {
    launch.output = log_path(name);
    if (launch.errors.empty()) launch.errors = launch.output;
    TRY(make_log(launch.output, user));
  }
  if (launch.wants_private_tmp) {
    launch.private_tmp = data_ + "/tmp/" + text(name);
    TRY(make_private_tmp(launch.private_tmp, user ? user->uid : ::geteuid(),
                         user ? user->gid : ::getegid()));
  }
  if (!launch.checkpoint_directory.empty()) return {};
  if (!is_other) {
    launch.checkpoint_directory = checkpoint_path(name);
    return make_directory(launch.checkpoint_directory, 0700);
  }
  const std::string folder = data_ + "/checkpoints/u" + std::to_string(user->uid);
  TRY(make_directory(folder, 0700));
  if (::lchown(folder.c_str(), user->uid, user->gid) != 0) return system_error(folder, errno);
  launch.checkpoint_directory = folder + "/" + std::to_string(name.job);
  return {};
}

Status LocalProcesses::stop(const LaunchName& name, Duration grace, JobEnd::Kind why) {
  const auto at = known_.find(name);
  if (at == known_.end()) return Error{Code::NotFound, "launch " + text(name) + " is not here"};
  return at->second.stop(grace, why);
}

std::vector<LocalProcesses::Ended> LocalProcesses::ended() {
  std::vector<LaunchName> ready = std::exchange(unsettled_, {});
  std::array<epoll_event, 256> events{};
  const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 0);
  for (int i = 0; i < count; ++i) {
    const int fd = events[static_cast<std::size_t>(i)].data.fd;
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
    const auto at = watched_.find(fd);
    INVARIANT(at != watched_.end(), "a descriptor that is polled belongs to a launch");
    ready.push_back(at->second);
    watched_.erase(at);
  }
  std::vector<Ended> ended;
  for (const LaunchName& name : ready) {
    const auto at = known_.find(name);
    if (at == known_.end()) continue;
    auto end = at->second.end();
    if (!end.ok()) {
      unsettled_.push_back(name);
    } else if (const std::optional<JobEnd>& known = end.value()) {
      ended.push_back({.name = name, .end = *known});
    } else {
      watch(name, at->second);
    }
  }
  return ended;
}

std::vector<LocalProcesses::Said> LocalProcesses::said() {
  std::vector<JobWord> words;
  for (int pass = 0; pass < kPassesMost; ++pass) {
    pollfd ready{.fd = sockets_.fd(), .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, 0) <= 0) break;
    sockets_.on_ready(boot_time(), words);
  }
  std::vector<Said> said;
  for (JobWord& word : words) {
    const auto at = std::find_if(known_.begin(), known_.end(), [&](const auto& known) {
      return text(known.first) == word.launch;
    });
    if (at != known_.end()) said.push_back({.name = at->first, .word = std::move(word)});
  }
  return said;
}

bool LocalProcesses::send(const LaunchName& name, const JobMessage& message) {
  return sockets_.say(text(name), message);
}

Status LocalProcesses::forget(const LaunchName& name) {
  const auto at = known_.find(name);
  if (at == known_.end()) return Error{Code::NotFound, "launch " + text(name) + " is not here"};
  const std::string private_tmp = at->second.launch().private_tmp;
  TRY(jobs_.forget(at->second));
  // Left where its supervisor was killed.
  if (!private_tmp.empty()) remove_private_tmp(private_tmp);
  sockets_.close(text(name));
  known_.erase(at);
  release_port(name);
  const bool is_last = std::none_of(known_.begin(), known_.end(),
                                    [&](const auto& other) { return other.first.job == name.job; });
  if (!is_last) return {};
  ::rmdir(checkpoint_path(name).c_str());  // goes only where it is empty
  struct stat log {};
  const std::string path = log_path(name);
  if (::stat(path.c_str(), &log) == 0 && log.st_size == 0) ::unlink(path.c_str());
  return {};
}

void LocalProcesses::look_at_logs(Duration now) {
  constexpr Duration kLogsApart = std::chrono::seconds(2);
  constexpr Duration kOldLogsApart = std::chrono::hours(1);
  if (now >= logs_looked_ + kLogsApart && log_limits_.bytes > 0) {
    logs_looked_ = now;
    for (const auto& [name, job] : known_) {
      // A file of the user's own is the user's to keep short.
      if (job.launch().output != log_path(name)) continue;
      static_cast<void>(shorten_log(log_path(name), log_limits_.bytes).ok());
    }
  }
  if (now < old_logs_looked_ + kOldLogsApart) return;
  old_logs_looked_ = now;
  std::set<std::string> used;
  for (const auto& [name, job] : known_) {
    used.insert(std::filesystem::path(log_path(name)).filename());
  }
  remove_old_logs(data_ + "/logs", log_limits_.age,
                  [&](const std::string& name) { return used.contains(name); });
}

Result<int> LocalProcesses::master_port(const LaunchName& name) {
  return ports_.take({name.job, name.epoch});
}

// Once nothing of the run is known any more.
void LocalProcesses::release_port(const LaunchName& name) {
  const bool is_known = std::any_of(known_.begin(), known_.end(), [&](const auto& other) {
    return other.first.job == name.job && other.first.epoch == name.epoch;
  });
  if (!is_known) ports_.give_back({name.job, name.epoch});
}

Status LocalProcesses::write_lease(const Lease& lease) {
  return orrery::write_lease(jobs_.state(), lease);
}

Lease LocalProcesses::lease() const { return read_lease(jobs_.state()); }

Result<LocalProcesses::Output> LocalProcesses::read_log(const LogRequest& request,
                                                        std::int64_t most) {
  std::string path = request.path;
  std::string user = request.user;
  if (const auto at = known_.find(request.launch); at != known_.end()) {
    const Launch& launch = at->second.launch();
    path = request.errors ? launch.errors : launch.output;
    user = launch.user;
  }
  if (path.empty()) path = log_path(request.launch);
  TRY_ASSIGN(const auto owner, find_job_user(user));
  LogFollower follower(path, request.offset,
                       owner ? std::optional<uid_t>(owner->uid) : std::nullopt);
  TRY_ASSIGN(auto piece, follower.read(static_cast<std::size_t>(most)));
  return Output{.bytes = std::move(piece.bytes), .offset = piece.offset};
}

}  // namespace orrery
