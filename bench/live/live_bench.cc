// live_bench WHAT ...: the parts of bench/live/run.py, each in a process of its own. Those that
// measure print seconds.
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <future>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "agent/agent_loop.h"
#include "agent/supervisor.h"
#include "base/random.h"
#include "crowd.h"
#include "rpc/scheduler_link.h"
#include "service.h"

extern char** environ;

namespace orrery {
namespace {

using Arguments = std::vector<std::string>;
using SteadyClock = std::chrono::steady_clock;

double since(SteadyClock::time_point begin) {
  return std::chrono::duration<double>(SteadyClock::now() - begin).count();
}

void print_seconds(double took) {
  std::printf("%.6f\n", took);
  std::fflush(stdout);
}

void wait_for_end_of_input() {
  char byte = 0;
  while (::read(STDIN_FILENO, &byte, 1) > 0) continue;
}

JobRequest small_job() { return {.argv = {"/bin/true"}, .name = "true"}; }

// ---- Processes that others are measured against

Status serve(const Arguments& arguments) {
  TRY_ASSIGN(const auto service, Service::start(arguments[0], arguments[1]));
  std::printf("%d\n", service->port());
  std::fflush(stdout);
  wait_for_end_of_input();
  std::fprintf(stderr, "%s", service->server().metrics().c_str());
  return service->stop();
}

Status agent(const Arguments& arguments) {
  const std::string& name = arguments[2];
  const AgentOptions options{.state = arguments[4],
                             .name = name,
                             .gpus = std::atoi(arguments[3].c_str()),
                             .switches_users = false};
  TRY_ASSIGN(const ClientOptions client, agent_of(arguments[0], arguments[1], name));
  TRY_ASSIGN(const auto loop, AgentLoop::open(options, [](std::string_view) {}));
  std::thread end([&] {
    wait_for_end_of_input();
    loop->end(AgentLoop::Leave::JobsStopped);
  });
  const Status status = loop->run([&](OnOrders on_orders) -> Result<std::unique_ptr<SchedulerLink>> {
    return std::unique_ptr<SchedulerLink>(
        new RpcSchedulerLink(LinkOptions{.client = client}, std::move(on_orders)));
  });
  end.join();
  return status;
}

// ---- Load

// A client with a connection of its own that has always one submission under way.
class BusyClient {
 public:
  BusyClient(const ClientOptions& options, std::atomic<int>& left, std::latch& done)
      : client_(options), left_(left), done_(done) {}

  Status connect() { return client_.quotas().ok() ? Status() : Status(invalid("no connection")); }
  void go_on() {
    if (--left_ < 0) return done_.count_down();
    client_.submit(request_, [this](const Result<SubmitAnswer>& answer) {
      if (!answer.ok()) ++refused_;
      go_on();
    });
  }
  int refused() const { return refused_; }

 private:
  RpcClient client_;
  std::atomic<int>& left_;
  std::latch& done_;
  SubmitRequest request_{.job = small_job()};
  std::atomic<int> refused_ = 0;
};

Status submit_many(const ClientOptions& options, int count, int clients, double& took) {
  std::atomic<int> left = count;
  std::latch done(clients);
  std::vector<std::unique_ptr<BusyClient>> crowd;
  for (int i = 0; i < clients; ++i) {
    crowd.push_back(std::make_unique<BusyClient>(options, left, done));
    TRY(crowd.back()->connect());
  }
  const auto begin = SteadyClock::now();
  for (const auto& client : crowd) client->go_on();
  done.wait();
  took = since(begin);
  for (const auto& client : crowd) {
    if (client->refused() > 0) return Error{Code::Internal, "submissions were refused"};
  }
  return {};
}

Status submit(const Arguments& arguments) {
  TRY_ASSIGN(const ClientOptions options, admin_of(arguments[0], arguments[1]));
  double took = 0;
  TRY(submit_many(options, std::atoi(arguments[2].c_str()), std::atoi(arguments[3].c_str()), took));
  print_seconds(took);
  return {};
}

Status array(const Arguments& arguments) {
  TRY_ASSIGN(const ClientOptions options, admin_of(arguments[0], arguments[1]));
  RpcClient client(options);
  TRY(client.quotas());
  SubmitRequest request{.job = small_job()};
  for (int i = 1; i <= std::atoi(arguments[2].c_str()); ++i) request.job.array.push_back(i);
  const auto begin = SteadyClock::now();
  TRY(client.submit(request));
  print_seconds(since(begin));
  return {};
}

Status wait_until_idle(RpcClient& client) {
  while (true) {
    TRY_ASSIGN(const StatusAnswer now, client.status({.limit = 0}));
    if (now.pending + now.running + now.settling == 0) return {};
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

Status empty(const Arguments& arguments) {
  TRY_ASSIGN(const ClientOptions options, admin_of(arguments[0], arguments[1]));
  RpcClient client(options);
  TRY(wait_until_idle(client));
  const auto begin = SteadyClock::now();
  double ignored = 0;
  TRY(submit_many(options, std::atoi(arguments[2].c_str()), std::atoi(arguments[3].c_str()),
                  ignored));
  TRY(wait_until_idle(client));
  print_seconds(since(begin));
  return {};
}

// ---- Scale

// Jobs of 1 to 8 GPUs and 10 minutes to 10 hours, as they say; each submission is one call.
SubmitRequest varied_job(Random& random) {
  SubmitRequest request{.job = small_job()};
  request.job.gpus = 1 << random.between(0, 3);
  request.job.expected = std::chrono::seconds(random.between(600, 36'000));
  request.job.user = fmt::format("user{}", random.between(0, 99));
  return request;
}

Status fill(Server& server, Random& random, int jobs) {
  const Caller admin{.role = Caller::Role::Admin, .name = "bench"};
  std::atomic<int> failed = 0;
  std::atomic<int> answered = 0;
  std::promise<void> all;
  for (int i = 0; i < jobs; ++i) {
    server.submit(admin, varied_job(random), [&](const Result<SubmitAnswer>& answer) {
      if (!answer.ok()) ++failed;
      if (++answered == jobs) all.set_value();
    });
  }
  all.get_future().wait();
  if (failed > 0) return Error{Code::Internal, fmt::format("{} refused", failed.load())};
  return {};
}

// Agents join, the queue is filled, and for a while jobs end and others come.
Status scale(const Arguments& arguments) {
  TRY_ASSIGN(const auto service, Service::start(arguments[0], arguments[1]));
  Server& server = service->server();
  Random random(1);
  const int jobs = std::atoi(arguments[3].c_str());
  auto begin = SteadyClock::now();
  TRY(fill(server, random, jobs));
  std::printf("filled in %.3f s\n", since(begin));
  {
    const Crowd crowd(server, std::atoi(arguments[2].c_str()), std::chrono::seconds(10),
                      std::chrono::seconds(50));
    begin = SteadyClock::now();
    while (since(begin) < std::atof(arguments[4].c_str())) {
      TRY(fill(server, random, 1));
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  std::printf("%s", server.metrics().c_str());
  std::fflush(stdout);
  begin = SteadyClock::now();
  if (arguments[5] == "kill") std::_Exit(0);
  TRY(service->stop());
  std::printf("stopped in %.3f s\n", since(begin));
  return {};
}

// From the start of the process to the first answer.
Status restart(const Arguments& arguments) {
  int in[2] = {};
  int out[2] = {};
  if (::pipe(in) != 0 || ::pipe(out) != 0) return system_error("pipe", errno);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, in[1]);
  std::string words[] = {"live_bench", "serve", arguments[0], arguments[1]};
  char* argv[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data(), nullptr};
  const auto begin = SteadyClock::now();
  pid_t pid = 0;
  if (::posix_spawn(&pid, "/proc/self/exe", &actions, nullptr, argv, environ) != 0) {
    return system_error("live_bench serve", errno);
  }
  char port[16] = {};
  if (::read(out[0], port, sizeof port - 1) <= 0) return invalid("the server does not start");
  const double listens = since(begin);
  TRY_ASSIGN(const ClientOptions options,
             admin_of(arguments[0], "127.0.0.1:" + std::to_string(std::atoi(port))));
  RpcClient client(options);
  TRY_ASSIGN(const StatusAnswer answer, client.status({.limit = 1}));
  const double took = since(begin);
  std::fprintf(stderr, "listens after %.3f s; %lld pending, %lld running\n", listens,
               static_cast<long long>(answer.pending), static_cast<long long>(answer.running));
  print_seconds(took);
  ::close(in[1]);
  ::waitpid(pid, nullptr, 0);
  return {};
}

struct Command {
  const char* name;
  const char* usage;
  std::size_t arguments;
  Status (*run)(const Arguments&);
};
constexpr Command kCommands[] = {
    {"serve", "STATE POLICY: prints its port and serves until its input ends", 2, serve},
    {"agent", "STATE ADDRESS NAME GPUS FOLDER: attends until its input ends", 5, agent},
    {"submit", "STATE ADDRESS COUNT THREADS: so many calls, each with one job", 4, submit},
    {"array", "STATE ADDRESS COUNT: one call with an array", 3, array},
    {"empty", "STATE ADDRESS COUNT THREADS: until as many jobs have run", 4, empty},
    {"scale", "STATE POLICY AGENTS JOBS SECONDS stop|kill: prints metrics", 6, scale},
    {"restart", "STATE POLICY: from start to first answer", 2, restart},
};

int run(int argc, char** argv) {
  const Arguments given(argv + std::min(argc, 2), argv + argc);
  for (const Command& command : kCommands) {
    if (argc < 2 || command.name != std::string_view(argv[1])) continue;
    if (given.size() != command.arguments) break;
    const Status status = command.run(given);
    if (status.ok()) return 0;
    std::fprintf(stderr, "live_bench %s: %s\n", command.name, status.error().message.c_str());
    return 1;
  }
  for (const Command& command : kCommands) {
    std::fprintf(stderr, "live_bench %s %s\n", command.name, command.usage);
  }
  return 2;
}

}  // namespace
}  // namespace orrery

int main(int argc, char** argv) {
  if (const auto code = orrery::supervise_if_asked(argc, argv)) return *code;
  return orrery::run(argc, argv);
}
