#include <fmt/format.h>

#include <array>
#include <string_view>

#include "live/client/roles.h"
#include "live/client/trust_commands.h"
#include "report/listing/listing.h"

namespace orrery {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const TokenStatus& token) {
  return {{"id", token.id},
          {"role", role_text(token.role)},
          {"name", token.name.empty() ? Json() : Json(token.name)},
          {"uses", token.uses},
          {"until_s", token.until_s}};
}

Listing listing_of(const TokensAnswer& answer) {
  Listing listing{.name = "tokens",
                  .columns = {{"id", "id"},
                              {"role", "role"},
                              {.title = "name", .field = "name", .none = "any"},
                              {"uses", "uses", ColumnKind::Count},
                              {"until", "until_s", ColumnKind::Instant}},
                  .fields = fields_of(json_of(TokenStatus())),
                  .none = "no tokens; `orrery token` makes one\n"};
  for (const TokenStatus& token : answer.tokens) listing.rows.push_back(json_of(token));
  return listing;
}

Json json_of(const CertificateStatus& one) {
  return {{"serial", one.serial}, {"role", role_text(one.role)}, {"name", one.name},
          {"from_s", one.from_s}, {"until_s", one.until_s},      {"revoked", !one.revoked.empty()}};
}

Listing listing_of(const CertificatesAnswer& answer) {
  Listing listing{
      .name = "certificates",
      .columns = {{"serial", "serial"},
                  {"role", "role"},
                  {"name", "name"},
                  {"until", "until_s", ColumnKind::Instant},
                  {"revoked", "revoked"},
                  {.title = "from", .field = "from_s", .kind = ColumnKind::Instant, .wide = true}},
      .fields = fields_of(json_of(CertificateStatus())),
      .none = "no certificates; `orrery join` gets one for a token\n"};
  for (const CertificateStatus& one : answer.certificates) listing.rows.push_back(json_of(one));
  return listing;
}

}  // namespace

std::string role_text(Caller::Role role) {
  static constexpr std::array kNames = {"user", "operator", "agent", "admin", "scraper"};
  return kNames.at(static_cast<std::size_t>(role));
}

Result<Caller::Role> parse_role(const std::string& text, std::string_view choices) {
  for (const Caller::Role role : {Caller::Role::User, Caller::Role::Operator, Caller::Role::Agent,
                                  Caller::Role::Admin, Caller::Role::Scraper}) {
    if (role_text(role) == text && choices.find(text) != choices.npos) return role;
  }
  return invalid(fmt::format("--role {}: write {}", text, choices));
}

Status tokens_command(const TokensArguments& arguments, const CommandContext& context) {
  TRY(check_output(arguments.list));
  TRY_ASSIGN(const std::unique_ptr<Client> client, connect(arguments.connection, context));
  TRY_ASSIGN(const TokensAnswer answer, client->tokens({.withdraw = arguments.withdraw}));
  if (arguments.withdraw.empty() || arguments.list.is_json()) {
    return print_listing(listing_of(answer), arguments.list, context);
  }
  return context.print(fmt::format("the token {} is withdrawn\n", arguments.withdraw));
}

Status certificates_command(const CertificatesArguments& arguments, const CommandContext& context) {
  TRY(check_output(arguments.list));
  TRY_ASSIGN(const std::unique_ptr<Client> client, connect(arguments.connection, context));
  TRY_ASSIGN(const CertificatesAnswer answer, client->certificates({}));
  return print_listing(listing_of(answer), arguments.list, context);
}

Status revoke_command(const RevokeArguments& arguments, const CommandContext& context) {
  if (arguments.serial.empty() == arguments.name.empty()) {
    return invalid("revoke: write a serial number, which `orrery certificates` lists, or --name");
  }
  CertificatesRequest request{.revoke_serial = arguments.serial, .revoke_name = arguments.name};
  if (!arguments.role.empty()) {
    if (arguments.name.empty()) return invalid("--role goes with --name");
    TRY_ASSIGN(request.role, parse_role(arguments.role, kAllRoles));
  }
  TRY_ASSIGN(const std::unique_ptr<Client> client, connect(arguments.connection, context));
  TRY_ASSIGN(const CertificatesAnswer answer, client->certificates(request));
  return print_done(
      arguments.json, {{"revoked", answer.revoked}, {"tokens_withdrawn", answer.withdrawn}},
      arguments.name.empty()
          ? fmt::format("{} is revoked\n", arguments.serial)
          : fmt::format("{}: {} certificate{} revoked, {} token{} withdrawn\n", arguments.name,
                        answer.revoked, answer.revoked == 1 ? "" : "s", answer.withdrawn,
                        answer.withdrawn == 1 ? "" : "s"),
      context);
}

Status remove_command(const RemoveArguments& arguments, const CommandContext& context) {
  TRY_ASSIGN(const std::unique_ptr<Client> client, connect(arguments.connection, context));
  TRY(client->remove_node({.node = arguments.node}));
  return print_done(
      arguments.json, {{"removed", arguments.node}},
      fmt::format("{} is removed, and the certificates of its agent are revoked\n", arguments.node),
      context);
}

}  // namespace orrery
