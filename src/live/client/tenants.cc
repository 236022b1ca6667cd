#include <fmt/format.h>

#include <algorithm>

#include "live/client/rights_commands.h"
#include "report/listing/listing.h"

namespace orrery {
namespace {

nlohmann::ordered_json json_of(const TenantStatus& each) {
  return {{"tenant", each.tenant}, {"members", each.members}};
}

Listing listing_of(const TenantsAnswer& answer, const std::string& tenant) {
  Listing listing{
      .name = "tenants",
      .columns = {{.title = "tenant", .field = "tenant", .least = 12},
                  {.title = "members", .field = "members", .least = 20}},
      .fields = fields_of(json_of({})),
      .none = tenant.empty()
                  ? "no tenant has a list of members: users submit for themselves\n"
                  : fmt::format("{0} has no list of members: only the user {0} submits for it\n",
                                tenant)};
  for (const TenantStatus& each : answer.tenants) listing.rows.push_back(json_of(each));
  return listing;
}

}  // namespace

Status tenants_command(const TenantsArguments& arguments, const CommandContext& context) {
  const bool changes = !arguments.add.empty() || !arguments.remove.empty() || arguments.forget;
  if (changes && arguments.tenant.empty()) {
    return invalid("name the tenant, as in `orrery tenants vision --add ann`");
  }
  TRY(check_output(arguments.list));
  TRY_ASSIGN(const std::unique_ptr<Client> client, connect(arguments.connection, context));
  if (changes) {
    TRY(client->set_tenant({.tenant = arguments.tenant,
                            .add = arguments.add,
                            .remove = arguments.remove,
                            .forget = arguments.forget}));
  }
  TRY_ASSIGN(TenantsAnswer answer, client->tenants());
  std::erase_if(answer.tenants, [&](const TenantStatus& each) {
    return !arguments.tenant.empty() && each.tenant != arguments.tenant;
  });
  return print_listing(listing_of(answer, arguments.tenant), arguments.list, context);
}

}  // namespace orrery
