#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "live/api/agent_link.h"

namespace orrery {

// Agents without machines: NodeAgents over FakeProcesses on the machine's clock, all on one thread,
// with eight GPUs each. Jobs take as long as a number drawn for them says.
class AgentFleet {
 public:
  AgentFleet(AgentHost& host, int agents, Duration job_least, Duration job_most);
  ~AgentFleet();
  AgentFleet(const AgentFleet&) = delete;
  AgentFleet& operator=(const AgentFleet&) = delete;

 private:
  struct Member;
  class Link;

  void run();

  AgentHost& host_;
  std::vector<std::unique_ptr<Member>> members_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable wake_;
  std::vector<std::pair<std::size_t, Orders>> inbox_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace orrery
