#include <fmt/format.h>

#include "live/client/commands.h"
#include "live/client/job_texts.h"
#include "report/listing/listing.h"

namespace orrery {
namespace {

nlohmann::ordered_json json_of(const QuotaStatus& quota) {
  return {{"tenant", quota.tenant},
          {"gpus", quota.gpus},
          {"gpus_held", quota.held},
          {"borrows", quota.borrows}};
}

Listing listing_of(const QuotasAnswer& answer, const std::string& tenant) {
  Listing listing{.name = "quotas",
                  .columns = {{.title = "tenant", .field = "tenant", .least = 12},
                              {"gpus", "gpus", ColumnKind::Count},
                              {"held", "gpus_held", ColumnKind::Count},
                              {"borrows", "borrows"}},
                  .fields = fields_of(json_of({})),
                  .none = tenant.empty() ? "no quotas: every tenant may hold all GPUs\n"
                                         : fmt::format("{} has no quota\n", tenant)};
  for (const QuotaStatus& quota : answer.quotas) {
    if (tenant.empty() || quota.tenant == tenant) listing.rows.push_back(json_of(quota));
  }
  return listing;
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
  return print_done(arguments.json, {{"policy", answer.policy}}, answer.policy + '\n', context);
}

Status quota_command(const QuotaArguments& arguments, const CommandContext& context) {
  TRY(check_output(arguments.list));
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
  TRY_ASSIGN(const QuotasAnswer answer, client->quotas());
  return print_listing(listing_of(answer, arguments.tenant), arguments.list, context);
}

}  // namespace orrery
