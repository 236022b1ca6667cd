#include <fmt/format.h>

#include "base/grid.h"
#include "live/client/commands.h"
#include "live/client/job_texts.h"
#include "live/client/status_text.h"

namespace orrery {
namespace {

std::string table(const QuotasAnswer& answer, const std::string& tenant) {
  std::vector<std::vector<std::string>> rows;
  for (const QuotaStatus& quota : answer.quotas) {
    if (!tenant.empty() && quota.tenant != tenant) continue;
    rows.push_back({fitted(quota.tenant, 48), fmt::format("{}", quota.gpus),
                    fmt::format("{}", quota.held), quota.borrows ? "yes" : "no"});
  }
  const GridColumn titles[] = {{"tenant", true}, {"gpus"}, {"held"}, {"borrows", true}};
  return rows.empty() ? "" : grid(titles, rows);
}

Status show(Client& client, const std::string& tenant, const CommandContext& context) {
  TRY_ASSIGN(const QuotasAnswer answer, client.quotas());
  const std::string text = table(answer, tenant);
  if (!text.empty()) return context.print(text);
  return context.print(tenant.empty() ? "no quotas: every tenant may hold all GPUs\n"
                                      : fmt::format("{} has no quota\n", tenant));
}

}  // namespace

Status policy_command(const PolicyArguments& arguments, const CommandContext& context) {
  if (arguments.policy.empty() && !arguments.options.empty()) {
    return invalid("--option: name the policy it is for");
  }
  PolicyRequest request{.policy = arguments.policy};
  for (const std::string& pair : arguments.options) {
    const std::size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0) {
      return invalid(fmt::format("--option {}: write key=value", pair));
    }
    request.options[pair.substr(0, equals)] = pair.substr(equals + 1);
  }
  TRY_ASSIGN(const std::unique_ptr<Client> client, connect(arguments.connection, context));
  if (!request.policy.empty()) TRY(client->set_policy(request));
  TRY_ASSIGN(const StatusAnswer answer, client->status({.finished = false, .limit = 1}));
  return context.print(answer.policy + '\n');
}

Status quota_command(const QuotaArguments& arguments, const CommandContext& context) {
  if (arguments.gpus.empty() && arguments.no_borrow) {
    return invalid("--no-borrow: say how many GPUs, as in `orrery quota TENANT 16 --no-borrow`");
  }
  QuotaRequest request{.tenant = arguments.tenant, .borrows = !arguments.no_borrow};
  if (!arguments.gpus.empty() && arguments.gpus != "none") {
    Result<int> gpus = parse_whole(arguments.gpus, 0, 1'000'000);
    if (!gpus.ok()) return invalid(gpus.error().message + ", or none to take the quota away");
    request.gpus = gpus.value();
  }
  TRY_ASSIGN(const std::unique_ptr<Client> client, connect(arguments.connection, context));
  if (!arguments.gpus.empty()) TRY(client->set_quota(request));
  return show(*client, arguments.tenant, context);
}

}  // namespace orrery
