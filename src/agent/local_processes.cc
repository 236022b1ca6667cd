#include "agent/local_processes.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "agent/job_child.h"
#include "agent/log_follow.h"
#include "agent/node_options.h"

namespace orrery {
namespace {

constexpr const char* kCheckpoints = "ORRERY_CHECKPOINT_DIR";

Status make_directory(const std::string& path, mode_t mode) {
  if (::mkdir(path.c_str(), mode) == 0 || errno == EEXIST) return {};
  return system_error(path, errno);
}

// The directory around it is the agent's, so nobody can put anything else in its place.
Status make_log(const std::string& path, const JobUser& user) {
  const Fd log(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0640));
  if (!log.ok() || ::fchown(log.get(), user.uid, user.gid) != 0) return system_error(path, errno);
  return {};
}

bool has(const Environment& environment, std::string_view name) {
  return std::any_of(environment.begin(), environment.end(),
                     [&](const auto& variable) { return variable.first == name; });
}

}  // namespace

Result<std::unique_ptr<LocalProcesses>> LocalProcesses::open(const std::string& state,
                                                             const std::string& data,
                                                             std::string program) {
  TRY_ASSIGN(LocalJobs jobs, LocalJobs::open(state, std::move(program)));
  for (const std::string& path : {data, data + "/logs", data + "/checkpoints"}) {
    TRY(make_directory(path, 0711));
  }
  Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll.ok()) return system_error("epoll", errno);
  return std::unique_ptr<LocalProcesses>(
      new LocalProcesses(std::move(jobs), data, std::move(epoll)));
}

std::string LocalProcesses::log_path(const LaunchName& name) const {
  return data_ + "/logs/" + std::to_string(name.job) + "." + std::to_string(name.rank) + ".log";
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
    const auto at = known_.emplace(name, std::move(job)).first;
    if (!has_ended) watch(name, at->second);
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
  TRY_ASSIGN(JobProcess job, jobs_.start(launch));
  const LaunchName name = name_of(launch);
  watch(name, known_.insert_or_assign(name, std::move(job)).first->second);
  return {};
}

Status LocalProcesses::give_places(Launch& launch) const {
  const LaunchName name = name_of(launch);
  TRY_ASSIGN(const auto user, find_job_user(launch.user));
  const bool is_other = user && user->uid != ::geteuid();
  if (launch.output.empty()) {
    launch.output = launch.errors = log_path(name);
    if (is_other) TRY(make_log(launch.output, *user));
  }
  if (has(launch.environment, kCheckpoints)) return {};
  std::string folder = data_ + "/checkpoints";
  if (is_other) {
    folder += "/" + std::to_string(user->uid);
    TRY(make_directory(folder, 0700));
    if (::lchown(folder.c_str(), user->uid, user->gid) != 0) return system_error(folder, errno);
  }
  launch.environment.emplace_back(kCheckpoints, folder + "/" + std::to_string(name.job));
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
    } else if (const std::optional<JobEnd>& told = end.value()) {
      ended.push_back({.name = name, .end = *told});
    } else {
      watch(name, at->second);
    }
  }
  return ended;
}

Status LocalProcesses::forget(const LaunchName& name) {
  const auto at = known_.find(name);
  if (at == known_.end()) return Error{Code::NotFound, "launch " + text(name) + " is not here"};
  TRY(jobs_.forget(at->second));
  known_.erase(at);
  const bool is_last = std::none_of(known_.begin(), known_.end(),
                                    [&](const auto& other) { return other.first.job == name.job; });
  if (!is_last) return {};
  struct stat log {};
  const std::string path = log_path(name);
  if (::stat(path.c_str(), &log) == 0 && log.st_size == 0) ::unlink(path.c_str());
  return {};
}

Status LocalProcesses::write_lease(const Lease& lease) {
  return orrery::write_lease(jobs_.state(), lease);
}

Lease LocalProcesses::lease() const { return read_lease(jobs_.state()); }

Result<LocalProcesses::Output> LocalProcesses::read_log(const LaunchName& name, std::int64_t offset,
                                                        std::int64_t most) {
  std::string path = log_path(name);
  std::optional<uid_t> owner;
  if (const auto at = known_.find(name); at != known_.end()) {
    const Launch& launch = at->second.launch();
    path = launch.output.empty() ? path : launch.output;
    TRY_ASSIGN(const auto user, find_job_user(launch.user));
    if (user) owner = user->uid;
  }
  LogFollower follower(path, offset, owner);
  TRY_ASSIGN(auto piece, follower.read(static_cast<std::size_t>(most)));
  return Output{.bytes = std::move(piece.bytes), .offset = piece.offset};
}

}  // namespace orrery
