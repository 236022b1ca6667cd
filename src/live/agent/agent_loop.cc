#include "live/agent/agent_loop.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "live/agent/cgroup_home.h"
#include "live/job_runner/job_user.h"
#include "live/job_runner/process_table.h"
#include "live/job_runner/supervisor.h"

namespace orrery {
namespace {

// Orders are complete, so the oldest of this many can be dropped.
constexpr std::size_t kInboxMost = 256;

// Of this state directory, made once.
Result<std::string> read_instance(const std::string& state) {
  const std::string path = state + "/instance";
  if (std::string known = read_word(path); !known.empty()) return known;
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != std::ssize(bytes)) {
    return system_error("random numbers", errno);
  }
  std::string instance;
  for (const unsigned char byte : bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    instance += kDigits[byte >> 4];
    instance += kDigits[byte & 15];
  }
  TRY(write_file_atomically(path, instance + "\n"));
  return instance;
}

// Without cgroups jobs are limited by what each process may have, and the log says so. The answer
// holds the directory of the agent's cgroups.
Fd find_cgroups(NodeOptions& node) {
  constexpr int kTries = 3;
  const std::string name = cgroup_home_name(node.instance);
  auto home = find_cgroup_home(name);
  Fd held = home.ok() ? hold_cgroup_home(home.value()) : Fd();
  for (int i = 1; i < kTries && home.ok() && !held.ok(); ++i) {
    home = find_cgroup_home(name);
    if (home.ok()) held = hold_cgroup_home(home.value());
  }
  if (home.ok()) {
    node.cgroup_home = std::move(home).value();
    remove_left_cgroup_homes(node.cgroup_home);
    if (node.log) node.log("jobs get cgroups in " + node.cgroup_home.path);
  } else if (node.log) {
    node.log("jobs get no cgroups, and memory is limited for each process alone: " +
             home.error().message);
  }
  return held;
}

// SIGTERM and SIGINT as something to poll for, while it lives.
class HeldSignals {
 public:
  HeldSignals() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    pthread_sigmask(SIG_BLOCK, &set, &before_);
    fd_ = Fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  ~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  int fd() const { return fd_.get(); }
  // 0: none came.
  int take() const {
    signalfd_siginfo info{};
    return ::read(fd_.get(), &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo)
                                                                : 0;
  }

 private:
  sigset_t before_{};
  Fd fd_{};
};

}  // namespace

AgentLoop::AgentLoop(NodeOptions node, std::unique_ptr<LocalProcesses> processes, bool owns_cgroup)
    : node_(std::move(node)),
      owns_cgroup_(owns_cgroup),
      processes_(std::move(processes)),
      agent_(node_, *processes_, boot_time()) {}

Result<std::unique_ptr<AgentLoop>> AgentLoop::open(const AgentOptions& options, AgentLog log) {
  TRY_ASSIGN(Machine machine, detect_machine({.gpus_declared = options.gpus}));
  if (!options.gpu_type.empty()) {
    for (Gpu& gpu : machine.gpus) gpu.name = options.gpu_type;
  }
  if (machine.gpus.size() > 64) return invalid("a node has at most 64 GPUs; start two agents");
  const std::string& data = options.data.empty() ? options.state : options.data;
  if (data.empty() || data.front() != '/') {
    return invalid("the data directory '" + data + "' must be an absolute path");
  }
  std::string program = options.program.empty() ? supervisor_program() : options.program;
  TRY_ASSIGN(auto processes, LocalProcesses::open(options.state, data, std::move(program)));
  TRY_ASSIGN(std::string instance, read_instance(options.state));
  NodeOptions node{.instance = std::move(instance),
                   .machine_id = read_word("/etc/machine-id"),
                   .boot = boot_id(),
                   .name = options.name.empty() ? machine.hostname : options.name,
                   .address = options.address,
                   .zone = options.zone,
                   .losses_per_day = options.losses_per_day,
                   .machine = std::move(machine),
                   .only_user = only_job_user(),
                   .log = std::move(log)};
  if (node.address.empty()) node.address = node.name;
  node.processes_most = options.processes_most;
  node.core_bytes = options.core_bytes;
  processes->limit_logs(options.logs);
  const bool looks = options.cgroup == kAutoCgroup;
  Fd held;
  if (looks) {
    held = find_cgroups(node);
  } else if (!options.cgroup.empty()) {
    TRY_ASSIGN(node.cgroup_home, open_cgroup_home(options.cgroup));
  }
  std::unique_ptr<AgentLoop> loop(new AgentLoop(std::move(node), std::move(processes), looks));
  loop->cgroup_held_ = std::move(held);
  loop->epoll_ = Fd(::epoll_create1(EPOLL_CLOEXEC));
  loop->wake_ = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!loop->epoll_.ok() || !loop->wake_.ok()) return system_error("epoll", errno);
  TRY(loop->add(loop->wake_.get()));
  TRY(loop->add(loop->processes_->fd()));
  TRY(loop->add(loop->processes_->sockets_fd()));
  TRY(loop->agent_.adopt());
  return loop;
}

// Empty ones go; those of jobs that run on stay for the agent after this one.
AgentLoop::~AgentLoop() {
  if (owns_cgroup_) remove_cgroup_home(node_.cgroup_home);
}

Status AgentLoop::add(int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
    return system_error("epoll", errno);
  return {};
}

Status AgentLoop::watch(int fd, std::function<void(NodeAgent&, Duration)> ready) {
  TRY(add(fd));
  watched_.emplace_back(fd, std::move(ready));
  return {};
}

void AgentLoop::end(Leave leave) {
  leave_ = static_cast<int>(leave);
  ::eventfd_write(wake_.get(), 1);
}

void AgentLoop::post(Orders orders) {
  {
    const std::lock_guard lock(mutex_);
    if (inbox_.size() >= kInboxMost) inbox_.erase(inbox_.begin());
    inbox_.push_back(std::move(orders));
  }
  ::eventfd_write(wake_.get(), 1);
}

void AgentLoop::take_orders(Duration now) {
  std::vector<Orders> orders;
  {
    const std::lock_guard lock(mutex_);
    orders.swap(inbox_);
  }
  for (const Orders& one : orders) agent_.on_orders(one, now);
}

Status AgentLoop::wait(Duration most) {
  const auto millis = std::chrono::ceil<std::chrono::milliseconds>(most).count();
  std::array<epoll_event, 16> events{};
  const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()),
                                 static_cast<int>(std::clamp<std::int64_t>(millis, 0, 60'000)));
  if (count < 0 && errno != EINTR) return system_error("epoll", errno);
  ready_.clear();
  for (int i = 0; i < count; ++i) ready_.push_back(events[static_cast<std::size_t>(i)].data.fd);
  eventfd_t ignored = 0;
  ::eventfd_read(wake_.get(), &ignored);
  return {};
}

Status AgentLoop::run(const MakeLink& make_link) {
  TRY_ASSIGN(const auto link, make_link([this](Orders orders) { post(std::move(orders)); }));
  bool leaving = false;
  while (true) {
    const int leave = leave_;
    if (leave == static_cast<int>(Leave::JobsRun)) {
      processes_->wait_until_started();
      return {};
    }
    if (leave == static_cast<int>(Leave::JobsStopped) && !leaving) {
      leaving = true;
      agent_.leave(boot_time());
    }
    take_orders(boot_time());
    for (const auto& [fd, ready] : watched_) {
      if (std::find(ready_.begin(), ready_.end(), fd) != ready_.end()) ready(agent_, boot_time());
    }
    agent_.tick(boot_time());
    processes_->look_at_logs(boot_time());
    if (auto report = agent_.next_report(boot_time())) link->send(std::move(*report));
    if (leaving && agent_.has_left()) return {};
    if (!agent_.refused().empty()) {
      return Error{Code::FailedPrecondition,
                   "the scheduler refuses this agent: " + agent_.refused()};
    }
    const Duration now = boot_time();
    TRY(wait(agent_.next_due(now) - now));
  }
}

Status run_agent(const AgentOptions& options, const MakeLink& make_link, AgentLog log,
                 const std::function<void()>& ready) {
  const HeldSignals signals;
  TRY_ASSIGN(const auto loop, AgentLoop::open(options, log));
  TRY(loop->watch(signals.fd(), [&](NodeAgent&, Duration) {
    if (signals.take() == 0) return;
    log("ends by a signal; each job runs on for its node timeout");
    loop->end(AgentLoop::Leave::JobsRun);
  }));
  if (ready) ready();
  return loop->run(make_link);
}

void log_to_stderr(std::string_view line) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  tm parts{};
  gmtime_r(&now.tv_sec, &parts);
  std::array<char, 40> stamp{};
  const std::size_t length = strftime(stamp.data(), stamp.size(), "%FT%T", &parts);
  std::string text(stamp.data(), length);
  const std::string millis = std::to_string(1000 + now.tv_nsec / 1'000'000).substr(1);
  text += "." + millis + "Z ";
  for (const char letter : line) text += static_cast<unsigned char>(letter) < 0x20 ? ' ' : letter;
  text += '\n';
  static_cast<void>(!::write(STDERR_FILENO, text.data(), text.size()));
}

}  // namespace orrery
