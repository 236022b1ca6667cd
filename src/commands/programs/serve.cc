#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

#include "base/files.h"
#include "base/logins.h"
#include "base/state_folder.h"
#include "commands/programs/callers.h"
#include "commands/programs/commands.h"
#include "commands/programs/detach.h"
#include "commands/programs/held_servers.h"
#include "commands/programs/job_limits.h"
#include "commands/programs/listeners.h"
#include "commands/programs/local_link.h"
#include "commands/programs/profile_finder.h"
#include "commands/programs/service_notice.h"
#include "commands/programs/upkeep.h"
#include "live/agent/agent_loop.h"
#include "live/auth/credentials.h"
#include "live/auth/derived_secret.h"
#include "live/auth/listen.h"
#include "live/client/command_context.h"
#include "live/client/connection.h"
#include "live/daemon/server/clock.h"
#include "live/daemon/server/server.h"
#include "live/forecast/forecast.h"
#include "live/forecast/what_if.h"
#include "live/job_runner/fork_server.h"
#include "live/rpc/access.h"
#include "live/unix_socket/server.h"
#include "model/duration_text.h"
#include "report/listing/listing.h"
#include "report/terminal/standard_output.h"

namespace orrery {
namespace {

// Enough for any client that does some work between two calls; a bound for one that does none.
constexpr RateLimitOptions kCallRates{.per_second = 50'000, .burst = 100'000};

std::chrono::sys_seconds now() {
  return std::chrono::floor<std::chrono::seconds>(
      std::chrono::sys_time<Duration>(Duration(Clock::unix_ns())));
}

sigset_t ending_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  return set;
}

Result<CoreOptions> core_options(const ServeArguments& arguments) {
  CoreOptions options;
  options.policy.name = arguments.policy;
  options.policy.seed = arguments.seed;
  for (const std::string& pair : arguments.options) {
    const auto equals = pair.find('=');
    if (equals == std::string::npos) {
      return invalid(fmt::format("--option {}: write key=value", pair));
    }
    options.policy.options[pair.substr(0, equals)] = pair.substr(equals + 1);
  }
  if (!arguments.round.empty()) {
    TRY_ASSIGN(options.policy.round, parse_duration(arguments.round));
  }
  TRY_ASSIGN(options.lease, parse_duration(arguments.lease));
  if (options.lease < std::chrono::seconds(1)) return invalid("--lease: write at least 1s");
  auto node_timeout = parse_node_timeout(arguments.node_timeout);
  if (!node_timeout.ok()) return std::move(node_timeout).error().at("--node-timeout");
  options.node_timeout = node_timeout.value();
  if (options.node_timeout < options.lease) {
    return invalid(fmt::format("--node-timeout {}: write at least the lease, {}",
                               arguments.node_timeout, arguments.lease));
  }
  options.log_id = process_context().random_key().substr(0, 16);
  if (!arguments.profiles.empty()) {
    TRY_ASSIGN(options.specs.measure, profile_finder(arguments.profiles, arguments.gpu_type));
  }
  return options;
}

Status check_address_to_listen(const char* option, const std::string& address) {
  auto read = read_listen_address(address, true);
  if (!read.ok()) return std::move(read).error().at(option);
  return {};
}

// What is for an agent is of no use to a scheduler without one, and would be missed later.
Status check_agent_options(const ServeArguments& arguments) {
  if (arguments.local) return {};
  const std::pair<const char*, bool> given[] = {
      {"--gpus", arguments.gpus >= 0},
      {"--name", !arguments.name.empty()},
      {"a limit of jobs", arguments.limits != JobLimitArguments{}}};
  for (const auto& [name, is_given] : given) {
    if (!is_given) continue;
    return invalid(fmt::format(
        "{} is for the agent of this machine: add --local, or give it to `orrery agent`", name));
  }
  return {};
}

// The scheduler's process: what it owns is ended in the reverse order.
class Service {
 public:
  explicit Service(const ServeArguments& arguments) : arguments_(arguments) {}

  Status start() {
    // Before anything is made, and the log has begun.
    TRY(check_agent_options(arguments_));
    TRY(check_address_to_listen("--listen", arguments_.listen));
    if (!arguments_.rest.empty() && arguments_.rest != "off") {
      TRY(check_address_to_listen("--rest", arguments_.rest));
    }
    TRY_ASSIGN(CoreOptions core, core_options(arguments_));
    TRY(make_state());
    if (arguments_.new_log) core.first_number = first_number_of_new_log(state_);
    TRY(check_log_is_there(state_, arguments_.new_log));
    hosts_ = certificate_hosts(
        arguments_.hosts, {arguments_.listen, arguments_.rest == "off" ? "" : arguments_.rest});
    TRY_ASSIGN(LocalTrust trust, load_or_make_local(state_ + "/trust", hosts_, now()));
    trust_ = std::make_unique<LocalTrust>(std::move(trust));
    callers_ = std::make_unique<Callers>(CallersOptions{.limits = kCallRates,
                                                        .ca_pem = trust_->server.ca_pem,
                                                        .served = served_users(),
                                                        .revocations = revocations_,
                                                        .now = now,
                                                        .say = log_to_stderr});
    core.gang_secret = [key = trust_->server.key_pem](JobNumber job, std::int64_t epoch) {
      return derived_secret(key, fmt::format("gang {}.{}", job, epoch)).reveal();
    };
    const ForecastOptions limits{.specs = core.specs};
    TRY_ASSIGN(
        server_,
        SchedulerServer::start(
            {.state = state_,
             .core = std::move(core),
             .say = [](const std::string& line) { log_to_stderr(line); },
             .gatekeeper = {.trust = trust_.get(),
                            .ports = [this] { return listeners_.ports(); },
                            .revocations = revocations_,
                            .served = served_users()},
             .groups_of = [this](const std::string& user) { return callers_->groups_of(user); },
             .ask_what_if =
                 [limits](const std::string& situation, const WhatIfRequest& request) {
                   return what_if_live(situation, request, limits);
                 },
             .predict_starts =
                 [limits](const std::string& situation) {
                   return predicted_starts(situation, limits);
                 }}));
    server_->on_failure([this](const Error& error) {
      failure_ = error;
      failed_ = true;
      ::kill(::getpid(), SIGTERM);
    });
    if (arguments_.local) TRY(open_agent());
    TRY(open_unix_socket());
    TRY(listen());
    look_after_certificates();
    TRY(write_address());
    if (arguments_.local) start_agent();
    return hold_servers();
  }

  Status wait() {
    const sigset_t set = ending_signals();
    int signal = 0;
    sigwait(&set, &signal);
    notify_service_manager("STOPPING=1");
    log_to_stderr(failed_ ? "ends because its log cannot be written" : "ends");
    std::error_code ignored;
    std::filesystem::remove(state_ + "/address", ignored);
    held_servers_.reset();
    if (agent_ != nullptr) agent_->end(AgentLoop::Leave::JobsRun);
    if (agent_thread_.joinable()) agent_thread_.join();
    if (unix_socket_ != nullptr) unix_socket_->stop();
    ticker_.reset();
    listeners_.stop();
    const Status stopped = server_->stop();
    if (failed_) return failure_;
    return stopped;
  }

 private:
  Status make_state() {
    std::error_code error;
    state_ = std::filesystem::absolute(arguments_.state, error).lexically_normal().string();
    if (Status made = make_state_folder(state_, passage()); !made.ok()) {
      Error failed = std::move(made).error().at("--state");
      failed.message += "; name a directory that this user can make and write";
      return failed;
    }
    return check_state_files(state_, {"address", "rest"});
  }

  // A scheduler that is not root can start no other user's job itself.
  ServedUsers served_users() const {
    return {.others = ::geteuid() == 0 || arguments_.other_users, .owner = login_name(::geteuid())};
  }

  // Clients of other logins find the address and the socket in the state folder, and jobs of other
  // users their sockets, logs and checkpoints.
  Passage passage() const { return served_users().others ? Passage::Others : Passage::None; }

  Status listen() {
    return listeners_.open({.state = state_,
                            .listen = arguments_.listen,
                            .rest = arguments_.rest,
                            .passage = passage(),
                            .access = callers_->access(),
                            .metrics = [this](const Caller& caller) { return metrics(caller); },
                            .say = log_to_stderr},
                           trust_->server, *server_, *server_);
  }

  void look_after_certificates() {
    upkeep_ = std::make_unique<Upkeep>(
        UpkeepOptions{.directory = state_ + "/trust",
                      .hosts = hosts_,
                      .check_callers = [this] { listeners_.rpc().check_agents_again(); },
                      .let_agents_reconnect = [this] { listeners_.rpc().let_agents_reconnect(); },
                      .say = log_to_stderr},
        trust_->server, now());
    ticker_ = std::make_unique<Ticker>(Upkeep::kBetween, [this] { upkeep_->tick(now()); });
  }

  Result<std::string> metrics(const Caller& caller) {
    TRY_ASSIGN(std::string text, server_->metrics(caller));
    return text + unix_socket_metrics();
  }

  // For clients on this machine. Without it they are served as all others are.
  Status open_unix_socket() {
    struct stat folder {};
    if (::stat(state_.c_str(), &folder) != 0) return system_error(state_, errno);
    auto opened = UnixSocketServer::start(
        {.path = state_ + "/" + kSocketName,
         .identify = [this, owner = folder.st_uid](
                         uid_t uid) { return callers_->identify_local(uid, owner); },
         .admit = [this](const Caller& caller) { return callers_->admit(caller); }},
        *server_);
    if (opened.ok()) {
      unix_socket_ = std::move(opened).value();
    } else {
      log_to_stderr("no Unix socket for this machine: " + opened.error().message);
    }
    return {};
  }

  // Last, since it is what clients wait for.
  Status write_address() {
    const std::string& address = listeners_.address();
    TRY(write_for_clients(state_ + "/address", address, passage()));
    log_to_stderr(fmt::format("serves on {}; clients: --state {}", address, state_));
    return {};
  }

  std::string unix_socket_metrics() const {
    if (unix_socket_ == nullptr) return "";
    const UnixSocketFigures figures = unix_socket_->figures();
    std::string out;
    const auto put = [&](const char* name, const char* help, std::int64_t value) {
      out += fmt::format(
          "# HELP orrery_unix_socket_{0} {1}\n# TYPE orrery_unix_socket_{0} counter\n"
          "orrery_unix_socket_{0} {2}\n",
          name, help, value);
    };
    put("connections_total", "Connections from this machine.", figures.connections);
    put("calls_total", "Calls over them.", figures.calls);
    put("refused_total", "Connections and calls that were refused.", figures.refused);
    put("broken_total", "Connections that were ended for what they sent.", figures.broken);
    put("timed_out_total", "Connections that stopped within a message.", figures.timed_out);
    return out;
  }

  Status open_agent() {
    AgentOptions options{
        .state = state_ + "/agent", .name = arguments_.name, .address = "127.0.0.1"};
    TRY(set_job_limits(arguments_.limits, options));
    if (arguments_.gpus >= 0) options.gpus = arguments_.gpus;
    TRY_ASSIGN(agent_, AgentLoop::open(options, log_to_stderr));
    if (agent_->node().machine.gpus.empty() && !options.gpus) {
      options.gpus = agent_->node().machine.cpu_count();
      log_to_stderr(
          fmt::format("no GPU here: offers {} places for jobs, one for each CPU; "
                      "--gpus N says otherwise",
                      *options.gpus));
      agent_.reset();
      TRY_ASSIGN(agent_, AgentLoop::open(options, log_to_stderr));
    }
    return {};
  }

  void start_agent() {
    const std::string node = offer_of(agent_->node()).name;
    agent_thread_ = std::thread([this, node] {
      const Status run = agent_->run([&](OnOrders on_orders) {
        return Result<std::unique_ptr<SchedulerLink>>(
            link_locally(*server_, node, std::move(on_orders)));
      });
      if (!run.ok()) log_to_stderr("the agent ends: " + run.error().message);
    });
  }

  Status hold_servers() {
    if (arguments_.servers.provider.empty()) return {};
    TRY_ASSIGN(held_servers_,
               HeldServers::start(*server_, {.kind = arguments_.servers.provider,
                                             .file = arguments_.servers.file,
                                             .state = state_,
                                             .server = listeners_.address(),
                                             .random_key = process_context().random_key,
                                             .say = log_to_stderr}));
    return {};
  }

  const ServeArguments& arguments_;
  std::string state_;
  std::vector<std::string> hosts_;  // for the certificate
  const std::shared_ptr<Revocations> revocations_ = std::make_shared<Revocations>();
  std::unique_ptr<Callers> callers_;
  std::unique_ptr<LocalTrust> trust_;
  std::unique_ptr<SchedulerServer> server_;
  Listeners listeners_;
  std::unique_ptr<Upkeep> upkeep_;
  std::unique_ptr<Ticker> ticker_;
  std::unique_ptr<UnixSocketServer> unix_socket_;
  std::unique_ptr<HeldServers> held_servers_;
  std::unique_ptr<AgentLoop> agent_;
  std::thread agent_thread_;
  Error failure_{Code::Internal, ""};
  std::atomic<bool> failed_{false};
};

Status serve_until_signal(const ServeArguments& arguments, const std::function<void()>& ready) {
  // Blocked in every later thread; wait() takes them.
  const sigset_t set = ending_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  raise_open_files_limit();
  Service service(arguments);
  TRY(service.start());
  if (ready) ready();
  return service.wait();
}

}  // namespace

Status serve_command(const ServeArguments& said) {
  ServeArguments arguments = said;
  TRY_ASSIGN(arguments.state, state_directory(said.state, process_environment()));
  if (arguments.background.json && !arguments.background.detach)
    return invalid("--json goes with --detach");
  if (!arguments.background.detach) {
    return serve_until_signal(arguments, [] { notify_service_manager("READY=1"); });
  }
  const std::string log = arguments.state + "/serve.log";
  TRY(run_detached(
      [&] { return log; },
      [&](const std::function<void()>& ready) { return serve_until_signal(arguments, ready); }));
  if (!arguments.background.json) return {};
  return print_text(json_line({{"state", arguments.state},
                               {"address", read_word(arguments.state + "/address")},
                               {"log", log}}));
}

}  // namespace orrery
