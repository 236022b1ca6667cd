#include "commands/programs/held_servers.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/own_program.h"
#include "cloud/fleet/answer_of.h"
#include "cloud/fleet/loss_rate.h"
#include "cloud/gce/credentials.h"

namespace orrery {
namespace {

constexpr auto kTokenLife = std::chrono::hours(1);

// Fits a shell's single quotes.
bool is_plain(std::string_view word) { return word.find('\'') == std::string_view::npos; }

// Joins the cluster with a token that works once, then becomes the agent. On a server of this
// machine the state is beside its log.
std::string node_script(const ProviderFile& file, const std::string& server,
                        const std::string& node, const Offer& offer, double losses_per_day,
                        const std::string& token) {
  return fmt::format(
      "set -e\n"
      "umask 077\n"
      "state=\"${{ORRERY_SERVER_NOTICE:+${{ORRERY_SERVER_NOTICE%.notice}}.node}}\"\n"
      "state=\"${{state:-/var/lib/orrery-node}}\"\n"
      "mkdir -p \"$state\"\n"
      "if [ ! -d \"$state/credentials\" ]; then\n"
      "  printf '%s' '{7}' | '{0}' join --role agent --server '{1}' --name '{2}' "
      "--credentials \"$state/credentials\"\n"
      "fi\n"
      "exec '{0}' agent --state \"$state/agent\" --server '{1}' --credentials "
      "\"$state/credentials\" --name '{2}' --gpus {3} --gpu-type '{4}' --zone '{5}' "
      "--losses-per-day {6}\n",
      file.command, server, node, offer.gpus, offer.gpu, offer.zone, losses_per_day, token);
}

}  // namespace

Result<std::unique_ptr<HeldServers>> HeldServers::start(Api& api,
                                                        const HeldServersOptions& options) {
  TRY_ASSIGN(ProviderFile file, read_provider_file(options.kind, options.file));
  if (file.server.empty()) file.server = options.server;
  if (options.kind == "local" && file.command == "orrery") {
    file.command = own_program("orrery");
  }
  if (!is_plain(file.server) || !is_plain(file.command) || !is_plain(file.cluster)) {
    return invalid(options.file + ": 'server', 'command' and 'cluster' take no quotes");
  }
  TRY_ASSIGN(CostLedger ledger, CostLedger::open(options.state + "/servers.db"));
  TRY_ASSIGN(MadeProvider made, make_provider(options.kind, file, options.state + "/servers"));
  std::unique_ptr<HeldServers> held(
      new HeldServers(options, std::move(file), std::move(made), std::move(ledger)));
  TRY(held->open_fleet(api));
  const auto pause = std::chrono::duration_cast<std::chrono::seconds>(held->file_.pause);
  held->ticker_ = std::make_unique<Ticker>(pause, [pass = held.get()] { pass->pass(); });
  return held;
}

Status HeldServers::open_fleet(Api& api) {
  FleetOptions options{.rules = file_.rules,
                       .cluster = file_.cluster,
                       .caller = {.role = Caller::Role::Admin, .name = "provider"},
                       .request_id = [this] { return uuid_from(options_.random_key()); },
                       .join_max = file_.join_max,
                       .say = options_.say};
  TRY_ASSIGN(const std::vector<LedgerServer> before, ledger_.servers(file_.cluster));
  TRY_ASSIGN(const std::vector<Server> listed, made_.provider->list(file_.cluster));
  for (const LedgerServer& row : before) {
    const ServerSpec& spec = row.server.spec;
    options.last_index = std::max<std::int64_t>(options.last_index, spec.index);
    const bool is_listed = std::ranges::any_of(
        listed, [&](const Server& server) { return server.spec.name == spec.name; });
    if (!is_listed) options.spent_before_usd += row.usd;
  }
  options.startup = [this, &api](const std::string& node, const Offer& offer) {
    return startup(api, node, offer);
  };
  options.on_request = [this](const ServerSpec& spec) {
    const auto known = same_on_demand(file_.prices, spec.offer);
    std::optional<double> price;
    if (known) price = known->price_usd_per_hour;
    return ledger_.add_server(spec, price);
  };
  options.on_event = [this](const Server& server, const ServerEvent& event) {
    const Status recorded = ledger_.record(event, server.address);
    if (!recorded.ok()) say_once("the ledger: " + recorded.error().message);
  };
  TRY_ASSIGN(Fleet fleet, Fleet::open(api, *made_.provider, std::move(options)));
  fleet_ = std::make_unique<Fleet>(std::move(fleet));
  return {};
}

Result<std::string> HeldServers::startup(Api& api, const std::string& node, const Offer& offer) {
  TRY_ASSIGN(const std::vector<LedgerServer> rows, ledger_.servers(file_.cluster));
  std::vector<Server> servers;
  for (const LedgerServer& row : rows) {
    // How a server has ended that an earlier scheduler left behind is not known.
    const bool is_left =
        !has_ended(row.server) && !fleet_->members().contains(row.server.spec.name);
    if (!is_left) servers.push_back(row.server);
  }
  const double losses = losses_per_day(servers, offer, made_.provider->now());
  TokenRequest request{.role = Caller::Role::Agent, .name = node, .valid = kTokenLife};
  TRY_ASSIGN(const TokenAnswer token, answer_of<TokenAnswer>([&](auto reply) {
               api.make_token({.role = Caller::Role::Admin, .name = "provider"}, request,
                              std::move(reply));
             }));
  return node_script(file_, file_.server, node, offer, losses, token.token);
}

void HeldServers::pass() {
  const Status passed = fleet_->pass();
  if (!passed.ok()) {
    say_once("the servers' provider: " + passed.error().message);
  } else {
    last_error_.clear();
  }
}

// An error that stays is one line, not one for each pass.
void HeldServers::say_once(const std::string& line) {
  if (line == last_error_) return;
  last_error_ = line;
  options_.say(line);
}

}  // namespace orrery
