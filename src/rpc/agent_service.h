#pragma once

#include <orrery/v1/agent.grpc.pb.h>

#include "protocol/agent_link.h"
#include "rpc/access.h"

namespace orrery {

// Agents' connections: what comes in is told to the host, what the host sends goes out.
class AgentService final : public v1::Agents::CallbackService {
 public:
  AgentService(AgentHost& host, Gate& gate) : host_(host), gate_(gate) {}

  grpc::ServerBidiReactor<v1::Report, v1::Orders>* Attend(
      grpc::CallbackServerContext* context) override;

 private:
  AgentHost& host_;
  Gate& gate_;
};

// Empty when the caller showed none.
std::string peer_certificate(const grpc::CallbackServerContext& context);

}  // namespace orrery
