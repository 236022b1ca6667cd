#include <fmt/format.h>

#include <chrono>
#include <filesystem>

#include "agent/agent_loop.h"
#include "ctl/connection.h"
#include "ctl/surroundings.h"
#include "rpc/client.h"
#include "rpc/scheduler_link.h"
#include "service/commands.h"
#include "service/job_limits.h"
#include "trust/certificates.h"
#include "trust/credentials.h"

namespace orrery {
namespace {

TlsMaterial material(const Credentials& own) {
  return {.certificate = own.certificate_pem, .key = own.key_pem.reveal(), .authority = own.ca_pem};
}

// Trades a certificate that has lived for two thirds of its life for a new one of the same key.
Status renew(const std::string& server, const std::string& directory, Credentials& own) {
  TRY_ASSIGN(const Validity validity, validity_of(own.certificate_pem));
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  if (!should_renew(validity, now)) return {};
  TRY_ASSIGN(const std::string request, make_request(own.key_pem));
  RpcClient client({.address = server, .tls = material(own)});
  TRY_ASSIGN(const JoinAnswer answer, client.join({.certificate_request = request}));
  own.certificate_pem = answer.certificate;
  own.ca_pem = answer.authority;
  return save_credentials(directory, kAgentCertificate, own);
}

}  // namespace

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
  TRY_ASSIGN(Credentials own, load_credentials(directory, kAgentCertificate));
  if (const Status renewed = renew(arguments.server, directory, own); !renewed.ok()) {
    log_to_stderr("its certificate could not be renewed: " + renewed.error().message);
  }
  std::error_code error;
  AgentOptions options{
      .state = std::filesystem::absolute(arguments.state, error).lexically_normal().string(),
      .name = arguments.name,
      .address = arguments.address};
  TRY(set_job_limits(arguments.limits, options));
  if (arguments.gpus >= 0) options.gpus = arguments.gpus;
  const MakeLink make_link = [&](OnOrders on_orders) {
    LinkOptions link{.client = {.address = arguments.server, .tls = material(own)}};
    link.on_lost = [](const Error& lost) {
      log_to_stderr("no connection to the scheduler: " + lost.message);
    };
    return Result<std::unique_ptr<SchedulerLink>>(
        std::make_unique<RpcSchedulerLink>(std::move(link), std::move(on_orders)));
  };
  return run_agent(options, make_link, log_to_stderr);
}

}  // namespace orrery
