#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <utility>

#include "commands/programs/commands.h"
#include "commands/programs/job_limits.h"
#include "commands/programs/own_certificate.h"
#include "commands/programs/remote_client.h"
#include "commands/programs/service_notice.h"
#include "commands/programs/upkeep.h"
#include "live/agent/agent_loop.h"
#include "live/auth/credentials.h"
#include "live/client/command_context.h"
#include "live/client/connection.h"
#include "live/rpc/client.h"
#include "live/rpc/scheduler_link.h"

namespace orrery {
namespace {

std::chrono::sys_seconds now() {
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

void look_after(OwnCertificate& own, const std::function<void()>& on_other) {
  const auto other = own.tick(now());
  if (!other.ok()) {
    log_to_stderr("its certificate could not be renewed: " + other.error().message);
  } else if (other.value()) {
    log_to_stderr("it has a new certificate");
    on_other();
  }
}

// A connection that is made again whenever there is another certificate.
class RenewedLink final : public SchedulerLink {
 public:
  RenewedLink(OwnCertificate& own, LinkOptions options, OnOrders on_orders)
      : link_(std::move(options), std::move(on_orders)),
        ticker_(std::chrono::minutes(1),
                [this, &own] { look_after(own, [this] { link_.reconnect(); }); }) {}
  void send(Report report) override { link_.send(std::move(report)); }

 private:
  RpcSchedulerLink link_;
  Ticker ticker_;  // goes first
};

// A loss is said once for each reason, since an agent tries again every few seconds.
std::function<void(const Error&)> say_lost() {
  return [last = std::string()](const Error& lost) mutable {
    if (lost.message == last) return;
    last = lost.message;
    log_to_stderr("no connection to the scheduler: " + lost.message);
  };
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
             credentials_directory(arguments.credentials, process_context().environment));
  auto kept = load_credentials(directory, kAgentCertificate);
  if (!kept.ok() && kept.error().code == Code::NotFound) {
    return Error{Code::NotFound,
                 fmt::format("{}; get a token from the cluster's admin and run `orrery join --role "
                             "agent --server {} --credentials {} --token-file FILE`",
                             kept.error().message, arguments.server, directory)};
  }
  if (!kept.ok()) return std::move(kept).error();
  OwnCertificate own(
      directory, kAgentCertificate, std::move(kept).value(),
      [&](const TlsMaterial& old, const JoinRequest& request) {
        RpcClient client(
            {.address = arguments.server, .tls = old, .https_port = https_port_in(directory)});
        return client.join(request);
      });
  look_after(own, [] {});
  std::error_code error;
  AgentOptions options{
      .state = std::filesystem::absolute(arguments.state, error).lexically_normal().string(),
      .name = arguments.name,
      .address = arguments.address,
      .zone = arguments.zone,
      .losses_per_day = arguments.losses_per_day,
      .gpu_type = arguments.gpu_type};
  TRY(set_job_limits(arguments.limits, options));
  if (arguments.gpus >= 0) options.gpus = arguments.gpus;
  const MakeLink make_link = [&](OnOrders on_orders) {
    LinkOptions link{.client = {.address = arguments.server,
                                .tls = own.material(),
                                .https_port = https_port_in(directory),
                                .reconnect_most = std::chrono::seconds(5)},
                     .newest_certificate = [&own] { return std::optional(own.material()); },
                     .on_lost = say_lost()};
    return Result<std::unique_ptr<SchedulerLink>>(
        std::make_unique<RenewedLink>(own, std::move(link), std::move(on_orders)));
  };
  return run_agent(options, make_link, log_to_stderr, [] { notify_service_manager("READY=1"); });
}

}  // namespace orrery
