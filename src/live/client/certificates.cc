#include <fmt/chrono.h>
#include <fmt/format.h>

#include <array>
#include <ctime>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/grid.h"
#include "live/client/roles.h"
#include "live/client/trust_commands.h"

namespace orrery {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string utc(double unix_s) {
  return fmt::format("{:%Y-%m-%d %H:%M}", fmt::gmtime(static_cast<std::time_t>(unix_s)));
}

std::string table(const TokensAnswer& answer) {
  if (answer.tokens.empty()) return "no tokens; `orrery token` makes one\n";
  const std::vector<GridColumn> titles = {
      {"id", true}, {"role", true}, {"name", true}, {"uses"}, {"until (UTC)", true}};
  std::vector<std::vector<std::string>> rows;
  for (const TokenStatus& token : answer.tokens) {
    rows.push_back({token.id, role_text(token.role), token.name.empty() ? "any" : token.name,
                    fmt::format("{}", token.uses), utc(token.until_s)});
  }
  return grid(titles, rows);
}

std::string json(const TokensAnswer& answer) {
  Json tokens = Json::array();
  for (const TokenStatus& token : answer.tokens) {
    tokens.push_back({{"id", token.id},
                      {"role", role_text(token.role)},
                      {"name", token.name.empty() ? Json() : Json(token.name)},
                      {"uses", token.uses},
                      {"until_s", token.until_s}});
  }
  return text_of({{"tokens", std::move(tokens)}});
}

std::string table(const CertificatesAnswer& answer) {
  if (answer.certificates.empty()) return "no certificates; `orrery join` gets one for a token\n";
  const std::vector<GridColumn> titles = {
      {"serial", true}, {"role", true}, {"name", true}, {"until (UTC)", true}, {"state", true}};
  std::vector<std::vector<std::string>> rows;
  for (const CertificateStatus& one : answer.certificates) {
    rows.push_back({one.serial, role_text(one.role), one.name, utc(one.until_s),
                    one.revoked.empty() ? "good" : "revoked"});
  }
  return grid(titles, rows);
}

std::string json(const CertificatesAnswer& answer) {
  Json certificates = Json::array();
  for (const CertificateStatus& one : answer.certificates) {
    certificates.push_back({{"serial", one.serial},
                            {"role", role_text(one.role)},
                            {"name", one.name},
                            {"from_s", one.from_s},
                            {"until_s", one.until_s},
                            {"revoked", !one.revoked.empty()}});
  }
  return text_of({{"certificates", std::move(certificates)}});
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
  TRY_ASSIGN(const std::unique_ptr<Client> client, connect(arguments.connection, context));
  TRY_ASSIGN(const TokensAnswer answer, client->tokens({.withdraw = arguments.withdraw}));
  if (arguments.withdraw.empty() || arguments.json) {
    return context.print(arguments.json ? json(answer) : table(answer));
  }
  return context.print(fmt::format("the token {} is withdrawn\n", arguments.withdraw));
}

Status certificates_command(const CertificatesArguments& arguments, const CommandContext& context) {
  TRY_ASSIGN(const std::unique_ptr<Client> client, connect(arguments.connection, context));
  TRY_ASSIGN(const CertificatesAnswer answer, client->certificates({}));
  return context.print(arguments.json ? json(answer) : table(answer));
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
  if (arguments.name.empty()) {
    return context.print(fmt::format("{} is revoked\n", arguments.serial));
  }
  return context.print(fmt::format("{}: {} certificate{} revoked, {} token{} withdrawn\n",
                                   arguments.name, answer.revoked, answer.revoked == 1 ? "" : "s",
                                   answer.withdrawn, answer.withdrawn == 1 ? "" : "s"));
}

Status remove_command(const RemoveArguments& arguments, const CommandContext& context) {
  TRY_ASSIGN(const std::unique_ptr<Client> client, connect(arguments.connection, context));
  TRY(client->remove_node({.node = arguments.node}));
  return context.print(fmt::format("{} is removed, and the certificates of its agent are revoked\n",
                                   arguments.node));
}

}  // namespace orrery
