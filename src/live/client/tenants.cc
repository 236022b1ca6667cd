#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/grid.h"
#include "live/client/rights_commands.h"
#include "live/client/status_text.h"

namespace orrery {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMembersWidth = 200;

std::string table(const TenantsAnswer& answer, const std::string& tenant) {
  std::vector<std::vector<std::string>> rows;
  for (const TenantStatus& each : answer.tenants) {
    const std::string members = fmt::format("{}", fmt::join(each.members, " "));
    rows.push_back(
        {fitted(each.tenant, 48), members.empty() ? "-" : fitted(members, kMembersWidth)});
  }
  const GridColumn titles[] = {{"tenant", true}, {"members", true}};
  if (!rows.empty()) return grid(titles, rows);
  if (tenant.empty()) return "no tenant has a list of members: users submit for themselves\n";
  return fmt::format("{} has no list of members: only the user {} submits for it\n", tenant,
                     tenant);
}

std::string json(const TenantsAnswer& answer) {
  Json tenants = Json::array();
  for (const TenantStatus& each : answer.tenants) {
    tenants.push_back({{"tenant", each.tenant}, {"members", each.members}});
  }
  return Json{{"tenants", std::move(tenants)}}.dump(-1, ' ', false,
                                                    Json::error_handler_t::replace) +
         '\n';
}

}  // namespace

Status tenants_command(const TenantsArguments& arguments, const CommandContext& context) {
  const bool changes = !arguments.add.empty() || !arguments.remove.empty() || arguments.forget;
  if (changes && arguments.tenant.empty()) {
    return invalid("name the tenant, as in `orrery tenants vision --add ann`");
  }
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
  return context.print(arguments.json ? json(answer) : table(answer, arguments.tenant));
}

}  // namespace orrery
