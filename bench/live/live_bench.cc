// live_bench WHAT ...: the parts of bench/live/run.py that a program has to do, each in a process
// of its own. Load goes to the scheduler of a state directory, by its Unix socket (`socket`) or
// over mutual TLS (`grpc`); what is printed is seconds.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "agent_fleet.h"
#include "base/files.h"
#include "base/random.h"
#include "live/daemon/server/server.h"
#include "live/rpc/client.h"
#include "live/unix_socket/client.h"

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

JobRequest small_job() { return {.argv = {"/bin/true"}, .name = "true"}; }

// The administrator whose certificate is in the state directory.
Result<ClientOptions> admin_of(const std::string& state) {
  TRY_ASSIGN(const Credentials admin, load_credentials(state + "/trust", "admin"));
  TRY_ASSIGN(std::string address, read_file(state + "/address"));
  address.erase(address.find_last_not_of('\n') + 1);
  return ClientOptions{.address = std::move(address),
                       .tls = TlsMaterial{.certificate = admin.certificate_pem,
                                          .key = admin.key_pem.reveal(),
                                          .authority = admin.ca_pem}};
}

// ---- Load

// COUNT submissions, each a call of its own, from CLIENTS clients at a time.
using SubmitMany = Status (*)(const std::string& state, int count, int clients, double& took);

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

Status submit_by_grpc(const std::string& state, int count, int clients, double& took) {
  TRY_ASSIGN(const ClientOptions options, admin_of(state));
  std::atomic<int> left = count;
  std::latch done(clients);
  std::vector<std::unique_ptr<BusyClient>> connections;
  for (int i = 0; i < clients; ++i) {
    connections.push_back(std::make_unique<BusyClient>(options, left, done));
    TRY(connections.back()->connect());
  }
  const auto begin = SteadyClock::now();
  for (const auto& client : connections) client->go_on();
  done.wait();
  took = since(begin);
  for (const auto& client : connections) {
    if (client->refused() > 0) return Error{Code::Internal, "submissions were refused"};
  }
  return {};
}

std::string socket_of(const std::string& state) { return state + "/socket"; }

// A thread for each client, as libslurm's callers have it.
Status submit_by_socket(const std::string& state, int count, int clients, double& took) {
  std::atomic<int> left = count;
  std::atomic<int> refused = 0;
  std::latch ready(clients + 1);
  std::vector<std::thread> threads;
  for (int i = 0; i < clients; ++i) {
    threads.emplace_back([&] {
      UnixSocketClient client({.path = socket_of(state)});
      if (!client.connect().ok()) ++refused;
      const SubmitRequest request{.job = small_job()};
      ready.arrive_and_wait();
      while (--left >= 0) {
        if (!client.submit(request).ok()) ++refused;
      }
    });
  }
  ready.arrive_and_wait();
  const auto begin = SteadyClock::now();
  for (std::thread& one : threads) one.join();
  took = since(begin);
  if (refused > 0) return Error{Code::Internal, fmt::format("{} refused", refused.load())};
  return {};
}

SubmitMany way_named(const std::string& name) {
  return name == "grpc" ? submit_by_grpc : submit_by_socket;
}

Status submit(const Arguments& arguments) {
  double took = 0;
  TRY(way_named(arguments[3])(arguments[0], std::atoi(arguments[1].c_str()),
                              std::atoi(arguments[2].c_str()), took));
  print_seconds(took);
  return {};
}

template <class AnyClient>
Status submit_array(AnyClient& client, int count) {
  TRY(client.quotas());
  SubmitRequest request{.job = small_job()};
  for (int i = 1; i <= count; ++i) request.job.array.push_back(i);
  const auto begin = SteadyClock::now();
  TRY(client.submit(request));
  print_seconds(since(begin));
  return {};
}

Status array(const Arguments& arguments) {
  const int count = std::atoi(arguments[1].c_str());
  if (arguments[2] == "grpc") {
    TRY_ASSIGN(const ClientOptions options, admin_of(arguments[0]));
    RpcClient client(options);
    return submit_array(client, count);
  }
  UnixSocketClient client({.path = socket_of(arguments[0])});
  return submit_array(client, count);
}

Status wait_until_idle(UnixSocketClient& client) {
  while (true) {
    TRY_ASSIGN(const StatusAnswer now, client.status({.limit = 0}));
    if (now.pending + now.running + now.settling == 0) return {};
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

Status empty(const Arguments& arguments) {
  UnixSocketClient client({.path = socket_of(arguments[0])});
  TRY(wait_until_idle(client));
  const auto begin = SteadyClock::now();
  double ignored = 0;
  TRY(way_named(arguments[3])(arguments[0], std::atoi(arguments[1].c_str()),
                              std::atoi(arguments[2].c_str()), ignored));
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

Caller bench_admin() { return {.role = Caller::Role::Admin, .name = "bench"}; }

Status fill(SchedulerServer& server, Random& random, int jobs) {
  const Caller admin = bench_admin();
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
  ServerSetup setup{.state = arguments[0]};
  setup.core.policy.name = arguments[1];
  TRY_ASSIGN(const auto started, SchedulerServer::start(std::move(setup)));
  SchedulerServer& server = *started;
  Random random(1);
  const int jobs = std::atoi(arguments[3].c_str());
  auto begin = SteadyClock::now();
  TRY(fill(server, random, jobs));
  std::printf("filled in %.3f s\n", since(begin));
  {
    const AgentFleet fleet(server, std::atoi(arguments[2].c_str()), std::chrono::seconds(10),
                           std::chrono::seconds(50));
    begin = SteadyClock::now();
    while (since(begin) < std::atof(arguments[4].c_str())) {
      TRY(fill(server, random, 1));
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  std::printf("%s", server.metrics(bench_admin()).value().c_str());
  std::fflush(stdout);
  begin = SteadyClock::now();
  if (arguments[5] == "kill") std::_Exit(0);
  TRY(server.stop());
  std::printf("stopped in %.3f s\n", since(begin));
  return {};
}

struct Command {
  const char* name;
  const char* usage;
  std::size_t arguments;
  Status (*run)(const Arguments&);
};
constexpr Command kCommands[] = {
    {"submit", "STATE COUNT CLIENTS socket|grpc: COUNT calls, each with one job", 4, submit},
    {"array", "STATE COUNT socket|grpc: one call with an array", 3, array},
    {"empty", "STATE COUNT CLIENTS socket|grpc: until as many jobs have run", 4, empty},
    {"scale", "STATE POLICY AGENTS JOBS SECONDS stop|kill: prints metrics", 6, scale},
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

int main(int argc, char** argv) { return orrery::run(argc, argv); }
