#include <fmt/format.h>

#include <filesystem>

#include "agent/agent_loop.h"
#include "ctl/connection.h"
#include "ctl/surroundings.h"
#include "rpc/scheduler_link.h"
#include "service/commands.h"
#include "trust/credentials.h"

namespace orrery {

Status agent_command(const AgentArguments& arguments) {
  if (arguments.state.empty()) {
    return invalid("--state: name the directory in which the agent keeps what it knows");
  }
  if (arguments.server.empty()) {
    return invalid(
        "--server: name the scheduler, HOST:PORT; `orrery join` makes this node known "
        "to it");
  }
  TRY(check_address(arguments.server));
  TRY_ASSIGN(const std::string directory,
             credentials_directory(arguments.credentials, process_surroundings().environment));
  TRY_ASSIGN(const Credentials own, load_credentials(directory, kAgentCertificate));
  std::error_code error;
  AgentOptions options{
      .state = std::filesystem::absolute(arguments.state, error).lexically_normal().string(),
      .name = arguments.name,
      .address = arguments.address,
      .cgroup = arguments.cgroup};
  if (arguments.gpus >= 0) options.gpus = arguments.gpus;
  const MakeLink make_link = [&](OnOrders on_orders) {
    LinkOptions link{.client = {.address = arguments.server,
                                .tls = TlsMaterial{.certificate = own.certificate_pem,
                                                   .key = own.key_pem.reveal(),
                                                   .authority = own.ca_pem}}};
    link.on_lost = [](const Error& lost) {
      log_to_stderr("no connection to the scheduler: " + lost.message);
    };
    return Result<std::unique_ptr<SchedulerLink>>(
        std::make_unique<RpcSchedulerLink>(std::move(link), std::move(on_orders)));
  };
  return run_agent(options, make_link, log_to_stderr);
}

}  // namespace orrery
