#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "live/agent/local_processes.h"
#include "live/agent/node_agent.h"
#include "live/api/agent_link.h"

namespace orrery {

// The agent looks for a place below its own cgroup.
inline constexpr const char* kAutoCgroup = "auto";

struct AgentOptions {
  std::string state{};              // an absolute path, of this agent alone; may be in memory
  std::string data{};               // for logs and checkpoints; empty: the state directory
  std::string name{};               // empty: the host's
  std::string address{};            // where other nodes reach this one; empty: the name
  std::string zone{};               // nodes of one zone may be lost together
  double losses_per_day = 0;        // how often such a node is lost; 0: not known
  std::string gpu_type{};           // of its GPUs; empty: as the driver says
  std::optional<int> gpus{};        // declared, instead of asking the driver
  std::string cgroup{};             // a directory for the jobs' cgroups; kAutoCgroup; empty: none
  std::int64_t processes_most = 0;  // of one process of a job, with threads; 0: no limit
  std::int64_t core_bytes = 0;      // of a core file; -1: no limit
  LogLimits logs{};
  std::string program{};  // that becomes supervisors; empty: supervisor_program()
};

// Makes the connection to the scheduler. Orders may come from any thread until it is destroyed.
using MakeLink = std::function<Result<std::unique_ptr<SchedulerLink>>(OnOrders)>;
using AgentLog = std::function<void(std::string_view)>;

// NodeAgent on this machine: its clock, its processes, its connection. One thread runs it. When it
// goes, however that is, its jobs run on until their lease is over, and the next agent on the same
// state directory takes them over.
class AgentLoop {
 public:
  // Looks at the machine, takes the state directory and adopts what runs there.
  static Result<std::unique_ptr<AgentLoop>> open(const AgentOptions& options, AgentLog log);

  enum class Leave {
    JobsRun,     // for an agent that comes back soon
    JobsStopped  // a node that is given up
  };
  // Until end(), or for good where the scheduler refuses this agent.
  Status run(const MakeLink& make_link);
  // From any thread or signal handler; the last word counts.
  void end(Leave leave);

  // Calls `ready` in run() whenever `fd` is readable. Before run().
  Status watch(int fd, std::function<void(NodeAgent&, Duration)> ready);
  const NodeOptions& node() const { return node_; }
  ~AgentLoop();

 private:
  AgentLoop(NodeOptions node, std::unique_ptr<LocalProcesses> processes, bool owns_cgroup);

  Status add(int fd);
  void post(Orders orders);
  void take_orders(Duration now);
  Status wait(Duration most);

  NodeOptions node_;
  bool owns_cgroup_ = false;  // the directory of the jobs' cgroups, made by the agent
  Fd cgroup_held_{};          // against other agents that remove what is left
  std::unique_ptr<LocalProcesses> processes_;
  NodeAgent agent_;
  Fd epoll_{};
  Fd wake_{};  // an eventfd
  std::vector<std::pair<int, std::function<void(NodeAgent&, Duration)>>> watched_{};
  std::vector<int> ready_{};
  std::mutex mutex_{};
  std::vector<Orders> inbox_{};
  std::atomic<int> leave_{-1};  // -1: not yet
};

// Runs `orrery agent` until SIGTERM or SIGINT; jobs run on after that. Call it while the process
// has one thread: the signals are blocked in all later ones. Calls `ready` when it has taken over
// what runs, which needs no scheduler.
Status run_agent(const AgentOptions& options, const MakeLink& make_link, AgentLog log,
                 const std::function<void()>& ready = {});

// One line with the time, to stderr.
void log_to_stderr(std::string_view line);

}  // namespace orrery
