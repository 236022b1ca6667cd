#include <fmt/format.h>

#include <fstream>

#include "live/client/roles.h"
#include "live/client/trust_commands.h"
#include "model/duration_text.h"

namespace orrery {
namespace {

// Never on the command line, where every login could read it.
Result<std::string> read_token(const std::string& path, const CommandContext& context) {
  std::string text;
  if (path.empty()) {
    TRY_ASSIGN(text, context.read_input());
  } else {
    std::ifstream file(path);
    if (!std::getline(file, text)) return invalid(fmt::format("{}: holds no token", path));
  }
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string::npos) {
    return invalid(
        "there is no token; name its file by --token-file, or hand it over on standard "
        "input");
  }
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

}  // namespace

Status token_command(const TokenArguments& arguments, const CommandContext& context) {
  TokenRequest request{.name = arguments.name, .uses = arguments.uses};
  TRY_ASSIGN(request.role, parse_role(arguments.role, kJoinRoles));
  Result<Duration> valid = parse_duration(arguments.valid);
  if (!valid.ok()) return std::move(valid).error().at("--valid");
  request.valid = valid.value();
  if (request.valid <= Duration::zero()) return invalid("--valid: it would be over at once");
  if (request.role != Caller::Role::Agent && request.name.empty()) {
    return invalid(
        fmt::format("--name: name the {}; only agents may choose a name", arguments.role));
  }
  TRY_ASSIGN(const std::unique_ptr<Client> client, connect(arguments.connection, context));
  TRY_ASSIGN(const TokenAnswer answer, client->make_token(request));
  return context.print(answer.token + '\n');
}

Status join_command(const JoinArguments& arguments, const CommandContext& context) {
  if (Status checked = check_address(arguments.server); !checked.ok()) {
    return std::move(checked).error().at("--server");
  }
  JoinOrder order{.server = arguments.server, .name = arguments.name};
  TRY_ASSIGN(order.role, parse_role(arguments.role, kJoinRoles));
  const bool agent = order.role == Caller::Role::Agent;
  if (order.name.empty()) {
    const auto user = context.environment.find("USER");
    order.name = agent ? context.host : user == context.environment.end() ? "" : user->second;
    if (order.name.empty()) return invalid("--name: write the name to join as");
  }
  order.certificate = agent ? kAgentCertificate : kJoinedCertificate;
  TRY_ASSIGN(order.credentials, credentials_directory(arguments.credentials, context.environment));
  TRY_ASSIGN(order.token, read_token(arguments.token_file, context));
  if (!context.join) {
    return Error{Code::Unimplemented,
                 fmt::format("{}: this program was built without the wire", order.server)};
  }
  TRY_ASSIGN(const std::string server, context.join(order));
  return context.print(fmt::format("{} is known to {} now; the certificate is in {}\n", order.name,
                                   server, order.credentials));
}

}  // namespace orrery
